// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the reports of the command line in Chromium: node reports.js FOLDER-OF-NATIVE-PROGRAMS

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";

import { openBrowser, runTests } from "./browser.js";

const tandem = join(resolve(process.argv[2]), "tandem");
const scratch = mkdtempSync(join(tmpdir(), "tandem-reports-"));
const browser = await openBrowser(`file://${scratch}/`);

const PATH = "--rate 10mbit --rtt 20ms --queue 20p --duration 4s --warmup 1s";
const PHONE = { width: 400, height: 800, hasTouch: true, isMobile: true };
const MAX_BYTES = 1.5e6;

/** Runs the program; its report is in the folder `out`. What it says of such short runs is not asked. */
const run = (out, command) => execFileSync(tandem, [...command.split(" "), "--quiet", "--out", out], { cwd: scratch, stdio: "ignore" });

const groups = (count) => Array.from({ length: count }, (_, i) => `[[flows]]\nname = "group ${i + 1}"\ncontroller = "${["reno", "cubic"][i % 2]}"\n`).join("");
const scenario = (count, rate) => `duration = "2s"\nwarmup = "500ms"\n[dumbbell]\nrate = "${rate}"\nrtt = "20ms"\nqueue = "1bdp"\n${groups(count)}`;
writeFileSync(join(scratch, "few.toml"), `${scenario(3, "10mbit")}transfer = "20kB"\npause = "10ms"\n`);
writeFileSync(join(scratch, "many.toml"), scenario(3000, "50mbit"));
writeFileSync(join(scratch, "sweep.toml"), `[scenario]\nduration = "2s"\nwarmup = "500ms"\n[scenario.dumbbell]\nrate = "10mbit"\nrtt = "20ms"\nqueue = "1bdp"\n[[scenario.flows]]\ncontroller = "reno"
[grid]\n"dumbbell.rate" = ["2mbit", "10mbit", "50mbit"]\n"flows[0].controller" = ["reno", "compound@gamma=20", "cubic"]
[random]\npoints = 30\n[random.values]\n"dumbbell.rtt" = { from = "10ms", to = "80ms" }\n`);
writeFileSync(join(scratch, "small.toml"), readFileSync("experiments/tests/small.toml"));

/** Each kind of report. */
const COMMANDS = {
  compare: `compare ${PATH} --seeds 2 --against reno:2 compound:2 bbr:2`,
  traces: "run few.toml --trace",
  matrix: `compare ${PATH.replace("4s", "2s")} --seeds 1 --matrix`,
  model: "model --rate 30mbit --rtt 40ms --queue 100p",
  advise: "advise --rate 10mbit --rtt 20ms --queue 20p --loss 0 --neighbours cubic:1 --default cubic --duration 4s --warmup 1s --seeds 2 cubic compound",
  sweep: "sweep sweep.toml --measure goodput_mbps,rtt_p95_ms",
  papers: "papers run small.toml s2/fig4 --quick",
};
const file = (kind) => `${kind}/${kind === "model" ? "model" : "report"}.html`;

/** Opens a report in a tab, and draws all of its charts. */
const open = async (tab, kind) => {
  await browser.open(file(kind), tab);
  await tab.evaluate(async () => {
    for (const chart of document.querySelectorAll(".chart")) {
      if (chart.layout) continue;
      chart.scrollIntoView({ block: "center" });
      while (!chart.layout) await new Promise(requestAnimationFrame);
    }
    scrollTo(0, 0);
  });
};

/** The reports as they were opened first: wide. */
const tabs = {};

/** What is wrong with how the page looks: texts that do not fit, ticks that lie over each other, charts that are missing. */
const flaws = (tab) => tab.evaluate(() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const one of document.querySelectorAll("main :is(p, h1, h2, h3, dd, dt, figcaption, nav, button, figure)")) {
    if (one.getBoundingClientRect().right > width + 1) found.push(`${one.tagName} leaves the page: ${one.textContent.slice(0, 60)}`);
  }
  for (const chart of document.querySelectorAll(".chart")) {
    const name = chart.getAttribute("aria-label").slice(0, 30);
    if (!chart.querySelector(".cartesianlayer .subplot")) {
      found.push(`${name}: not drawn`);
      continue;
    }
    const box = chart.getBoundingClientRect();
    for (const text of chart.querySelectorAll(".main-svg text")) {
      const at = text.getBoundingClientRect();
      if (at.width > 0 && (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)) {
        found.push(`${name}: "${text.textContent}" leaves its chart`);
      }
    }
    for (const axis of ["x", "y"]) {
      // Leaning names cannot be compared by their boxes.
      const ticks = [...chart.querySelectorAll(`.${axis}tick > text`)].filter((tick) => !/rotate\((?!0)/.test(tick.getAttribute("transform")));
      const boxes = ticks.map((tick) => tick.getBoundingClientRect()).sort((a, b) => a[axis] - b[axis]);
      const end = axis === "x" ? "right" : "bottom";
      boxes.slice(1).forEach((next, i) => { if (next[axis] < boxes[i][end] - 1) found.push(`${name}: ticks of ${axis} collide`); });
    }
  }
  return [...new Set(found)];
});

/** Text and background of the page and its charts (WCAG 2): the least contrast. */
const leastContrast = (tab) => tab.evaluate(() => {
  const channels = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = luminance(getComputedStyle(document.body).backgroundColor);
  const contrast = (colour) => (Math.max(luminance(colour), back) + 0.05) / (Math.min(luminance(colour), back) + 0.05);
  const texts = [...document.querySelectorAll("p, td, figcaption, .tools button, .mark")].map((one) => getComputedStyle(one).color);
  const drawn = [...document.querySelectorAll(".xtick > text, .ytick > text, .legendtext, .xtitle, .ytitle")].map((one) => getComputedStyle(one).fill);
  const all = [...texts, ...drawn].map((colour) => [contrast(colour), colour]).sort((a, b) => a[0] - b[0]);
  return { back, least: all[0][0], colour: all[0][1] };
});

/** Dark, with texts of a contrast of 4.5 and more (WCAG 2.2, 1.4.3). */
const isDarkAndReadable = async (tab, kind) => {
  const { back, least, colour } = await leastContrast(tab);
  assert.ok(back < 0.02 && least > 4.5, `${kind}: contrast of ${least} with ${colour}`);
};

/** The middle of a mark of a chart, and a way to other places of the plot, in pixels of the window. */
const plot = (tab, title) => tab.evaluate((title) => {
  const chart = [...document.querySelectorAll(".chart")].find((chart) => chart.getAttribute("aria-label").startsWith(`${title}.`));
  chart.scrollIntoView({ block: "center" });
  const { left, top } = chart.getBoundingClientRect();
  const { xaxis, yaxis } = chart._fullLayout;
  const trace = chart.data[0];
  const i = trace.type === "heatmap" ? 1 : Math.floor(trace.x.length / 2);
  const x = left + xaxis._offset + xaxis.d2p(trace.x[i]);
  const y = top + yaxis._offset + yaxis.d2p(trace.type === "heatmap" ? trace.y[0] : trace.y[i]);
  return { x, y, left: left + xaxis._offset, width: xaxis._length, top: top + yaxis._offset, height: yaxis._length, range: xaxis.range };
}, title);

const range = async (tab, title) => (await plot(tab, title)).range.map(Number);

/** Waits until a chart shows a range of time, s, to two pixels or so. */
const shows = (tab, title, expected) => tab.waitForFunction((title, expected) => {
  const chart = [...document.querySelectorAll(".chart")].find((chart) => chart.getAttribute("aria-label").startsWith(`${title}.`));
  return chart._fullLayout?.xaxis.range.every((end, i) => Math.abs(end - expected[i]) < 0.02);
}, {}, title, expected);

const hovered = async (tab, title) => {
  const { x, y } = await plot(tab, title);
  await tab.mouse.move(x - 3, y - 3);
  await tab.mouse.move(x, y, { steps: 3 });
  await tab.waitForSelector(".hoverlayer text");
  return tab.$$eval(".hoverlayer text", (texts) => texts.map((text) => text.textContent).join(" | "));
};

const tests = {
  async "each kind is small, and opens without a flaw"() {
    for (const [kind, command] of Object.entries(COMMANDS)) {
      run(kind, command);
      const bytes = statSync(join(scratch, file(kind))).size;
      assert.ok(bytes < MAX_BYTES, `${kind}: ${bytes} bytes`);
      tabs[kind] = await browser.newPage();
      await open(tabs[kind], kind);
      const [drawn, charts] = await tabs[kind].evaluate(() => [Number(document.body.dataset.drawn), document.querySelectorAll(".chart").length]);
      console.log(`    ${kind}: ${(bytes / 1e6).toFixed(2)} MB, ${charts} charts, the first are drawn after ${(drawn / 1000).toFixed(1)} s`);
      assert.ok(charts > 0, kind);
      assert.deepEqual(await flaws(tabs[kind]), [], kind);
    }
  },

  async "hovering tells name, value and unit"() {
    for (const [kind, title, expected] of [
      ["compare", "Goodput", /reno .*Goodput: [\d.]+ Mbit\/s ± [\d.]+/],
      ["compare", "Queueing delay", /Queueing delay: [\d.]+ ms/],
      ["traces", "Distribution of completion times", /group 3.*Time of a transfer: [\d.]+ s.*Share of transfers: [\d.]+ %/],
      ["compare", "Windows", /compound 1.*: [\d.]+ packets/],
      ["matrix", "Share, %", /against compound.*Share: [\d.]+ %/],
      ["model", "Figure 9: mean queue", /Tandem's model.*Rate: [\d.]+ Mbit\/s.*Mean queue: [\d.]+ packets/],
      ["sweep", "goodput over dumbbell.rate by flows[0].controller", /dumbbell.rate: [\d.]+ Mbit\/s.*goodput: [\d.]+ Mbit\/s/],
      ["sweep", "goodput over dumbbell.rate and dumbbell.rtt, Mbit/s", /goodput over .*: [\d.]+ Mbit\/s/],
    ]) {
      await tabs[kind].bringToFront();
      assert.match(await hovered(tabs[kind], title), expected);
    }
  },

  async "the charts of a run zoom together, from the measured part to the whole and back"() {
    const tab = tabs.traces;
    await tab.bringToFront();
    assert.deepEqual(await range(tab, "Windows"), [0.5, 2]);
    const { left, top, width, height } = await plot(tab, "Windows");
    await tab.mouse.move(left + width * 0.25, top + height / 2);
    await tab.mouse.down();
    await tab.mouse.move(left + width * 0.5, top + height / 2 + 3, { steps: 5 });
    await tab.mouse.up();
    await shows(tab, "Windows", [0.875, 1.25]);
    await shows(tab, "Queues", await range(tab, "Windows"));
    const centre = await plot(tab, "Windows");
    // Plotly takes two clicks for a double click if it handles them within a time that a busy machine does not keep.
    await tab.$$eval(".chart", (charts) => charts.forEach((chart) => Object.assign(chart, { _mouseDownTime: 0 })._context.doubleClickDelay = 1e6));
    await tab.mouse.click(centre.left + width / 2, centre.top + height / 2, { count: 2 });
    await tab.waitForFunction(() => document.querySelector(".whole").textContent === "Measured part");
    await shows(tab, "Queues", [0, 2]);
    await tab.click(".whole");
    await shows(tab, "Round-trip time", [0.5, 2]);
  },

  async "each chart is saved as SVG, PNG and CSV"() {
    const tab = tabs.traces;
    await tab.bringToFront();
    const save = async (format) => {
      const path = await browser.download(tab, `figure:nth-of-type(2) .tools button::-p-text(${format.toUpperCase()})`, scratch);
      assert.equal(extname(path), `.${format}`);
      return readFileSync(path);
    };
    const svg = (await save("svg")).toString();
    assert.ok(svg.startsWith("<svg") && svg.includes("Goodput, Mbit/s") && svg.includes("group 3"), svg.slice(0, 200));
    assert.deepEqual([...(await save("png")).subarray(1, 4)], [...Buffer.from("PNG")]);
    const rows = (await save("csv")).toString().trim().split("\n");
    assert.equal(rows[0], 'series,point,"Goodput, Mbit/s",half of the 95 % interval,y,half of the 95 % interval');
    assert.deepEqual(rows.slice(1).map((row) => row.split(",")[0]), ["group 1", "group 2", "group 3"]);
  },

  async "each kind follows the reader's system into the dark, and is white on paper"() {
    const has = (tab, colour) => tab.waitForFunction((colour) => [...document.querySelectorAll(".chart")].every((chart) => chart._fullLayout.font.color === colour), {}, colour);
    for (const [kind, tab] of Object.entries(tabs)) {
      await tab.bringToFront();
      await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
      await has(tab, "#e6e6e6");
      await isDarkAndReadable(tab, kind);
    }
    await tabs.papers.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await has(tabs.papers, "#1a1a1a");
    assert.ok((await tabs.papers.pdf({ format: "A4" })).length > 20_000);
  },

  async "each kind fits a phone of 400 px, in the dark too"() {
    const tab = await browser.newPage();
    await tab.setViewport(PHONE);
    await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    for (const kind of Object.keys(COMMANDS)) {
      await open(tab, kind);
      assert.deepEqual(await flaws(tab), [], kind);
      await isDarkAndReadable(tab, kind);
    }
  },

  async "3000 groups are no burden"() {
    run("many", "run many.toml");
    const bytes = statSync(join(scratch, file("many"))).size;
    const tab = await browser.newPage();
    await open(tab, "many");
    const drawn = await tab.evaluate(() => Number(document.body.dataset.drawn));
    console.log(`    ${(bytes / 1e6).toFixed(2)} MB, the first charts are drawn after ${(drawn / 1000).toFixed(1)} s`);
    assert.ok(bytes < MAX_BYTES, `${bytes} bytes`);
    assert.deepEqual(await flaws(tab), []);
    assert.match(await tab.$eval("main", (main) => main.textContent), /Shown: the first 40 of 3000 groups/);
  },

  async "no script error, and no request"() {
    assert.deepEqual(browser.complaints, []);
  },
};

await runTests("reports", tests, browser);
rmSync(scratch, { recursive: true });
