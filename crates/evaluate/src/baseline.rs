// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment that was kept, to see what has got worse since.

use serde::Deserialize;

use crate::assessment::{Answer, Assessment};

/// The part of a kept assessment that is read.
#[derive(Debug, Deserialize)]
pub struct Baseline {
    rows: Vec<KeptRow>,
}

#[derive(Debug, Deserialize)]
struct KeptRow {
    id: String,
    answer: Answer,
}

impl Baseline {
    /// The criteria, by id, that passed there and fail now.
    pub fn regressions<'a>(&self, now: &'a Assessment) -> Vec<&'a str> {
        let passed = |id: &str| self.rows.iter().any(|row| row.id == id && row.answer == Answer::Passes);
        let fails = now.rows.iter().filter(|row| row.answer == Answer::Fails);
        fails.map(|row| row.id.as_str()).filter(|id| passed(id)).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tandem_papers::Form;

    use super::*;
    use crate::{
        assessment::{Asked, Row, Worst},
        form::Fact,
        real_tcp::{Agreement, AskedThere, RealTcp},
    };

    /// One that passes, one that fails, one that is undecided.
    pub fn example() -> Assessment {
        let row = |section: &str, answer: Answer| Row {
            id: format!("rfc9743/{section}"),
            section: section.into(),
            title: format!("Title of {section}"),
            question: "A question.".into(),
            answer,
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
            picture: Some("<svg/>".into()),
        };
        Assessment {
            suite: "RFC 9743".into(),
            contender: "reno".into(),
            form: Form::Quick,
            rows: vec![row("5.1.1", Answer::Passes), row("5.1.3", Answer::Fails), row("7.8", Answer::Undecided)],
            unposed: crate::unposed(),
            facts: vec![Fact { about: "Signals".into(), text: "losses".into() }],
            questions: crate::questions(),
            left: 0,
        }
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

    #[test]
    fn what_passed_and_fails_now_is_a_regression() {
        let now = example();
        let kept = |text: &str| toml::from_str::<Baseline>(text).expect("it is read");
        let before = kept(
            "contender = 'x'\n[[rows]]\nid = 'rfc9743/5.1.3'\nanswer = 'passes'\ntitle = 'more'\n[[rows]]\nid = 'rfc9743/7.8'\nanswer = 'passes'\n",
        );
        assert_eq!(before.regressions(&now), ["rfc9743/5.1.3"]);
        let failed = kept("[[rows]]\nid = 'rfc9743/5.1.3'\nanswer = 'fails'\n");
        assert!(failed.regressions(&now).is_empty(), "it failed before");
    }
}
