// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the candidates on each path until the rule can decide.

use std::{collections::BTreeMap, sync::atomic::AtomicBool};

use tandem_batch::{Batch, Clock, Store};
use tandem_compare::{BOUNDS, Bounds, Budget, Flows, Length, Reason, USUAL};
use tandem_engine::Engine;
use tandem_scenario::{
    Scenario,
    units::{Bytes, Span},
};
use tandem_statistics::{Looks, mean};

use crate::{
    AdviseError, Candidate, Case, Known, Repeated,
    contest::Contest,
    measured::Measured,
    progress::{Watch, Whole},
    rule::{Decision, Elsewhere, Goal, Limits, Observed, decide},
    start::StartUp,
    turn::Turn,
};

/// The most seeds on a path other than the usual one. Ours.
const SEEDS_OF_OTHERS: u64 = 7;
/// A controller has more seeds than [`Question::USUAL_SEEDS`] only while its runs together have no more packets than this: a few seconds of computing. Ours.
const PACKETS_OF_MORE_SEEDS: f64 = 50e6;
/// With less time than this, runs are proportionally shorter.
const TIME_FOR_LONG_RUNS: Span = Span::from_secs(60);
/// Share of the time for the measured transfer. Ours.
const SHARE_OF_REPEATED: f64 = 0.1;
/// Share of the remaining time kept for the starts. Ours.
const SHARE_OF_STARTS: f64 = 0.05;

/// The question: what all cases share.
pub struct Question<'a> {
    /// The path.
    pub known: &'a Known,
    /// The measurements of it.
    pub measured: &'a Measured,
    /// The candidates.
    pub candidates: &'a [Candidate],
    /// The name of one of the candidates: what the machine runs now.
    pub default: &'a str,
    /// What a controller may do to others, and the gain that justifies a change.
    pub limits: Limits,
    /// The amount that all own flows send together; endless if not given.
    pub transfer: Option<Bytes>,
    /// The first seed; the others follow.
    pub first_seed: u64,
    /// The seeds of a controller before the first look.
    pub least_seeds: u64,
    /// The most seeds of a controller on a path; more than [`USUAL_SEEDS`](Self::USUAL_SEEDS) only where they are cheap.
    pub most_seeds: u64,
    /// How long each run lasts; as long as the path needs if not given.
    pub duration: Option<Span>,
    /// What keeps the runs short where no duration is given.
    pub bounds: Bounds,
    /// Excluded from every measure; slow start and one loss cycle if not given.
    pub warmup: Option<Span>,
    /// The engine.
    pub engine: &'a dyn Engine,
    /// Set by another thread to end early.
    pub cancelled: Option<&'a AtomicBool>,
    /// Receives the progress ten times a second.
    pub watch: Option<&'a Watch<'a>>,
    /// The store of finished runs.
    pub store: Option<&'a Store>,
    /// The time for all cases.
    pub time: Span,
}

/// The answer to a case.
pub struct Answer {
    /// The path.
    pub case: Case,
    /// The choice.
    pub decision: Decision,
    /// How long the runs last, of each candidate and of the reference.
    pub lengths: Vec<Length>,
    /// What losses and delays are measured against: the flows run this controller.
    pub reference: String,
    /// Each candidate's mean time for the transfer, seconds, in the order of the candidates; empty if there is none.
    pub completion_s: Vec<f64>,
    /// Did a transfer last longer than its run?
    pub is_extrapolated: bool,
    /// The cautions about each candidate that has run.
    pub(crate) cautions: BTreeMap<String, Vec<String>>,
    /// There was no time for the seeds that it needs.
    pub is_cut_short: bool,
    /// The candidates that there was no time to run.
    pub not_run: Vec<String>,
    /// The observations behind the choice: of the candidates for which there was time, and of the reference.
    pub(crate) observed: Vec<Observed>,
    pub(crate) observed_reference: Observed,
    pub(crate) looks: Looks,
    /// With a transfer, how each candidate began.
    pub(crate) starts: Vec<StartUp>,
}

/// The answers to some cases.
pub struct Answers {
    /// The answers to the first cases, in order.
    pub answers: Vec<Answer>,
    /// The cases for which there was no time, by the value that differs.
    pub not_looked_at: Vec<String>,
    /// How the choice and the default begin on the first path, as far as there was time for it.
    pub starts: Vec<StartUp>,
    /// The measured transfer in the simulator, if there is one.
    pub repeated: Option<Repeated>,
}

impl Answer {
    /// The cautions about the choice and the default, each once.
    pub fn cautions<'a>(&'a self, default: &'a str) -> Vec<&'a str> {
        let of_both = [&*self.decision.chosen, default].into_iter().filter_map(|name| self.cautions.get(name));
        let mut cautions: Vec<&str> = Vec::new();
        for caution in of_both.flatten() {
            if !cautions.contains(&&**caution) {
                cautions.push(caution);
            }
        }
        cautions
    }

    /// What a controller has on this path, if it has run.
    fn elsewhere(&self, name: &str, goal: Goal) -> Option<Elsewhere> {
        let score = |name: &str| {
            let observed = self.observed.iter().find(|observed| observed.name == name)?;
            Some(mean(&observed.score(goal)))
        };
        let allowed = self.decision.controllers.iter().filter(|judged| judged.is_within_limits);
        let best = allowed.filter_map(|judged| score(&judged.controller)).fold(0.0, f64::max);
        let of_best = (best > 0.0).then_some(score(name)? / best)?;
        Some(Elsewhere { differs: self.case.differs.clone(), of_best })
    }

    /// How long its runs last: the shortest and the longest.
    pub fn length(&self) -> (Length, Length) {
        let of = |length: &&Length| length.duration;
        let (least, most) = (self.lengths.iter().min_by_key(of), self.lengths.iter().max_by_key(of));
        (*least.expect("there is one"), *most.expect("there is one"))
    }
}

impl<'a> Question<'a> {
    /// The most seeds of a controller on the usual path where runs are not cheap.
    pub const USUAL_SEEDS: u64 = Budget::USUAL.most_seeds as u64;
    /// The usual [`most_seeds`](Self::most_seeds). Ours.
    pub const MOST_SEEDS: u64 = 100;

    /// As `tandem advise` asks if no option says otherwise: endless flows, the usual limits, seeds and time. Nobody watches, and nothing is kept.
    pub fn usual(
        known: &'a Known,
        measured: &'a Measured,
        candidates: &'a [Candidate],
        default: &'a str,
        engine: &'a dyn Engine,
    ) -> Self {
        Self {
            known,
            measured,
            candidates,
            default,
            limits: Limits::usual(known.rtt),
            transfer: None,
            first_seed: 1,
            least_seeds: Looks::FIRST as u64,
            most_seeds: Self::MOST_SEEDS,
            duration: None,
            bounds: BOUNDS,
            warmup: None,
            engine,
            cancelled: None,
            watch: None,
            store: None,
            time: Budget::USUAL.time,
        }
    }
}

impl Question<'_> {
    /// Refuses a question that cannot be run, before anything is written.
    ///
    /// # Errors
    /// If the path makes no sense, or the engine cannot run it.
    pub fn check(&self, case: &Case) -> Result<(), AdviseError> {
        let reference = self.reference(case);
        let (length, start) = self.length(case, &reference)?;
        let all = self.candidates.iter().map(|c| &c.flows).chain([&reference]);
        for flows in all.chain(&case.neighbours.0) {
            let scenario = self.known.scenario(case, flows, start, self.transfer, length)?;
            self.engine.check(&scenario, false)?;
        }
        Ok(())
    }

    /// Answers cases in order until the time is over; a case of which not all candidates could be run counts only if it is the first. What the others
    /// show may change the first answer. Nothing, if there was not even time for two runs of the default and of what it is measured against.
    ///
    /// # Errors
    /// If a case makes no sense, or a run fails.
    pub fn answers(&self, cases: &[Case]) -> Result<Answers, AdviseError> {
        let clock = Clock::new(self.time, self.cancelled);
        let repeated = match cases {
            [usual, ..] => self.repeat(usual, &clock.part(SHARE_OF_REPEATED))?,
            [] => None,
        };
        let of_paths = clock.part(1.0 - SHARE_OF_STARTS);
        let mut answers: Vec<Answer> = Vec::new();
        let whole = Whole::new(self, cases.len());
        for (i, case) in cases.iter().enumerate() {
            // All of the time, or an equal part of what is left.
            let part = of_paths.part(if i == 0 { 1.0 } else { 1.0 / (cases.len() - i) as f64 });
            let watch = |share: f64| whole.tell(i, share, &case.differs);
            let batch = Batch { store: self.store, watch: Some(&watch), ..Batch::default() };
            let turn =
                Turn { contest: Contest::new(self, case)?, clock: &part, batch, is_first: i == 0 && cases.len() > 1 };
            match turn.answer()? {
                Some(answer) if i == 0 || answer.observed.len() == self.candidates.len() => answers.push(answer),
                _ => break,
            }
            if of_paths.is_over() {
                break;
            }
        }
        if let Some((usual, others)) = answers.split_first_mut() {
            self.learn_from(usual, others);
        }
        let starts = answers.first().map_or(Ok(Vec::new()), |usual| self.starts(usual, &clock))?;
        let not_looked_at = cases[answers.len()..].iter().map(|case| case.differs.clone()).collect();
        Ok(Answers { answers, not_looked_at, starts, repeated })
    }

    /// A controller that exceeds a limit on an equally likely path, where the default keeps it, is not chosen for the usual path either. Nor is one that
    /// falls much shorter there than another.
    fn learn_from(&self, usual: &mut Answer, others: &[Answer]) {
        for observed in &mut usual.observed {
            let exceeds =
                |name: &str, other: &&Answer| other.decision.of(name).is_some_and(|judged| !judged.is_within_limits);
            let worse = others.iter().filter(|other| exceeds(&observed.name, other) && !exceeds(self.default, other));
            observed.exceeds_with = worse.map(|other| other.case.differs.clone()).collect();
            let shares = others.iter().filter_map(|other| other.elsewhere(&observed.name, self.limits.goal));
            observed.elsewhere = shares.min_by(|a, b| a.of_best.total_cmp(&b.of_best));
        }
        let Answer { observed, observed_reference, looks, .. } = &*usual;
        if let Some(decision) = decide(observed, self.default, observed_reference, self.limits, looks) {
            usual.decision = decision;
        }
    }

    /// When to look at the seeds. `packets`: of each run.
    pub(crate) fn looks(&self, is_usual: bool, packets: f64) -> Looks {
        let most =
            if is_usual { Self::USUAL_SEEDS.max((PACKETS_OF_MORE_SEEDS / packets) as u64) } else { SEEDS_OF_OTHERS };
        let most = most.min(self.most_seeds);
        Looks::from_to(self.least_seeds.min(most) as usize, most as usize)
    }

    /// The controller in the reference: the first neighbour's kind, or without neighbours the machine's present one.
    pub(crate) fn reference(&self, case: &Case) -> Flows {
        let own = &self.candidates[0].flows;
        let default = self.candidates.iter().find(|c| c.flows.name == self.default).map_or(own, |c| &c.flows);
        case.neighbours.0.first().unwrap_or(default).with_count(own.count)
    }

    /// The controllers that decide the length of runs: all are as long as the slowest one needs.
    pub(crate) fn reason(&self, case: &Case, reference: &Flows) -> Result<Reason, AdviseError> {
        let usual = Length { warmup: Span::default(), ..USUAL };
        let all = self.candidates.iter().map(|c| &c.flows).chain([reference]);
        let draft = |flows: &Flows| self.known.scenario(case, flows, Span::default(), None, usual);
        let drafts: Vec<Scenario> = all.map(draft).collect::<Result<_, _>>()?;
        let share = (self.time.as_secs_f64() / TIME_FOR_LONG_RUNS.as_secs_f64()).min(1.0);
        let Bounds { most_packets, cheap_packets, .. } = self.bounds;
        let [most_packets, cheap_packets] = [most_packets, cheap_packets].map(|packets| share * packets);
        Ok(Reason::of(&drafts, Bounds { most_packets, cheap_packets, ..self.bounds }, false))
    }

    /// How long runs are, and when the flows begin.
    pub(crate) fn length(&self, case: &Case, reference: &Flows) -> Result<(Length, Span), AdviseError> {
        let reason = self.reason(case, reference)?;
        let Some(Bytes(bytes)) = self.transfer else {
            return Ok((reason.length(self.duration, self.warmup), Span::default()));
        };
        // Neighbours are there before, and past their slow start. A transfer at its fair share has time to end twice.
        let start_s = if case.neighbours.0.is_empty() { 0.0 } else { (2.0 * reason.slow_start_s).ceil() };
        let flows = reference.count + case.neighbours.0.iter().map(|flows| flows.count).sum::<u32>();
        let fair_bps = case.rate.bps as f64 * f64::from(reference.count) / f64::from(flows);
        let wanted_s = start_s + 2.0 * bytes as f64 * 8.0 / fair_bps + 2.0 * reason.slow_start_s;
        let duration =
            self.duration.unwrap_or(Span::from_secs(wanted_s.min(start_s + reason.most_s).ceil().max(1.0) as u64));
        let start = Span::from_secs(start_s as u64).min(Span { ns: duration.ns / 2 });
        Ok((Length { duration, warmup: Span::default() }, start))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use tandem_engine::{EngineError, Options, Warning};
    use tandem_results::SeedResult;
    use tandem_scenario::units::QueueSize;
    use tandem_sim::Sim;

    use super::*;
    use crate::{Present, Why, candidates, machine::Machine};

    /// The simulator, which counts its runs. One of them cancels, after those that began before it have ended, and waits until that is
    /// seen.
    struct Counted<'a> {
        runs: AtomicUsize,
        ended: AtomicUsize,
        cancels_at: usize,
        cancel: &'a AtomicBool,
    }

    impl Engine for Counted<'_> {
        fn name(&self) -> &'static str {
            Sim.name()
        }

        fn description(&self) -> &'static str {
            Sim.description()
        }

        fn arithmetic(&self) -> &'static str {
            Sim.arithmetic()
        }

        fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
            Sim.check(scenario, force)
        }

        fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
            // Those that begin later do not end either.
            if self.runs.fetch_add(1, SeqCst) + 1 >= self.cancels_at {
                while self.ended.load(SeqCst) + 1 < self.cancels_at {
                    std::thread::yield_now();
                }
                self.cancel.store(true, SeqCst);
                while !options.is_cancelled() {
                    std::thread::yield_now();
                }
            }
            let result = Sim.run(scenario, seed, options);
            self.ended.fetch_add(1, SeqCst);
            result
        }
    }

    /// The answers, and of how many runs, if the run with this number cancels.
    fn cancelled_at(cancels_at: usize) -> (Vec<Answer>, usize) {
        let cancel = AtomicBool::new(false);
        let engine = Counted { runs: Default::default(), ended: Default::default(), cancels_at, cancel: &cancel };
        let known = Known {
            queue: Some(QueueSize::Packets(20)),
            neighbours: Some("reno:1".parse().unwrap()),
            has_no_jitter: true,
            ..Known::new("10mbit".parse().unwrap(), Span::from_ms(20))
        };
        let machine = Machine::default();
        let present = Present::new(Some(&"reno".parse().unwrap()), &machine).unwrap();
        let candidates = candidates(&["vegas".parse().unwrap()], 1, &machine, &present, false).unwrap();
        let measured = Measured::default();
        let question = Question {
            limits: Limits { stolen: 0.1, added_delay_ms: 10.0, gain: 0.1, goal: Goal::Goodput },
            most_seeds: 3,
            duration: Some(Span::from_secs(2)),
            warmup: Some(Span::from_secs(1)),
            cancelled: Some(&cancel),
            time: Span::from_secs(3600),
            ..Question::usual(&known, &measured, &candidates, &present.name, &engine)
        };
        let answers = question.answers(&known.cases()).unwrap();
        assert_eq!(answers.answers.len() + answers.not_looked_at.len(), 3);
        (answers.answers, engine.runs.into_inner())
    }

    /// Two candidates; the default, Reno beside Reno, is the reference too: three seeds of two scenarios are six runs for each of the
    /// three losses. Then Reno, the choice, begins three times.
    #[test]
    fn the_callers_engine_runs_it_and_the_caller_can_end_it() {
        let (answers, runs) = cancelled_at(usize::MAX);
        assert_eq!((answers.len(), runs), (3, 21));
        assert_eq!(cancelled_at(1).0.len(), 0);
        // The first run of the second case.
        assert_eq!(cancelled_at(7).0.len(), 1);
    }

    /// The default's two runs come before the other candidate's.
    #[test]
    fn an_answer_without_the_other_candidates_is_not_clear() {
        let (answers, _) = cancelled_at(3);
        let [answer] = &answers[..] else { panic!("{} answers", answers.len()) };
        assert_eq!((answer.decision.why, &answer.not_run[..]), (Why::NothingElseRan, &["vegas".to_owned()][..]));
        assert!(!answer.is_clear());
        assert_eq!(answer.sureness(Span::from_secs(60)), "not sure: `vegas` was not run");
    }
}
