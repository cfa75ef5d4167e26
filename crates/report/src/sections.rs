// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page of many figures, each with its notes and numbers.

use minijinja::{Value, context, value::Serde};
use serde::Serialize;

use crate::{
    figures_page::Figure,
    page::{Charts, render},
};

/// A table of texts, ready to be shown.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Titles of the columns.
    pub header: Vec<String>,
    /// Each as long as the header.
    pub rows: Vec<Vec<String>>,
}

/// The verdict of a section, for a sign that is readable without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Yes.
    Good,
    /// In part.
    Part,
    /// No.
    Bad,
    /// Nobody knows.
    Open,
}

/// Something to say of a figure.
#[derive(Debug, Clone, Serialize)]
pub struct Note {
    /// Empty: the label of the note before continues.
    pub label: String,
    /// May be empty.
    pub text: String,
    /// The sign before the text, if it is a claim that was judged.
    pub mark: Option<Mark>,
}

/// A label and a text without a sign.
impl<L: Into<String>, T: Into<String>> From<(L, T)> for Note {
    fn from((label, text): (L, T)) -> Self {
        Self { label: label.into(), text: text.into(), mark: None }
    }
}

/// A figure with notes and tables.
pub struct Section {
    /// For links to it: letters, digits and hyphens.
    pub id: String,
    /// Heading of the section.
    pub title: String,
    /// The verdict, and the words for it.
    pub mark: (Mark, String),
    /// The notes.
    pub notes: Vec<Note>,
    /// The chart.
    pub figure: Figure,
    /// The numbers behind the chart.
    pub tables: Vec<Table>,
}

/// A page with a summary and a section for each of its rows.
pub struct SectionsPage {
    /// Title of the page.
    pub title: String,
    /// Introduction, above the summary.
    pub paragraphs: Vec<String>,
    /// A row for each section, in order; its first cell leads there, and the cell that has the words of the section's mark has its sign.
    pub summary: Table,
    /// In the order of the summary.
    pub sections: Vec<Section>,
    /// The command that makes the page again.
    pub command: String,
    /// Tandem's version.
    pub version: String,
}

/// The page as HTML that needs no network.
pub fn sections_html(page: &SectionsPage) -> String {
    let mut charts = Charts::default();
    let mut section = |section: &Section| {
        context! {
            id => section.id.as_str(),
            title => section.title.as_str(),
            mark => Value::from(Serde(&section.mark.0)),
            words => section.mark.1.as_str(),
            notes => Value::from(Serde(&section.notes)),
            figures => charts.add(std::iter::once(section.figure.chart())),
            tables => Value::from(Serde(&section.tables)),
        }
    };
    let content = context! {
        title => page.title.as_str(),
        paragraphs => Value::from(Serde(&page.paragraphs)),
        summary => Value::from(Serde(&page.summary)),
        sections => page.sections.iter().map(&mut section).collect::<Vec<_>>(),
        command => page.command.as_str(),
        version => page.version.as_str(),
    };
    render("sections.html", include_str!("sections.html"), content, &charts)
}

impl Section {
    /// The chart as JSON, in the form of [`charts_json`](crate::charts_json).
    pub fn chart_json(&self) -> String {
        self.figure.chart_json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_links_lead_to_sections() {
        let table = Table { header: vec!["a<b".into()], rows: vec![vec!["s0/fig3".into(), "1".into()]] };
        let section = Section {
            id: "s0-fig3".into(),
            title: "x < y".into(),
            mark: (Mark::Good, "holds".into()),
            notes: vec![("Why", "because & so").into()],
            figure: Figure::default(),
            tables: vec![table.clone()],
        };
        let html = sections_html(&SectionsPage {
            title: "t".into(),
            paragraphs: vec![],
            summary: table,
            sections: vec![section],
            command: "tandem".into(),
            version: "0".into(),
        });
        for expected in ["id=\"s0-fig3\"", "href=\"#s0-fig3\"", "x &lt; y", "because &amp; so", "a&lt;b"] {
            assert!(html.contains(expected), "{expected}");
        }
    }
}
