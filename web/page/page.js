// SPDX-License-Identifier: MIT OR Apache-2.0
// Ties the form, the simulator, the charts and the address together.

import { Advisor, rows as candidates } from "./advice.js";
import { Charts, Samples } from "./charts.js";
import { element, makeControls } from "./controls.js";
import { PRESETS } from "./presets.js";
import { command, contenders, fromAddress, runs, scenario, toAddress } from "./setting.js";
import { controllers, lastAnswers, result, run, stolen } from "./simulator.js";
import { figures } from "./summary.js";

const by = (id) => document.getElementById(id);
const charts = new Charts(by("charts"));
const advisor = new Advisor(showAdvice);

let setting;
let showSetting;
/** The runs of the setting: controller, what cancels it, samples, result. */
let running = [];
let began = 0;
let isDue = false;
/** How long the drawing of each frame took, ms; the tests read it. */
const frames = [];

function change(next) {
  setting = next;
  showSetting(setting);
  by("command").textContent = command(setting);
  showFiles();
  showPreset();
  start();
  advisor.ask(setting);
}

function start() {
  running.forEach((run) => run.cancel());
  began = performance.now();
  frames.length = 0;
  running = runs(setting).map((controller) => ({ controller, samples: new Samples(setting), result: null }));
  const shown = running.filter(({ controller }) => contenders(setting).includes(controller));
  showLegend(shown);
  charts.show(shown.map(({ samples }) => samples), setting);
  by("summary").tBodies[0].replaceChildren();
  for (const one of running) one.cancel = run(scenario(setting, one.controller), (message) => came(one, message));
  showState("Running.", true);
}

function came(one, { rows, columns, result, error }) {
  if (!running.includes(one)) return;
  if (error) return fail(error);
  if (rows) one.samples.push({ rows, columns });
  if (result) one.result = JSON.parse(result);
  if (!isDue) {
    isDue = true;
    requestAnimationFrame(draw);
  }
}

function draw() {
  isDue = false;
  const start = performance.now();
  charts.draw();
  frames.push(performance.now() - start);
  const seconds = running.map(({ samples }) => samples.columns[0].at(-1) ?? 0).reduce((a, b) => a + b, 0);
  const took = ((performance.now() - began) / 1000).toFixed(1);
  if (running.every(({ result }) => result)) {
    showSummary(`${setting.duration_s} seconds of each run, simulated in ${took} s.`).catch((error) => fail(error.message));
  } else {
    showState(`${seconds.toFixed(0)} of ${running.length * setting.duration_s} seconds simulated, over all runs.`, true);
  }
}

function fail(error) {
  stop(error);
  by("status").classList.add("error");
}

function stop(why) {
  running.forEach((run) => run.cancel());
  running = [];
  showState(why, false);
}

function showState(text, isRunning) {
  by("status").classList.remove("error");
  // A screen reader need not hear each second.
  by("status").setAttribute("aria-live", isRunning ? "off" : "polite");
  by("status").textContent = text;
  by("stop").disabled = !isRunning;
  document.body.dataset.state = isRunning ? "running" : "done";
}

function showLegend(shown) {
  const entries = shown.flatMap(({ controller }, i) => {
    const place = ["first", "second"][i];
    const own = element("li", { class: place }, element("i"), controller);
    const beside = `${setting.neighbour} beside it`;
    return setting.neighbours > 0 ? [own, element("li", { class: `${place} neighbours` }, element("i"), beside)] : [own];
  });
  by("legend").replaceChildren(...entries);
}

/** Fills the table once the neighbours' losses are known; then the runs are done, and `state` says so. */
async function showSummary(state) {
  const shown = running;
  const of = (name) => ({ scenario: scenario(setting, name), result: shown.find(({ controller }) => controller === name).result });
  const share = (name) => (setting.neighbours > 0 ? stolen(of(name), of(setting.neighbour)) : null);
  const shares = await Promise.all(contenders(setting).map(share));
  // The setting may have changed meanwhile.
  if (running !== shown) return;
  const rows = contenders(setting).map((name, i) => {
    const { goodput, neighbours, stolen, used, rtt, again } = figures(setting, of(name).result, shares[i]);
    const cells = [goodput, neighbours, stolen, used, rtt, again].map((text) => element("td", {}, text));
    return element("tr", {}, element("th", { scope: "row" }, `${name}:${setting.flows}`), ...cells);
  });
  by("summary").tBodies[0].replaceChildren(...rows);
  showState(state, false);
}

/** Every second part of a text is in backticks. */
function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 === 0 ? part : element("code", {}, part)));
}

/** The advice so far; the old one is grey while a new one is made. */
function showAdvice({ advice, remarks, seeds, isFinal, error }) {
  by("advice").classList.toggle("error", error !== undefined);
  by("advice").classList.toggle("old", advice === undefined);
  by("candidates").classList.toggle("old", advice === undefined);
  document.body.dataset.advice = isFinal || error !== undefined ? "done" : "running";
  by("advice-state").textContent = "All controllers run on the path.";
  if (error) by("advice").textContent = error;
  if (!advice) return;
  by("advice").replaceChildren(...withCode([...advice.first, advice.headline].join(" ")));
  const sure = isFinal ? `The answer from ${seeds} seeds: ${advice.paths[0].how_sure}.` : `The answer from ${seeds} seeds so far.`;
  const rest = "It is for a Debian machine whose default is cubic. The command allows longer runs and more seeds:";
  by("advice-state").replaceChildren(...withCode(`${sure} ${rest}`));
  by("advise-command").textContent = advice.command;
  by("advise-command").parentElement.hidden = false;
  const row = ([name, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((text) => element("td", {}, text)));
  by("candidates").tBodies[0].replaceChildren(...candidates(advice, remarks).map(row));
  by("candidates").hidden = false;
}

function showFiles() {
  const links = contenders(setting).map((name) => {
    const button = element("button", { type: "button" }, `Scenario file: ${name}`);
    button.addEventListener("click", () => download(`${name}.toml`, scenario(setting, name)));
    return button;
  });
  by("files").replaceChildren(...links);
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function showPreset() {
  const same = (preset) => toAddress({ ...preset.setting, seed: setting.seed }) === toAddress(setting);
  const found = PRESETS.findIndex(same);
  by("preset").value = found;
  const preset = PRESETS[found];
  const about = preset?.experiment ? `${preset.about} As published: tandem papers run ${preset.experiment}` : (preset?.about ?? "");
  by("about").textContent = about;
}

/** A change by hand: the address keeps it. */
function set(next) {
  history.replaceState(null, "", `#${toAddress(next)}`);
  change(next);
}

async function main() {
  PRESETS.forEach(({ name }, i) => by("preset").append(element("option", { value: i }, name)));
  by("preset").append(element("option", { value: -1, hidden: "" }, "Your own"));
  const changed = (key, text) => set(fromAddress(toAddress({ ...setting, [key]: text })));
  showSetting = makeControls(await controllers(), changed);
  by("preset").addEventListener("change", () => set({ ...PRESETS[by("preset").value].setting }));
  by("again").addEventListener("click", () => set({ ...setting, seed: setting.seed + 1 }));
  by("stop").addEventListener("click", () => {
    stop("Stopped.");
    advisor.stop();
  });
  by("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(command(setting));
    by("copy").textContent = "Copied";
    setTimeout(() => (by("copy").textContent = "Copy the command"), 1500);
  });
  by("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => change(fromAddress(location.hash)));
  change(fromAddress(location.hash));
}

// For the tests.
window.tandem = { frames, lastAnswers, result, scenario: (controller) => scenario(setting, controller), results: () => running };

main().catch((error) => fail(error.message));
