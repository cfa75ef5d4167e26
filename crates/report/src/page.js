// SPDX-License-Identifier: MIT OR Apache-2.0
'use strict';
{
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const touch = matchMedia('(pointer: coarse)').matches;
  // Fits A4 and Letter less their margins, three charts a page; in CSS pixels.
  const PAPER = { width: 660, height: 235 };

  const colours = (isDark) => {
    const text = isDark ? '#e6e6e6' : '#1a1a1a';
    const grid = isDark ? '#3a3d42' : '#e2e2e2';
    const look = { 'font.color': text, 'hoverlabel.bgcolor': isDark ? '#2a2d32' : '#fff', 'hoverlabel.font.color': text };
    for (const axis of ['xaxis', 'yaxis']) {
      look[axis + '.gridcolor'] = grid;
      look[axis + '.zerolinecolor'] = grid;
      look[axis + '.linecolor'] = grid;
    }
    return look;
  };

  const layout = (chart) => {
    const axis = (title) => ({ title: { text: title, standoff: 8 }, automargin: true });
    const look = {
      xaxis: axis(chart.x),
      // Areas and bars stand on 0; of an RTT only what is above the propagation delay says something.
      yaxis: { ...axis(chart.y), rangemode: chart.y.startsWith('RTT') ? 'normal' : 'tozero' },
      margin: { l: 10, r: 10, t: 10, b: 10 },
      paper_bgcolor: 'rgba(0,0,0,0)',
      plot_bgcolor: 'rgba(0,0,0,0)',
      font: { family: 'system-ui, sans-serif', size: 12 },
      showlegend: chart.traces.length > 1,
      legend: { orientation: 'h', x: 0, y: 0, yref: 'container', yanchor: 'bottom' },
      hovermode: chart.end ? 'x unified' : 'closest',
      // Under a finger a drag scrolls the page.
      dragmode: touch ? false : 'zoom',
    };
    if (chart.logX) look.xaxis.type = 'log';
    if (chart.logY) look.yaxis.type = 'log';
    if (chart.yNames) Object.assign(look.yaxis, { tickvals: chart.yNames.map((_, i) => i), ticktext: chart.yNames, rangemode: 'normal' });
    if (chart.names) {
      Object.assign(look.xaxis, { tickvals: chart.names.map((_, i) => i), ticktext: chart.names, showgrid: false, zeroline: false });
      look.xaxis.range = [-0.6, chart.names.length - 0.4];
    }
    if (chart.step) Object.assign(look.xaxis, { tick0: 1, dtick: chart.step, showgrid: false });
    if (chart.end) look.xaxis.range = [0, chart.end];
    if (chart.warmup > 0) {
      const shade = { type: 'rect', yref: 'paper', x0: 0, x1: chart.warmup, y0: 0, y1: 1 };
      look.shapes = [{ ...shade, fillcolor: '#888', opacity: 0.15, line: { width: 0 }, layer: 'below' }];
    }
    return look;
  };

  const charts = [...document.querySelectorAll('.chart')];

  // Charts of one run over time zoom together. Setting a chart raises its event too; it ends there, as all then agree.
  const zoomTogether = (div) => div.on('plotly_relayout', () => {
    const range = [...div.layout.xaxis.range];
    for (const other of div.closest('section').querySelectorAll('.chart')) {
      const differs = other.overTime && other.layout.xaxis.range.some((end, i) => end !== range[i]);
      if (differs) Plotly.relayout(other, { 'xaxis.range': range });
    }
  });

  const paint = (div, isDark, size) => {
    const look = colours(isDark);
    return Plotly.update(div, { 'error_y.color': look['font.color'] }, { ...look, ...size });
  };
  const paintAll = (isDark, size) => charts.filter((div) => div.layout).forEach((div) => paint(div, isDark, size?.(div)));
  // Maps keep the height that their names need.
  const onPaper = (div) => ({ ...PAPER, height: Math.max(PAPER.height, parseInt(div.style.height) || 0) });

  const draw = async () => {
    for (const div of charts) {
      const chart = JSON.parse(div.nextElementSibling.textContent);
      // Many names under few pixels stand upright and need the room.
      if (chart.names?.length > 4 && div.clientWidth < 500) div.style.height = '480px';
      if (chart.yNames?.length > 9) div.style.height = `${180 + 18 * chart.yNames.length}px`;
      await Plotly.newPlot(div, chart.traces, layout(chart), { responsive: true, displayModeBar: false });
      await paint(div, dark.matches);
      div.overTime = 'end' in chart;
      if (div.overTime) zoomTogether(div);
    }
  };

  dark.addEventListener('change', () => paintAll(dark.matches));
  // Paper is white, and narrower than the window.
  addEventListener('beforeprint', () => paintAll(false, onPaper));
  addEventListener('afterprint', () => paintAll(dark.matches, () => ({ width: null, height: null, autosize: true })));
  draw();
}
