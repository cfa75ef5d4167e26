// SPDX-License-Identifier: MIT OR Apache-2.0
//! One chart: its series, its axes, what to look for. How it looks is up to `plot.js`.

use serde::{Serialize, Serializer};
use tandem_scenario::Scenario;

use crate::{colours::Look, number, thin::thin};

/// Digits that a reader can tell apart in a chart or when hovering.
const DIGITS: i32 = 5;
/// Points of a line; a screen has no more pixels.
const MAX_POINTS: usize = 1500;
/// Points of a line if there are many runs, so that the page stays small.
const MIN_POINTS: usize = 400;
/// Up to this many runs have lines with the most points.
const FEW_RUNS: usize = 4;

/// A chart for the page's script.
#[derive(Serialize)]
pub struct Chart {
    pub title: String,
    #[serde(skip)]
    pub caption: String,
    pub x: Axis,
    pub y: Axis,
    /// For a chart over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<Cells>,
    series: Vec<Series>,
}

/// An axis. An omitted field means no, nothing or none.
#[derive(Default, Serialize)]
pub struct Axis {
    /// Name and unit, as in `RTT, ms`.
    pub title: String,
    #[serde(skip_serializing_if = "is_no")]
    pub log: bool,
    /// It need not begin at 0.
    #[serde(skip_serializing_if = "is_no")]
    pub fitted: bool,
    /// It points to the left or down.
    #[serde(skip_serializing_if = "is_no")]
    pub reversed: bool,
    /// Names at 0, 1, ... in place of numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// The time of a run, seconds.
#[derive(Serialize)]
struct Time {
    end: f64,
    warmup: f64,
}

/// A value for each place of two axes.
#[derive(Serialize)]
pub struct Cells {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// `z[row][column]`.
    pub z: Vec<Vec<f64>>,
    /// The lowest and the highest value of the scale.
    pub ends: [f64; 2],
    /// Shares of the scale with their colours.
    pub scale: Vec<(f64, &'static str)>,
    /// Decimals of the numbers in the cells; without it they have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u8>,
    /// Whole numbers are kinds, each with its colour.
    #[serde(skip_serializing_if = "is_no")]
    pub kinds: bool,
}

/// How a series is drawn.
#[derive(Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    #[default]
    Line,
    Dashed,
    Dotted,
    Points,
    /// A line through points.
    Marked,
    /// Open diamonds.
    Published,
    /// Crosses.
    Measured,
    /// Horizontal bars from 0.
    Bars,
    /// A line to the next value that then rises to it.
    Steps,
}

/// What is drawn in one colour under one name.
#[derive(Default, Serialize)]
pub struct Series {
    pub name: String,
    pub draw: Draw,
    #[serde(flatten)]
    pub look: Look,
    #[serde(serialize_with = "short")]
    pub x: Vec<f64>,
    #[serde(serialize_with = "short")]
    pub y: Vec<f64>,
    /// Half widths of intervals.
    #[serde(serialize_with = "short", skip_serializing_if = "Vec::is_empty")]
    pub half_x: Vec<f64>,
    #[serde(serialize_with = "short", skip_serializing_if = "Vec::is_empty")]
    pub half_y: Vec<f64>,
    /// Names of the points, for those who hover.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Series of one entry of the legend are shown and hidden together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Width of bars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// It stands behind others.
    #[serde(skip_serializing_if = "is_no")]
    pub faint: bool,
}

fn is_no(flag: &bool) -> bool {
    !flag
}

fn short<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&v| number::rounded(v, DIGITS)))
}

impl Axis {
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }
}

impl Chart {
    pub fn new(title: impl Into<String>, x_axis: &str, y_axis: &str, caption: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            caption: caption.into(),
            x: Axis::new(x_axis),
            y: Axis::new(y_axis),
            time: None,
            map: None,
            series: Vec::new(),
        }
    }

    /// A chart over the time of a run; the part after the warm-up is shown first.
    pub fn over_time(title: impl Into<String>, y_axis: &str, scenario: &Scenario, caption: impl Into<String>) -> Self {
        let (end, warmup) = (scenario.duration.as_secs_f64(), scenario.warmup.as_secs_f64());
        Self { time: Some(Time { end, warmup }), ..Self::new(title, "Time, s", y_axis, caption) }
    }

    pub fn add(&mut self, series: Series) {
        self.series.push(series);
    }

    /// In the order in which they are drawn.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }
}

impl Series {
    pub fn new(name: impl Into<String>, draw: Draw, look: Look, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { name: name.into(), draw, look, x, y, ..Self::default() }
    }

    /// A line through the samples that matter.
    pub fn line(name: impl Into<String>, look: Look, time_s: &[f64], values: &[f64], points: usize) -> Self {
        let at = thin(values, points);
        let pick = |from: &[f64]| at.iter().map(|&i| from[i]).collect();
        Self::new(name, Draw::Line, look, pick(time_s), pick(values))
    }
}

/// Points of a line on a page of this many runs.
pub fn points_of_line(runs: usize) -> usize {
    (MAX_POINTS * FEW_RUNS / runs.max(FEW_RUNS)).max(MIN_POINTS)
}
