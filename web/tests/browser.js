// SPDX-License-Identifier: MIT OR Apache-2.0
// Chromium for the tests: it notes script errors, and requests to other hosts than the page's.

import { renameSync } from "node:fs";
import { join } from "node:path";

import puppeteer from "puppeteer-core";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** So long a test waits for what takes seconds. It only ends what hangs: no test is about time. */
const LIMIT_MS = 300_000;

/** Opens a browser for the pages below `base`. */
export async function openBrowser(base) {
  // Root, and containers without user namespaces, have no sandbox. The pages are ours.
  const limits = { timeout: LIMIT_MS, protocolTimeout: LIMIT_MS };
  const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"], ...limits });
  const complaints = [];
  let pages = [];

  const newPage = async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(LIMIT_MS);
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

  /** Clicks a button that saves a file, and returns the file's path. */
  const download = async (page, button, folder) => {
    const session = await page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allowAndName", downloadPath: folder, eventsEnabled: true });
    const saved = new Promise((resolve, reject) => {
      let name;
      session.on("Browser.downloadWillBegin", ({ suggestedFilename }) => (name = suggestedFilename));
      session.on("Browser.downloadProgress", ({ guid, state }) => {
        if (state === "completed") resolve({ guid, name });
        if (state === "canceled") reject(new Error(`${name} did not come`));
      });
      AbortSignal.timeout(LIMIT_MS).addEventListener("abort", () => reject(new Error(`nothing came by ${button}`)));
    });
    await page.click(button);
    const { guid, name } = await saved;
    await session.detach();
    renameSync(join(folder, guid), join(folder, name));
    return join(folder, name);
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
