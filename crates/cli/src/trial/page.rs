// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of a trial.

use tandem_report::{Curve, Figure, FiguresPage, Style};
use tandem_trial::answer_text;

use super::course::{History, Outcome};
use crate::origin::command_line;

/// Enough for a chart, however long the trial.
const POINTS: usize = 500;

pub fn page(outcome: &Outcome, history: &History) -> FiguresPage {
    let [first, second] = &outcome.answer.arms;
    let state = match &outcome.ended_by {
        None => "The trial is running; this page is rewritten every half minute.".to_owned(),
        Some(why) => format!("The trial has ended ({why})."),
    };
    FiguresPage {
        title: format!("Trial: {first} against {second}"),
        paragraphs: vec![
            state,
            "Connections got their controllers at random. The intervals hold at all times together, so look as often as you like. A size \
             class is by bytes sent; in the smallest a controller matters little."
                .into(),
        ],
        text: answer_text(&outcome.answer, outcome.elapsed_s),
        figures: vec![over_time(first, second, history)],
        command: command_line(),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

fn over_time(first: &str, second: &str, history: &History) -> Figure {
    let step = history.time_s.len().div_ceil(POINTS).max(1);
    let thinned = |values: &[f64]| -> Vec<f64> { values.iter().copied().step_by(step).collect() };
    let curve = |name: &str, values: &[f64], style: Style| Curve {
        name: name.into(),
        style,
        x: thinned(&history.time_s),
        y: thinned(values),
        colour: Some(0),
        ..Curve::default()
    };
    Figure {
        title: format!("Goodput of {first} compared with {second}"),
        caption: "All connections. The difference is certain where both dashed lines are on one side of 0.".into(),
        x_axis: "Time since the beginning, s".into(),
        y_axis: "Change, %".into(),
        curves: vec![
            curve("estimate", &history.value, Style::Line),
            curve("lower end", &history.low, Style::Dashed),
            curve("upper end", &history.high, Style::Dashed),
        ],
        fitted: true,
        ..Figure::default()
    }
}
