// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of cases, for the terminal and as a page.

use std::fmt::Write;

use super::{CONTROLLERS, Found, Outcome, run::CaseRun};
use crate::verdict::Verdict;

/// A case in full: each claim, and where it does not hold.
pub fn text(found: &Found) -> String {
    let mut text = format!("{}: {}\n", found.id, found.title);
    for controller in CONTROLLERS {
        let _ = writeln!(text, "  {controller}: {}", found.verdict(controller).words());
        for (i, (claim, is_ours)) in found.claims.iter().enumerate() {
            let ours = if *is_ours { " (our limit)" } else { "" };
            let _ = writeln!(
                text,
                "    {:13} {claim}{ours}{}",
                found.claim_verdict(controller, i).words(),
                numbers(found, controller, i)
            );
            for run in found.runs.iter().filter(|run| run.controller == controller) {
                if let Some(miss) = miss(run, i) {
                    let _ = writeln!(text, "                  {}: {miss}", run.path);
                }
            }
        }
    }
    text
}

/// The range of what a claim shows.
fn numbers(found: &Found, controller: &str, claim: usize) -> String {
    let of = found.runs.iter().filter(|run| run.controller == controller);
    let shown = of.filter_map(|run| run.outcomes.get(claim)?.shown);
    let range = shown.reduce(|(low, high), (l, h)| (low.min(l), high.max(h)));
    range.map_or(String::new(), |(low, high)| format!(": {}", range_text(low, high)))
}

fn range_text(low: f64, high: f64) -> String {
    let number = |x: f64| match x.abs() {
        0.0 => "0".to_owned(),
        large if large >= 1000.0 => format!("{x:.0}"),
        large if large >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.2e}"),
    };
    if number(low) == number(high) { number(low) } else { format!("{} to {}", number(low), number(high)) }
}

/// Why a claim does not hold on a path; `None` if it does.
fn miss(run: &CaseRun, claim: usize) -> Option<String> {
    match run.outcomes.get(claim) {
        None => Some("the state of the trigger was not entered".into()),
        Some(outcome) if outcome.holds() => None,
        Some(Outcome { looks: 0, .. }) => Some("its moment did not come".into()),
        Some(Outcome { looks, misses, shown, .. }) => {
            let shown = shown.map_or(String::new(), |(low, high)| format!(", {}", range_text(low, high)));
            Some(format!("not at {misses} of {looks} looks{shown}"))
        }
    }
}

/// The page of a suite.
pub fn markdown(title: &str, intro: &str, found: &[Found]) -> String {
    let mut page = format!("# {title}\n\n{intro}\n\n");
    page += "| case | paths | claims | `bbr3` | `bbr` |\n|---|---:|---:|---|---|\n";
    for case in found {
        let name = case.id.rsplit('/').next().unwrap_or_default();
        let paths = case.runs.iter().filter(|run| run.controller == CONTROLLERS[0]).count();
        let [own, beside] = CONTROLLERS.map(|controller| case.verdict(controller).words());
        let _ = writeln!(
            page,
            "| [{name}](../experiments/cases/bbr-draft/{name}.toml) | {paths} | {} | {own} | {beside} |",
            claims(case)
        );
    }
    let missed = found.iter().filter(|case| case.verdict(CONTROLLERS[0]) != Verdict::Holds);
    let whys: String = missed.map(why).collect();
    if !whys.is_empty() {
        page += "\n## What does not hold, and why\n\n";
        page += &whys;
    }
    page
}

/// How many claims hold.
fn claims(case: &Found) -> String {
    let holds = (0..case.claims.len()).filter(|&i| case.claim_verdict(CONTROLLERS[0], i) == Verdict::Holds).count();
    format!("{holds}/{}", case.claims.len())
}

fn why(case: &Found) -> String {
    let number = case.id.rsplit('/').next().and_then(|name| name.split('-').next()).unwrap_or_default();
    wrapped(&format!("- **{number}**: {}", case.why.as_deref().unwrap_or("no cause is known.")))
}

/// Lines of at most 150 characters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 150 {
            lines += &format!("{line}\n");
            line = " ".to_owned();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    format!("{lines}{line}\n")
}
