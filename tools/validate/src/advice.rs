// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/advise-vs-truth.md: the answers of `tandem advise` on paths drawn at random, against longer runs with other seeds.

mod draw;
mod over_real_tcp;
mod truth;

use std::{
    fmt::Write,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Context;
use tandem_batch::Batch;
use tandem_engine::Engine;
use tandem_report::write_atomically;
use tandem_statistics::Estimate;

use draw::{Drawn, draw};
use over_real_tcp::measure_paths;
use truth::{AS_GOOD, Outcome, Seen, judge};

/// How many paths are judged, and for how long new ones are begun.
#[derive(Debug, Clone, Copy)]
pub struct Paths<'a> {
    /// All with smaller numbers are judged, unless some are to be judged anew.
    pub count: u64,
    /// These alone, kept or not.
    pub anew: &'a [u64],
    /// No path is begun after this time.
    pub time: Duration,
}

/// Judges the paths that `kept` lacks, writes each to it as soon as it is judged, and returns what the page says of all that are there. With an
/// engine for `real_tcp` it makes the runs over real TCP, too, that are missing.
///
/// # Errors
/// If a file cannot be read or written, or a run fails.
pub fn advice_page(
    kept: &Path,
    paths: Paths<'_>,
    real_tcp: Option<&dyn Engine>,
    batch: &Batch,
) -> anyhow::Result<String> {
    let mut outcomes = read(kept)?;
    let folder = std::env::temp_dir().join("tandem-advice-traces");
    fs::create_dir_all(&folder)?;
    let began = Instant::now();
    for (number, drawn) in cheapest_first(paths.count, &folder)? {
        let before = outcomes.iter().position(|outcome| outcome.number == number);
        if !paths.anew.contains(&number) && (before.is_some() || !paths.anew.is_empty()) {
            continue;
        }
        if began.elapsed() >= paths.time {
            break;
        }
        let start = Instant::now();
        let before = before.map(|i| outcomes[i].clone());
        let outcome =
            judge(number, &drawn, before.as_ref(), batch).with_context(|| format!("path {number}: {}", drawn.words))?;
        eprintln!("path {number}: {} ({:.0} s)", drawn.words, start.elapsed().as_secs_f64());
        outcomes.retain(|outcome| outcome.number != number);
        outcomes.push(outcome);
        outcomes.sort_by_key(|outcome| outcome.number);
        write(kept, &outcomes)?;
    }
    let lines = kept.with_file_name("real-tcp.json");
    if let Some(engine) = real_tcp {
        let drawn = outcomes.iter().map(|outcome| Ok((outcome, draw(outcome.number, &folder)?)));
        let judged = drawn.collect::<anyhow::Result<Vec<_>>>()?;
        let runs = Path::new("experiments/reference/real-tcp/advice.jsonl");
        measure_paths(&judged, engine, (runs, &lines), batch)?;
    }
    Ok(page(&outcomes, paths.count) + &over_real_tcp::text(&over_real_tcp::read(&lines)?))
}

/// A run costs what its packets cost, and where nobody can be harmed, few controllers are run for long. So such paths and slow links are judged first:
/// a bound on the time then leaves out the fewest.
fn cheapest_first(count: u64, folder: &Path) -> anyhow::Result<Vec<(u64, Drawn)>> {
    let drawn = (0..count).map(|number| Ok((number, draw(number, folder)?)));
    let mut drawn: Vec<(u64, Drawn)> = drawn.collect::<anyhow::Result<_>>()?;
    let has_neighbours = |drawn: &Drawn| drawn.known.neighbours.as_ref().is_some_and(|there| !there.0.is_empty());
    drawn.sort_by_key(|(number, drawn)| (has_neighbours(drawn), drawn.known.rate.bps, *number));
    Ok(drawn)
}

fn read(kept: &Path) -> anyhow::Result<Vec<Outcome>> {
    let text = match fs::read_to_string(kept) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.with_context(|| format!("cannot read `{}`", kept.display()))?,
    };
    let line = |(i, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("`{}`, line {}", kept.display(), i + 1))
    };
    text.lines().enumerate().map(line).collect()
}

fn write(kept: &Path, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let mut text = String::new();
    for outcome in outcomes {
        writeln!(text, "{}", serde_json::to_string(outcome)?)?;
    }
    Ok(write_atomically(kept, text.as_bytes())?)
}

/// What the long runs say of the advice on a path.
struct Verdict {
    keeps_limits: bool,
    /// The advised controller's goodput over the goodput of the best within the limits, and whether it is as good, as far as seeds show.
    of_best: f64,
    is_as_good: bool,
    /// Those whose sign of bandwidth stolen is sure in both, and the other way round.
    reversed: Vec<String>,
}

impl Verdict {
    fn is_right(&self) -> bool {
        self.keeps_limits && self.is_as_good && self.reversed.is_empty()
    }
}

fn verdict(outcome: &Outcome) -> Option<Verdict> {
    let of = |seen: &'_ [Seen], name: &str| seen.iter().find(|seen| seen.controller == name).cloned();
    let advised = of(&outcome.truth, &outcome.advised)?;
    let allowed = outcome.truth.iter().filter(|seen| seen.is_within_limits);
    let best = allowed.max_by(|a, b| a.goodput_mbps.total_cmp(&b.goodput_mbps));
    // Of what is marked as not steady no sign is claimed.
    let sure_sign = |seen: &Seen| {
        let (stolen, half) = (seen.stolen?, seen.stolen_half?);
        (seen.is_steady && stolen.abs() > half).then_some(stolen > 0.0)
    };
    let is_reversed = |truth: &&Seen| {
        let signs = (sure_sign(truth), of(&outcome.advice, &truth.controller).as_ref().and_then(sure_sign));
        matches!(signs, (Some(truth), Some(advice)) if truth != advice)
    };
    // Where everything exceeds a limit, the default stays: nothing is better.
    let best = best.unwrap_or(&advised);
    let goodput_mbps = |seen: &Seen| Estimate::kept(seen.goodput_mbps, Some(seen.goodput_half_mbps));
    let of_best = advised.goodput_mbps / best.goodput_mbps;
    Some(Verdict {
        keeps_limits: advised.is_within_limits || outcome.truth.iter().all(|seen| !seen.is_within_limits),
        of_best,
        is_as_good: of_best >= AS_GOOD || goodput_mbps(&advised).overlaps(&(goodput_mbps(best) * AS_GOOD)),
        reversed: outcome.truth.iter().filter(is_reversed).map(|seen| seen.controller.clone()).collect(),
    })
}

fn page(outcomes: &[Outcome], planned: u64) -> String {
    let judged: Vec<(&Outcome, Verdict)> =
        outcomes.iter().filter(|outcome| outcome.is_steady).filter_map(|o| Some((o, verdict(o)?))).collect();
    let count = |holds: &dyn Fn(&Verdict) -> bool| judged.iter().filter(|(_, verdict)| holds(verdict)).count();
    let all = judged.len();
    let mut page = format!(
        "**{} of {planned} paths have been judged.** On {} of them `advise` gave no advice, because the default was not steady.\n\n\
         | the advised controller | required, of 100 | found, of {all} |\n|---|---:|---:|\n\
         | keeps the limits | 97 | {} |\n| has at least {:.0} % of the best goodput within the limits, as far as the interval of the difference tells | 95 | {} |\n\
         | the same by the means alone | | {} |\n\
         | no sign of \"stolen\" is reversed | 100 | {} |\n\n",
        outcomes.len(),
        outcomes.len() - all,
        count(&|verdict| verdict.keeps_limits),
        100.0 * AS_GOOD,
        count(&|verdict| verdict.is_as_good),
        count(&|verdict| verdict.of_best >= AS_GOOD),
        count(&|verdict| verdict.reversed.is_empty()),
    );
    let failed: Vec<_> = judged.iter().filter(|(_, verdict)| !verdict.is_right()).collect();
    if failed.is_empty() {
        return page + "No answer is wrong.\n";
    }
    page += "The answers that are wrong:\n\n";
    page += "| path | | advised | of the best, % | limits | signs |\n|---:|---|---|---:|---|---|\n";
    for (Outcome { number, path, advised, .. }, verdict) in failed {
        let limits = if verdict.keeps_limits { "kept" } else { "**exceeded**" };
        let of_best = match verdict.is_as_good {
            true => format!("{:.1}", 100.0 * verdict.of_best),
            false => format!("**{:.1}**", 100.0 * verdict.of_best),
        };
        let signs = match &verdict.reversed[..] {
            [] => "right".to_owned(),
            reversed => format!("**reversed**: {}", reversed.join(", ")),
        };
        let _ = writeln!(page, "| {number} | `{path}` | `{advised}` | {of_best} | {limits} | {signs} |");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::assert_has;

    fn seen(controller: &str, goodput_mbps: f64, stolen: f64, is_within_limits: bool) -> Seen {
        let (goodput_half_mbps, stolen_half) = (1.0, Some(0.05));
        Seen {
            controller: controller.into(),
            seeds: 5,
            goodput_mbps,
            goodput_half_mbps,
            stolen: Some(stolen),
            stolen_half,
            is_within_limits,
            is_steady: true,
        }
    }

    fn outcome(advised: &str, advice: Vec<Seen>, truth: Vec<Seen>) -> Outcome {
        Outcome { number: 1, path: "p".into(), advised: advised.into(), is_steady: true, advice, truth }
    }

    #[test]
    fn a_choice_is_judged_by_the_long_runs_alone() {
        let truth =
            || vec![seen("bbr", 99.0, 0.5, false), seen("cubic", 60.0, 0.0, true), seen("reno", 50.0, -0.1, true)];
        let good = verdict(&outcome("cubic", truth(), truth())).unwrap();
        assert!(good.keeps_limits && good.is_as_good && good.reversed.is_empty() && good.of_best == 1.0);
        let slow = verdict(&outcome("reno", truth(), truth())).unwrap();
        assert!(slow.keeps_limits && !slow.is_as_good);
        assert!(!verdict(&outcome("bbr", truth(), truth())).unwrap().keeps_limits);
        // 0.95 of 60 is 57 +- 0.95, with 1 more on the other side 57 +- 1.38.
        let of = |mbps| [truth(), vec![seen("yeah", mbps, 0.0, true)]].concat();
        let is_as_good = |mbps| verdict(&outcome("yeah", of(mbps), of(mbps))).unwrap().is_as_good;
        assert!(is_as_good(55.7) && !is_as_good(55.5));
        // 0.04 is no sure sign, 0.1 the other.
        let advice = vec![seen("cubic", 60.0, 0.04, true), seen("reno", 50.0, 0.1, true)];
        assert_eq!(verdict(&outcome("cubic", advice.clone(), truth())).unwrap().reversed, ["reno"]);
        let unsteady = advice.into_iter().map(|seen| Seen { is_steady: false, ..seen }).collect();
        assert!(verdict(&outcome("cubic", unsteady, truth())).unwrap().reversed.is_empty());
    }

    #[test]
    fn the_page_is_that_of_the_paths_that_are_kept() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let outcomes = read(&root.join("experiments/advice/paths.jsonl")).unwrap();
        let lines = over_real_tcp::read(&root.join("experiments/advice/real-tcp.json")).unwrap();
        let block = page(&outcomes, 100) + &over_real_tcp::text(&lines);
        assert_has("docs/advise-vs-truth.md", &block);
    }

    #[test]
    fn what_was_judged_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("paths.jsonl");
        assert!(read(&kept).unwrap().is_empty());
        write(&kept, &[outcome("cubic", vec![], vec![seen("cubic", 1.0, 0.0, true)])]).unwrap();
        let [read] = &read(&kept).unwrap()[..] else { panic!() };
        assert_eq!((read.number, &*read.truth[0].controller), (1, "cubic"));
        fs::write(&kept, "{}\n").unwrap();
        assert!(super::read(&kept).unwrap_err().to_string().contains("line 1"));
    }
}
