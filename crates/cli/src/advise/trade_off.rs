// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trade-off drawn: goodput against what neighbours lose, and against delay.

use tandem_advise::{Advice, Answer, Judged};
use tandem_report::{Curve, Figure, Point, Style};
use tandem_statistics::Estimate;

/// On the usual path.
pub fn usual(advice: &Advice) -> Vec<Figure> {
    of_answer(advice, &advice.usual)
}

/// On the paths where the advice differs.
pub fn changed(advice: &Advice) -> Vec<Figure> {
    advice.changed().flat_map(|answer| of_answer(advice, answer)).collect()
}

fn of_answer(advice: &Advice, answer: &Answer) -> Vec<Figure> {
    let limits = advice.question.limits;
    let path = if answer.case.differs.is_empty() { String::new() } else { format!(", with {}", answer.case.differs) };
    let stolen = scatter(
        advice,
        answer,
        &format!("Goodput and what neighbours lose{path}"),
        "Lost by the neighbours, %",
        &|judged| judged.stolen.map(|stolen| stolen * 100.0),
        Some(limits.stolen * 100.0),
    );
    let of_reference = |judged: &Judged| judged.delay_ms.value - judged.added_delay_ms.value;
    let delay = scatter(
        advice,
        answer,
        &format!("Goodput and delay{path}"),
        "95th percentile of the queueing delay, ms",
        &|judged| Some(judged.delay_ms),
        answer.decision.of(&advice.present.name).map(|judged| of_reference(judged) + limits.added_delay_ms),
    );
    if answer.case.neighbours.0.is_empty() { vec![delay] } else { vec![stolen, delay] }
}

/// Goodput against a measure that should be small, with its limit.
fn scatter(
    advice: &Advice,
    answer: &Answer,
    title: &str,
    x_axis: &str,
    x: &dyn Fn(&Judged) -> Option<Estimate>,
    limit: Option<f64>,
) -> Figure {
    let decision = &answer.decision;
    let point = |judged: &Judged| {
        let what = match &judged.controller {
            name if *name == decision.chosen => " (advised)",
            name if *name == advice.present.name => " (default)",
            _ => "",
        };
        Some(Point {
            name: format!("{}{what}", judged.controller),
            controller: judged.controller.split('@').next()?.to_owned(),
            x: x(judged)?,
            y: judged.goodput_mbps,
        })
    };
    let points: Vec<Point> = decision.controllers.iter().filter_map(point).collect();
    let caption = format!("Neighbours: {}. Up and to the left is better.", answer.case.neighbours);
    let mut figure = Figure::scatter(title, &caption, x_axis, "Goodput, Mbit/s", &points);
    let places = |of: fn(&Point) -> f64| points.iter().map(of).collect::<Vec<f64>>();
    let most = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
    // A limit far from all of them would only press them together.
    let is_near = |limit: &f64| *limit <= 2.0 * most(places(|point| point.x.value));
    figure.curves.extend(limit.filter(is_near).map(|limit| Curve {
        name: "limit".into(),
        style: Style::Dashed,
        x: vec![limit, limit],
        y: vec![0.0, most(places(|point| point.y.value))],
        ..Curve::default()
    }));
    figure
}
