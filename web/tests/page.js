// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the page in Chromium: node page.js FOLDER-OF-THE-PAGE FOLDER-OF-NATIVE-PROGRAMS

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { PRESETS } from "../page/presets.js";
import { command, fromAddress, initial, scenario, toAddress } from "../page/setting.js";
import { serve } from "../serve.js";
import { openBrowser, runTests } from "./browser.js";

const [folder, programs] = process.argv.slice(2).map((path) => resolve(path));
const scratch = mkdtempSync(join(tmpdir(), "tandem-page-"));
const server = await serve(folder, 0);
const base = `http://localhost:${server.address().port}/`;
const browser = await openBrowser(base);

/** 10 s at 20 Mb/s, with a queue that overflows and some loss: every controller gets to use all that it has. */
const short = { ...initial(), rate_mbps: 20, rtt_ms: 30, queue_packets: 40, loss: 1e-4, duration_s: 10 };

/** Opens the page with a setting. */
const open = (setting) => browser.open(`#${toAddress(setting)}`);

/** Waits until all runs are over. */
const isDone = (page) => page.waitForFunction(() => document.body.dataset.state === "done");

const text = (page, id) => page.$eval(`#${id}`, (element) => element.textContent);

// From the page itself: page.url() follows a moment later.
const address = async (page) => fromAddress(await page.evaluate(() => location.hash));

/** Goodput of each flow in a run of the page. */
const goodputs = (page, controller) =>
  page.evaluate((name) => {
    const { result } = window.tandem.results().find(({ controller }) => controller === name);
    return result.flows.map((flow) => flow.goodput_mbps);
  }, controller);

const native = (out, ...args) => execFileSync(join(programs, "tandem"), [...args, "--json", "--out", join(scratch, out)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

const nativeGoodputs = (run) => run.groups.flatMap((group) => group.per_flow_goodput_mbps);

/** The statistics take logarithms and powers, whose last digits are the system's. */
function assertClose(actual, expected) {
  if (typeof expected === "number") return assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.abs(expected), `${actual} for ${expected}`);
  if (typeof expected !== "object" || expected === null) return assert.equal(actual, expected);
  assert.deepEqual(Object.keys(actual), Object.keys(expected));
  Object.keys(expected).forEach((key) => assertClose(actual[key], expected[key]));
}

/** The values of a CSS colour, 0 to 255. */
const channels = (colour) => colour.match(/\d+/g).slice(0, 3).map(Number);

/** Relative luminance (WCAG 2). */
const luminance = (colour) => {
  const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const tests = {
  async "every controller gives the native result to the last bit"() {
    const page = await open(short);
    await isDone(page);
    const names = await page.$$eval("#a option", (options) => options.map((option) => option.value));
    assert.ok(names.length >= 20, `${names}`);
    const texts = names.map((name) => scenario(short, name));
    const files = readdirSync("scenarios").filter((name) => name.endsWith(".toml"));
    // The other networks and disciplines; a page has no files beside the scenario.
    const others = files.map((name) => readFileSync(join("scenarios", name), "utf8")).filter((text) => !/^rate_trace/m.test(text));
    texts.push(...others);
    const paths = texts.map((text, i) => join(scratch, `${i}.toml`));
    paths.forEach((path, i) => writeFileSync(path, texts[i]));
    const lines = execFileSync(join(programs, "examples/native"), paths, { encoding: "utf8", maxBuffer: 2 ** 30 }).split("\n");
    for (const [i, scenario] of texts.entries()) {
      const result = await page.evaluate((scenario) => window.tandem.result(scenario), scenario);
      assert.ok(result.length > 10_000 && result === lines[i], `differs from the native result: ${scenario}`);
    }
    console.log(`    ${names.length} controllers and ${others.length} other networks`);
  },

  async "the command line and the scenario file give the same natively"() {
    const setting = { ...short, a: "compound@gamma=20", flows: 2, delayed_acks: false, seed: 7 };
    const page = await open(setting);
    await isDone(page);
    assert.equal(await text(page, "command"), command(setting));
    const { runs, baseline } = JSON.parse(native("compare", ...command(setting).split(" ").slice(1)));
    for (const run of [...runs, { ...baseline, name: "reno" }]) {
      assert.deepEqual(await goodputs(page, run.name), nativeGoodputs(run), run.name);
    }
    const shown = await page.$$eval("#summary tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    runs.forEach((run, i) => assert.equal(shown[i][3], (run.groups[1].stolen * 100).toFixed(1)));
    const file = await browser.download(page, "#files button", scratch);
    const [run] = JSON.parse(native("run", "run", file)).runs;
    assert.deepEqual(await goodputs(page, setting.a), nativeGoodputs(run));
  },

  async "the advice is the native one, and follows the sliders"() {
    const page = await open({ ...short, neighbours: 2 });
    const isAdvised = () => page.waitForFunction(() => document.body.dataset.advice === "done");
    await isAdvised();
    const last = await page.evaluate(() => window.tandem.lastAnswers);
    const files = ["turn", "advice"].map((kind) => join(scratch, `last.${kind}.json`));
    writeFileSync(files[0], last.turn.asked);
    writeFileSync(files[1], last.advice.asked);
    const native = execFileSync(join(programs, "examples/native"), files, { encoding: "utf8", maxBuffer: 2 ** 30 }).split("\n");
    assert.equal(last.turn.result, native[0]);
    const { advice } = JSON.parse(native[1]);
    assertClose(JSON.parse(last.advice.result), JSON.parse(native[1]));
    assert.match(await text(page, "advice"), new RegExp(`On 20mbit, 30ms RTT: .*\\b${advice.advice}\\b`));
    assert.match(await text(page, "advise-command"), /^tandem advise --rate 20mbit .* --neighbours reno:2 --flows 1$/);
    const rows = await page.$$eval("#candidates tbody tr", (rows) => rows.map((row) => row.cells[0].textContent));
    assert.deepEqual(rows, advice.paths[0].controllers.map(({ controller }) => controller));
    assert.ok(rows.includes("cubic") && rows.length >= 20, `${rows}`);
    // Another contender is another run, and the same path.
    await page.select("#b", "vegas");
    assert.equal(await page.evaluate(() => document.body.dataset.advice), "done");
    await page.focus("#rtt_ms-slider");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.body.dataset.advice), "running");
    await isAdvised();
    const { rtt_ms } = await address(page);
    assert.match(await text(page, "advice"), new RegExp(`On 20mbit, ${rtt_ms}ms RTT: `));
  },

  async "each preset runs, and its address brings it back"() {
    const page = await open(short);
    for (const [i, { name, setting }] of PRESETS.entries()) {
      await page.select("#preset", String(i));
      assert.deepEqual(await address(page), setting, name);
      await page.waitForFunction(() => window.tandem.frames.length > 0);
      await page.reload();
      await page.waitForFunction(() => window.tandem?.frames.length > 0);
      assert.equal(await page.$eval("#preset", (select) => select.value), String(i), name);
      assert.equal(await text(page, "command"), command(setting));
    }
  },

  async "a slider acts at once, by keyboard too"() {
    const page = await open(short);
    await isDone(page);
    await page.focus("#rate_mbps-slider");
    await page.keyboard.press("ArrowRight");
    const setting = await address(page);
    assert.ok(setting.rate_mbps > short.rate_mbps, `${setting.rate_mbps}`);
    assert.equal(await text(page, "command"), command(setting));
    assert.equal(await page.$eval("#rate_mbps", (input) => Number(input.value)), setting.rate_mbps);
    await isDone(page);
    // Each slider, from one end to the other.
    for (const key of await page.$$eval("input[type=range]", (sliders) => sliders.map((slider) => slider.id))) {
      for (const press of ["End", "Home"]) {
        await page.focus(`#${key}`);
        await page.keyboard.press(press);
      }
      const name = key.replace("-slider", "");
      assert.ok((await address(page))[name] <= initial()[name], `${key} does not reach its left end`);
    }
    await isDone(page);
  },

  async "all controls are reached by Tab, and a choice is typed"() {
    const page = await open(short);
    await page.focus("#preset");
    const wanted = await page.$$eval("#controls :is(input, select), #again, #copy", (controls) => controls.map((control) => control.id));
    const reached = new Set(["preset"]);
    for (let i = 0; i < wanted.length + 5; i++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement.id));
    }
    assert.deepEqual(wanted.filter((id) => !reached.has(id)), []);
    await page.focus("#b");
    await page.keyboard.type("veg");
    assert.equal((await address(page)).b, "vegas");
    await page.focus("#rtt_ms");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    await page.keyboard.type("77.5\n");
    assert.equal((await address(page)).rtt_ms, 77.5);
    await isDone(page);
  },

  async "an address that makes no sense falls back to the defaults"() {
    const page = await browser.open('#a=&flows=-3&rate_mbps=x&loss=7&b=reno"%0Ax=1&rtt_ms=1e999&queue_packets=10.6');
    await isDone(page);
    assert.deepEqual(await address(page), { ...initial(), flows: 1, loss: 0.05, queue_packets: 11 });
    assert.match(await text(page, "command"), /--queue 11p --loss 0.05 /);
    await page.goto(`${base}#a=nonesuch`);
    await page.waitForFunction(() => /unknown controller/.test(document.getElementById("status").textContent));
  },

  async "it fits a phone of 400 px"() {
    const page = await open(short);
    await page.setViewport({ width: 400, height: 800, hasTouch: true, isMobile: true });
    await isDone(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400);
    const wide = await page.$$eval("input, select, button, canvas, pre", (all) =>
      all.filter((one) => one.getBoundingClientRect().right > 400).map((one) => one.id || one.tagName));
    assert.deepEqual(wide, []);
  },

  async "it is dark where the reader's system is"() {
    const page = await open(short);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await isDone(page);
    const colours = await page.$$eval("body, header p, fieldset label, .unit, td, #command", (all) =>
      all.map((one) => getComputedStyle(one).color));
    const back = luminance(await page.$eval("body", (body) => getComputedStyle(body).backgroundColor));
    assert.ok(back < 0.02, `${back}`);
    for (const colour of colours) assert.ok((luminance(colour) + 0.05) / (back + 0.05) > 4.5, colour);
  },

  async "a frame draws no sample twice, and is drawn once"() {
    const page = await browser.newPage();
    await page.evaluateOnNewDocument(() => {
      const { lineTo } = Path2D.prototype;
      window.points = 0;
      Path2D.prototype.lineTo = function (...at) {
        window.points++;
        lineTo.apply(this, at);
      };
      window.shown = 0;
      const count = () => (window.shown++, requestAnimationFrame(count));
      requestAnimationFrame(count);
    });
    await browser.open(`#${toAddress({ ...initial(), neighbours: 0 })}`, page);
    await isDone(page);
    console.log(`    two runs of 60 s at 100 Mb/s: ${await text(page, "status")}`);
    // How long drawing takes is the machine's affair; what is drawn is the page's. `frames` gets a number after each drawing.
    await page.evaluate(() => {
      const { frames, results } = window.tandem;
      window.drawn = [];
      frames.push = (took_ms) => {
        const samples = results().reduce((sum, { samples }) => sum + samples.length, 0);
        window.drawn.push({ took_ms, samples, points: window.points, shown: window.shown });
      };
    });
    await page.click("#again");
    await isDone(page);
    const drawn = await page.evaluate(() => window.drawn);
    const median_ms = drawn.map(({ took_ms }) => took_ms).sort((a, b) => a - b)[Math.floor(drawn.length / 2)];
    console.log(`    ${drawn.length} frames, ${median_ms.toFixed(1)} ms for drawing at the median`);
    assert.ok(drawn.length > 1 && drawn.at(-1).samples >= 2 * 1000, `${drawn.length} frames, ${drawn.at(-1).samples} samples`);
    drawn.slice(1).forEach(({ points, samples, shown }, i) => {
      const drawn_points = points - drawn[i].points;
      // Four charts have a point a sample, or less where several fall on one column of the screen; a curve's ends may have more.
      const is_once = drawn_points > 0.2 * 4 * (samples - 20) && drawn_points < 4 * (samples + 20);
      assert.ok(is_once, `${drawn_points} points of ${samples} samples in four charts`);
      assert.ok(shown > drawn[i].shown, "drawn twice in a frame");
    });
  },

  async "no script error, and no request to anywhere else"() {
    assert.deepEqual(browser.complaints, []);
  },
};

await runTests("page", tests, browser, browser.closePages);
server.close();
rmSync(scratch, { recursive: true });
