// SPDX-License-Identifier: MIT OR Apache-2.0
// A server for the page and for the site, to this machine alone: node serve.js FOLDER [PORT]

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** Serves the folder. Port 0 takes any that is free. */
export function serve(folder, port) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    // normalize leaves no `..` at the start of an absolute path.
    const path = join(folder, normalize(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "text/plain", "Cache-Control": "no-cache" });
    createReadStream(path).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "localhost", () => resolve(server));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, port] = process.argv.slice(2);
  try {
    const server = await serve(folder, Number(port ?? 8000));
    console.log(`The page is at http://localhost:${server.address().port}/ until you press Ctrl-C.`);
  } catch (error) {
    console.error(`cannot serve at port ${port}: ${error.message}; choose another: PORT=8001 make web`);
    process.exitCode = 1;
  }
}
