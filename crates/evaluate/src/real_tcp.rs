// SPDX-License-Identifier: MIT OR Apache-2.0
//! The criteria over real TCP, beside the simulator on the same paths.
//!
//! Real TCP takes as long as it emulates, so a criterion has a short form for it (`[kernel]` in its file). Its answer there stands beside the
//! row's own, and beside the simulator's on the same short path, which tells whether the path or the engine makes a difference.

use serde::{Deserialize, Serialize};
use tandem_engine::Engine;
use tandem_papers::{Experiment, Findings, Judged, RealTcpRuns, RunError, doubts, obstacle};
use tandem_scenario::FileError;

use crate::assessment::{Answer, Asked, why_not};

/// Why there is nothing to judge.
const BUSY: &str = "the machine was too busy";

/// The runs of criteria over real TCP.
#[derive(Clone, Copy)]
pub struct OverRealTcp<'a> {
    /// The runs, kept by [`RealTcpRuns::of_engine`].
    pub runs: &'a RealTcpRuns,
    /// Why a criterion cannot be posed, by the criteria's places: [`obstacles`].
    pub obstacles: &'a [Option<String>],
}

/// A criterion over real TCP.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RealTcp {
    /// How its answer compares with the row's.
    pub agreement: Agreement,
    /// Whether its limits are kept there.
    pub answer: Answer,
    /// The simulator's answer on the same path.
    pub simulated: Answer,
    /// Why it was not measured, or the cause of the difference; empty if they agree.
    pub why: String,
    /// Each limit, over real TCP.
    pub asked: Vec<AskedThere>,
    /// How the path differs from the row's, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
    /// Seeds of the runs that count.
    pub seeds: Vec<u64>,
    /// Releases of the kernels that ran them.
    pub kernels: Vec<String>,
    /// Runs that the emulator doubts, which count for nothing.
    pub doubts: Vec<String>,
}

/// How the answer over real TCP compares with the row's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// They are the same.
    Agrees,
    /// One passes and the other fails.
    Differs,
    /// One of them is undecided.
    Open,
    /// Its runs are doubted or not there.
    NotMeasured,
    /// The emulator cannot carry it.
    NotPosed,
}

/// A limit over real TCP.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AskedThere {
    /// The limit in words, as in the row.
    pub text: String,
    /// Whether it is kept.
    pub answer: Answer,
    /// The numbers that decide it, in words.
    pub finding: String,
    /// The simulator's answer on the same path.
    pub simulated: Answer,
    /// The simulator's numbers on the same path.
    pub simulated_finding: String,
    /// The two engines' figures for a point are further apart than chance explains.
    pub are_apart: bool,
}

/// Why criteria are not run of a controller over real TCP, by their places: the engine cannot carry them, or they do not apply; `None` where
/// they are.
///
/// # Errors
/// If this process may run nothing in it, for example without root.
pub fn obstacles(
    contender: &str,
    criteria: &[Experiment],
    engine: &dyn Engine,
    force: bool,
) -> Result<Vec<Option<String>>, RunError> {
    let of = |criterion| match why_not(contender, criterion) {
        Some(why) => Ok(Some(why)),
        None => Ok(obstacle(criterion, engine, force)?.map(|why| without_mend(&why))),
    };
    criteria.iter().map(of).collect()
}

/// Without the advice to the scenario's author, because here there is none.
pub(crate) fn without_mend(why: &str) -> String {
    let mends = ["--engine ", "--force", "leave it out", "leave them out"];
    let mend = |(_, mend): &(&str, &str)| mends.iter().any(|word| mend.contains(word));
    why.rsplit_once(": ").filter(mend).map_or(why, |(reason, _)| reason).to_owned()
}

impl OverRealTcp<'_> {
    /// Of the criterion at a place, whose row has this answer.
    pub(crate) fn of(
        &self,
        place: usize,
        criterion: &Experiment,
        findings: &Findings,
        answer: Answer,
    ) -> Result<RealTcp, FileError> {
        if let Some(why) = self.obstacles.get(place).cloned().flatten() {
            return Ok(RealTcp::without(Agreement::NotPosed, why, Vec::new()));
        }
        let doubts = doubts(criterion, self.runs)?;
        let Some(beside) = &findings.kernel else {
            let why = if doubts.is_empty() { "its runs are not there" } else { BUSY };
            return Ok(RealTcp::without(Agreement::NotMeasured, why.into(), doubts));
        };
        let pairs = beside.measured.claims.iter().zip(&beside.simulated.claims);
        let asked: Vec<AskedThere> = pairs.map(|(measured, simulated)| AskedThere::new(measured, simulated)).collect();
        let there = answer_of(&asked);
        let simulated = Answer::of_all(asked.iter().map(|asked| asked.simulated));
        let agreement = Agreement::of(answer, there);
        let are_apart = asked.iter().any(|asked| asked.are_apart);
        Ok(RealTcp {
            agreement,
            answer: there,
            simulated,
            why: agreement.why(there == simulated, are_apart, beside.seeds.len()).to_owned(),
            asked,
            scale: beside.scale.clone(),
            seeds: beside.seeds.clone(),
            kernels: beside.kernels.clone(),
            doubts,
        })
    }
}

impl AskedThere {
    fn new(measured: &Judged, simulated: &Judged) -> Self {
        Self {
            text: measured.text.clone(),
            answer: Answer::of(measured.verdict),
            finding: measured.finding(),
            simulated: Answer::of(simulated.verdict),
            simulated_finding: simulated.finding(),
            are_apart: are_apart(measured, simulated),
        }
    }
}

/// The answer from all limits there. A limit that only the simulator answers, because runs were doubted, leaves the rest
/// without a verdict, unless another is broken.
fn answer_of(asked: &[AskedThere]) -> Answer {
    let lacks = |asked: &AskedThere| asked.answer == Answer::NotMeasured && asked.simulated != Answer::NotMeasured;
    match Answer::of_all(asked.iter().map(|asked| asked.answer)) {
        Answer::Fails => Answer::Fails,
        _ if asked.iter().any(lacks) => Answer::NotMeasured,
        other => other,
    }
}

fn are_apart(measured: &Judged, simulated: &Judged) -> bool {
    measured.decided_by.iter().any(|there| {
        let here = simulated.decided_by.iter().find(|here| here.at == there.at);
        here.is_some_and(|here| !here.estimate.overlaps(&there.estimate))
    })
}

impl Agreement {
    fn of(row: Answer, there: Answer) -> Self {
        match (row, there) {
            (_, Answer::NotMeasured) => Self::NotMeasured,
            (a, b) if a == b => Self::Agrees,
            (Answer::Passes, Answer::Fails) | (Answer::Fails, Answer::Passes) => Self::Differs,
            _ => Self::Open,
        }
    }

    /// As tables and documents write it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Open => "open",
            Self::NotMeasured => "not measured",
            Self::NotPosed => "not posed",
        }
    }

    /// The cause of a difference: whether the simulator's answer is the same on real TCP's path, whether the figures there are
    /// apart, and in how many runs. One may be out of the ordinary in a way that no seed of the simulator shows.
    fn why(self, is_same_there: bool, are_apart: bool, runs: usize) -> &'static str {
        match (self, is_same_there, are_apart) {
            (Self::Agrees | Self::NotPosed, ..) => "",
            (Self::NotMeasured, ..) => BUSY,
            (_, true, _) => "the path makes the difference: on the short one the simulator answers the same",
            (_, false, true) if runs == 1 => {
                "on the same path a single run differs from the simulator's: three tell more (without --quick)"
            }
            (_, false, true) => "the engines differ on the same path",
            (_, false, false) => "chance may have decided: the engines are as near as single runs are",
        }
    }
}

impl RealTcp {
    fn without(agreement: Agreement, why: String, doubts: Vec<String>) -> Self {
        Self {
            agreement,
            answer: Answer::NotMeasured,
            simulated: Answer::NotMeasured,
            why,
            asked: Vec::new(),
            scale: None,
            seeds: Vec::new(),
            kernels: Vec::new(),
            doubts,
        }
    }

    /// In a word or two: the answer, or why there is none.
    pub(crate) fn word(&self) -> &'static str {
        match self.agreement {
            Agreement::NotPosed => "cannot be posed",
            _ => self.answer.words(),
        }
    }

    /// Limits whose answer differs from the row's, for which both figures are shown.
    pub(crate) fn other_than<'a>(&'a self, row: &'a [Asked]) -> impl Iterator<Item = &'a AskedThere> {
        let is_same = |there: &AskedThere| row.iter().any(|own| own.text == there.text && own.answer == there.answer);
        self.asked.iter().filter(move |there| !is_same(there))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_agree_differ_or_are_open() {
        use Agreement::{Agrees, Differs, NotMeasured, Open};
        use Answer::{Fails, Passes, Undecided};
        for (row, there, expected) in [
            (Passes, Passes, Agrees),
            (Undecided, Undecided, Agrees),
            (Passes, Fails, Differs),
            (Fails, Passes, Differs),
            (Passes, Undecided, Open),
            (Undecided, Fails, Open),
            (Passes, Answer::NotMeasured, NotMeasured),
        ] {
            assert_eq!(Agreement::of(row, there), expected, "{row:?} {there:?}");
        }
        assert!(Differs.why(true, true, 3).contains("the path makes the difference"));
        assert!(Open.why(false, true, 3).contains("the engines differ"));
        assert!(Open.why(false, false, 1).contains("chance"));
    }

    /// What is lost with a doubted run may have been what fails.
    #[test]
    fn limits_that_were_not_measured_leave_no_verdict() {
        use Answer::{Fails, NotMeasured, Passes};
        let of = |answers: &[(Answer, Answer)]| {
            let asked = |&(answer, simulated): &(Answer, Answer)| AskedThere {
                text: String::new(),
                answer,
                finding: String::new(),
                simulated,
                simulated_finding: String::new(),
                are_apart: false,
            };
            answer_of(&answers.iter().map(asked).collect::<Vec<_>>())
        };
        assert_eq!(of(&[(Passes, Passes), (NotMeasured, Fails)]), NotMeasured);
        assert_eq!(of(&[(Fails, Passes), (NotMeasured, Passes)]), Fails);
        assert_eq!(of(&[(Passes, Passes), (NotMeasured, NotMeasured)]), Passes, "the short form leaves it out");
    }

    #[test]
    fn a_refusal_says_why_but_not_what_the_file_should_say() {
        assert_eq!(
            without_mend("real TCP has one bit, and `x` needs more: use --engine sim"),
            "real TCP has one bit, and `x` needs more"
        );
        assert_eq!(without_mend("`x` has `ecn`: leave it out, or give it `transport`"), "`x` has `ecn`");
        assert_eq!(without_mend("too many files: raise the limit"), "too many files: raise the limit");
        assert_eq!(without_mend("no colon --force"), "no colon --force");
    }
}
