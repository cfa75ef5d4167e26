// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment that was kept, to see what has got worse since.

use serde::{Deserialize, Serialize};
use tandem_papers::Form;

use crate::{
    assessment::{Answer, Assessment, rfc9743, sim},
    suite::is_in,
};

/// The part of a kept assessment that is read.
#[derive(Debug, Deserialize)]
pub struct Baseline {
    #[serde(default = "rfc9743")]
    suite: String,
    contender: String,
    form: Form,
    #[serde(default = "sim")]
    engine: String,
    /// Empty: it is from before they were kept.
    #[serde(default)]
    against: Vec<String>,
    rows: Vec<KeptRow>,
}

#[derive(Debug, Deserialize)]
struct KeptRow {
    id: String,
    section: String,
    answer: Answer,
}

/// A kept assessment is of another suite, so no criterion is in both.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "it has the criteria of {kept}, not of {wanted}: name a report of the same suite, or choose that suite with --suite"
)]
pub struct AnotherSuite {
    kept: String,
    wanted: String,
}

/// An assessment beside its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The controller in the baseline, with its parameters, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_contender: Option<String>,
    /// How much was run for the baseline, if that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_form: Option<Form>,
    /// The engine that ran the baseline, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_engine: Option<String>,
    /// The neighbours in the baseline, if they are others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_against: Option<Vec<String>>,
    /// The criteria, by id, that passed there and fail now.
    pub regressions: Vec<String>,
    /// Criteria that the baseline lacks.
    pub new: Vec<String>,
    /// Criteria of the baseline that were not answered now although they were asked for.
    pub gone: Vec<String>,
    #[serde(skip)]
    contender: String,
    #[serde(skip)]
    form: Form,
    #[serde(skip)]
    engine: String,
    #[serde(skip)]
    against: Vec<String>,
}

impl Baseline {
    /// Refuses an assessment by other criteria.
    ///
    /// # Errors
    /// If this one is not of the suite with this title.
    pub fn check(&self, suite: &str) -> Result<(), AnotherSuite> {
        let another = || AnotherSuite { kept: self.suite.clone(), wanted: suite.to_owned() };
        if self.suite == suite { Ok(()) } else { Err(another()) }
    }

    /// What differs now. Only these `sections` were asked for, all if there are none.
    pub fn compare(&self, now: &Assessment, sections: &[String]) -> Comparison {
        let kept = |id: &str| self.rows.iter().find(|row| row.id == id);
        let ids = |has: &dyn Fn(&str, Answer) -> bool| -> Vec<String> {
            let rows = now.rows.iter().filter(|row| has(&row.id, row.answer));
            rows.map(|row| row.id.clone()).collect()
        };
        let passed = |id: &str| kept(id).is_some_and(|row| row.answer == Answer::Passes);
        let is_asked = |row: &&KeptRow| sections.is_empty() || sections.iter().any(|one| is_in(&row.section, one));
        let has_answer = |id: &str| now.rows.iter().any(|own| own.id == id && own.answer.is_of_limits());
        let is_gone = |row: &&KeptRow| row.answer.is_of_limits() && !has_answer(&row.id);
        let has_others = !self.against.is_empty() && !now.against.is_empty() && self.against != now.against;
        let is_whole = now.left == 0;
        let gone = self.rows.iter().filter(|_| is_whole).filter(is_asked).filter(is_gone);
        Comparison {
            other_contender: (self.contender != now.contender).then(|| self.contender.clone()),
            other_form: (self.form != now.form).then_some(self.form),
            other_engine: (self.engine != now.engine).then(|| self.engine.clone()),
            other_against: has_others.then(|| self.against.clone()),
            regressions: ids(&|id, answer| answer == Answer::Fails && passed(id)),
            new: ids(&|id, _| kept(id).is_none()),
            gone: gone.map(|row| row.id.clone()).collect(),
            contender: now.contender.clone(),
            form: now.form,
            engine: now.engine.clone(),
            against: now.against.clone(),
        }
    }
}

impl Comparison {
    /// What a reader must know, a line each, after a line that names the baseline's file.
    pub fn text(&self, file: &str) -> String {
        let mut lines = vec![format!("Beside {file}: {}", self.count())];
        if let Some(kept) = &self.other_contender {
            lines.push(format!("  another controller: `{kept}` there, `{}` here", self.contender));
        }
        if let Some(kept) = self.other_form {
            let (kept, here) = (kept.name(), self.form.name());
            lines.push(format!("  another form: {kept} runs there, {here} runs here, with other points and seeds"));
        }
        if let Some(kept) = &self.other_engine {
            lines.push(format!("  another engine: {kept} there, {} here", self.engine));
        }
        if let Some(kept) = &self.other_against {
            lines.push(format!("  other neighbours: {} there, {} here", kept.join(", "), self.against.join(", ")));
        }
        let named = [("not in it", &self.new), ("in it, without an answer here", &self.gone)];
        let named = named.iter().filter(|(_, ids)| !ids.is_empty());
        lines.extend(named.map(|(what, ids)| format!("  {what}: {}", ids.join(", "))));
        lines.join("\n") + "\n"
    }

    fn count(&self) -> String {
        match self.regressions.len() {
            0 => "nothing that passed fails now".into(),
            count => format!("{count} passed and fail now: {}", self.regressions.join(", ")),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tandem_report::{Curve, Figure};

    use super::*;
    use crate::{
        assessment::{Asked, Row, Worst},
        form::Fact,
        real_tcp::{Agreement, AskedThere, RealTcp},
    };

    /// A curve of two points, on a logarithmic axis.
    fn figure() -> Figure {
        let curve = Curve {
            name: "contender".into(),
            x: vec![0.1, 1.0],
            y: vec![3.1, 1.0],
            half_widths: vec![0.2; 2],
            ..Curve::default()
        };
        Figure {
            title: "A drawing".into(),
            x_axis: "Buffer, BDP".into(),
            log_x: true,
            curves: vec![curve],
            ..Figure::default()
        }
    }

    /// One that passes, one that fails, one that is undecided.
    pub fn example() -> Assessment {
        let row = |section: &str, answer: Answer| Row {
            id: format!("rfc9743/{section}"),
            section: section.into(),
            title: format!("Title of {section}"),
            question: "A question.".into(),
            answer,
            why: None,
            asked: vec![Asked {
                text: "at most 2 % are dropped".into(),
                owner: "a draft".into(),
                ours: false,
                answer,
                finding: "3.1 ± 0.2 at 0.1".into(),
                points: Vec::new(),
            }],
            worst: (answer == Answer::Fails)
                .then(|| Worst { at: "at 0.1".into(), scenario: "duration = \"60s\"\n".into() }),
            known: None,
            real_tcp: None,
            figure: Some(figure()),
        };
        Assessment {
            suite: "RFC 9743".into(),
            contender: "reno".into(),
            form: Form::Quick,
            engine: "sim".into(),
            against: vec!["reno".into(), "cubic".into()],
            rows: vec![row("5.1.1", Answer::Passes), row("5.1.3", Answer::Fails), row("7.8", Answer::Undecided)],
            unposed: crate::unposed(),
            facts: vec![Fact { about: "Signals".into(), text: "losses".into() }],
            questions: crate::questions(),
            left: 0,
        }
    }

    /// The same, with a criterion at the end that does not apply.
    pub fn with_one_that_does_not_apply() -> Assessment {
        let mut assessment = example();
        let row = Row {
            id: "mine/l4s".into(),
            section: "8".into(),
            title: "Title of 8".into(),
            answer: Answer::NotApplicable,
            why: Some("this is asked of others alone".into()),
            asked: Vec::new(),
            figure: None,
            ..assessment.rows[0].clone()
        };
        assessment.rows.push(row);
        assessment
    }

    /// The same with an answer over real TCP each: one cannot be posed, one differs, one was doubted.
    pub fn over_real_tcp() -> Assessment {
        let without = |agreement, why: &str, doubts: Vec<String>| RealTcp {
            agreement,
            answer: Answer::NotMeasured,
            simulated: Answer::NotMeasured,
            why: why.into(),
            asked: Vec::new(),
            scale: None,
            seeds: Vec::new(),
            kernels: Vec::new(),
            doubts,
        };
        let differs = RealTcp {
            answer: Answer::Passes,
            simulated: Answer::Fails,
            asked: vec![AskedThere {
                text: "at most 2 % are dropped".into(),
                answer: Answer::Passes,
                finding: "holds: 1.1 at 0.1".into(),
                simulated: Answer::Fails,
                simulated_finding: "fails: 3 ± 0.1 at 0.1".into(),
                are_apart: true,
            }],
            scale: Some("At a tenth".into()),
            seeds: vec![1],
            kernels: vec!["6.18".into()],
            ..without(Agreement::Differs, "the engines differ on the same path", Vec::new())
        };
        let doubts = vec!["7.8, a, 2, seed 1: late".to_owned()];
        let there = [
            without(Agreement::NotPosed, "no cell", Vec::new()),
            differs,
            without(Agreement::NotMeasured, "the machine was too busy", doubts),
        ];
        let mut assessment = example();
        for (row, there) in assessment.rows.iter_mut().zip(there) {
            row.real_tcp = Some(there);
        }
        assessment
    }

    fn kept(head: &str, rows: &[(&str, &str)]) -> Baseline {
        let row = |(section, answer): &(&str, &str)| {
            format!("{{ id = 'rfc9743/{section}', section = '{section}', answer = '{answer}', title = 'more' }},")
        };
        let rows: String = rows.iter().map(row).collect();
        toml::from_str(&format!("{head}\nrows = [{rows}]\n")).expect("it is read")
    }

    const ALIKE: &str = "contender = 'reno'\nform = 'quick'";

    #[test]
    fn what_passed_and_fails_now_is_a_regression() {
        let now = example();
        let rows = [("5.1.1", "passes"), ("5.1.3", "passes"), ("7.8", "passes")];
        let found = kept(ALIKE, &rows).compare(&now, &[]);
        assert_eq!(found.regressions, ["rfc9743/5.1.3"]);
        assert_eq!(found.text("a.json"), "Beside a.json: 1 passed and fail now: rfc9743/5.1.3\n");
        let failed = kept(ALIKE, &[("5.1.1", "passes"), ("5.1.3", "fails"), ("7.8", "undecided")]).compare(&now, &[]);
        assert_eq!(failed.text("a.json"), "Beside a.json: nothing that passed fails now\n", "it failed before");
    }

    #[test]
    fn what_is_not_alike_is_said() {
        let now = example();
        let rows = [("5.1.1", "passes"), ("5.1.30", "passes"), ("7.8", "passes"), ("7.9", "passes")];
        let before = kept("contender = 'cubic'\nform = 'full'\nengine = 'quic'", &rows);
        let text = before.compare(&now, &[]).text("a.json");
        let due = "Beside a.json: nothing that passed fails now\n  another controller: `cubic` there, `reno` here\n  \
                   another form: full runs there, quick runs here, with other points and seeds\n  another engine: quic there, sim here\n  \
                   not in it: rfc9743/5.1.3\n  \
                   in it, without an answer here: rfc9743/5.1.30, rfc9743/7.9\n";
        assert_eq!(text, due);
        let of_sections = |sections: &[&str]| {
            let sections: Vec<String> = sections.iter().map(|&section| section.to_owned()).collect();
            before.compare(&now, &sections).gone
        };
        assert_eq!(of_sections(&["5"]), ["rfc9743/5.1.30"], "7.9 was not asked for");
        assert!(of_sections(&["5.1.3"]).is_empty(), "5.1.30 is another section");
        let passed = kept(ALIKE, &[("8", "passes")]);
        let passed = Baseline {
            rows: vec![KeptRow { id: "mine/l4s".into(), ..passed.rows.into_iter().next().expect("a row") }],
            ..kept(ALIKE, &[])
        };
        assert_eq!(passed.compare(&with_one_that_does_not_apply(), &[]).gone, ["mine/l4s"], "it applied before");
        assert!(before.compare(&Assessment { left: 1, ..now }, &[]).gone.is_empty(), "an interrupt left them");
    }

    #[test]
    fn other_neighbours_are_named() {
        let now = example();
        let beside = |against: &str| kept(&format!("{ALIKE}{against}"), &[]).compare(&now, &[]);
        let others = beside("\nagainst = ['bbr3']");
        let text = others.text("a.json");
        assert!(text.contains("\n  other neighbours: bbr3 there, reno, cubic here\n"), "{text}");
        assert_eq!(beside("\nagainst = ['reno', 'cubic']").other_against, None);
        assert_eq!(beside("").other_against, None, "it does not say");
    }

    #[test]
    fn another_suite_is_no_baseline() {
        assert!(kept(ALIKE, &[]).check("RFC 9743").is_ok(), "of before there were several");
        let of_media = kept(&format!("suite = 'RFC 8867'\n{ALIKE}"), &[]);
        assert!(of_media.check("RFC 8867").is_ok());
        let refused = of_media.check("RFC 9743").expect_err("another suite").to_string();
        assert!(refused.starts_with("it has the criteria of RFC 8867, not of RFC 9743: name a report"), "{refused}");
    }
}
