// SPDX-License-Identifier: MIT OR Apache-2.0
// Chromium for the tests: it notes script errors, and requests to other hosts than the page's.

import { readdirSync } from "node:fs";
import { join } from "node:path";

import puppeteer from "puppeteer-core";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Opens a browser for the pages below `base`. */
export async function openBrowser(base) {
  // Root, and containers without user namespaces, have no sandbox. The pages are ours.
  const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const complaints = [];
  let pages = [];

  const newPage = async () => {
    const page = await browser.newPage();
    pages.push(page);
    page.on("console", (message) => {
      if (["error", "warn"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`script error at ${page.url()}: ${error?.stack ?? error}`));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(base) && !/^(data|blob):/.test(url)) complaints.push(`request to ${url}`);
    });
    await page.setViewport({ width: 1400, height: 1000 });
    return page;
  };

  /** Opens a page, in a new tab unless there is one for it. */
  const open = async (path, tab) => {
    const page = tab ?? (await newPage());
    await page.goto(base + path);
    await page.waitForFunction(() => document.body.dataset.state !== undefined);
    return page;
  };

  /** Clicks a button that saves a file whose name ends so, and returns the file's path. */
  const download = async (page, button, folder, ending) => {
    const session = await page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
    const before = new Set(readdirSync(folder));
    await page.click(button);
    for (let wait = 0; wait < 100; wait++) {
      const name = readdirSync(folder).find((name) => !before.has(name) && name.endsWith(ending));
      if (name) return join(folder, name);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`nothing came by ${button}`);
  };

  const closePages = async () => {
    await Promise.all(pages.map((page) => page.close()));
    pages = [];
  };

  return { open, newPage, download, closePages, complaints, close: () => browser.close() };
}

/** Runs tests one after the other, each with its time, and says how many passed in the words of `cargo test`. `between` follows each. */
export async function runTests(about, tests, browser, between = () => {}) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const begin = performance.now();
    try {
      await test();
      console.log(`${about}: ${name}: ok, ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed++;
      console.log(`${about}: ${name}: FAILED\n${error.stack}`);
    }
    await between();
  }
  await browser.close();
  const passed = Object.keys(tests).length - failed;
  console.log(`test result: ${failed ? "FAILED" : "ok"}. ${passed} passed; ${failed} failed; 0 ignored;`);
  process.exitCode = failed ? 1 : 0;
}
