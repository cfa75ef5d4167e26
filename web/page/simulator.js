// SPDX-License-Identifier: MIT OR Apache-2.0
// The simulator in workers, one for each run.

const module = WebAssembly.compileStreaming(fetch("tandem_web.wasm"));

/** Starts a worker; `on` gets its messages. The function returned ends it. */
function start(message, on) {
  const worker = new Worker("worker.js");
  worker.onmessage = ({ data }) => {
    if (!("rows" in data)) worker.terminate();
    on(data);
  };
  worker.onerror = (event) => on({ error: event.message ?? "the worker did not start" });
  module.then(
    (module) => worker.postMessage({ ...message, module }),
    (error) => on({ error: `the simulator did not load: ${error.message}` }),
  );
  return () => worker.terminate();
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

/** The whole result of a scenario, with its samples, as JSON text. */
export function result(scenario) {
  return new Promise((resolve, reject) => {
    start({ scenario, withTrace: true }, ({ result, error }) => {
      if (error) reject(new Error(error));
      else if (result) resolve(result);
    });
  });
}
