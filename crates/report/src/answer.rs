// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page that answers a question: the answer, the commands, the reasons, what would change it, and the details folded away.

use minijinja::{Value, context, value::Serde};
use serde::Serialize;

use crate::{
    figures_page::Figure,
    page::{Charts, render},
    sections::{Mark, Note, Table},
};

/// The answer under another assumption.
#[derive(Debug, Clone, Serialize)]
pub struct Other {
    /// What is assumed.
    pub what: String,
    /// Good: the same answer; bad: another.
    pub mark: Mark,
    /// The answer then.
    pub answer: String,
}

/// Optional details; nothing is shown if there are none.
#[derive(Debug, Clone, Serialize)]
pub struct Details {
    /// What they are about.
    pub title: String,
    /// Whole sentences.
    pub paragraphs: Vec<String>,
}

/// A page with an answer.
pub struct AnswerPage {
    /// Title of the page.
    pub title: String,
    /// The first lines, the most important last: it is set large.
    pub answer: Vec<String>,
    /// Commands with their labels; each can be copied.
    pub commands: Vec<(String, String)>,
    /// The reasons for the answer.
    pub facts: Vec<Note>,
    /// The trade-off.
    pub figures: Vec<Figure>,
    /// How to read it.
    pub reading: String,
    /// Heading of the other answers.
    pub others_title: String,
    /// The answers under other assumptions.
    pub others: Vec<Other>,
    /// Heading of the table.
    pub table_title: String,
    /// All numbers.
    pub table: Table,
    /// Folded away.
    pub details: Vec<Details>,
    /// Further figures, at the end.
    pub more_figures: Vec<Figure>,
    /// The command that makes the page again.
    pub command: String,
    /// Tandem's version.
    pub version: String,
}

/// The page as HTML that needs no network.
pub fn answer_html(page: &AnswerPage) -> String {
    let mut charts = Charts::default();
    let figures = charts.add(page.figures.iter().map(Figure::chart));
    let more_figures = charts.add(page.more_figures.iter().map(Figure::chart));
    let content = context! {
        title => page.title.as_str(),
        answer => Value::from(Serde(&page.answer)),
        commands => Value::from(Serde(&page.commands)),
        facts => Value::from(Serde(&page.facts)),
        figures,
        reading => page.reading.as_str(),
        others_title => page.others_title.as_str(),
        others => Value::from(Serde(&page.others)),
        table_title => page.table_title.as_str(),
        table => Value::from(Serde(&page.table)),
        details => Value::from(Serde(&page.details)),
        more_figures,
        command => page.command.as_str(),
        version => page.version.as_str(),
    };
    render("answer.html", include_str!("answer.html"), content, &charts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_copied_and_texts_are_escaped() {
        let html = answer_html(&AnswerPage {
            title: "t".into(),
            answer: vec!["First a < b.".into(), "Then `c<` and `d`, not ` alone.".into()],
            commands: vec![("Try it".into(), "x --as \"y\" && z".into())],
            facts: vec![("Goodput", "1 & 2").into()],
            figures: vec![],
            reading: String::new(),
            others_title: "What would change it".into(),
            others: vec![Other { what: "no <b>".into(), mark: Mark::Bad, answer: "d".into() }],
            table_title: "All".into(),
            table: Table { header: vec!["h".into()], rows: vec![vec!["r".into()]] },
            details: vec![
                Details { title: "Shown".into(), paragraphs: vec!["p".into()] },
                Details { title: "Empty".into(), paragraphs: vec![] },
            ],
            more_figures: vec![],
            command: "tandem".into(),
            version: "0".into(),
        });
        let expected = [
            "a &lt; b",
            "<p class=\"answer\">Then <code>c&lt;</code> and <code>d</code>, not ` alone.</p>",
            "<code>x --as &quot;y&quot; &amp;&amp; z</code>",
            "1 &amp; 2",
            "<span class=\"mark bad\"></span>no &lt;b&gt;",
            "<summary>Shown</summary>",
        ];
        for expected in expected {
            assert!(html.contains(expected), "{expected} is not in {html}");
        }
        assert_eq!(html.matches("class=\"copy\"").count(), 1);
        assert!(!html.contains("Empty"));
    }
}
