// SPDX-License-Identifier: MIT OR Apache-2.0
// Asks the simulator one thing: to run a scenario, whose samples it posts as they come, what one run took from another, or a part of an advice.
// The page ends it to cancel.

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

/** The answer of `ask` to the text. */
function answerTo(text, ask) {
  const bytes = encoder.encode(text);
  // First the room: with it the memory may grow, which makes another buffer.
  const room = simulator.text_room(bytes.length);
  new Uint8Array(simulator.memory.buffer, room, bytes.length).set(bytes);
  const came = answer(ask());
  return came[0] === "+" ? { result: came.slice(1) } : { error: came.slice(1) };
}

onmessage = async ({ data: { module, scenario, pair, withTrace, advice, turn } }) => {
  try {
    simulator = (await WebAssembly.instantiate(module, imports)).exports;
    if (pair !== undefined) postMessage(answerTo(pair, () => simulator.share_stolen()));
    else if (advice !== undefined) postMessage(answerTo(advice, () => simulator.advice()));
    else if (turn !== undefined) postMessage(answerTo(turn, () => simulator.run_for_advice()));
    else if (scenario !== undefined) postMessage(answerTo(scenario, () => simulator.run_scenario(withTrace ? 1 : 0)));
    else postMessage({ controllers: JSON.parse(answer(simulator.list_controllers())) });
  } catch (error) {
    postMessage({ error: `the simulator stopped: ${error.message}` });
  }
};
