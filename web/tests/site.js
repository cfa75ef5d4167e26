// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the site of the documents in Chromium: node site.js FOLDER-OF-THE-SITE

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { serve } from "../serve.js";
import { openBrowser, runTests } from "./browser.js";

const folder = resolve(process.argv[2]);
const server = await serve(folder, 0);
const base = `http://localhost:${server.address().port}/`;
const browser = await openBrowser(base);

const PHONE = { width: 400, height: 800, hasTouch: true, isMobile: true };
/** Pages of each kind: text, wide tables, mathematics, pictures. */
const PAGES = ["index.html", "docs/reproduction.html", "docs/reproduction/s1-fig4.html", "docs/controllers/compound.html", "docs/reference/commands.html", "experiments/validation/criteria/cubic.html"];

const open = async (path, prepare = () => {}) => {
  const page = await browser.newPage();
  await prepare(page);
  await page.goto(base + path, { waitUntil: "load" });
  return page;
};

const tests = {
  async "the contents are in order of task, and lead to every section"() {
    const page = await open("index.html");
    await page.waitForSelector(".chapter .part-title");
    const parts = await page.$$eval(".chapter .part-title", (titles) => titles.map((title) => title.textContent.trim()));
    assert.deepEqual(parts.slice(0, 3), ["Start", "How to", "Reference"]);
    assert.ok(parts.includes("Evidence") && parts.includes("Internals"), `${parts}`);
  },

  async "search finds a page by what it says"() {
    const page = await open("index.html?search=bufferbloat%20gamma");
    await page.waitForSelector("[id$=searchresults] li a");
    const found = await page.$$eval("[id$=searchresults] li a", (links) => links.map((link) => link.getAttribute("href")));
    assert.ok(found.some((link) => link.includes("docs/")), `${found}`);
  },

  async "equations are set"() {
    const page = await open("docs/controllers/compound.html");
    assert.ok(await page.$$eval(".katex-display", (all) => all.length) >= 1);
    // KaTeX's own letters, from the site.
    assert.ok(await page.evaluate(() => document.fonts.ready.then(() => document.fonts.check("16px KaTeX_Main"))));
  },

  async "pictures are seen, and no page is wider than its window, wide or 400 px"() {
    for (const view of [{ width: 1400, height: 1000 }, PHONE]) {
      for (const path of PAGES) {
        const page = await open(path, (page) => page.setViewport(view));
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= view.width, `${path} has ${width} px in ${view.width}`);
        const blind = await page.$$eval("main img", (images) => images.filter((image) => image.complete && image.naturalWidth === 0).map((image) => image.src));
        assert.deepEqual(blind, [], path);
        await page.close();
      }
    }
  },

  async "it is dark where the reader's system is"() {
    const dark = (page) => page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    const page = await open("docs/tutorial.html", dark);
    const [ground, ink] = await page.evaluate(() => {
      const style = getComputedStyle(document.querySelector("body"));
      return [getComputedStyle(document.documentElement).backgroundColor, style.color].map((colour) => colour.match(/\d+/g).slice(0, 3).map(Number));
    });
    const light = (colour) => colour.reduce((sum, channel) => sum + channel, 0);
    assert.ok(light(ground) < 200 && light(ink) > 400, `${ground} ${ink}`);
  },

  async "the simulator runs in the page that shows it"() {
    const page = await open("try.html");
    const frame = await (await page.waitForSelector("iframe.try")).contentFrame();
    await frame.waitForFunction(() => document.body.dataset.state === "done");
    assert.ok((await frame.evaluate(() => window.tandem.results().length)) > 0);
  },

  async "a page that is not there says so, with the way home"() {
    assert.match(readFileSync(join(folder, "404.html"), "utf8"), /<main>/);
  },

  async "nothing is asked for elsewhere, and no script complains"() {
    assert.deepEqual(browser.complaints, []);
  },
};

await runTests("site", tests, browser);
server.close();
