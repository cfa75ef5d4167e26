// SPDX-License-Identifier: MIT OR Apache-2.0
// Which controller for the path: all of them run on it, seed by seed, and each round of runs makes the answer surer.

import { ask } from "./simulator.js";

/** What the answer depends on. */
const KEYS = ["rate_mbps", "rtt_ms", "queue_packets", "loss", "flows", "neighbour", "neighbours"];

/** A slider that moves asks many things; this long after the last, ms, it is answered. */
const QUIET_MS = 200;

export class Advisor {
  #show;
  #asked = "";
  #cancels = [];
  #timer;

  /** `show` gets `{ advice, seeds, isFinal }` again and again, or `{ error }`; nothing if an answer is not there yet. */
  constructor(show) {
    this.#show = show;
  }

  /** Answers for this setting, unless it does so already. */
  ask(setting) {
    const asked = JSON.stringify(Object.fromEntries(KEYS.map((key) => [key, setting[key]])));
    if (asked === this.#asked) return;
    this.stop();
    this.#asked = asked;
    this.#show({});
    this.#timer = setTimeout(() => {
      this.#answer(asked, this.#cancels).catch((error) => this.#show({ error: error.message }));
    }, QUIET_MS);
  }

  /** Ends the runs. What was shown stays. */
  stop() {
    clearTimeout(this.#timer);
    this.#cancels.forEach((cancel) => cancel());
    this.#cancels = [];
    this.#asked = "";
  }

  async #answer(asked, cancels) {
    let lengthened = [];
    const told = async (results) => {
      const all = results.map((seeds) => `[${seeds.join()}]`).join();
      return JSON.parse(await ask({ advice: `{"asked":${asked},"lengthened":[${lengthened}],"results":[${all}]}` }, cancels));
    };
    const run = (controller, seed) => {
      const turn = { asked: JSON.parse(asked), lengthened, controller, seed };
      return ask({ turn: JSON.stringify(turn) }, cancels);
    };
    const { names, looks, needed: all } = await told([]);
    const results = names.map(() => []);
    for (let isFinal = false; !isFinal; ) {
      let needed = all;
      for (let seeds = 1; seeds <= looks.at(-1) && needed.includes(true); seeds++) {
        // After a lengthening, some have all of theirs.
        const round = results.map(async (of, i) => needed[i] && of.length < seeds && of.push(await run(i, seeds - 1)));
        await Promise.all(round);
        // One seed says nothing.
        if (seeds === 1) continue;
        const now = await told(results);
        if (looks.includes(seeds)) needed = now.needed;
        const isLast = seeds === looks.at(-1) || !needed.includes(true);
        isFinal = isLast && now.lengthened === null;
        this.#show({ advice: now.advice, seeds, isFinal });
        if (!isLast || isFinal) continue;
        now.lengthened.forEach((times, i) => times !== (lengthened[i] ?? 0) && (results[i] = []));
        lengthened = now.lengthened;
        break;
      }
    }
  }
}

const estimate = ({ mean, ci95 }, scale, decimals) => {
  const half = ci95 === null || ci95 === undefined ? "" : ` ± ${(ci95 * scale).toFixed(decimals)}`;
  return `${(mean * scale).toFixed(decimals)}${half}`;
};

/** What keeps a controller from being advised; a tick for the one that is. */
const mark = (judged, chosen) => {
  if (judged.controller === chosen) return "✓";
  if (judged.takes_too_much) return "takes too much";
  if (!judged.is_within_limits) return "adds delay";
  return judged.is_steady ? "" : "not steady";
};

/** The rows of the table, the highest goodput first: controller, goodput, stolen, delay, mark. */
export function rows({ paths: [{ chosen, controllers }] }) {
  return controllers.map((judged) => [
    judged.controller,
    estimate(judged.goodput_mbps, 1, 1),
    judged.stolen ? estimate(judged.stolen, 100, 0) : "–",
    estimate(judged.delay_ms, 1, 1),
    mark(judged, chosen),
  ]);
}
