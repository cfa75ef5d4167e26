// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws the charts of the page as they come into view.
(async () => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isTouched = matchMedia('(pointer: coarse)').matches;
  // Fits A4 and Letter less their margins; in CSS pixels.
  const PAPER_WIDTH = 660;
  const divs = [...document.querySelectorAll('.chart')];
  const state = (text) => { document.body.dataset.state = text; };

  /** The text of a packed part of the page. */
  const unpacked = async (id) => {
    const packed = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text();
  };

  const colours = (isDark) => {
    const text = isDark ? '#e6e6e6' : '#1a1a1a';
    const grid = isDark ? '#3a3d42' : '#e2e2e2';
    const look = { 'font.color': text, 'hoverlabel.bgcolor': isDark ? '#2a2d32' : '#fff' };
    for (const axis of ['xaxis', 'yaxis']) {
      for (const part of ['gridcolor', 'zerolinecolor', 'linecolor']) look[`${axis}.${part}`] = grid;
    }
    return look;
  };

  let charts;
  try {
    const [script, data] = await Promise.all([unpacked('plotly'), unpacked('charts')]);
    const element = document.createElement('script');
    element.textContent = script;
    document.head.append(element);
    charts = JSON.parse(data);
  } catch (error) {
    for (const div of divs) div.textContent = `This browser cannot unpack the chart: charts need a browser from 2023 or later (${error.message}).`;
    state('failed');
    return;
  }
  const chartOf = (div) => charts[Number(div.dataset.chart)];
  const isDrawn = (div) => div.layout !== undefined;
  const inSection = (div) => [...(div.closest('section') ?? document).querySelectorAll('.chart')].filter((other) => isDrawn(other) && chartOf(other).time);

  // Charts of one run over time zoom together, those that are drawn later too.
  const ranges = new Map();
  const showTime = (div, range) => {
    const { time } = chartOf(div);
    const isMeasured = range[0] === time.warmup && range[1] === time.end;
    const measured = layoutOf(chartOf(div), div.clientWidth, isTouched).yaxis.range;
    const y = isMeasured && measured ? { 'yaxis.range': [...measured], 'yaxis.autorange': false } : range[0] < time.warmup ? { 'yaxis.autorange': true } : {};
    return Plotly.relayout(div, { 'xaxis.range': [...range], ...y });
  };
  const zoomTogether = (div) => div.on('plotly_relayout', (change) => {
    if (!Object.keys(change).some((key) => key.startsWith('xaxis'))) return;
    const section = div.closest('section');
    const range = change['xaxis.autorange'] ? [0, chartOf(div).time.end] : div.layout.xaxis.range.map(Number);
    if (String(ranges.get(section)) === String(range)) return;
    ranges.set(section, range);
    for (const other of inSection(div)) showTime(other, range);
    divs.filter((other) => other.closest('section') === section).forEach(nameToggle);
  });

  const isWhole = (div) => {
    const range = ranges.get(div.closest('section'));
    return range && range[0] <= 0 && range[1] >= chartOf(div).time.end;
  };
  const nameToggle = (div) => {
    const button = div.closest('figure').querySelector('.whole');
    if (button) button.textContent = isWhole(div) ? 'Measured part' : 'Whole run';
  };

  const draw = (div, isDark = dark.matches, width = div.clientWidth) => {
    const chart = chartOf(div);
    const look = layoutOf(chart, width, isTouched);
    const range = chart.time && ranges.get(div.closest('section'));
    if (range) look.xaxis.range = [...range];
    div.style.height = `${heightOf(chart, width)}px`;
    for (const [path, value] of Object.entries(colours(isDark))) {
      const [part, key] = path.split('.');
      look[part] = { ...look[part], [key]: value };
    }
    Plotly.newPlot(div, tracesOf(chart), look, { responsive: true, displayModeBar: false, doubleClick: 'autosize' });
    if (chart.time) zoomTogether(div);
  };

  const save = (name, url) => {
    const link = document.createElement('a');
    Object.assign(link, { download: name, href: url });
    link.click();
  };
  /** On white, with its title, whatever the page looks like. */
  const picture = async (div, format) => {
    const chart = chartOf(div);
    const [width, scale] = [Math.max(800, widthOf(chart)), format === 'png' ? 2 : 1];
    const layout = layoutOf(chart, width, false);
    Object.assign(layout, { paper_bgcolor: '#fff', plot_bgcolor: '#fff', title: { text: wrapped(chart.title, 90), font: { size: 16 } } });
    layout.margin.t = 50;
    if (chart.time) Object.assign(layout.xaxis, { range: [...(ranges.get(div.closest('section')) ?? layout.xaxis.range)] });
    return Plotly.toImage({ data: tracesOf(chart), layout }, { format, scale, width, height: heightOf(chart, width) + 60 });
  };
  const tool = (label, about, act) => {
    const button = document.createElement('button');
    Object.assign(button, { type: 'button', textContent: label, title: about });
    button.addEventListener('click', act);
    return button;
  };
  const addTools = (div) => {
    const chart = chartOf(div);
    const name = chart.title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
    const tools = document.createElement('div');
    tools.className = 'tools';
    if (chart.time && chart.time.warmup > 0) {
      const whole = tool('Whole run', 'From the start, or after the warm-up', () => showTime(div, isWhole(div) ? [chart.time.warmup, chart.time.end] : [0, chart.time.end]));
      whole.className = 'whole';
      tools.append(whole);
    }
    for (const format of ['svg', 'png']) {
      tools.append(tool(format.toUpperCase(), `Save this chart as ${format.toUpperCase()}`, async () => save(`${name}.${format}`, await picture(div, format))));
    }
    tools.append(tool('CSV', "Save this chart's numbers", () => save(`${name}.csv`, URL.createObjectURL(new Blob([csvOf(chart)], { type: 'text/csv' })))));
    div.closest('figure').append(tools);
  };

  for (const div of divs) {
    const least = widthOf(chartOf(div));
    if (least) div.style.minWidth = `${least}px`;
    if (least > 560) div.closest('figure').classList.add('wide');
    div.style.height = `${heightOf(chartOf(div), div.clientWidth)}px`;
    addTools(div);
  }
  // Thousands of charts would take minutes, and nobody looks at all of them.
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting && !isDrawn(target)) draw(target);
    }
    state('drawn');
    document.body.dataset.drawn ??= String(Math.round(performance.now()));
  }, { rootMargin: '300px' });
  divs.forEach((div) => observer.observe(div));

  const paintAll = (isDark) => divs.filter(isDrawn).forEach((div) => Plotly.relayout(div, colours(isDark)));
  dark.addEventListener('change', () => paintAll(dark.matches));
  // Paper is white, narrower than the window, and has all charts.
  addEventListener('beforeprint', () => {
    for (const div of divs) {
      if (!isDrawn(div)) draw(div, false, PAPER_WIDTH);
      const height = heightOf(chartOf(div), PAPER_WIDTH);
      Plotly.relayout(div, { ...colours(false), width: PAPER_WIDTH, height: Math.max(235, height - 60) });
    }
  });
  addEventListener('afterprint', () => divs.filter(isDrawn).forEach((div) => {
    Plotly.relayout(div, { ...colours(dark.matches), width: null, height: null, autosize: true });
  }));
})();
