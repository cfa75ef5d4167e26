// SPDX-License-Identifier: MIT OR Apache-2.0
// A chart of the page as Plotly takes it.
'use strict';

/** Plotly takes names for markup; this makes them text again. */
const plain = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/** Breaks a text at spaces into lines of at most this many characters; a word that is longer is a line. */
const wrapped = (text, width) => {
  const lines = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map(plain).join('<br>');
};

/** `RTT, ms`: what it is, and the unit. */
const parts = (title) => {
  const comma = title.lastIndexOf(', ');
  return comma < 0 ? { name: title, unit: '' } : { name: title.slice(0, comma), unit: title.slice(comma + 2) };
};

/** A number with its unit, for those who hover. */
const shown = (variable, title, format = ',.4~r') => {
  const { unit } = parts(title);
  return `%{${variable}:${format}}${unit && ` ${plain(unit)}`}`;
};

const hover = (chart, series) => {
  const name = series.labels ? '%{customdata}' : plain(series.name);
  if (chart.time) return `${name}: ${shown('y', chart.y.title)}<extra></extra>`;
  const line = (axis, variable) => (chart[axis].names || !chart[axis].title ? '' : `<br>${plain(parts(chart[axis].title).name)}: ${shown(variable, chart[axis].title)}`);
  const plusMinus = (halves, axis) => (halves ? ` \u00b1 %{error_${axis}.array:.2~r}` : '');
  const named = chart.x.names && !chart.map ? '<br>%{x}' : '';
  return `<b>${name}</b>${named}${line('x', 'x')}${plusMinus(series.half_x, 'x')}${line('y', 'y')}${plusMinus(series.half_y, 'y')}<extra></extra>`;
};

const whiskers = (halves, colour) => halves && { type: 'data', array: halves, color: colour, thickness: 1.5, width: 4 };

const DASHES = { dashed: 'dash', dotted: 'dot' };
const SYMBOLS = { published: 'diamond-open', measured: 'x-thin' };

const seriesTrace = (chart, series, seen) => {
  const { draw, colour, symbol } = series;
  const entry = series.entry ?? series.name;
  const first = !seen.has(entry);
  seen.add(entry);
  const trace = {
    type: 'scatter', name: plain(entry), legendgroup: entry, showlegend: first, x: series.x, y: series.y, customdata: series.labels?.map(plain),
    error_x: whiskers(series.half_x, colour), error_y: whiskers(series.half_y, colour), hovertemplate: hover(chart, series), opacity: series.faint ? 0.7 : 1,
  };
  if (draw === 'bars') {
    return { ...trace, type: 'bar', orientation: 'h', width: series.width, marker: { color: colour } };
  }
  const isPoints = ['points', 'published', 'measured'].includes(draw);
  trace.mode = isPoints ? 'markers' : draw === 'marked' ? 'lines+markers' : 'lines';
  trace.line = { color: colour, width: draw === 'dotted' ? 2 : 1.5, dash: DASHES[draw], shape: draw === 'steps' ? 'hv' : 'linear' };
  const many = series.x.length > 100;
  trace.marker = { color: colour, size: many ? 5 : draw === 'points' ? 10 : draw === 'marked' ? 6 : 11, symbol: SYMBOLS[draw] ?? symbol };
  if (draw === 'measured') trace.marker.line = { color: colour, width: 2 };
  // Points lie over each other where all controllers do the same.
  if (draw === 'points' && !many) trace.opacity = 0.85;
  return trace;
};

const mapTrace = (chart) => {
  const { map, x, y } = chart;
  const { name, unit } = parts(chart.title);
  const isTable = x.names && y.names;
  const place = isTable ? `<b>%{y} ${plain(x.title)} %{x}</b>` : `${plain(parts(x.title).name)}: ${shown('x', x.title)}<br>${plain(parts(y.title).name)}: ${shown('y', y.title)}`;
  const value = map.kinds ? '%{z}' : `%{z:,.4~r}${unit && ` ${unit}`}`;
  return {
    type: 'heatmap', x: map.x, y: map.y, z: map.z, zmin: map.ends[0], zmax: map.ends[1], colorscale: map.scale,
    xgap: isTable ? 1 : 0, ygap: isTable ? 1 : 0, hoverongaps: false,
    texttemplate: map.decimals === undefined ? undefined : `%{z:.${map.decimals}f}`,
    hovertemplate: `${place}<br>${plain(name)}: ${value}<extra></extra>`,
    colorbar: { thickness: 12, outlinewidth: 0, tickmode: map.kinds ? 'linear' : 'auto', tick0: 1, dtick: map.kinds ? 1 : undefined, ticksuffix: unit === '%' ? ' %' : '' },
  };
};

/** Ticks of a logarithmic axis that do not run into each other. */
const logTicks = (low, high, room) => {
  const decades = Math.log10(high / low);
  const fits = (steps) => decades * steps.length <= Math.max(2, room / 55);
  const steps = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]].find(fits) ?? [1];
  const values = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of steps) values.push(Number((step * 10 ** power).toPrecision(3)));
  }
  const all = values.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  const text = (value) => (value >= 1e-3 && value < 1e6 ? String(value) : value.toExponential().replace('e+', 'e'));
  return { tickmode: 'array', tickvals: all, ticktext: all.map(text) };
};

const extent = (values) => {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
};

/** The highest value after the warm-up, or after a tenth of the run: slow start does not stretch the axis. */
const measuredTop = (chart) => {
  const from = chart.time.warmup || chart.time.end / 10;
  const values = chart.series.flatMap((series) => series.y.filter((_, i) => series.x[i] >= from));
  return extent(values);
};

const axisLayout = (chart, which, room) => {
  const axis = chart[which];
  const look = { title: { text: wrapped(axis.title, Math.max(20, room / 8)), standoff: 8 }, automargin: true, rangemode: axis.fitted || axis.names ? 'normal' : 'tozero', exponentformat: 'none' };
  const values = chart.map ? chart.map[which] : chart.series.flatMap((series) => series[which]);
  if (axis.log) {
    const [low, high] = extent(values.filter((value) => value > 0));
    if (low < high) Object.assign(look, { type: 'log' }, logTicks(low, high, room));
    else look.type = 'log';
  }
  if (axis.names) {
    const width = which === 'x' ? 14 : room < 400 ? 18 : 30;
    const last = axis.names.length - 1;
    Object.assign(look, { tickvals: axis.names.map((_, i) => i), ticktext: axis.names.map((name) => wrapped(name, width)), showgrid: false, zeroline: false });
    look.range = axis.reversed ? [last + 0.5, -0.5] : [-0.5, last + 0.5];
    if (which === 'x' && last > 6) look.tickangle = -60;
  } else if (axis.reversed) {
    // From the right, where 0 is.
    const [, high] = extent(values);
    if (high > 0) look.range = [high * 1.08, -high * 0.04];
    else look.autorange = 'reversed';
  }
  return look;
};

/** More entries than these would be a chart of a legend. */
const MAX_ENTRIES = 24;

const entriesOf = (chart) => [...new Set(chart.series.map((series) => series.entry ?? series.name))];

const hasLegend = (chart) => {
  const entries = entriesOf(chart);
  const areRows = chart.y.names?.length >= entries.length && entries.every((name) => chart.y.names.includes(name));
  return entries.length > 1 && entries.length <= MAX_ENTRIES && !areRows;
};

/** Height that a chart needs for its rows and its legend in a width, pixels. */
const heightOf = (chart, width) => {
  // Entries that do not fit one row stand in columns that are as wide as the longest.
  const widths = hasLegend(chart) ? entriesOf(chart).map((name) => 7 * name.length + 45) : [];
  const columns = Math.max(1, Math.floor((width - 60) / Math.max(...widths)));
  const isRow = widths.reduce((sum, one) => sum + one, 0) < width - 60;
  const legend = widths.length === 0 ? 0 : (isRow ? 1 : Math.ceil(widths.length / columns)) * 20;
  if (chart.map && chart.y.names) return 130 + 24 * chart.y.names.length;
  const rows = chart.y.names?.length ?? 0;
  const body = rows ? 90 + rows * (width < 500 ? 44 : 34) : 320;
  // A legend scrolls from half of the chart on.
  return Math.max(rows ? 150 : 320, body, legend + 40) + legend;
};

/** Least width of a chart, pixels: numbers in cells have to be read. */
const widthOf = (chart) => (chart.map?.decimals !== undefined && chart.x.names ? 190 + 30 * chart.x.names.length : 0);

const layoutOf = (chart, width, isTouched) => {
  const look = {
    xaxis: axisLayout(chart, 'x', width),
    yaxis: axisLayout(chart, 'y', 240),
    margin: { l: 10, r: 14, t: 10, b: 10 },
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font: { family: 'system-ui, sans-serif', size: 12 },
    showlegend: hasLegend(chart),
    legend: { orientation: 'h', x: 0, y: 0, yref: 'container', yanchor: 'bottom', groupclick: 'togglegroup', tracegroupgap: 0 },
    barmode: 'overlay',
    hovermode: chart.time ? 'x unified' : 'closest',
    hoverlabel: { align: 'left', namelength: -1 },
    // Under a finger a drag scrolls the page.
    dragmode: isTouched ? false : 'zoom',
  };
  if (chart.y.names) look.yaxis.tickfont = { size: 12 };
  if (chart.time) {
    const { end, warmup } = chart.time;
    Object.assign(look.xaxis, { range: [warmup, end], hoverformat: ',.4~r', ticksuffix: '' });
    look.xaxis.unifiedhovertitle = { text: '%{x:,.5~r} s' };
    const [low, high] = measuredTop(chart);
    if (high > low) look.yaxis.range = chart.y.fitted ? [low - 0.06 * (high - low), high + 0.06 * (high - low)] : [Math.min(0, low), high * 1.06];
    if (warmup > 0) {
      const shade = { type: 'rect', yref: 'paper', x0: 0, x1: warmup, y0: 0, y1: 1 };
      look.shapes = [{ ...shade, fillcolor: '#888', opacity: 0.15, line: { width: 0 }, layer: 'below' }];
    }
  }
  return look;
};

const tracesOf = (chart) => {
  const seen = new Set();
  const traces = chart.series.map((series) => seriesTrace(chart, series, seen));
  return chart.map ? [mapTrace(chart), ...traces] : traces;
};

/** The numbers of a chart, for a spreadsheet. */
const csvOf = (chart) => {
  const cell = (value) => (/[",\n]/.test(String(value ?? '')) ? `"${String(value).replace(/"/g, '""')}"` : String(value ?? ''));
  const named = (axis, value) => (axis.names && Number.isInteger(value) ? axis.names[value] : value);
  const rows = [];
  if (chart.map) {
    rows.push([chart.y.title || 'row', chart.x.title || 'column', chart.title]);
    chart.map.z.forEach((row, i) => row.forEach((value, j) => rows.push([named(chart.y, chart.map.y[i]), named(chart.x, chart.map.x[j]), value])));
  }
  if (chart.series.length > 0) {
    rows.push(['series', 'point', chart.x.title || 'x', 'half of the 95 % interval', chart.y.title || 'y', 'half of the 95 % interval']);
    for (const series of chart.series) {
      series.x.forEach((x, i) => rows.push([series.name, series.labels?.[i], named(chart.x, x), series.half_x?.[i], named(chart.y, series.y[i]), series.half_y?.[i]]));
    }
  }
  return rows.map((row) => row.map(cell).join(',')).join('\n') + '\n';
};
