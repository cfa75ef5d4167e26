// SPDX-License-Identifier: MIT OR Apache-2.0
//! The advice in words, for the terminal and for the report.

use tandem_advise::{Advice, Answer, Decision, Elsewhere, Goal, Judged, StartUp, Why, measured::Inferred};
use tandem_compare::Length;
use tandem_report::{Mark, Table, significant, with_interval};
use tandem_statistics::Estimate;

/// The first lines: other cures, then the answer and the reason for it.
pub fn answer(advice: &Advice) -> Vec<String> {
    let mut answer = advice.cures();
    answer.push(advice.headline());
    answer
}

/// The commands that switch it on, the most careful first; none if nothing needs to be switched on.
pub fn commands(advice: &Advice) -> Vec<(&'static str, String)> {
    let mut commands = Vec::new();
    if advice.usual.decision.chosen == advice.present.name {
        return commands;
    }
    let for_one = advice.command_for_one();
    let without_root = advice.command_without_root().filter(|command| Some(command) != for_one.as_ref());
    commands.extend(for_one.map(|command| ("Try it", command)));
    commands.extend(advice.command_for_trial().map(|command| ("Trial", command)));
    commands.extend(advice.command().map(|command| ("Switch it on", command)));
    commands.extend(without_root.map(|command| ("Without root", command)));
    if commands.is_empty() {
        commands.push(("Switch it on", "nothing on this machine can".into()));
    }
    commands
}

/// A path that differs in one value, and the advice there.
pub struct OtherPath<'a> {
    pub differs: &'a str,
    /// Good: the same; in part: the same, but not for certain; bad: a different one; open: not tried.
    pub mark: Mark,
    pub advice: String,
}

/// What would change the advice, and what would not.
pub fn other_paths<'a>(advice: &'a Advice) -> Vec<OtherPath<'a>> {
    let looked_at = advice.others.iter().map(|answer| {
        let is_same = answer.decision.chosen == advice.usual.decision.chosen;
        let mark = match (is_same, answer.is_clear()) {
            (true, true) => Mark::Good,
            (true, false) => Mark::Part,
            (false, _) => Mark::Bad,
        };
        OtherPath { differs: &answer.case.differs, mark, advice: on_other_path(advice, answer, is_same) }
    });
    let no_time = |differs: &'a String| OtherPath { differs, mark: Mark::Open, advice: "no time to look".into() };
    looked_at.chain(advice.not_looked_at.iter().map(no_time)).collect()
}

fn on_other_path(advice: &Advice, answer: &Answer, is_same: bool) -> String {
    let decision = &answer.decision;
    let default = &advice.present.name;
    let what = match (decision.why, decision.gain) {
        (Why::NoneWithinLimits, _) => "no controller keeps the limits".to_owned(),
        (Why::NotSteady, _) => "no advice: not steady within the time".to_owned(),
        (Why::NothingElseRan, _) => "no advice: no time to run another".to_owned(),
        (_, None) => format!("stay with `{}`", decision.chosen),
        (why, Some(gain)) => {
            let reason = if why == Why::DefaultExceedsLimits { "; the default exceeds a limit" } else { "" };
            format!("`{}`, {} % against `{default}`{reason}", decision.chosen, signed(gain, 100.0))
        }
    };
    let same = if is_same { "the same: " } else { "" };
    let unsure = if answer.is_clear() || !decision.why.is_verdict() { "" } else { "; not sure" };
    format!("{same}{what}{unsure}")
}

/// The assumptions.
pub fn assumed(advice: &Advice) -> Option<String> {
    let assumed = advice.question.known.assumed();
    let values: Vec<String> = assumed.iter().map(|a| format!("{} {}", a.what, a.value)).collect();
    (!values.is_empty()).then(|| format!("Not given, so assumed: {}.", values.join("; ")))
}

/// A line for each value inferred from measurements.
pub fn inferred(advice: &Advice) -> Vec<String> {
    let line = |Inferred { what, value, source, surety }: &Inferred| format!("{what} {value} ({source}), {surety}");
    advice.question.measured.inferred.iter().map(line).collect()
}

/// The cautions, in whole sentences.
pub fn cautions(advice: &Advice) -> Vec<String> {
    let of_files = advice.question.measured.cautions.iter().map(String::as_str);
    let of_runs = advice.usual.cautions(&advice.present.name);
    of_files.chain(of_runs).map(|caution| format!("{caution}.")).collect()
}

/// Notes on the other candidates: why the best of them is not advised, and what remains open.
pub fn not_advised(advice: &Advice) -> Vec<String> {
    let kept_here = advice.usual.decision.controllers.iter().filter(|judged| judged.is_within_limits);
    let elsewhere = kept_here.filter(|judged| !judged.exceeds_with.is_empty()).map(|judged| {
        let paths = judged.exceeds_with.join("; with ");
        format!("`{}` is not advised: it exceeds a limit with {paths}.", judged.controller)
    });
    elsewhere.chain(safer(advice)).chain(left_out(advice)).collect()
}

/// Why the best change on the path as given is not advised.
fn safer(advice: &Advice) -> Option<String> {
    let Decision { chosen, gave_way, .. } = &advice.usual.decision;
    let gave_way = gave_way.as_ref()?;
    let falls_shortest = |controller: &str| advice.usual.decision.of(controller)?.elsewhere.as_ref();
    let (Elsewhere { of_best: kept, .. }, Elsewhere { of_best, differs }) =
        (falls_shortest(chosen)?, falls_shortest(gave_way)?);
    let [kept, of_best] = [kept, of_best].map(|share| 100.0 * share);
    Some(format!(
        "`{chosen}` has at least {kept:.0} % of the best goodput on all paths that vary what is unknown; with {differs} `{gave_way}` \
         has {of_best:.0} %."
    ))
}

/// The questions that more time or more seeds would answer.
fn left_out(advice: &Advice) -> Vec<String> {
    let decision = &advice.usual.decision;
    let mut left_out = Vec::new();
    let not_run = &advice.usual.not_run;
    if !not_run.is_empty() {
        left_out.push(format!("There was no time to run {}: --time gives more.", not_run.join(", ")));
    }
    let open = decision.controllers.iter().filter(|judged| judged.is_open);
    let open: Vec<&str> = open.map(|judged| &*judged.controller).collect();
    if !open.is_empty() {
        let how = if advice.usual.is_cut_short { "--time gives more seeds" } else { "--seeds allows more" };
        left_out.push(format!("More seeds could change the verdict on {}: {how}.", open.join(", ")));
    }
    left_out
}

/// Labels, each with its text.
pub fn facts(advice: &Advice) -> Vec<(&'static str, String)> {
    let (answer, decision) = (&advice.usual, &advice.usual.decision);
    let (Some(chosen), Some(default)) = (decision.of(&decision.chosen), decision.of(&advice.present.name)) else {
        return Vec::new();
    };
    let mut facts = Vec::new();
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
            let how = if answer.is_extrapolated { ", extrapolated from a part" } else { "" };
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
        facts.push(("Neighbours", format!("{words} of its goodput beside another {}{of_default}", answer.reference)));
    }
    let mut delay = format!("{} ms in the queue (95th percentile)", delay_ms(chosen.delay_ms));
    if decision.chosen != advice.present.name {
        delay += &format!("; {} ms with `{}`", delay_ms(default.delay_ms), advice.present.name);
    }
    facts.push(("Delay", delay));
    facts.extend(startup(advice).map(|words| ("Start-up", words)));
    if let Some(less) = decision.with_less_delay().first() {
        let (name, delay) = (&less.controller, delay_ms(less.delay_ms));
        facts.push(("Less delay", format!("`{name}` has nearly as much goodput, with {delay} ms")));
    }
    facts.push(("How sure", sureness(advice)));
    facts
}

/// The time until it has its final goodput, and the neighbours' loss until then.
fn startup(advice: &Advice) -> Option<String> {
    let of = |name: &str| advice.starts.iter().find(|start| start.controller == name);
    let (chosen, default) = (of(&advice.usual.decision.chosen)?, of(&advice.present.name)?);
    let seconds = |start: &StartUp| {
        let least = if start.is_at_least { "at least " } else { "" };
        format!("{least}{} s", plain(start.seconds, 1.0))
    };
    let mut words = format!("{} to reach 90 % of that goodput", seconds(chosen));
    if let Some(lost) = chosen.neighbours_lose {
        let (what, share) = if lost.value >= 0.0 { ("less", lost) } else { ("more", -lost) };
        words += &format!("; meanwhile neighbours get {} % {what}", plain(share, 100.0));
    }
    if chosen.controller != default.controller {
        words += &format!("; {} with `{}`", seconds(default), advice.present.name);
    }
    Some(words)
}

fn sureness(advice: &Advice) -> String {
    let (answer, decision) = (&advice.usual, &advice.usual.decision);
    let seeds = decision.of(&decision.chosen).map_or(0, |chosen| chosen.seeds);
    let sure = answer.sureness(advice.question.time);
    let others = advice.others.len();
    let same = advice.unchanged().count();
    let sweep = if others > 0 {
        format!("; the same on {same} of {others} paths that vary what is unknown")
    } else {
        String::new()
    };
    let tied = decision.controllers.iter().filter(|j| j.is_within_limits && j.is_tied_with_best).count();
    let ties = if tied > 1 { format!("; {} are tied for best", counted(tied)) } else { String::new() };
    let limit = advice.question.limits.stolen;
    let stolen = decision.of(&decision.chosen).and_then(|chosen| chosen.stolen);
    let near = stolen.filter(|s| s.value + s.half_width.unwrap_or(0.0) > limit);
    let near = near.map_or("", |_| "; the advised one may exceed the limit on what neighbours lose");
    format!("{sure} ({seeds} seeds){ties}{near}{sweep}")
}

pub fn counted(n: usize) -> String {
    if n == 1 { "one controller".into() } else { format!("{n} controllers") }
}

/// The criterion of the choice, and the length of the runs.
pub fn rule(advice: &Advice) -> String {
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
    let (least, most) = advice.usual.length();
    let cut = |length: Length| match length.warmup.ns {
        0 => String::new(),
        _ => format!(", without the first {}", length.warmup),
    };
    let lasts = match least == most {
        true => format!("Each run lasts {}{}.", most.duration, cut(most)),
        false => format!("Runs last {}{}, some of them {}{}.", least.duration, cut(least), most.duration, cut(most)),
    };
    format!(
        "Rule: {} of those that {taken}add at most {} ms to the queue's delay, against the path {reference}; \
         a change must gain {} % over the default. {lasts}",
        match limits.goal {
            Goal::Goodput => "the highest goodput",
            Goal::Delay => "the least delay",
            Goal::Both => "the highest goodput over delay",
        },
        significant(limits.added_delay_ms, 3),
        significant(limits.gain * 100.0, 2),
    )
}

/// All candidates, the highest goodput first.
pub fn candidates(advice: &Advice) -> Table {
    let (answer, decision) = (&advice.usual, &advice.usual.decision);
    let with_neighbours = !answer.case.neighbours.0.is_empty();
    let mut header = vec!["Controller", "Goodput, Mbit/s"];
    header.extend((!answer.completion_s.is_empty()).then_some("Transfer"));
    header.extend(with_neighbours.then_some("Stolen, %"));
    header.extend(["p95 delay, ms", "Seeds", ""]);
    let row = |judged: &Judged| {
        let mut row = vec![judged.controller.clone(), mbps(judged.goodput_mbps)];
        row.extend(completion(advice, answer, &judged.controller).map(duration));
        row.extend(with_neighbours.then(|| judged.stolen.map_or(String::new(), |stolen| plain(stolen, 100.0))));
        row.extend([delay_ms(judged.delay_ms), judged.seeds.to_string(), advice.remark(judged)]);
        row
    };
    Table {
        header: header.into_iter().map(String::from).collect(),
        rows: decision.controllers.iter().map(row).collect(),
    }
}

/// How long the transfer takes with it, seconds, if there is one.
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

/// Milliseconds, with the same number of significant digits on short and long paths.
fn delay_ms(estimate_ms: Estimate) -> String {
    with_interval(estimate_ms.value, estimate_ms.half_width, 3)
}

/// With its interval and one decimal, times `factor`.
fn plain(estimate: Estimate, factor: f64) -> String {
    (estimate * factor).text(1)
}

fn signed(estimate: Estimate, factor: f64) -> String {
    let sign = if estimate.value >= 0.0 { "+" } else { "" };
    format!("{sign}{}", plain(estimate, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        assert_eq!([12.345, 130.0, 7200.0].map(duration), ["12.3 s", "2.17 min", "2.00 h"]);
        assert_eq!(duration(f64::INFINITY), "never");
    }
}
