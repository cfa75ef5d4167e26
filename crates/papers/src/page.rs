// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings as one HTML page, each figure drawn with the paper's axes and what it prints.

use tandem_report::{Curve, Figure, FigureSection, SectionsPage, Style, Table};

use crate::{
    file::Experiment,
    findings::Findings,
    judge::Points,
    patch::X,
    source,
    table::{self, capital},
};

/// The page. `command` made it.
pub fn page(found: &[(&Experiment, &Findings)], command: &str, version: &str) -> SectionsPage {
    let row = |(_, f): &(&Experiment, &Findings)| {
        vec![f.id.clone(), f.title.clone(), f.verdict.words().to_owned(), f.claim.clone()]
    };
    SectionsPage {
        title: "The papers' experiments, run again".into(),
        paragraphs: vec![
            "Lines are means over seeds, whiskers their 95\u{a0}% intervals. Open diamonds are values that the paper prints. \
             Every verdict follows from the numbers: a claim holds at a point if the mean meets the limit."
                .into(),
        ],
        summary: Table {
            header: ["figure", "", "verdict", "what the paper says"].map(String::from).to_vec(),
            rows: found.iter().map(row).collect(),
        },
        sections: found.iter().map(|(experiment, findings)| section(experiment, findings)).collect(),
        command: command.into(),
        version: version.into(),
    }
}

fn section(experiment: &Experiment, findings: &Findings) -> FigureSection {
    let mut notes =
        vec![("The paper".to_owned(), findings.claim.clone()), (capital(findings.verdict.words()), String::new())];
    for claim in &findings.own.claims {
        notes.push((String::new(), format!("{}: {} ({})", claim.text, claim.outcome.words(), claim.detail)));
    }
    if let Some((inside, all)) = findings.inside_spread() {
        let text = format!("Of {all} published values {inside} lie inside the spread of single seeds.");
        notes.push(("Single runs".into(), text));
    }
    notes.extend(findings.why.iter().map(|why| ("Why".to_owned(), why.clone())));
    for variant in &findings.variants {
        let claims = variant.claims.iter().map(|c| format!("{}: {} ({})", c.text, c.outcome.words(), c.detail));
        let name = variant.name.clone().unwrap_or_default();
        notes.push((format!("{name}: {}", variant.verdict().words()), claims.collect::<Vec<_>>().join(". ")));
    }
    notes.extend(findings.assumptions.iter().map(|assumed| ("Assumed".to_owned(), assumed.clone())));
    notes.push(("Run".into(), findings.setting()));
    if let Some(source) = source(&findings.id) {
        notes.push(("Source".into(), source.into()));
    }
    let (header, rows) = table::rows(experiment, findings, &findings.own);
    FigureSection {
        id: findings.id.replace('/', "-"),
        title: format!("{}: {}", findings.id, findings.title),
        notes,
        figure: figure(experiment, findings),
        table: Table { header, rows },
    }
}

fn figure(experiment: &Experiment, findings: &Findings) -> Figure {
    let file = &experiment.file;
    let is_named = file.sweep.values.get_ref().iter().any(|x| matches!(x, X::Name(_)));
    let at: Vec<f64> =
        findings.x.iter().enumerate().map(|(i, x)| x.parse().ok().filter(|_| !is_named).unwrap_or(i as f64)).collect();
    let mut curves: Vec<Curve> = Vec::new();
    for (colour, curve) in findings.own.curves.iter().enumerate() {
        curves.push(ours(curve, &at, colour, is_named));
        curves.extend(published(curve, &at, colour));
    }
    Figure {
        title: findings.title.clone(),
        caption: format!("{}.", capital(findings.verdict.words())),
        x_axis: file.sweep.label.clone(),
        y_axis: file.y.label.clone(),
        log_x: file.sweep.log,
        log_y: file.y.log,
        x_names: if is_named { findings.x.clone() } else { Vec::new() },
        curves,
        ..Figure::default()
    }
}

fn ours(curve: &Points, at: &[f64], colour: usize, is_named: bool) -> Curve {
    let found = || curve.points.iter().zip(at).filter_map(|(value, x)| Some((value.as_ref()?, *x)));
    Curve {
        name: curve.name.clone(),
        style: if is_named { Style::Points } else { Style::Marked },
        x: found().map(|(_, x)| x).collect(),
        y: found().map(|(value, _)| value.mean).collect(),
        half_widths: found().map(|(value, _)| value.ci95.unwrap_or(0.0)).collect(),
        colour: Some(colour),
    }
}

fn published(curve: &Points, at: &[f64], colour: usize) -> Option<Curve> {
    let (x, y): (Vec<f64>, Vec<f64>) =
        curve.published.iter().zip(at).filter_map(|(value, x)| Some((*x, (*value)?))).unzip();
    (!x.is_empty()).then(|| Curve {
        name: format!("{}, published", curve.name),
        style: Style::Published,
        x,
        y,
        half_widths: Vec::new(),
        colour: Some(colour),
    })
}
