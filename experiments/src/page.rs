// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings as one HTML page, each figure drawn with the paper's axes and what it prints.

use tandem_report::{Colouring, Curve, Figure, FigureSection, Map, Mark, Note, SectionsPage, Style, Table};

use crate::{
    file::{Experiment, MapAxis},
    findings::{Findings, Reading},
    judge::Points,
    judged::Judged,
    kernel::KernelComparison,
    patch::X,
    sample::Sample,
    source,
    table::{self, capital},
    verdict::Verdict,
};

/// The page. `command` made it.
pub fn page(found: &[(&Experiment, &Findings)], command: &str, version: &str) -> SectionsPage {
    let row = |(_, f): &(&Experiment, &Findings)| {
        vec![f.id.clone(), f.title.clone(), f.verdict.words().to_owned(), f.tallies(), f.claim.clone()]
    };
    SectionsPage {
        title: "The papers' experiments, run again".into(),
        paragraphs: vec![
            "Lines are means over seeds, whiskers their 95\u{a0}% intervals. Open diamonds are values that the paper prints, crosses \
             means of those measured over real TCP, whose intervals are in the table; there alone, if they are of a path at another \
             scale. Every verdict follows from the numbers: a claim holds at a point if the mean meets the limit, and is undecided \
             there if its interval reaches over the limit. Headlines are what the paper says of the figure; they alone make its \
             verdict. One headline that fails at all of its points fails the figure."
                .into(),
        ],
        summary: Table {
            header: ["figure", "", "verdict", "claims", "what the paper says"].map(String::from).to_vec(),
            rows: found.iter().map(row).collect(),
        },
        sections: found.iter().map(|(experiment, findings)| section(experiment, findings)).collect(),
        command: command.into(),
        version: version.into(),
    }
}

fn section(experiment: &Experiment, findings: &Findings) -> FigureSection {
    let mut notes: Vec<Note> = vec![
        ("The paper", findings.claim.clone()).into(),
        (capital(findings.verdict.words()), findings.own.tallies_in_words()).into(),
    ];
    notes.extend(labelled(findings.own.claims.iter()));
    if let Some((inside, all)) = findings.inside_spread {
        let text = format!("{inside} of {all} published values lie inside the spread of single seeds.");
        notes.push(("Single runs", text).into());
    }
    if let Some(comparison) = &findings.kernel {
        let label = format!("Over real TCP: {}", comparison.measured.verdict().words());
        notes.push((label, format!("{} {}", comparison.setting(), comparison.differences_text())).into());
        notes.extend(labelled(comparison.claims().filter(|_| !findings.is_kernel_only())));
        notes.extend(comparison.doubts_text().map(|doubts| Note::from(("Doubtful", doubts))));
    }
    notes.extend(findings.why.iter().chain(&findings.more).map(|why| Note::from(("Why", why.clone()))));
    notes.extend(findings.note.iter().map(|note| Note::from(("Beside it", note.clone()))));
    for variant in &findings.variants {
        let claims = variant.claims.iter().filter(|c| c.verdict != Verdict::NotAsked).map(Judged::marked_line);
        let name = variant.name.clone().unwrap_or_default();
        let label = format!("{name}: {}", variant.verdict().words());
        notes.push((label, claims.collect::<Vec<_>>().join(". ")).into());
    }
    notes.extend(findings.assumptions.iter().map(|assumed| Note::from(("Assumed", assumed.clone()))));
    notes.push(("Run", findings.setting()).into());
    if let Some(source) = source(&findings.id) {
        notes.push(("Source", source).into());
    }
    let of = |(header, rows): (Vec<String>, Vec<Vec<String>>)| Table { header, rows };
    let own = (!findings.is_kernel_only()).then(|| of(table::reading_rows(experiment, findings, &findings.own)));
    let comparison = findings.kernel.as_ref().map(|comparison| of(comparison.table(&experiment.file.sweep.label)));
    FigureSection {
        id: findings.id.replace('/', "-"),
        title: format!("{}: {}", findings.id, findings.title),
        mark: (mark(findings.verdict), findings.verdict.words().to_owned()),
        notes,
        figure: figure(experiment, findings),
        tables: own.into_iter().chain(comparison).collect(),
    }
}

fn mark(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::Holds => Mark::Good,
        Verdict::HoldsInPart => Mark::Part,
        Verdict::DoesNotHold => Mark::Bad,
        Verdict::Undecided | Verdict::NotAsked => Mark::Open,
    }
}

/// Claims in lines, the first of each kind with a label.
fn labelled<'a>(claims: impl Iterator<Item = &'a Judged>) -> Vec<Note> {
    let mut last = None;
    let mut note = |claim: &Judged| {
        let label = if last.replace(claim.headline) == Some(claim.headline) { "" } else { claim.kind() };
        Note { label: label.to_owned(), text: claim.line(), mark: Some(mark(claim.verdict)) }
    };
    claims.map(&mut note).collect()
}

/// The figure as the paper draws it, with what it prints.
pub(crate) fn figure(experiment: &Experiment, findings: &Findings) -> Figure {
    figure_of(experiment, findings, &|_| true)
}

/// The figure with the curves alone that show its own measure.
pub fn picture(experiment: &Experiment, findings: &Findings) -> Figure {
    figure_of(experiment, findings, &|place| experiment.file.curves[place].get_ref().measure.is_none())
}

fn figure_of(experiment: &Experiment, findings: &Findings, is_drawn: &dyn Fn(usize) -> bool) -> Figure {
    let file = &experiment.file;
    let is_named = file.sweep.values.get_ref().iter().any(|x| matches!(x, X::Name(_)));
    let at: Vec<f64> =
        findings.x.iter().enumerate().map(|(i, x)| x.parse().ok().filter(|_| !is_named).unwrap_or(i as f64)).collect();
    let mut curves: Vec<Curve> = Vec::new();
    let comparison = findings.kernel.as_ref();
    let simulated =
        comparison.filter(|_| findings.is_kernel_only()).map_or(&findings.own, |comparison| &comparison.simulated);
    let map = file.map.as_ref().map(|axis| (axis, map(experiment, simulated, &at, axis)));
    let all = simulated.curves.iter().enumerate();
    for (colour, curve) in all.filter(|(place, _)| map.is_none() && is_drawn(*place)) {
        curves.push(ours(curve, &at, colour, is_named));
        curves.extend(published(curve, &at, colour));
    }
    let drawn = comparison.filter(|comparison| comparison.scale.is_none() || findings.is_kernel_only());
    curves.extend(drawn.into_iter().flat_map(|comparison| real_tcp(comparison, &findings.x, &at)));
    let controllers = controllers(experiment);
    for curve in &mut curves {
        curve.controller = curve.colour.and_then(|place| controllers.get(place)?.clone());
    }
    let (y_axis, log_y) = map.as_ref().map_or((&file.y.label, file.y.log), |(axis, _)| (&axis.label, axis.log));
    Figure {
        title: findings.title.clone(),
        caption: format!("{}.", capital(findings.verdict.words())),
        x_axis: file.sweep.label.clone(),
        y_axis: y_axis.clone(),
        log_x: file.sweep.log,
        log_y,
        x_names: if is_named { findings.x.clone() } else { Vec::new() },
        curves,
        map: map.map(|(_, map)| map),
        ..Figure::default()
    }
}

/// The curves that are rows, lowest first.
fn map(experiment: &Experiment, reading: &Reading, at: &[f64], axis: &MapAxis) -> Map {
    let rows = experiment.file.curves.iter().map(|curve| curve.get_ref().row).zip(&reading.curves);
    let mut rows: Vec<(f64, &Points)> = rows.filter_map(|(row, points)| Some((row?, points))).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let values =
        |points: &Points| points.points.iter().map(|v| v.as_ref().map_or(f64::NAN, |v| v.estimate.value)).collect();
    Map {
        x: at.to_vec(),
        y: rows.iter().map(|(row, _)| *row).collect(),
        values: rows.iter().map(|(_, points)| values(points)).collect(),
        colouring: Colouring::Kinds(axis.kinds),
        decimals: None,
    }
}

/// The controller that each curve is about, if the curves differ in that; one of them may leave it as in the scenario.
fn controllers(experiment: &Experiment) -> Vec<Option<String>> {
    let file = &experiment.file;
    let of_curve = |curve: &crate::file::Curve| {
        let is_controller = |key: &str| key.starts_with("flows.") && key.ends_with(".controller");
        let mut changes = curve.set.iter();
        changes.find(|(key, _)| is_controller(key.get_ref()))?.1.as_str().map(str::to_owned)
    };
    let mut controllers: Vec<_> = file.curves.iter().map(|curve| of_curve(curve.get_ref())).collect();
    let usual = || file._scenario.get_ref().get("flows")?.get(0)?.get("controller")?.as_str().map(str::to_owned);
    if let [unnamed] = controllers.iter_mut().filter(|name| name.is_none()).collect::<Vec<_>>().as_mut_slice() {
        **unnamed = usual();
    }
    if controllers.iter().all(Option::is_some) { controllers } else { Vec::new() }
}

fn ours(curve: &Points, at: &[f64], colour: usize, is_named: bool) -> Curve {
    let found = || curve.points.iter().zip(at).filter_map(|(value, x)| Some((value.as_ref()?, *x)));
    Curve {
        name: curve.name.clone(),
        style: if is_named { Style::Points } else { Style::Marked },
        x: found().map(|(_, x)| x).collect(),
        y: found().map(|(value, _)| value.estimate.value).collect(),
        half_widths: found().map(|(value, _)| value.estimate.half_width.unwrap_or(0.0)).collect(),
        colour: Some(colour),
        ..Curve::default()
    }
}

/// What was measured over real TCP, in the colours of the curves. Without whiskers: those of two runs, which may be all that there
/// are, would dwarf the rest.
fn real_tcp(comparison: &KernelComparison, xs: &[String], at: &[f64]) -> Vec<Curve> {
    let curve = |(colour, curve): (usize, &Points)| {
        let place = |x: &String| xs.iter().position(|own| own == x).map(|i| at[i]);
        let found: Vec<(f64, &Sample)> = comparison
            .x
            .iter()
            .zip(&curve.points)
            .filter_map(|(x, value)| Some((place(x)?, value.as_ref()?)))
            .collect();
        (!found.is_empty()).then(|| Curve {
            name: format!("{}, real TCP", curve.name),
            style: Style::Measured,
            x: found.iter().map(|(x, _)| *x).collect(),
            y: found.iter().map(|(_, value)| value.estimate.value).collect(),
            half_widths: vec![0.0; found.len()],
            colour: Some(colour),
            ..Curve::default()
        })
    };
    comparison.measured.curves.iter().enumerate().filter_map(curve).collect()
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
        ..Curve::default()
    })
}
