// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer to each criterion.

use serde::{Deserialize, Serialize};
use tandem_batch::Batch;
use tandem_engine::Engine;
use tandem_papers::{
    Decider, Experiment, Findings, Form, Judged, Known, RunError, Seeds, Verdict, picture, refusal, run,
};
use tandem_report::Figure;
use tandem_scenario::ControllerSpec;
use tandem_statistics::Estimate;

use crate::{
    form::{Fact, facts},
    real_tcp::{OverRealTcp, RealTcp, without_mend},
    suite::{Question, Suite, Unposed, questions, unposed},
};

/// The answer to a criterion, or to one limit of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Every limit is kept.
    Passes,
    /// A limit is broken, beyond the interval.
    Fails,
    /// It may be chance: more seeds are needed.
    Undecided,
    /// Nothing of it was measured.
    NotMeasured,
    /// The question has no meaning for this controller.
    NotApplicable,
}

impl Answer {
    /// As tables and documents write it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Passes => "passes",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
            Self::NotApplicable => "does not apply",
        }
    }

    /// Whether limits were asked, and measured.
    pub(crate) fn is_of_limits(self) -> bool {
        matches!(self, Self::Passes | Self::Fails | Self::Undecided)
    }

    pub(crate) fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Holds => Self::Passes,
            Verdict::HoldsInPart | Verdict::DoesNotHold => Self::Fails,
            Verdict::Undecided => Self::Undecided,
            Verdict::NotAsked => Self::NotMeasured,
        }
    }

    /// The answer from several: one broken limit is enough.
    pub(crate) fn of_all(mut answers: impl Iterator<Item = Self> + Clone) -> Self {
        let has = |wanted| answers.clone().any(|answer| answer == wanted);
        match (has(Self::Fails), has(Self::Undecided)) {
            (true, _) => Self::Fails,
            (false, true) => Self::Undecided,
            (false, false) if answers.all(|answer| answer == Self::NotMeasured) => Self::NotMeasured,
            _ => Self::Passes,
        }
    }
}

/// A limit that was asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Asked {
    /// The limit in words.
    pub text: String,
    /// Its source: an RFC, a draft, a paper, another controller in the same place, or ourselves.
    pub owner: String,
    /// We chose it.
    pub ours: bool,
    /// Whether it is kept.
    pub answer: Answer,
    /// The numbers that decide it, in words.
    pub finding: String,
    /// The figures at each point, also where it is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<AskedPoint>,
}

/// A limit at one point.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AskedPoint {
    /// Where on the axis: `at 0.25`.
    pub at: String,
    /// What was compared with the limit, in the unit of the criterion's file, or a ratio.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// It must be at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// It must be at most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// Whether the limit is kept here.
    pub answer: Answer,
}

impl AskedPoint {
    fn new(point: &Decider) -> Self {
        let Decider { at, estimate, low, high, verdict, .. } = point;
        Self { at: at.clone(), estimate: *estimate, above: *low, below: *high, answer: Answer::of(*verdict) }
    }
}

/// The point where a limit is missed by most.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Worst {
    /// Where on the axis: `at 0.25`.
    pub at: String,
    /// A file that `tandem run` takes.
    pub scenario: String,
}

/// A criterion, answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// Id of the file: `rfc9743/5.1.3-loss`.
    pub id: String,
    /// Section of RFC 9743.
    pub section: String,
    /// What was run.
    pub title: String,
    /// What is asked.
    pub question: String,
    /// Whether its limits are kept.
    pub answer: Answer,
    /// Why there is no answer, where none was sought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Each limit.
    pub asked: Vec<Asked>,
    /// Of the first limit that is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Worst>,
    /// The literature says that it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Known>,
    /// The same over real TCP, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_tcp: Option<RealTcp>,
    /// What is drawn of it. Reports of before it was kept lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
}

/// A controller, judged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Assessment {
    /// The title of the suite.
    #[serde(default = "rfc9743")]
    pub suite: String,
    /// The controller, with its parameters.
    pub contender: String,
    /// How much was run.
    pub form: Form,
    /// Name of the engine that ran it.
    #[serde(default = "sim")]
    pub engine: String,
    /// The neighbours where a criterion asks for other controllers, in order; empty in files from before they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<String>,
    /// The criteria that were posed, in the order of the RFC.
    pub rows: Vec<Row>,
    /// Those that no run answers.
    pub unposed: Vec<Unposed>,
    /// Known facts about the controller itself.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// Questions that only its authors can answer.
    #[serde(default)]
    pub questions: Vec<Question>,
    /// Criteria that an interrupt left out.
    pub left: usize,
}

/// The suite of files from before there were several.
pub(crate) fn rfc9743() -> String {
    "RFC 9743".into()
}

/// The engine of files from before there were several.
pub(crate) fn sim() -> String {
    SIM.into()
}

/// The simulator's name.
pub(crate) const SIM: &str = "sim";

impl Assessment {
    /// The assessment of this suite, with the neighbours for whom its criteria were read.
    pub fn of_suite(self, suite: &Suite, against: &[&str]) -> Self {
        let one = Self { against: against.iter().map(|&name| name.to_owned()).collect(), ..self };
        let title = suite.title();
        if suite.is_rfc9743() { one } else { Self { suite: title, unposed: vec![], questions: vec![], ..one } }
    }

    /// A command that makes it again as a document, where the one that made it is not known.
    pub fn command(&self) -> String {
        format!("tandem evaluate {} --{} --markdown report.md", self.contender, self.form.name())
    }

    /// How many criteria have this answer.
    pub fn count(&self, answer: Answer) -> usize {
        self.rows.iter().filter(|row| row.answer == answer).count()
    }
}

/// Runs the criteria, as [`criteria`](crate::criteria) reads them, and judges them. Runs over real TCP in `real` are judged beside them.
///
/// # Errors
/// If a scenario is wrong for the controller, a run fails, or the store cannot be used.
pub fn evaluate(
    contender: &str,
    criteria: &[Experiment],
    form: Form,
    engine: &dyn Engine,
    batch: &Batch,
    real: Option<OverRealTcp>,
) -> Result<Assessment, RunError> {
    let unasked = criteria.iter().map(|criterion| unasked(contender, criterion, form, engine));
    let unasked = unasked.collect::<Result<Vec<_>, _>>()?;
    let asked = criteria.iter().zip(&unasked).filter_map(|(one, unasked)| unasked.is_none().then_some(one));
    let found = run(asked, form, Seeds::Auto, engine, batch, real.map(|real| real.runs))?;
    let left = found.iter().filter(|findings| findings.is_none()).count();
    let (mut rows, mut found) = (Vec::new(), found.iter());
    for (place, (criterion, unasked)) in criteria.iter().zip(unasked).enumerate() {
        if let Some((answer, why)) = unasked {
            rows.push(without_answer(criterion, answer, why));
            continue;
        }
        let Some(findings) = found.next().and_then(Option::as_ref) else { continue };
        let row = row(contender, criterion, findings);
        let real_tcp = real.map(|real| real.of(place, criterion, findings, row.answer)).transpose()?;
        rows.push(Row { real_tcp, ..row });
    }
    let (suite, contender, facts) = (rfc9743(), contender.to_owned(), facts(contender));
    let engine = engine.name().to_owned();
    let (against, unposed, questions) = (Vec::new(), unposed(), questions());
    Ok(Assessment { suite, contender, form, engine, against, rows, unposed, facts, questions, left })
}

/// Why a criterion asks nothing of a controller; `None` if it does ask.
pub(crate) fn why_not(contender: &str, criterion: &Experiment) -> Option<String> {
    criterion.criterion()?.why_not(&contender.parse::<ControllerSpec>().ok()?)
}

/// The answer to a criterion that cannot be run, with its reason: it does not apply, or the engine cannot carry its path.
fn unasked(
    contender: &str,
    criterion: &Experiment,
    form: Form,
    engine: &dyn Engine,
) -> Result<Option<(Answer, String)>, RunError> {
    if let Some(why) = why_not(contender, criterion) {
        return Ok(Some((Answer::NotApplicable, why)));
    }
    let refused = refusal(criterion, form, engine, false)?;
    Ok(refused.map(|why| (Answer::NotMeasured, format!("cannot be posed: {}", without_mend(&why)))))
}

/// Of a criterion that is not run.
fn without_answer(experiment: &Experiment, answer: Answer, why: String) -> Row {
    Row {
        id: experiment.id.clone(),
        section: experiment.criterion().map(|criterion| criterion.section.clone()).unwrap_or_default(),
        title: experiment.title().to_owned(),
        question: experiment.claim().to_owned(),
        answer,
        why: Some(why),
        asked: Vec::new(),
        worst: None,
        known: None,
        real_tcp: None,
        figure: None,
    }
}

fn row(contender: &str, experiment: &Experiment, findings: &Findings) -> Row {
    let claims = &findings.own.claims;
    let name = contender.split('@').next().unwrap_or(contender);
    let known = experiment.criterion().and_then(|criterion| criterion.known.iter().find(|one| one.controller == name));
    Row {
        id: findings.id.clone(),
        section: experiment.criterion().map(|criterion| criterion.section.clone()).unwrap_or_default(),
        title: findings.title.clone(),
        question: findings.claim.clone(),
        answer: Answer::of_all(claims.iter().map(|claim| Answer::of(claim.verdict))),
        why: None,
        asked: claims.iter().map(asked).collect(),
        worst: claims.iter().find_map(|claim| worst(experiment, findings.form, claim)),
        known: known.cloned(),
        real_tcp: None,
        figure: Some(picture(experiment, findings)),
    }
}

fn asked(claim: &Judged) -> Asked {
    let ours = if claim.ours { "ours" } else { "" };
    Asked {
        text: claim.text.clone(),
        owner: claim.owner.clone().unwrap_or_else(|| ours.to_owned()),
        ours: claim.ours,
        answer: Answer::of(claim.verdict),
        finding: claim.finding(),
        points: claim.at_each.iter().map(AskedPoint::new).collect(),
    }
}

fn worst(experiment: &Experiment, form: Form, claim: &Judged) -> Option<Worst> {
    let beyond = |decider: &&Decider| {
        let below = decider.low.map_or(0.0, |low| low - decider.estimate.value);
        let above = decider.high.map_or(0.0, |high| decider.estimate.value - high);
        below.max(above)
    };
    let misses = claim.at_each.iter().filter(|decider| decider.verdict == Verdict::DoesNotHold);
    let decider = misses.max_by(|a, b| beyond(a).total_cmp(&beyond(b)))?;
    Some(Worst { at: decider.at.clone(), scenario: experiment.scenario_file(form, &claim.curve, &decider.at)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_broken_limit_fails_a_criterion() {
        use Answer::{Fails, NotMeasured, Passes, Undecided};
        let of = |answers: &[Answer]| Answer::of_all(answers.iter().copied());
        assert_eq!(of(&[Passes, Fails, Undecided]), Fails);
        assert_eq!(of(&[Passes, Undecided]), Undecided);
        assert_eq!(of(&[Passes, NotMeasured]), Passes);
        assert_eq!(of(&[NotMeasured]), NotMeasured);
    }
}
