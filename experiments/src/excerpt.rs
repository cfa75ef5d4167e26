// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a figure's table that its page has room for.

use crate::{
    file::Experiment,
    findings::Findings,
    judged::Decider,
    table::{has_value, value_text},
};

/// Header and rows of at most about `cells` numbers, and whether that is all. Kept first: what the verdict's sentence is about; then curves with
/// headlines or published values; then points that are published or decide a headline; then evenly spread points.
pub fn main_table(experiment: &Experiment, findings: &Findings, cells: usize) -> (Vec<String>, Vec<Vec<String>>, bool) {
    let own = &findings.own;
    let all: Vec<usize> = (0..own.curves.len()).filter(|&c| own.curves[c].points.iter().any(Option::is_some)).collect();
    let places: Vec<usize> =
        (0..findings.x.len()).filter(|&i| all.iter().any(|&c| has_value(&own.curves[c], i))).collect();
    let fits = |curves: &[usize], places: &[usize]| curves.len() * places.len() <= cells;
    let mut curves = all.clone();
    if !fits(&curves, &places) {
        let telling: Vec<usize> = all.iter().copied().filter(|&c| is_telling(experiment, findings, c)).collect();
        curves = if telling.is_empty() { curves } else { telling };
        let is_told = |&c: &usize| is_told(experiment, findings, c);
        curves.sort_by_key(|c| !is_told(c));
        let told = curves.iter().filter(|c| is_told(c)).count();
        curves.truncate((cells / 4).max(told).max(1));
        curves.sort_unstable();
    }
    let mut shown = places.clone();
    if !fits(&curves, &shown) {
        let most = (cells / curves.len()).max(2);
        shown = chosen(findings, &curves, &places, most);
    }
    let names = curves.iter().map(|&c| own.curves[c].name.clone());
    let header = std::iter::once(experiment.file.sweep.label.clone()).chain(names).collect();
    let row = |&i: &usize| {
        std::iter::once(findings.x[i].clone()).chain(curves.iter().map(|&c| value_text(&own.curves[c], i))).collect()
    };
    let is_whole = curves.len() == all.len() && shown.len() == places.len();
    (header, shown.iter().map(row).collect(), is_whole)
}

/// A headline is about the curve, or the paper prints values of it.
fn is_telling(experiment: &Experiment, findings: &Findings, c: usize) -> bool {
    let curve = &findings.own.curves[c];
    let mut headlines = experiment.file.claims.iter().map(toml::Spanned::get_ref).filter(|claim| claim.headline);
    curve.published.iter().any(Option::is_some) || headlines.any(|claim| claim.curves().any(|name| name == curve.name))
}

/// The verdict's sentence is about the curve.
fn is_told(experiment: &Experiment, findings: &Findings, c: usize) -> bool {
    let told = findings.own.telling().and_then(|telling| experiment.claim_of(&telling.text));
    told.is_some_and(|claim| claim.curves().any(|name| name == findings.own.curves[c].name))
}

/// At most `most` of the places, in order.
fn chosen(findings: &Findings, curves: &[usize], places: &[usize], most: usize) -> Vec<usize> {
    let own = &findings.own;
    let told: Vec<&str> =
        own.telling().and_then(|telling| telling.decided_by.first()).map_or(Vec::new(), Decider::points);
    let deciding = own.claims.iter().filter(|claim| claim.headline).flat_map(|claim| &claim.decided_by);
    let deciding: Vec<&str> = deciding.flat_map(Decider::points).collect();
    let is_published = |i: usize| curves.iter().any(|&c| own.curves[c].published[i].is_some());
    let is_told = |i: &usize| told.iter().any(|at| *at == findings.x[*i]);
    let decides = |i: usize| deciding.iter().any(|at| *at == findings.x[i]);
    let step = places.len().div_ceil(most).max(1);
    let (first, last) = (places.first().copied(), places.last().copied());
    let spread = places.iter().copied().step_by(step);
    let wanted =
        places.iter().copied().filter(|&i| is_published(i)).chain(places.iter().copied().filter(|&i| decides(i)));
    let mut shown: Vec<usize> = Vec::new();
    let told = places.iter().copied().filter(is_told);
    for i in told.chain(first).chain(last).chain(wanted).chain(spread) {
        if shown.len() < most && !shown.contains(&i) {
            shown.push(i);
        }
    }
    shown.sort_unstable();
    shown
}
