// SPDX-License-Identifier: MIT OR Apache-2.0
// The form: numbers with sliders, controllers, check boxes. It shows a setting, and tells which key changes to what.

import { KEYS } from "./setting.js";

const STEPS = 100;

/** Where the fields stand, in their order. `from`: the slider is logarithmic from there, and below is 0 if the key may be 0. */
const FIELDS = [
  { key: "a", in: "flows", label: "Contender 1" },
  { key: "b", in: "flows", label: "Contender 2", none: "none" },
  { key: "flows", in: "flows", label: "Flows of each", unit: "" },
  { key: "neighbour", in: "flows", label: "Neighbours" },
  { key: "neighbours", in: "flows", label: "Their flows", unit: "" },
  { key: "rate_mbps", in: "path", label: "Rate", unit: "Mb/s", from: 1 },
  { key: "rtt_ms", in: "path", label: "RTT", unit: "ms", from: 1 },
  { key: "queue_packets", in: "path", label: "Queue", unit: "packets", from: 2 },
  { key: "loss", in: "path", label: "Random loss", unit: "share", from: 1e-7 },
  { key: "duration_s", in: "run", label: "Duration", unit: "s", from: 10 },
  { key: "delayed_acks", in: "run", label: "Delayed ACKs" },
];

const position = ({ from }, { min, max }, value) => {
  if (from === undefined) return ((value - min) / (max - min)) * STEPS;
  return value < from ? 0 : Math.max(min === 0 ? 1 : 0, (Math.log(value / from) / Math.log(max / from)) * STEPS);
};

const valueAt = ({ from }, { min, max, whole }, place) => {
  if (from === undefined) return Math.round(min + (place / STEPS) * (max - min));
  if (place === 0) return min;
  // Two digits are enough for a slider.
  const value = Number((from * (max / from) ** (place / STEPS)).toPrecision(2));
  return Math.min(max, whole ? Math.round(value) : value);
};

/** Elements with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function numberField(field, onChange) {
  const limits = KEYS[field.key];
  const number = element("input", { type: "number", id: field.key, min: limits.min, max: limits.max, step: limits.whole ? 1 : "any" });
  const steps = field.from === undefined ? { max: STEPS, step: STEPS / (limits.max - limits.min) } : { max: STEPS, step: 1 };
  const slider = element("input", { type: "range", id: `${field.key}-slider`, min: 0, ...steps, "aria-label": `${field.label}, slider` });
  number.addEventListener("change", () => onChange(field.key, number.value));
  slider.addEventListener("input", () => onChange(field.key, String(valueAt(field, limits, Number(slider.value)))));
  const show = (value) => {
    number.value = value;
    slider.setAttribute("aria-valuetext", `${value} ${field.unit}`);
    // A slider that is moved stands where the hand has it.
    if (valueAt(field, limits, Number(slider.value)) !== value) slider.value = position(field, limits, value);
  };
  return { parts: [number, element("span", { class: "unit" }, field.unit), slider], show };
}

function controllerField(field, controllers, onChange) {
  const select = element("select", { id: field.key });
  if (field.none) select.append(element("option", { value: "" }, field.none));
  const families = grouped(controllers);
  for (const [family, members] of families) {
    const options = members.map((c) => element("option", { value: c.name, title: c.source }, c.name));
    select.append(members.length > 1 ? element("optgroup", { label: `${family} family` }, ...options) : options[0]);
  }
  select.addEventListener("change", () => onChange(field.key, select.value));
  const show = (value) => {
    // One with parameters, from an address.
    if (![...select.options].some((option) => option.value === value)) select.append(element("option", { value }, value));
    select.value = value;
  };
  return { parts: [select], show };
}

function grouped(controllers) {
  const families = new Map();
  for (const c of controllers) families.set(c.family, [...(families.get(c.family) ?? []), c]);
  return families;
}

function checkField(field, onChange) {
  const box = element("input", { type: "checkbox", id: field.key });
  box.addEventListener("change", () => onChange(field.key, String(box.checked)));
  return { parts: [box], show: (value) => (box.checked = value) };
}

/** Makes the fields. Returns a function that shows a setting in them. */
export function makeControls(controllers, onChange) {
  const shows = FIELDS.map((field) => {
    const { initial } = KEYS[field.key];
    const { parts, show } =
      typeof initial === "boolean" ? checkField(field, onChange)
      : typeof initial === "string" ? controllerField(field, controllers, onChange)
      : numberField(field, onChange);
    const label = element("label", { for: field.key }, field.label);
    document.getElementById(field.in).append(element("div", { class: "field" }, label, ...parts));
    return (setting) => show(setting[field.key]);
  });
  return (setting) => shows.forEach((show) => show(setting));
}
