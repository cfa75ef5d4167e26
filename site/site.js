// SPDX-License-Identifier: MIT OR Apache-2.0
// Sets the mathematics, which assemble.py took from blocks of ```math.
for (const place of document.querySelectorAll("div.math")) {
  katex.render(place.textContent, place, { displayMode: true, throwOnError: true });
}
