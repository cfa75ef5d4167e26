// SPDX-License-Identifier: MIT OR Apache-2.0
//! One chart: its traces, its axes, what to look for. How it looks is up to `page.js`.

use plotly::{Scatter, Trace, common::Line, common::Mode};
use serde_json::{Map, Value, json};
use tandem_scenario::Scenario;

use crate::{number, thin::thin};

/// Points of a line; more than a screen has pixels is waste.
pub const MAX_POINTS: usize = 1500;

/// Digits that a reader can tell apart in a chart or when hovering.
const DIGITS: i32 = 5;

pub struct Chart {
    pub title: String,
    pub caption: String,
    traces: Vec<Value>,
    axes: Map<String, Value>,
}

impl Chart {
    pub fn new(title: impl Into<String>, x_axis: &str, y_axis: &str, caption: impl Into<String>) -> Self {
        let axes = [("x".to_owned(), json!(x_axis)), ("y".to_owned(), json!(y_axis))];
        Self { title: title.into(), caption: caption.into(), traces: Vec::new(), axes: axes.into_iter().collect() }
    }

    /// A chart over the whole time of a run, with the warm-up marked.
    pub fn over_time(title: impl Into<String>, y_axis: &str, scenario: &Scenario, caption: impl Into<String>) -> Self {
        let mut chart = Self::new(title, "Time, s", y_axis, caption);
        chart.axes.insert("end".into(), json!(scenario.duration.as_secs_f64()));
        chart.axes.insert("warmup".into(), json!(scenario.warmup.as_secs_f64()));
        chart
    }

    pub fn add(&mut self, trace: Box<dyn Trace>) {
        self.traces.push(serde_json::from_str(&trace.to_json()).expect("traces are JSON"));
    }

    /// Names at 0, 1, ... of the x axis in place of numbers.
    pub fn name_x(&mut self, names: &[String]) {
        self.axes.insert("names".into(), json!(names.iter().map(|n| wrapped(n)).collect::<Vec<_>>()));
    }

    /// Names at 0, 1, ... of the y axis in place of numbers.
    pub fn name_y(&mut self, names: &[String]) {
        self.axes.insert("yNames".into(), json!(names.iter().map(|n| plain(n)).collect::<Vec<_>>()));
    }

    pub fn logarithmic(&mut self, x: bool, y: bool) {
        self.axes.insert("logX".into(), json!(x));
        self.axes.insert("logY".into(), json!(y));
    }

    /// Only every `step`th whole number of the x axis, from 1.
    pub fn count_x(&mut self, step: usize) {
        self.axes.insert("step".into(), json!(step));
    }

    pub fn is_empty(&self) -> bool {
        self.traces.is_empty()
    }

    /// For a `<script>` element: no `<` in it can end that or begin a comment.
    pub fn json(&self) -> String {
        let mut whole = self.axes.clone();
        whole.insert("traces".into(), json!(self.traces));
        Value::Object(whole).to_string().replace('<', "\\u003c")
    }
}

/// Plotly takes names for markup; this makes them text again.
pub fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Breaks a long name at spaces, to fit under its bars.
fn wrapped(name: &str) -> String {
    const WIDTH: usize = 14;
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|l| plain(l)).collect::<Vec<_>>().join("<br>")
}

/// A line through all samples that matter.
pub fn line(name: &str, colour: &str, time_s: &[f64], values: &[f64]) -> Box<Scatter<f64, f64>> {
    line_at(name, colour, time_s, values, &thin(values, MAX_POINTS))
}

/// A line through chosen samples, for lines that must share them.
pub fn line_at(name: &str, colour: &str, time_s: &[f64], values: &[f64], at: &[usize]) -> Box<Scatter<f64, f64>> {
    let pick = |from: &[f64]| at.iter().map(|&i| number::rounded(from[i], DIGITS)).collect();
    Scatter::new(pick(time_s), pick(values))
        .mode(Mode::Lines)
        .name(plain(name))
        .line(Line::new().color(colour.to_owned()).width(1.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_script() {
        let mut chart = Chart::new("", "x", "y", "");
        chart.add(line("</script><b>", "#000000", &[0.0], &[1.0]));
        assert!(!chart.json().contains('<'));
        let back: Value = serde_json::from_str(&chart.json()).unwrap();
        assert_eq!(back["traces"][0]["name"], "&lt;/script&gt;&lt;b&gt;");
    }

    #[test]
    fn wraps_long_names() {
        assert_eq!(wrapped("compound:4 against reno:4"), "compound:4<br>against reno:4");
        assert_eq!(wrapped("reno:4"), "reno:4");
    }
}
