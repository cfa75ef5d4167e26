// SPDX-License-Identifier: MIT OR Apache-2.0
// Set-ups of the papers' figures (docs/reproduction.md), with the loss recovery of today's TCP.

import { initial } from "./setting.js";

const preset = (name, about, experiment, values) => ({ name, about, experiment, setting: { ...initial(), ...values } });

export const PRESETS = [
  preset("Start", "A path of 100 Mb/s with one Reno flow on it.", null, {}),
  preset(
    "Random loss (Compound TCP 2006, figure 3)",
    "One packet in a million is lost. Reno leaves a quarter of the link empty; Compound TCP fills it.",
    "s0/fig3",
    { a: "compound_auto", b: "reno", flows: 4, neighbours: 0, rate_mbps: 1000, rtt_ms: 100, queue_packets: 1500, loss: 1e-6,
      duration_s: 150, delayed_acks: false },
  ),
  preset(
    "Stolen bandwidth (Compound TCP 2006, figure 4)",
    "Four flows meet four Reno flows. How much less do these have than beside four more of their own?",
    "s0/fig4",
    { a: "compound_auto", b: "highspeed", flows: 4, neighbours: 4, rate_mbps: 1000, rtt_ms: 100, queue_packets: 1500, loss: 1e-6,
      duration_s: 150, delayed_acks: false },
  ),
  preset(
    "A small buffer (CTCP-TUBE 2008, figures 2 and 4)",
    "The buffer is too small for a fixed gamma of 30 packets. CTCP-TUBE finds its gamma itself.",
    "s1/fig4",
    { a: "compound", b: "compound_tube", rate_mbps: 100, rtt_ms: 150, queue_packets: 110, duration_s: 600, delayed_acks: false },
  ),
  preset(
    "Five against five (CTCP-TUBE 2008, property 1)",
    "Five flows of CTCP-TUBE beside five of Reno: does it steal?",
    "s1/property1",
    { a: "compound_tube", b: "compound", flows: 5, neighbours: 5, rate_mbps: 100, rtt_ms: 30, queue_packets: 200, duration_s: 200,
      delayed_acks: false },
  ),
  preset(
    "One flow and random loss (TCP-Fusion 2007, figure 4)",
    "A single flow on a path of 100 Mb/s and 40 ms that loses one packet in ten thousand.",
    "s3/fig4",
    { a: "fusion", b: "reno", neighbours: 0, rate_mbps: 100, rtt_ms: 40, queue_packets: 333, loss: 1e-4, duration_s: 150 },
  ),
  preset(
    "A fast wired path (Compound TCP+ 2012)",
    "A single flow on a gigabit path with one lost packet in a million.",
    "s4/wired",
    { a: "compound_plus", b: "compound", neighbours: 0, rate_mbps: 1000, rtt_ms: 100, queue_packets: 8333, loss: 1e-6,
      duration_s: 150, delayed_acks: false },
  ),
];
