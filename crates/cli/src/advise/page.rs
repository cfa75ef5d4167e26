// SPDX-License-Identifier: MIT OR Apache-2.0
//! The advice as a page.

use tandem_advise::Advice;
use tandem_report::{AnswerPage, Details, Note, Other};

use super::{trade_off, words};
use crate::origin::command_line;

pub fn page(advice: &Advice) -> AnswerPage {
    let other = |path: words::OtherPath| Other { what: path.differs.to_owned(), mark: path.mark, answer: path.advice };
    let details = |title: &str, paragraphs: Vec<String>| Details { title: title.to_owned(), paragraphs };
    let rule = [words::rule(advice)].into_iter().chain(words::assumed(advice)).chain(words::not_advised(advice));
    AnswerPage {
        title: format!("Advice for {}", advice.question.known.words()),
        answer: words::answer(advice),
        commands: words::commands(advice).into_iter().map(|(label, command)| (label.to_owned(), command)).collect(),
        facts: words::facts(advice).into_iter().map(Note::from).collect(),
        figures: trade_off::usual(advice),
        reading: "Each point is a controller; whiskers are 95 % intervals over seeds. Upper left is best: high goodput, little harm. \
                  The dashed line is the limit, if it is near."
            .into(),
        others_title: "What would change it".into(),
        others: words::other_paths(advice).into_iter().map(other).collect(),
        table_title: "All candidates".into(),
        table: words::candidates(advice),
        details: vec![
            details("The rule", rule.collect()),
            details("From the measurements", words::inferred(advice)),
            details("Cautions", words::cautions(advice)),
        ],
        more_figures: trade_off::changed(advice),
        command: command_line(),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}
