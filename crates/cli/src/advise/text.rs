// SPDX-License-Identifier: MIT OR Apache-2.0
//! The advice as the terminal has it: the answer first, then what it rests on.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use tandem_advise::{Advice, Answer, Decision, Goal, Judged, Why, measured::Inferred};
use tandem_report::{significant, with_interval};
use tandem_statistics::Estimate;

/// Columns of a terminal that are counted on.
const WIDTH: usize = 80;
/// Rows of the table in a terminal; the report has all.
const MOST_ROWS: usize = 10;

pub fn for_terminal(advice: &Advice) -> String {
    text(advice, MOST_ROWS)
}

pub fn for_report(advice: &Advice) -> String {
    text(advice, usize::MAX)
}

fn text(advice: &Advice, most_rows: usize) -> String {
    let mut text = String::new();
    for words in advice.cures().iter().chain([&headline(advice)]) {
        let _ = writeln!(text, "{}\n", wrapped(words, ""));
    }
    for (label, words) in facts(advice) {
        let _ = writeln!(text, "{:<14}{}", format!("{label}:"), wrapped(&words, &" ".repeat(14)));
    }
    let _ = write!(text, "\n{}\n", table(advice, most_rows));
    let _ = writeln!(text, "{}", wrapped(&rule(advice), ""));
    if !advice.measured.inferred.is_empty() {
        let _ = writeln!(text, "\nFrom the measurements:");
        for Inferred { what, value, source, surety } in &advice.measured.inferred {
            let _ = writeln!(text, "  {}", wrapped(&format!("{what} {value} ({source}), {surety}"), "    "));
        }
    }
    for words in paragraphs(advice) {
        let _ = write!(text, "\n{}\n", wrapped(&words, "  "));
    }
    text
}

/// What is to be said beside the answer: what was assumed, what would change it, and what is left open.
fn paragraphs(advice: &Advice) -> Vec<String> {
    let decision = &advice.usual.decision;
    let mut paragraphs = Vec::new();
    let assumed = advice.question.known.assumed();
    if !assumed.is_empty() {
        let values: Vec<String> = assumed.iter().map(|a| format!("{} {}", a.what, a.value)).collect();
        paragraphs.push(format!("Not given, so assumed: {}.", values.join("; ")));
    }
    let same: Vec<&str> = advice.unchanged().map(|answer| &*answer.case.differs).collect();
    if !same.is_empty() {
        paragraphs.push(format!("The advice is the same with {}.", same.join("; with ")));
    }
    paragraphs.extend(advice.changed().map(|answer| changed(advice, answer)));
    let kept_here = decision.controllers.iter().filter(|judged| judged.is_within_limits);
    paragraphs.extend(kept_here.filter(|judged| !judged.exceeds_with.is_empty()).map(|judged| {
        let paths = judged.exceeds_with.join("; with ");
        format!("`{}` is not advised: it exceeds a limit with {paths}.", judged.controller)
    }));
    paragraphs.extend(left_out(advice));
    paragraphs.extend(advice.measured.cautions.iter().map(|caution| format!("Caution: {caution}.")));
    paragraphs.extend(advice.usual.cautions.iter().map(|caution| format!("Caution: {caution}.")));
    paragraphs
}

/// What more time or more seeds would tell.
fn left_out(advice: &Advice) -> Vec<String> {
    let (decision, time) = (&advice.usual.decision, advice.question.time);
    let mut left_out = Vec::new();
    if !advice.not_looked_at.is_empty() {
        let paths = advice.not_looked_at.join("; ");
        left_out.push(format!("After {time} no time was left for {paths}: --time gives more."));
    }
    let names = advice.question.candidates.iter().map(|c| &*c.flows.name);
    let not_run: Vec<&str> = names.filter(|name| decision.of(name).is_none()).collect();
    if !not_run.is_empty() {
        left_out.push(format!("There was no time to run {}: --time gives more.", not_run.join(", ")));
    }
    let open = decision.controllers.iter().filter(|judged| judged.is_open);
    let open: Vec<&str> = open.map(|judged| &*judged.controller).collect();
    if !open.is_empty() {
        let how = if advice.usual.is_cut_short { "--time gives more seeds" } else { "--seeds allows more" };
        left_out.push(format!("More seeds could change what is said of {}: {how}.", open.join(", ")));
    }
    left_out
}

fn headline(advice: &Advice) -> String {
    let (decision, known) = (&advice.usual.decision, advice.question.known);
    let present = match &advice.present.stands_for {
        Some(name) => {
            format!("`{name}`, for which `{}` stands here, as the simulator does not have it", decision_default(advice))
        }
        None => format!("`{}`", decision_default(advice)),
    };
    let path = known.words();
    let chosen = &decision.chosen;
    match decision.why {
        Why::Better => format!(
            "On {path}: run `{chosen}`. It {} than the present default, {present}, within the limits.",
            match advice.question.limits.goal {
                Goal::Goodput => "carries more",
                Goal::Delay => "keeps the queue shorter",
                Goal::Both => "has more goodput for its delay",
            }
        ),
        Why::DefaultExceedsLimits => {
            let excess = excess(advice);
            format!(
                "On {path}: run `{chosen}`. The present default, {present}, {excess}; of those that do not, this one is best."
            )
        }
        Why::DefaultIsAsGood => {
            format!(
                "On {path}: stay with {present}, the present default. Within the limits no controller is better by enough to be worth a change."
            )
        }
        Why::NoneWithinLimits => {
            format!(
                "On {path}: stay with {present}, the present default. No controller keeps within the limits, so none is advised."
            )
        }
        Why::NotSteady => {
            format!(
                "On {path}: no advice. After {} of a run {present}, the present default, or its neighbours are still far from what they get in the \
                 end: --time gives longer runs.",
                advice.usual.length.duration
            )
        }
    }
}

/// What the default does that it should not.
fn excess(advice: &Advice) -> String {
    let limits = advice.question.limits;
    let Some(default) = advice.usual.decision.of(&advice.present.name) else { return "exceeds a limit".into() };
    match default.stolen.filter(|_| default.takes_too_much) {
        Some(stolen) => {
            let [taken, limit] = [stolen.value, limits.stolen].map(|share| significant(share * 100.0, 3));
            format!("takes {taken} % from its neighbours, more than {limit} %")
        }
        None => {
            let [added, limit] = [default.added_delay_ms.value, limits.added_delay_ms].map(|ms| significant(ms, 3));
            format!("adds {added} ms to the queue's delay, more than {limit} ms")
        }
    }
}

fn decision_default<'a>(advice: &'a Advice) -> &'a str {
    &advice.present.name
}

/// Labels and what is to be said under them.
fn facts(advice: &Advice) -> Vec<(&'static str, String)> {
    let (answer, decision) = (advice.usual, &advice.usual.decision);
    let (Some(chosen), Some(default)) = (decision.of(&decision.chosen), decision.of(&advice.present.name)) else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    if decision.chosen != advice.present.name {
        facts.extend(advice.command_for_one().map(|command| ("Try it", command)));
        facts.push(("Switch it on", advice.command().unwrap_or_else(|| "nothing on this machine can".into())));
        if let Some(command) = advice.command_without_root().filter(|c| Some(c) != advice.command_for_one().as_ref()) {
            facts.push(("Without root", command));
        }
    }
    let gain = |goodput: String| match decision.gain {
        Some(gain) => format!(
            "{goodput}; {} % against {} with `{}`",
            signed(gain, 100.0),
            mbps(default.goodput_mbps),
            advice.present.name
        ),
        None => goodput,
    };
    let goodput = gain(format!("{} Mb/s", mbps(chosen.goodput_mbps)));
    match completion(advice, answer, &decision.chosen) {
        Some(time) => {
            let of_default = completion(advice, answer, &advice.present.name).filter(|_| decision.gain.is_some());
            let against = of_default.map_or(String::new(), |t| format!(" instead of {}", duration(t)));
            let how = if answer.is_extrapolated { ", worked out from the pace of a part" } else { "" };
            facts.push(("Transfer", format!("{}{against}{how}; at {goodput}", duration(time))));
        }
        None => facts.push(("Goodput", goodput)),
    }
    if let Some(stolen) = chosen.stolen {
        let neighbours = &answer.case.neighbours;
        let words = match stolen.value >= 0.0 {
            true => format!("{neighbours} loses {} %", plain(stolen, 100.0)),
            false => format!("{neighbours} gains {} %", plain(-stolen, 100.0)),
        };
        let of_default = match default.stolen {
            Some(stolen) if decision.chosen != advice.present.name => {
                format!(" (beside `{}`: {} %)", advice.present.name, plain(stolen, 100.0))
            }
            _ => String::new(),
        };
        facts.push(("Neighbours", format!("{words} of what it has beside another {}{of_default}", answer.reference)));
    }
    let mut delay = format!("{} ms in the queue (95th percentile)", delay_ms(chosen.delay_ms));
    if decision.chosen != advice.present.name {
        delay += &format!("; {} ms with `{}`", delay_ms(default.delay_ms), advice.present.name);
    }
    facts.push(("Delay", delay));
    if let Some(less) = less_delay(decision, chosen) {
        facts.push(("Less delay", less));
    }
    facts.push(("How sure", sureness(advice)));
    facts
}

/// Share of the choice's goodput from which another is as good.
const AS_GOOD: f64 = 0.95;

/// A controller with the same goodput and at most half of the delay.
fn less_delay(decision: &Decision, chosen: &Judged) -> Option<String> {
    let is_as_good = |judged: &&Judged| {
        judged.is_within_limits
            && judged.is_tied_with_best
            && judged.goodput_mbps.value >= AS_GOOD * chosen.goodput_mbps.value
    };
    let least =
        decision.controllers.iter().filter(is_as_good).min_by(|a, b| a.delay_ms.value.total_cmp(&b.delay_ms.value))?;
    let is_much_less =
        least.delay_ms.value <= chosen.delay_ms.value / 2.0 && chosen.delay_ms.value - least.delay_ms.value >= 1.0;
    is_much_less.then(|| {
        let (name, delay) = (&least.controller, delay_ms(least.delay_ms));
        format!("`{name}` cannot be told from it in goodput and keeps {delay} ms")
    })
}

fn sureness(advice: &Advice) -> String {
    let (answer, decision) = (advice.usual, &advice.usual.decision);
    let seeds = decision.of(&decision.chosen).map_or(0, |chosen| chosen.seeds);
    let open: Vec<&str> = decision.controllers.iter().filter(|j| j.is_open).map(|j| &*j.controller).collect();
    let why = if answer.is_cut_short {
        format!("when {} were over", advice.question.time)
    } else {
        "with the seeds allowed".to_owned()
    };
    let intervals = match open[..] {
        [] => "the intervals are narrow enough to decide".to_owned(),
        [one] => format!("all is clear except `{one}`, whose intervals are too wide {why}"),
        _ => format!("not sure: the intervals of {} are too wide {why}", counted(open.len())),
    };
    let others = advice.others.len();
    let same = advice.unchanged().count();
    let sweep = if others > 0 {
        format!("; the same on {same} of {others} paths that differ in what is not known")
    } else {
        String::new()
    };
    let tied = decision.controllers.iter().filter(|j| j.is_within_limits && j.is_tied_with_best).count();
    let ties = if tied > 1 { format!("; {} cannot be told from the best", counted(tied)) } else { String::new() };
    let limit = advice.question.limits.stolen;
    let stolen = decision.of(&decision.chosen).and_then(|chosen| chosen.stolen);
    let near = stolen.filter(|s| s.value + s.half_width.unwrap_or(0.0) > limit);
    let near = near.map_or("", |_| "; it may take more than the limit from its neighbours");
    format!("{intervals} ({seeds} seeds){ties}{near}{sweep}")
}

fn counted(n: usize) -> String {
    if n == 1 { "one controller".into() } else { format!("{n} controllers") }
}

fn changed(advice: &Advice, answer: &Answer) -> String {
    let decision = &answer.decision;
    let what = match (decision.why, decision.gain) {
        (Why::NoneWithinLimits, _) => "no controller keeps within the limits".to_owned(),
        (Why::NotSteady, _) => "no advice: the present default is not steady in the time that there was".to_owned(),
        (_, None) => format!("stay with `{}`", decision.chosen),
        (why, Some(gain)) => {
            let reason = if why == Why::DefaultExceedsLimits { ", which exceeds a limit" } else { "" };
            let against = &advice.present.name;
            format!("`{}` ({} % goodput against `{against}`{reason})", decision.chosen, signed(gain, 100.0))
        }
    };
    let unsure = if decision.is_clear { "" } else { "; not sure" };
    format!("With {}: {what}{unsure}.", answer.case.differs)
}

fn rule(advice: &Advice) -> String {
    let limits = advice.question.limits;
    let reference = match &advice.usual.case.neighbours.0[..] {
        [] => format!("with `{}` alone", advice.usual.reference),
        _ => format!("with another {} in its place", advice.usual.reference),
    };
    let taken = if advice.usual.case.neighbours.0.is_empty() {
        String::new()
    } else {
        format!("take at most {} % from neighbours and ", significant(limits.stolen * 100.0, 3))
    };
    let length = advice.usual.length;
    let cut = if length.warmup.ns > 0 { format!(", the first {} are cut off", length.warmup) } else { String::new() };
    format!(
        "Rule: {} of those that {taken}add at most {} ms to the queue's delay, against the path {reference}; \
         a change has to bring {} % more than the default. Each run lasts {}{cut}.",
        match limits.goal {
            Goal::Goodput => "the highest goodput",
            Goal::Delay => "the least delay",
            Goal::Both => "the highest goodput over delay",
        },
        significant(limits.added_delay_ms, 3),
        significant(limits.gain * 100.0, 2),
        length.duration
    )
}

fn table(advice: &Advice, most_rows: usize) -> String {
    let (answer, decision) = (advice.usual, &advice.usual.decision);
    let with_time = !answer.completion_s.is_empty();
    let with_neighbours = !answer.case.neighbours.0.is_empty();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut header = vec!["Controller", "Goodput\nMbit/s"];
    header.extend(with_time.then_some("Transfer\n"));
    header.extend(with_neighbours.then_some("Stolen\n%"));
    header.extend(["p95 delay\nms", "Seeds\n", "\n"]);
    table.set_header(header);
    let is_named = |judged: &Judged| [&decision.chosen, &advice.present.name].contains(&&judged.controller);
    let is_shown = |&(i, judged): &(usize, &Judged)| i < most_rows || is_named(judged);
    let shown: Vec<&Judged> =
        decision.controllers.iter().enumerate().filter(is_shown).map(|(_, judged)| judged).collect();
    for judged in &shown {
        let mut row = vec![judged.controller.clone(), mbps(judged.goodput_mbps)];
        row.extend(completion(advice, answer, &judged.controller).map(duration));
        row.extend(judged.stolen.map(|stolen| plain(stolen, 100.0)));
        row.extend([delay_ms(judged.delay_ms), judged.seeds.to_string(), remark(advice, judged)]);
        table.add_row(row);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        let is_number = i > 0 && i < if with_neighbours { 5 } else { 4 } + usize::from(with_time);
        if is_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text: String = table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect();
    if shown.len() < decision.controllers.len() {
        let left = counted(decision.controllers.len() - shown.len());
        let _ = writeln!(text, "{left} with less goodput: see the report.");
    }
    text
}

fn remark(advice: &Advice, judged: &Judged) -> String {
    let mut remarks = Vec::new();
    if judged.controller == advice.usual.decision.chosen {
        remarks.push("advised");
    }
    if judged.controller == advice.present.name {
        remarks.push("default");
    }
    if judged.takes_too_much {
        remarks.push("takes too much");
    }
    if !judged.is_within_limits && !judged.takes_too_much {
        remarks.push("too much delay");
    }
    if judged.is_within_limits && !judged.exceeds_with.is_empty() {
        remarks.push("not on other paths");
    }
    if !judged.is_steady {
        remarks.push("not steady");
    }
    if judged.is_within_limits && judged.is_tied_with_best && judged.controller != advice.usual.decision.chosen {
        remarks.push("tied");
    }
    if judged.is_open {
        remarks.push("unsure");
    }
    remarks.join(", ")
}

fn completion(advice: &Advice, answer: &Answer, name: &str) -> Option<f64> {
    let place = advice.question.candidates.iter().position(|c| c.flows.name == name)?;
    answer.completion_s.get(place).copied()
}

/// `2 h 13 min`.
fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "never".into(),
        s if s < 100.0 => format!("{} s", significant(s, 3)),
        s if s < 6000.0 => format!("{} min", significant(s / 60.0, 3)),
        s => format!("{} h", significant(s / 3600.0, 3)),
    }
}

fn mbps(estimate: Estimate) -> String {
    with_interval(estimate.value, estimate.half_width, 4)
}

/// Milliseconds, of a short path with as many digits as of a long one.
fn delay_ms(estimate_ms: Estimate) -> String {
    with_interval(estimate_ms.value, estimate_ms.half_width, 3)
}

fn plain(estimate: Estimate, factor: f64) -> String {
    (estimate * factor).text(1)
}

fn signed(estimate: Estimate, factor: f64) -> String {
    let sign = if estimate.value >= 0.0 { "+" } else { "" };
    format!("{sign}{}", plain(estimate, factor))
}

/// Breaks words into lines; all but the first are indented.
fn wrapped(words: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.to_owned());
        } else {
            let space = if line.is_empty() { "" } else { " " };
            line.push_str(space);
            line.push_str(word);
        }
    }
    lines.join(&format!("\n{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_a_terminal() {
        let text = wrapped(&"word ".repeat(40), "  ");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        assert!(text.lines().skip(1).all(|line| line.starts_with("  w")), "{text}");
    }

    #[test]
    fn times_are_readable() {
        assert_eq!([12.345, 130.0, 7200.0].map(duration), ["12.3 s", "2.17 min", "2.00 h"]);
        assert_eq!(duration(f64::INFINITY), "never");
    }
}
