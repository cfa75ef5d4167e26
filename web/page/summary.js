// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of a run's table.

const sum = (flows, key) => flows.reduce((total, flow) => total + flow[key], 0);

/** Texts for the table. `share`: what the neighbours lose of their goodput, null if nobody knows. */
export function figures(setting, result, share) {
  const own = result.flows.slice(0, setting.flows);
  const beside = (result) => sum(result.flows.slice(setting.flows), "goodput_mbps");
  const has = setting.neighbours > 0;
  return {
    goodput: sum(own, "goodput_mbps").toFixed(2),
    neighbours: has ? beside(result).toFixed(2) : "–",
    stolen: share === null ? "–" : (share * 100).toFixed(1),
    used: (result.links[0].utilisation * 100).toFixed(1),
    rtt: result.rtt_ms[0].p50.toFixed(1),
    again: String(sum(own, "retransmits")),
  };
}
