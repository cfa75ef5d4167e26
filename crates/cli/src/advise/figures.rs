// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trade-off drawn: goodput against what neighbours lose, and against delay.

use tandem_report::{Curve, Figure, FiguresPage, Style};

use super::{report::Advice, rule::Judged, text, trial::Answer};
use crate::output::command_line;

pub fn page(advice: &Advice) -> FiguresPage {
    let mut figures = of_answer(advice, advice.usual);
    figures.extend(advice.changed().flat_map(|answer| of_answer(advice, answer)));
    FiguresPage {
        title: format!("Advice for {}, {} RTT", advice.question.known.rate, advice.question.known.rtt),
        paragraphs: vec![
            "Each point is a controller, a diamond the one that is advised and the present default; whiskers are 95 % intervals over seeds. The best \
             place is the upper left: much goodput, little harm. The dashed line is the limit."
                .into(),
        ],
        text: text::for_report(advice),
        figures,
        command: command_line(),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

fn of_answer(advice: &Advice, answer: &Answer) -> Vec<Figure> {
    let limits = advice.question.limits;
    let path = if answer.case.differs.is_empty() { String::new() } else { format!(", with {}", answer.case.differs) };
    let reference_delay = |judged: &Judged| judged.delay_ms.mean - judged.added_delay_ms.mean;
    let delay_limit = answer.decision.of(&advice.present.name).map(|j| reference_delay(j) + limits.added_delay_ms);
    let delay = scatter(
        advice,
        answer,
        format!("Goodput and delay{path}"),
        "95th percentile of the queueing delay, ms",
        &|judged| Some(judged.delay_ms.mean),
        delay_limit,
    );
    let stolen = scatter(
        advice,
        answer,
        format!("Goodput and what neighbours lose{path}"),
        "Lost by the neighbours, %",
        &|judged| Some(judged.stolen?.mean * 100.0),
        Some(limits.stolen * 100.0),
    );
    if answer.case.neighbours.0.is_empty() { vec![delay] } else { vec![stolen, delay] }
}

fn scatter(
    advice: &Advice,
    answer: &Answer,
    title: String,
    x_axis: &str,
    x: &dyn Fn(&Judged) -> Option<f64>,
    limit: Option<f64>,
) -> Figure {
    let decision = &answer.decision;
    let point = |judged: &Judged| {
        let (what, style) = match &judged.controller {
            name if *name == decision.chosen => (" (advised)", Style::Published),
            name if *name == advice.present.name => (" (default)", Style::Published),
            _ => ("", Style::Points),
        };
        Some(Curve {
            name: format!("{}{what}", judged.controller),
            style,
            x: vec![x(judged)?],
            y: vec![judged.goodput_mbps.mean],
            half_widths: judged.goodput_mbps.ci95.into_iter().collect(),
            controller: Some(judged.controller.clone()),
            ..Curve::default()
        })
    };
    let mut curves: Vec<Curve> = decision.controllers.iter().filter_map(point).collect();
    let most = decision.controllers.iter().map(|judged| judged.goodput_mbps.mean).fold(0.0, f64::max);
    curves.extend(limit.map(|limit| Curve {
        name: "limit".into(),
        style: Style::Dashed,
        x: vec![limit, limit],
        y: vec![0.0, most],
        ..Curve::default()
    }));
    Figure {
        title,
        caption: format!("Beside {}.", answer.case.neighbours),
        x_axis: x_axis.into(),
        y_axis: "Goodput, Mbit/s".into(),
        curves,
        ..Figure::default()
    }
}
