// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows over time as SVG, which code-hosting sites show in a page.

use plotters::prelude::*;

use tandem_papers::WindowSample;

/// One controller's window in both engines.
pub struct Panel {
    pub title: String,
    pub simulated: Vec<WindowSample>,
    pub measured: Vec<WindowSample>,
}

const PANEL_WIDTH: u32 = 560;
const PANEL_HEIGHT: u32 = 230;
const LEGEND_HEIGHT: u32 = 26;
const COLUMNS: usize = 2;
/// Blue and vermilion of Okabe and Ito's palette, as in the reports.
const SIMULATED: RGBColor = RGBColor(0, 114, 178);
const MEASURED: RGBColor = RGBColor(213, 94, 0);

fn simulated() -> ShapeStyle {
    SIMULATED.stroke_width(1)
}

/// Wide, so that it shows where the other covers it.
fn measured() -> ShapeStyle {
    MEASURED.stroke_width(4)
}

/// All panels, two a row, below a legend.
pub fn svg(panels: &[Panel], end_s: f64) -> anyhow::Result<String> {
    let rows = panels.len().div_ceil(COLUMNS);
    let size = (PANEL_WIDTH * COLUMNS as u32, PANEL_HEIGHT * rows as u32 + LEGEND_HEIGHT);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        // Pages may be dark; the plot is not.
        root.fill(&WHITE).map_err(failed)?;
        let (legend, rest) = root.split_vertically(LEGEND_HEIGHT as i32);
        for (x, style, what) in [(70, simulated(), "simulator"), (190, measured(), "real TCP")] {
            legend.draw(&PathElement::new([(x, 15), (x + 24, 15)], style)).map_err(failed)?;
            legend.draw(&Text::new(what, (x + 32, 8), ("sans-serif", 14))).map_err(failed)?;
        }
        for (area, panel) in rest.split_evenly((rows, COLUMNS)).iter().zip(panels) {
            draw(area, panel, end_s)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(text)
}

fn draw(area: &DrawingArea<SVGBackend, plotters::coord::Shift>, panel: &Panel, end_s: f64) -> anyhow::Result<()> {
    let both = panel.simulated.iter().chain(&panel.measured);
    let top = both.filter(|(time_s, _)| *time_s > 5.0).map(|(_, packets)| *packets).max().unwrap_or(1);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 15))
        .margin_right(14)
        .x_label_area_size(32)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..end_s, 0.0..f64::from(top) * 1.08)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("time, s")
        .y_desc("window, packets")
        .x_labels(8)
        .y_labels(5)
        .draw()
        .map_err(failed)?;
    for (samples, style) in [(&panel.measured, measured()), (&panel.simulated, simulated())] {
        // The overshoot of slow start goes beyond the plot.
        let points = samples.iter().map(|&(time_s, packets)| (time_s, f64::from(packets.min(top))));
        chart.draw_series(LineSeries::new(points, style)).map_err(failed)?;
    }
    Ok(())
}

/// plotters' errors borrow what they are about.
fn failed(e: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("cannot draw: {e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_panel_is_drawn_with_both_lines() {
        let samples = |window| (0..50).map(|i| (f64::from(i), window)).collect();
        let panel = |title: &str| Panel { title: title.into(), simulated: samples(10), measured: samples(20) };
        let text = svg(&[panel("a & b"), panel("reno"), panel("last")], 50.0).unwrap();
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        for title in ["a &amp; b", "reno", "last"] {
            assert!(text.contains(title), "{title}");
        }
        // A line in the legend and one in each panel, in each colour.
        for colour in ["#0072B2", "#D55E00"] {
            assert_eq!(text.matches(&format!("stroke=\"{colour}\"")).count(), 4, "{colour}");
        }
    }
}
