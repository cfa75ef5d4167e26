// SPDX-License-Identifier: MIT OR Apache-2.0
// The simulator in workers, one for each run, as many at once as there are cores but one.

const module = WebAssembly.compileStreaming(fetch("tandem_web.wasm"));

/** One core is the page's own, which draws 60 times a second: simulators on all of them take a frame in twenty from it. */
const WORKERS = Math.max(1, navigator.hardwareConcurrency - 1);
const waiting = [];
/** What may wait until nothing else does. */
const later = [];
let working = 0;

function fillUp() {
  while (working < WORKERS && waiting.length + later.length > 0) {
    working++;
    (waiting.shift() ?? later.shift())();
  }
}

/** Starts a worker as soon as a core is free; `on` gets its messages. The function returned ends it, or takes it off the queue. */
function start(message, on, queue = waiting) {
  let worker;
  const begin = () => {
    worker = new Worker("worker.js");
    worker.onmessage = ({ data }) => {
      if (!("rows" in data)) end();
      on(data);
    };
    worker.onerror = (event) => {
      end();
      on({ error: event.message ?? "the worker did not start" });
    };
    module.then(
      (module) => worker?.postMessage({ ...message, module }),
      (error) => on({ error: `the simulator did not load: ${error.message}` }),
    );
  };
  const end = () => {
    if (queue.includes(begin)) return void queue.splice(queue.indexOf(begin), 1);
    if (!worker) return;
    worker.terminate();
    worker = undefined;
    working--;
    fillUp();
  };
  queue.push(begin);
  fillUp();
  return end;
}

/** The list of controllers: name, family, signal, source. */
export function controllers() {
  return new Promise((resolve, reject) => {
    start({}, ({ controllers, error }) => (error ? reject(new Error(error)) : resolve(controllers)));
  });
}

/**
 * Runs a scenario. `on` gets `{ rows, columns }` again and again, then `{ result }`, the JSON text, or `{ error }`. The function
 * returned cancels it.
 */
export const run = (scenario, on) => start({ scenario }, on);

const last = (message) =>
  new Promise((resolve, reject) => {
    start(message, ({ result, error }) => {
      if (error) reject(new Error(error));
      else if (result) resolve(result);
    });
  });

/** The whole result of a scenario, with its samples, as JSON text. */
export const result = (scenario) => last({ scenario, withTrace: true });

/** The share of their goodput that the neighbours of `run` lose against `baseline`, both `{ scenario, result }`; null if there is none. */
export const stolen = async (run, baseline) => JSON.parse(await last({ pair: JSON.stringify({ run, baseline }) }));

/**
 * The answer of the functions behind `tandem advise`: to `{ advice }`, what the runs say so far, or to `{ turn }`, a run; JSON texts. Runs of the
 * page come before. `cancels` gets a function that ends it; then there is no answer.
 */
export const ask = (message, cancels) =>
  new Promise((resolve, reject) => {
    const came = ({ result, error }) => {
      if (error) return reject(new Error(error));
      lastAnswers[Object.keys(message)[0]] = { asked: Object.values(message)[0], result };
      resolve(result);
    };
    cancels.push(start(message, came, later));
  });

/** The last `turn` and the last `advice`, each with what was asked; the tests read them. */
export const lastAnswers = {};
