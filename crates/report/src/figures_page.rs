// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page of figures and tables that are not about runs: curves, points and maps.

use minijinja::{Value, context, value::Serde};
use serde::{Deserialize, Serialize};
use tandem_statistics::Estimate;

use crate::{
    chart::{Axis, Cells, Chart, Draw, Series},
    colours::{Look, Looks},
    page::{Charts, render},
};

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// A solid line.
    #[default]
    Line,
    /// A dashed line.
    Dashed,
    /// Filled points without a line.
    Points,
    /// A line through points.
    Marked,
    /// Open points: values from elsewhere.
    Published,
    /// Crosses: values of another engine.
    Measured,
}

/// One curve of a figure. `x` and `y` have the same length.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Its entry in the legend.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// Places on the x axis.
    pub x: Vec<f64>,
    /// Values there.
    pub y: Vec<f64>,
    /// Half width of each point's interval; empty: no intervals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub half_widths: Vec<f64>,
    /// Half width of each point's interval along x; empty: no intervals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub x_half_widths: Vec<f64>,
    /// Its place in the palette; if not given, that among the figure's curves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<usize>,
    /// The controller that it stands for, which goes before `colour`: a controller has the same colour everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
}

/// One thing in a chart of two measures.
pub struct Point {
    /// Its entry in the legend.
    pub name: String,
    /// The controller that it stands for, which decides its colour and symbol.
    pub controller: String,
    /// One measure.
    pub x: Estimate,
    /// The other.
    pub y: Estimate,
}

/// A map: a value for each x and y, a row for each y. Where it is no number the map has a hole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// Places of the columns.
    pub x: Vec<f64>,
    /// Places of the rows.
    pub y: Vec<f64>,
    /// `values[row][column]`.
    pub values: Vec<Vec<f64>>,
    /// How values become colours.
    pub colouring: Colouring,
    /// Decimals of the numbers in the cells; `None`: the cells have colours only.
    pub decimals: Option<u8>,
}

/// How values become colours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colouring {
    /// A colour of its own for each whole number from 1 to this.
    Kinds(u8),
    /// From blue at 0 over white at half of this to orange at this.
    AroundHalfOf(f64),
    /// The darker the more, from the smallest value to the largest.
    Amount,
}

/// A chart with curves, a map or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Above the chart.
    pub title: String,
    /// Below the chart.
    pub caption: String,
    /// Label of the x axis, with the unit.
    pub x_axis: String,
    /// Label of the y axis, with the unit.
    pub y_axis: String,
    /// Logarithmic x axis.
    pub log_x: bool,
    /// Logarithmic y axis.
    pub log_y: bool,
    /// Drawn in this order, over the map.
    pub curves: Vec<Curve>,
    /// Drawn under the curves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<Map>,
    /// Names of the values 0, 1, ... of x, if they are no numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub x_names: Vec<String>,
    /// The same for y.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub y_names: Vec<String>,
    /// The x axis points to the left: less is better.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reversed_x: bool,
    /// The axes begin where the values do, not at 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fitted: bool,
}

/// A page of figures with a text.
pub struct FiguresPage {
    /// Title of the page.
    pub title: String,
    /// Introduction, above the figures.
    pub paragraphs: Vec<String>,
    /// Text as in the terminal.
    pub text: String,
    /// The charts, in order.
    pub figures: Vec<Figure>,
    /// The command that makes the page again.
    pub command: String,
    /// Tandem's version.
    pub version: String,
}

impl Figure {
    /// A chart of two measures, a point for each thing. `caption` tells which way is better.
    pub fn scatter(title: &str, caption: &str, x_axis: &str, y_axis: &str, points: &[Point]) -> Self {
        let halves = |half: Option<f64>| half.into_iter().collect();
        let curve = |point: &Point| Curve {
            name: point.name.clone(),
            style: Style::Points,
            x: vec![point.x.value],
            y: vec![point.y.value],
            half_widths: halves(point.y.half_width),
            x_half_widths: halves(point.x.half_width),
            controller: Some(point.controller.clone()),
            ..Curve::default()
        };
        Self {
            title: title.into(),
            caption: caption.into(),
            x_axis: x_axis.into(),
            y_axis: y_axis.into(),
            curves: points.iter().map(curve).collect(),
            fitted: true,
            ..Self::default()
        }
    }

    /// For the page's script.
    pub(crate) fn chart(&self) -> Chart {
        let mut chart = Chart::new(self.title.as_str(), &self.x_axis, &self.y_axis, self.caption.as_str());
        let axis = |title: &str, log: bool, names: &[String]| Axis {
            title: title.to_owned(),
            log,
            names: names.to_vec(),
            fitted: self.fitted,
            reversed: false,
        };
        chart.x = Axis { reversed: self.reversed_x, ..axis(&self.x_axis, self.log_x, &self.x_names) };
        chart.y = axis(&self.y_axis, self.log_y, &self.y_names);
        chart.map = self.map.as_ref().map(Map::cells);
        // Curves with the same place in the palette look the same under each name.
        let key = |curve: &Curve| curve.colour.map_or_else(|| curve.name.clone(), |place| place.to_string());
        let keys: Vec<String> = self.curves.iter().map(key).collect();
        let named = self.curves.iter().zip(&keys);
        let looks = Looks::new(named.filter_map(|(curve, key)| Some((key.as_str(), curve.controller.as_deref()?))));
        for (i, curve) in self.curves.iter().enumerate() {
            let look = match &curve.controller {
                Some(controller) => looks.of(&keys[i], controller),
                // A limit, say: no controller, and not to be taken for one.
                None if self.curves.iter().any(|other| other.controller.is_some()) => Look::of_controller("", 0),
                None => Look::nth(curve.colour.unwrap_or(i)),
            };
            // A published value is shown and hidden with the curve that it is about.
            let first = self.curves.iter().find(|first| curve.colour.is_some() && first.colour == curve.colour);
            chart.add(Series { entry: first.map(|first| first.name.clone()), ..curve.series(look) });
        }
        chart
    }
}

impl Figure {
    /// The chart as JSON, in the form of [`charts_json`](crate::charts_json).
    pub fn chart_json(&self) -> String {
        serde_json::to_string(&self.chart()).expect("charts are JSON")
    }
}

impl Curve {
    fn series(&self, look: Look) -> Series {
        let draw = match self.style {
            Style::Line => Draw::Line,
            Style::Dashed => Draw::Dashed,
            Style::Points => Draw::Points,
            Style::Marked => Draw::Marked,
            Style::Published => Draw::Published,
            Style::Measured => Draw::Measured,
        };
        let halves = |halves: &[f64]| if halves.iter().any(|&half| half > 0.0) { halves.to_vec() } else { Vec::new() };
        Series {
            half_y: halves(&self.half_widths),
            half_x: halves(&self.x_half_widths),
            ..Series::new(&self.name, draw, look, self.x.clone(), self.y.clone())
        }
    }
}

impl Map {
    fn cells(&self) -> Cells {
        let values = || self.values.iter().flatten().copied().filter(|value| value.is_finite());
        let ends = match self.colouring {
            Colouring::Kinds(largest) => [0.5, f64::from(largest) + 0.5],
            Colouring::AroundHalfOf(whole) => [0.0, whole],
            Colouring::Amount => [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)],
        };
        Cells {
            x: self.x.clone(),
            y: self.y.clone(),
            z: self.values.clone(),
            ends,
            scale: self.colouring.scale(),
            decimals: self.decimals,
            kinds: matches!(self.colouring, Colouring::Kinds(_)),
        }
    }
}

impl Colouring {
    fn scale(self) -> Vec<(f64, &'static str)> {
        const KINDS: [&str; 7] = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#888888"];
        match self {
            Colouring::Kinds(largest) => {
                let share = |i: u8| f64::from(i) / f64::from(largest);
                let step = |i: u8| [share(i), share(i + 1)].map(|at| (at, KINDS[usize::from(i) % KINDS.len()]));
                (0..largest).flat_map(step).collect()
            }
            Colouring::AroundHalfOf(_) => vec![(0.0, "#0072B2"), (0.5, "#ffffff"), (1.0, "#D55E00")],
            Colouring::Amount => vec![(0.0, "#f2f6fa"), (1.0, "#0072B2")],
        }
    }
}

/// Breaks long lines of prose. Tables, whose cells stand apart, stay as they are.
fn prose_wrapped(text: &str) -> String {
    const WIDTH: usize = 96;
    let wrapped = |line: &str| if line.contains("  ") { line.to_owned() } else { textwrap::fill(line, WIDTH) };
    text.lines().map(|line| wrapped(line) + "\n").collect()
}

/// The page as HTML that needs no network.
pub fn figures_html(page: &FiguresPage) -> String {
    let mut charts = Charts::default();
    let figures = charts.add(page.figures.iter().map(Figure::chart));
    let content = context! {
        title => page.title.as_str(),
        paragraphs => Value::from(Serde(&page.paragraphs)),
        text => prose_wrapped(&page.text),
        figures,
        command => page.command.as_str(),
        version => page.version.as_str(),
    };
    render("figures.html", include_str!("figures.html"), content, &charts)
}
