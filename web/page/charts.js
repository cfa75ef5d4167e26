// SPDX-License-Identifier: MIT OR Apache-2.0
// Four charts over the time of the run, drawn as the samples come.

/* global uPlot */
import { element } from "./controls.js";

/** A run's columns: time, queue, then window, RTT and goodput of the contender, and the same of the neighbours. */
const QUEUE = 1;
const CONTENDER = { window: 2, rtt: 3, goodput: 4 };
const NEIGHBOURS = { window: 5, goodput: 7 };

const CHARTS = [
  { id: "windows", title: "Window of one flow, packets", contender: CONTENDER.window, neighbours: NEIGHBOURS.window },
  { id: "queue", title: "Packets that wait in the queue", contender: QUEUE },
  { id: "rtt", title: "RTT of one flow (smoothed), ms", contender: CONTENDER.rtt },
  { id: "shares", title: "Share of the link, %", contender: CONTENDER.goodput, neighbours: NEIGHBOURS.goodput, share: true },
];

const COLOURS = ["--first", "--second"];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The samples of one run, by column. Goodput becomes its mean over the last part of the run, as a share of the link. */
export class Samples {
  constructor(setting) {
    this.setting = setting;
    this.columns = Array.from({ length: 8 }, () => []);
    this.sums = { [CONTENDER.goodput]: [0], [NEIGHBOURS.goodput]: [0] };
  }

  get length() {
    return this.columns[0].length;
  }

  push({ rows, columns }) {
    for (let row = 0; row < rows.length; row += columns) {
      for (let column = 0; column < columns; column++) {
        const value = rows[row + column];
        this.columns[column].push(column in this.sums ? this.share(column, value) : column === CONTENDER.rtt ? value || null : value);
      }
    }
  }

  /** The mean over a 60th of the run: single samples of goodput jump with each ACK. */
  share(column, goodput_mbps) {
    const sums = this.sums[column];
    sums.push(sums.at(-1) + goodput_mbps);
    const now = sums.length - 1;
    const time_s = this.columns[0].at(-1);
    const span = Math.min(now, Math.max(1, Math.round(((now / time_s) * this.setting.duration_s) / 60)));
    return ((sums[now] - sums[now - span]) / span / this.setting.rate_mbps) * 100;
  }
}

/** The charts of up to two runs. */
export class Charts {
  constructor(place) {
    this.place = place;
    this.plots = [];
    this.runs = [];
    new ResizeObserver(() => this.fit()).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.make());
  }

  /** Other runs from now on; the old curves stay until new samples come. */
  show(runs, setting) {
    this.runs = runs;
    const kind = JSON.stringify([runs.length, setting.neighbours > 0]);
    this.setting = setting;
    if (kind !== this.kind) {
      this.kind = kind;
      this.make();
    }
  }

  make() {
    this.place.replaceChildren();
    this.plots = CHARTS.map((chart) => {
      const figure = element("figure", { id: chart.id, role: "img", "aria-label": chart.title }, element("figcaption", {}, chart.title));
      this.place.append(figure);
      return { chart, figure, plot: new uPlot(this.options(chart, figure), this.data(chart), figure) };
    });
    this.draw();
  }

  options(chart, figure) {
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid"), width: 1 } };
    const line = (name, dash) => ({ stroke: colour(name), width: dash ? 1 : 1.5, dash, points: { show: false }, spanGaps: false });
    const series = this.runs.flatMap((_, i) => {
      const own = [line(COLOURS[i])];
      return chart.neighbours && this.setting.neighbours > 0 ? [...own, line(COLOURS[i], [5, 4])] : own;
    });
    return {
      ...this.size(figure),
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, sync: { key: "time" } },
      scales: {
        x: { time: false },
        y: { range: (_, min, max) => [0, chart.share ? 105 : Math.max(1, (max ?? 1) * 1.05)] },
      },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((t) => `${t} s`) }, { ...axis, size: 56 }],
      series: [{}, ...series],
    };
  }

  data(chart) {
    const longest = this.runs.reduce((a, b) => (b.length > a.length ? b : a), this.runs[0] ?? { columns: [[]], length: 0 });
    const padded = (run, column) => {
      const values = run.columns[column];
      return values.length === longest.length ? values : values.concat(Array(longest.length - values.length).fill(null));
    };
    const series = this.runs.flatMap((run) => {
      const own = [padded(run, chart.contender)];
      return chart.neighbours && this.setting.neighbours > 0 ? [...own, padded(run, chart.neighbours)] : own;
    });
    return [longest.columns[0], ...series];
  }

  /** Draws what has come. */
  draw() {
    for (const { plot, chart } of this.plots) {
      plot.batch(() => {
        plot.setData(this.data(chart), false);
        plot.setScale("x", { min: 0, max: this.setting.duration_s });
      });
    }
  }

  size(figure) {
    const caption = figure.querySelector("figcaption");
    return { width: figure.clientWidth, height: figure.clientHeight - caption.offsetHeight };
  }

  fit() {
    for (const { plot, figure } of this.plots) plot.setSize(this.size(figure));
  }
}
