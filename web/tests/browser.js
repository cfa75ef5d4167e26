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

  const open = async (path) => {
    const page = await browser.newPage();
    pages.push(page);
    page.on("console", (message) => {
      if (["error", "warn"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`script error: ${error.message}`));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(base) && !/^(data|blob):/.test(url)) complaints.push(`request to ${url}`);
    });
    await page.setViewport({ width: 1400, height: 1000 });
    await page.goto(base + path);
    await page.waitForFunction(() => document.body.dataset.state !== undefined);
    return page;
  };

  /** Clicks a button that saves a file, and returns the file's path. */
  const download = async (page, button, folder) => {
    const session = await page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
    const before = new Set(readdirSync(folder));
    await page.click(button);
    for (let wait = 0; wait < 100; wait++) {
      const name = readdirSync(folder).find((name) => !before.has(name) && name.endsWith(".toml"));
      if (name) return join(folder, name);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`nothing came by ${button}`);
  };

  const closePages = async () => {
    await Promise.all(pages.map((page) => page.close()));
    pages = [];
  };

  return { open, download, closePages, complaints, close: () => browser.close() };
}
