// SPDX-License-Identifier: MIT OR Apache-2.0
//! A figure as a small picture of its own, for documents: code-hosting sites and books show SVG, but run no scripts.

mod map;
mod scale;

use crate::{
    chart::{Axis, Chart, Draw, Series},
    figures_page::Figure,
};
use scale::{Scale, label};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 340.0;
/// The plot's edges.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 520.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 282.0;
const LEGEND: f64 = RIGHT + 16.0;
const LINE: f64 = 18.0;
/// Of 12-pixel text.
const LETTER: f64 = 6.2;
/// A legend's entry has at most this many letters.
const ENTRY: usize = 32;
/// A name on an axis has at most this many.
const NAME: usize = 15;

/// Pages may be dark; the picture is not.
const STYLE: &str =
    "text{font:12px sans-serif;fill:#222}.g{stroke:#ddd}.a{stroke:#444;fill:none}.w{stroke-width:1;opacity:.5}";

/// The picture. Series draw what [`Figure`] says: lines through points with their intervals, open diamonds for published values, crosses
/// for another engine's.
pub fn figure_svg(figure: &Figure) -> String {
    let chart = figure.chart();
    let (x, y) = scales(&chart);
    let mut svg = Svg::new(&figure.title);
    axes(&mut svg, &chart, &x, &y);
    if let Some(cells) = &chart.map {
        map::draw(&mut svg, cells, &x, &y);
    }
    svg.open(r##"<g clip-path="url(#p)">"##);
    chart.series().iter().for_each(|series| draw(&mut svg, series, &x, &y));
    svg.open("</g>");
    legend(&mut svg, &chart);
    svg.finish()
}

/// Text of an SVG that grows.
struct Svg(String);

impl Svg {
    fn new(title: &str) -> Self {
        let (width, height) = (RIGHT - LEFT, BOTTOM - TOP);
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>{}</title>\n\
             <style>{STYLE}</style>\n<clipPath id=\"p\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\"/></clipPath>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n",
            escaped(title)
        ))
    }

    fn open(&mut self, element: &str) {
        self.0 += element;
        self.0.push('\n');
    }

    /// A path of a class, such as `a`.
    fn path(&mut self, class: &str, d: &str) {
        self.open(&format!("<path class=\"{class}\" d=\"{d}\"/>"));
    }

    /// `anchor`: `start`, `middle` or `end`.
    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let anchor = if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        self.open(&format!("<text x=\"{}\" y=\"{}\"{anchor}>{}</text>", px(x), px(y), escaped(text)));
    }

    fn finish(mut self) -> String {
        self.0 += "</svg>\n";
        self.0
    }
}

/// At most this many letters, with a mark where some are left out.
fn cut(text: &str, letters: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= letters { text.to_owned() } else { all[..letters - 1].iter().chain(&['…']).collect() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A tenth of a pixel is enough.
fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn scales(chart: &Chart) -> (Scale, Scale) {
    let series = || chart.series().iter();
    let places = series().flat_map(|s| s.x.iter().copied());
    let of_map = chart.map.iter().flat_map(|map| map.x.iter().copied());
    let x = Scale::new(places.chain(of_map), chart.x.log, !chart.x.names.is_empty() || chart.x.log, LEFT, RIGHT);
    let half = |s: &Series, i: usize| s.half_y.get(i).copied().unwrap_or(0.0);
    let ends = |s: &Series, i: usize, y: f64| {
        [y - half(s, i), y + half(s, i)].map(|end| if chart.y.log && end <= 0.0 { y } else { end })
    };
    let values = series().flat_map(|s| s.y.iter().enumerate().flat_map(move |(i, y)| ends(s, i, *y)));
    let of_map = chart.map.iter().flat_map(|map| map.y.iter().copied());
    let y = Scale::new(values.chain(of_map), chart.y.log, chart.y.fitted || chart.map.is_some(), BOTTOM, TOP);
    (x.widened(0.04), y.widened(0.04))
}

fn axes(svg: &mut Svg, chart: &Chart, x: &Scale, y: &Scale) {
    for (at, text) in marks(&chart.y, y) {
        svg.path("g", &format!("M{LEFT} {0}H{RIGHT}", px(at)));
        svg.text(LEFT - 6.0, at + 4.0, "end", &text);
    }
    let marks = marks(&chart.x, x);
    let room = (RIGHT - LEFT) / marks.len().max(1) as f64;
    let is_wide = marks.iter().any(|(_, text)| text.chars().count() as f64 * LETTER > room);
    for (i, (at, text)) in marks.iter().enumerate() {
        svg.path("g", &format!("M{} {TOP}V{BOTTOM}", px(*at)));
        // Long names stand in two rows.
        let row = if is_wide { (i % 2) as f64 * 14.0 } else { 0.0 };
        svg.text(*at, BOTTOM + 16.0 + row, "middle", text);
    }
    svg.path("a", &format!("M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"));
    svg.text((LEFT + RIGHT) / 2.0, HEIGHT - 10.0, "middle", &chart.x.title);
    svg.text(8.0, 18.0, "start", &chart.y.title);
}

/// Where an axis is marked, and how.
fn marks(axis: &Axis, scale: &Scale) -> Vec<(f64, String)> {
    match axis.names.is_empty() {
        true => scale.ticks().into_iter().map(|value| (scale.px(value), label(value))).collect(),
        false => axis.names.iter().enumerate().map(|(i, name)| (scale.px(i as f64), cut(name, NAME))).collect(),
    }
}

fn draw(svg: &mut Svg, series: &Series, x: &Scale, y: &Scale) {
    let at: Vec<(f64, f64)> = series.x.iter().zip(&series.y).map(|(&a, &b)| (x.px(a), y.px(b))).collect();
    let stroke = format!("stroke=\"{}\"", series.look.colour);
    let half = |i: usize| series.half_y.get(i).copied().unwrap_or(0.0);
    let whisker = |(i, (place, _)): (usize, &(f64, f64))| {
        let ends = [series.y[i] - half(i), series.y[i] + half(i)].map(|end| px(y.px(end)));
        (half(i) > 0.0).then(|| format!("M{} {}V{}", px(*place), ends[0], ends[1]))
    };
    let whiskers: String = at.iter().enumerate().filter_map(whisker).collect();
    if !whiskers.is_empty() {
        svg.open(&format!("<path class=\"w\" {stroke} d=\"{whiskers}\"/>"));
    }
    if matches!(series.draw, Draw::Line | Draw::Dashed | Draw::Dotted | Draw::Marked | Draw::Steps) {
        let dash = if matches!(series.draw, Draw::Dashed | Draw::Dotted) { " stroke-dasharray=\"5 4\"" } else { "" };
        let line: Vec<String> = at.iter().map(|(a, b)| format!("{} {}", px(*a), px(*b))).collect();
        svg.open(&format!("<path fill=\"none\" stroke-width=\"1.5\" {stroke}{dash} d=\"M{}\"/>", line.join("L")));
    }
    let marks: String = at.iter().map(|&(a, b)| mark(series.draw, a, b)).collect();
    if !marks.is_empty() {
        svg.open(&mark_path(series, &marks));
    }
}

/// The mark of one value, as part of a path.
fn mark(draw: Draw, x: f64, y: f64) -> String {
    match draw {
        Draw::Published => format!("M{} {}l6 6l-6 6l-6-6z", px(x), px(y - 6.0)),
        Draw::Measured => format!("M{} {}l8 8m0-8l-8 8", px(x - 4.0), px(y - 4.0)),
        Draw::Points | Draw::Marked | Draw::Bars => format!("M{} {}h6v6h-6z", px(x - 3.0), px(y - 3.0)),
        Draw::Line | Draw::Dashed | Draw::Dotted | Draw::Steps => String::new(),
    }
}

/// Open marks for values from elsewhere, filled ones for our own.
fn mark_path(series: &Series, marks: &str) -> String {
    let is_filled = !matches!(series.draw, Draw::Published | Draw::Measured);
    let fill = if is_filled { series.look.colour.as_ref() } else { "none" };
    let width = if is_filled { "" } else { " stroke-width=\"2\"" };
    format!("<path fill=\"{fill}\" stroke=\"{}\"{width} d=\"{marks}\"/>", series.look.colour)
}

fn legend(svg: &mut Svg, chart: &Chart) {
    let kinds: Vec<(String, String)> = chart.map.iter().flat_map(map::entries).collect();
    let entries = kinds.len() + chart.series().len();
    let line_height = LINE.min((HEIGHT - TOP - 8.0) / entries.max(1) as f64);
    let mut y = TOP + 8.0;
    for (colour, name) in kinds {
        svg.open(&format!("<rect x=\"{LEGEND}\" y=\"{}\" width=\"14\" height=\"10\" fill=\"{colour}\"/>", px(y - 5.0)));
        svg.text(LEGEND + 24.0, y + 4.0, "start", &name);
        y += line_height;
    }
    for series in chart.series() {
        let (from, to) = (LEGEND, LEGEND + 16.0);
        let line = Series::new("", series.draw, series.look.clone(), vec![from, to], vec![y, y]);
        if mark(series.draw, from, y).is_empty() || series.draw == Draw::Marked {
            svg.open(&format!(
                "<path stroke-width=\"1.5\" stroke=\"{}\" d=\"M{from} {}H{to}\"/>",
                line.look.colour,
                px(y)
            ));
        }
        let marks = mark(series.draw, (from + to) / 2.0, y);
        if !marks.is_empty() {
            svg.open(&mark_path(series, &marks));
        }
        svg.text(LEGEND + 24.0, y + 4.0, "start", &cut(&series.name, ENTRY));
        y += line_height;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures_page::{Colouring, Curve, Map, Style};

    fn figure() -> Figure {
        let curve = |name: &str, style| Curve {
            name: name.into(),
            style,
            x: vec![1e-4, 1e-2],
            y: vec![10.0, 20.0],
            half_widths: vec![2.0, 0.0],
            colour: Some(0),
            ..Curve::default()
        };
        Figure {
            title: "Goodput & loss".into(),
            x_axis: "Loss rate".into(),
            y_axis: "Goodput, Mb/s".into(),
            log_x: true,
            curves: vec![curve("reno", Style::Marked), curve("reno, published", Style::Published)],
            ..Figure::default()
        }
    }

    #[test]
    fn values_intervals_and_axes_are_drawn() {
        let svg = figure_svg(&figure());
        for part in [
            "<title>Goodput &amp; loss</title>",
            ">Loss rate<",
            ">Goodput, Mb/s<",
            ">1e-4<",
            ">0.01<",
            ">reno, published<",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(svg.matches("class=\"w\"").count(), 2, "each curve has one interval that is wider than nothing");
        assert_eq!(svg.matches("l6 6l-6 6l-6-6z").count(), 3, "two published values, and the legend");
        assert!(!svg.contains("http://") || svg.matches("http").count() == 1, "it asks for nothing elsewhere");
    }

    #[test]
    fn a_curve_off_a_logarithmic_axis_is_no_panic() {
        let mut figure = figure();
        figure.log_y = true;
        figure.curves[0].y = vec![0.0, f64::NAN];
        assert!(figure_svg(&figure).ends_with("</svg>\n"));
        figure.curves.clear();
        assert!(figure_svg(&figure).ends_with("</svg>\n"));
    }

    /// Two cells of a kind side by side are one rectangle.
    #[test]
    fn a_map_has_a_rectangle_for_each_run_of_a_kind() {
        let map = Map {
            x: vec![1.0, 2.0, 3.0],
            y: vec![1.0, 2.0],
            values: vec![vec![1.0, 1.0, 2.0], vec![2.0, f64::NAN, 2.0]],
            colouring: Colouring::Kinds(2),
            decimals: None,
        };
        let svg = figure_svg(&Figure { map: Some(map), curves: Vec::new(), log_x: false, ..figure() });
        // The page, the clip and the legend's two, beside one and one in the first row, two in the second.
        assert_eq!(svg.matches("<rect").count(), 4 + 4, "{svg}");
    }
}
