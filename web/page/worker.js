// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs one scenario in the simulator, and posts the samples as they come. The page ends it to cancel.

/** The module's exports, once it runs. */
let simulator;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const imports = {
  page: {
    samples(numbers, count, columns) {
      // A copy: the module's memory is its own.
      const rows = new Float32Array(simulator.memory.buffer, numbers, count).slice();
      postMessage({ rows, columns }, [rows.buffer]);
    },
  },
};

const answer = (bytes) => decoder.decode(new Uint8Array(simulator.memory.buffer, simulator.answer(), bytes));

onmessage = async ({ data: { module, scenario, withTrace } }) => {
  try {
    simulator = (await WebAssembly.instantiate(module, imports)).exports;
    if (scenario === undefined) return postMessage({ controllers: JSON.parse(answer(simulator.list_controllers())) });
    const text = encoder.encode(scenario);
    // First the room: with it the memory may grow, which makes another buffer.
    const room = simulator.text_room(text.length);
    new Uint8Array(simulator.memory.buffer, room, text.length).set(text);
    const came = answer(simulator.run_scenario(withTrace ? 1 : 0));
    postMessage(came[0] === "+" ? { result: came.slice(1) } : { error: came.slice(1) });
  } catch (error) {
    postMessage({ error: `the simulator stopped: ${error.message}` });
  }
};
