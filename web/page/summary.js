// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of a run's table.

const sum = (flows, key) => flows.reduce((total, flow) => total + flow[key], 0);

/** Texts for the table. `baseline`: the result with the neighbours' kind in the contender's place, if there are neighbours. */
export function figures(setting, result, baseline) {
  const own = result.flows.slice(0, setting.flows);
  const beside = (result) => sum(result.flows.slice(setting.flows), "goodput_mbps");
  const has = setting.neighbours > 0;
  const before = baseline ? beside(baseline) : 0;
  return {
    goodput: sum(own, "goodput_mbps").toFixed(2),
    neighbours: has ? beside(result).toFixed(2) : "–",
    // (P - Q) / P, as in the paper of 2006.
    stolen: has && before > 0 ? (((before - beside(result)) / before) * 100).toFixed(1) : "–",
    used: (result.links[0].utilisation * 100).toFixed(1),
    rtt: result.rtt_ms[0].p50.toFixed(1),
    again: String(sum(own, "retransmits")),
  };
}
