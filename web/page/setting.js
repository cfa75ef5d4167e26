// SPDX-License-Identifier: MIT OR Apache-2.0
// What the page simulates: a plain object. Here it becomes an address, a command line and scenario files, and comes back.

/** Each key with its default and, for numbers, the limits. The queue is in packets of 1500 bytes. */
export const KEYS = {
  a: { initial: "compound" },
  b: { initial: "cubic" },
  flows: { initial: 1, min: 1, max: 15, whole: true },
  neighbour: { initial: "reno" },
  neighbours: { initial: 1, min: 0, max: 15, whole: true },
  rate_mbps: { initial: 100, min: 1, max: 1000 },
  rtt_ms: { initial: 50, min: 1, max: 500 },
  queue_packets: { initial: 400, min: 2, max: 10000, whole: true },
  loss: { initial: 0, min: 0, max: 0.05 },
  duration_s: { initial: 60, min: 10, max: 600, whole: true },
  delayed_acks: { initial: true },
  seed: { initial: 1, min: 1, max: 1000000, whole: true },
};

/** A controller with parameters, as the command line has it; "" is none. */
const CONTROLLER = /^([a-z][a-z0-9_]*(@[a-z0-9_]+=[0-9a-z.]+(,[a-z0-9_]+=[0-9a-z.]+)*)?)?$/;

export function initial() {
  return Object.fromEntries(Object.entries(KEYS).map(([key, { initial }]) => [key, initial]));
}

/** The value if it can be that of the key, otherwise the default. */
function checked(key, text) {
  const { initial, min, max, whole } = KEYS[key];
  if (typeof initial === "boolean") return text === "true" ? true : text === "false" ? false : initial;
  if (typeof initial === "string") return CONTROLLER.test(text) && (text !== "" || key === "b") ? text : initial;
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) return initial;
  const limited = Math.min(max, Math.max(min, number));
  return whole ? Math.round(limited) : limited;
}

/** The setting that an address has after its `#`. Whatever is missing or makes no sense has its default. */
export function fromAddress(hash) {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  return Object.fromEntries(Object.keys(KEYS).map((key) => [key, checked(key, words.get(key) ?? String(KEYS[key].initial))]));
}

/** The part of the address after `#`: what differs from the defaults. */
export function toAddress(setting) {
  const words = new URLSearchParams();
  for (const [key, { initial }] of Object.entries(KEYS)) {
    if (setting[key] !== initial) words.set(key, String(setting[key]));
  }
  return words.toString().replaceAll("%40", "@").replaceAll("%2C", ",");
}

/** The start of a run, which no measure counts. */
export const warmup_s = (setting) => setting.duration_s / 5;

/** The contenders, each once. */
export const contenders = (setting) => [...new Set([setting.a, setting.b])].filter((name) => name !== "");

/** Plain digits: TOML and the command line read them, but the sign of an exponent is not worth the trouble in an address. */
const digits = (number) => String(number);

/** The command line that runs the same. */
export function command(setting) {
  const { rate_mbps, rtt_ms, queue_packets, loss, flows, neighbour, neighbours, duration_s, delayed_acks, seed } = setting;
  const words = ["tandem", "compare", "--rate", `${digits(rate_mbps)}mbit`, "--rtt", `${digits(rtt_ms)}ms`];
  words.push("--queue", `${queue_packets}p`);
  if (loss > 0) words.push("--loss", digits(loss));
  words.push("--duration", `${duration_s}s`, "--warmup", `${digits(warmup_s(setting))}s`, "--seeds", "1");
  if (seed !== 1) words.push("--seed", String(seed));
  if (!delayed_acks) words.push("--no-delayed-acks");
  if (neighbours > 0) words.push("--against", `${neighbour}:${neighbours}`);
  return [...words, ...contenders(setting).map((name) => `${name}:${flows}`)].join(" ");
}

/** The scenario file of a run in which `controller` meets the neighbours. */
export function scenario(setting, controller) {
  const { rate_mbps, rtt_ms, queue_packets, loss, flows, neighbour, neighbours, duration_s, delayed_acks, seed } = setting;
  const lines = [
    `# tandem run FILE. With both contenders: ${command(setting)}`,
    `name = "${controller}"`,
    `duration = "${duration_s}s"`,
    `warmup = "${digits(warmup_s(setting))}s"`,
    `seeds = 1`,
    `first_seed = ${seed}`,
    `delayed_acks = ${delayed_acks}`,
    ``,
    `[dumbbell]`,
    `rate = "${digits(rate_mbps)}mbit"`,
    `rtt = "${digits(rtt_ms)}ms"`,
    `queue = "${queue_packets}p"`,
    `loss = ${digits(loss)}`,
  ];
  const groups = [[controller, flows], [neighbour, neighbours]].filter(([, count]) => count > 0);
  for (const [name, count] of groups) {
    lines.push(``, `[[flows]]`, `controller = "${name}"`, `count = ${count}`, `start_spread = "100ms"`, `rtt_spread = "200us"`);
  }
  return lines.join("\n") + "\n";
}

/** The controllers to run: the contenders, and the neighbours' own in their place, against which bandwidth stolen is measured. */
export function runs(setting) {
  const own = setting.neighbours > 0 ? [setting.neighbour] : [];
  return [...new Set([...contenders(setting), ...own])];
}
