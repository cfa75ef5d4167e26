// SPDX-License-Identifier: MIT OR Apache-2.0
//! The criteria over real TCP, beside the simulator on the same paths.
//!
//! Real TCP takes as long as it emulates, so a criterion has a short form for it (`[kernel]` in its file). Its answer there stands beside the
//! row's own, and beside the simulator's on the same short path, which tells whether the path or the engine makes a difference.

use serde::{Deserialize, Serialize};
use tandem_engine::Engine;
use tandem_papers::{Experiment, Findings, Judged, RealTcpRuns, RunError, doubts, obstacle};
use tandem_scenario::FileError;

use crate::assessment::{Answer, Asked};

/// What there is of criteria over real TCP.
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
    /// How its answer stands to the row's.
    pub agreement: Agreement,
    /// Whether its limits are kept there.
    pub answer: Answer,
    /// The simulator's answer on the same path.
    pub simulated: Answer,
    /// Why it was not measured, or what the difference comes from; empty where they agree.
    pub why: String,
    /// Each limit, over real TCP.
    pub asked: Vec<AskedThere>,
    /// In words, where the path is another than the row's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
    /// Of the runs that count.
    pub seeds: Vec<u64>,
    /// Releases of the kernels that ran them.
    pub kernels: Vec<String>,
    /// Runs that the emulator doubts, which count for nothing.
    pub doubts: Vec<String>,
}

/// How the answer over real TCP stands to the row's.
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
    /// The limit in words, as the row has it.
    pub text: String,
    /// Whether it is kept.
    pub answer: Answer,
    /// The numbers that decide it, in words.
    pub finding: String,
    /// The simulator's answer on the same path.
    pub simulated: Answer,
    /// The simulator's numbers on the same path.
    pub simulated_finding: String,
}

/// Why an engine cannot carry criteria, by their places; `None` where it can.
///
/// # Errors
/// If this process may run nothing in it, for example without root.
pub fn obstacles(criteria: &[Experiment], engine: &dyn Engine, force: bool) -> Result<Vec<Option<String>>, RunError> {
    let of = |criterion| Ok(obstacle(criterion, engine, force)?.map(|why| without_mend(&why)));
    criteria.iter().map(of).collect()
}

/// Without what whoever wrote the scenario could do about it: here that is nobody.
fn without_mend(why: &str) -> String {
    let mend = |(_, mend): &(&str, &str)| mend.contains("--engine ") || mend.contains("--force");
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
            let why = if doubts.is_empty() { "its runs are not there" } else { "the machine was too busy" };
            return Ok(RealTcp::without(Agreement::NotMeasured, why.into(), doubts));
        };
        let pairs = beside.measured.claims.iter().zip(&beside.simulated.claims);
        let asked: Vec<AskedThere> = pairs.map(|(measured, simulated)| AskedThere::new(measured, simulated)).collect();
        let there = Answer::of_all(asked.iter().map(|asked| asked.answer));
        let simulated = Answer::of_all(asked.iter().map(|asked| asked.simulated));
        let agreement = Agreement::of(answer, there);
        Ok(RealTcp {
            agreement,
            answer: there,
            simulated,
            why: agreement.why(there, simulated).to_owned(),
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
        }
    }
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

    /// What a difference comes from, by the simulator's answer on the path that real TCP had.
    fn why(self, there: Answer, simulated: Answer) -> &'static str {
        match self {
            Self::Agrees | Self::NotPosed => "",
            Self::NotMeasured => "none of its limits could be read off the runs",
            Self::Differs | Self::Open if there == simulated => {
                "the path makes the difference: on the short one the simulator answers the same"
            }
            Self::Open => "chance may have decided",
            Self::Differs if simulated == Answer::Undecided => "on the same path chance decides in the simulator",
            Self::Differs => "the engines differ on the same path",
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

    /// Limits whose answer is another than the row's, in which case both figures are wanted.
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
        assert!(Differs.why(Fails, Fails).contains("the path makes the difference"));
        assert!(Differs.why(Fails, Passes).contains("the engines differ"));
    }

    #[test]
    fn a_refusal_says_why_but_not_what_the_file_should_say() {
        assert_eq!(
            without_mend("real TCP has one bit, and `x` needs more: use --engine sim"),
            "real TCP has one bit, and `x` needs more"
        );
        assert_eq!(without_mend("too many files: raise the limit"), "too many files: raise the limit");
        assert_eq!(without_mend("no colon --force"), "no colon --force");
    }
}
