// SPDX-License-Identifier: MIT OR Apache-2.0
//! One experiment's comparisons as a table: a file has its numbers, a terminal its text.

use std::fmt::Write;

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use tandem_statistics::Estimate;

use super::compare::{Agreement, Check, Tally};

#[derive(Debug, Clone)]
pub(super) enum Cell {
    /// Nothing was measured.
    Empty,
    Text(String),
    /// With the decimals that a terminal shows.
    Number(f64, usize),
    Estimate(Estimate, usize),
    Check(Check),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Check> for Cell {
    fn from(check: Check) -> Self {
        Self::Check(check)
    }
}

impl Cell {
    pub fn count(value: impl Into<f64>) -> Self {
        Self::Number(value.into(), 0)
    }

    fn text(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => text.clone(),
            Self::Number(value, decimals) => format!("{value:.decimals$}"),
            Self::Estimate(estimate, decimals) => estimate.text(*decimals),
            Self::Check(check) => check.agreement.words().into(),
        }
    }
}

/// Six significant digits: more are chance or noise.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("a number is written as one")
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(value, _) => serializer.serialize_f64(rounded(*value)),
            Self::Estimate(estimate, _) => {
                let half_width = estimate.half_width.map(rounded);
                Estimate::kept(rounded(estimate.value), half_width).serialize(serializer)
            }
            Self::Check(check) => check.serialize(serializer),
        }
    }
}

/// The comparisons of one experiment.
#[derive(Debug)]
pub(super) struct Table {
    pub title: String,
    /// How the runs were made.
    pub setup: String,
    /// The bounds, in words: `goodput within 5 %`.
    pub asked: String,
    /// Each name once.
    pub columns: &'static [&'static str],
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    fn checks_of(rows: &[Vec<Cell>]) -> impl Iterator<Item = Check> {
        rows.iter().flatten().filter_map(|cell| if let Cell::Check(check) = cell { Some(*check) } else { None })
    }

    pub fn checks(&self) -> impl Iterator<Item = Check> {
        Self::checks_of(&self.rows)
    }

    pub fn tally(&self) -> Tally {
        self.checks().map(|check| check.agreement).collect()
    }

    /// Of one column.
    pub fn tally_of(&self, column: &str) -> Tally {
        let at = self.columns.iter().position(|name| *name == column).expect("the column is there");
        let agreement = |row: &Vec<Cell>| match row[at] {
            Cell::Check(check) => check.agreement,
            _ => Agreement::NotAsked,
        };
        self.rows.iter().map(agreement).collect()
    }

    /// Of the rows that begin with this text.
    pub fn tally_where(&self, first: &str) -> Tally {
        let rows = self.rows.iter().filter(|row| matches!(&row[0], Cell::Text(text) if text == first));
        rows.flat_map(|row| Self::checks_of(std::slice::from_ref(row))).map(|check| check.agreement).collect()
    }

    /// For a terminal: a table in Markdown.
    pub fn text(&self) -> String {
        let mut text = format!("\n## {}\n\n{}", self.title, self.setup);
        if self.tally().asked() > 0 {
            write!(text, " Asked: {}: {}.", self.asked, self.tally().words()).expect("writing to a String");
        }
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text += "\n\n";
        text += &line(self.columns.iter().map(|name| (*name).into()).collect());
        text += &line(vec!["---".into(); self.columns.len()]);
        for row in &self.rows {
            text += &line(row.iter().map(Cell::text).collect());
        }
        text
    }
}

/// Rows are objects, so that a program finds a number by its name.
struct Row<'a>(&'a [&'static str], &'a [Cell]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.1.len()))?;
        for (name, cell) in self.0.iter().zip(self.1) {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

struct Rows<'a>(&'a Table);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.rows.len()))?;
        for row in &self.0.rows {
            rows.serialize_element(&Row(self.0.columns, row))?;
        }
        rows.end()
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("setup", &self.setup)?;
        map.serialize_entry("asked", &self.asked)?;
        map.serialize_entry("rows", &Rows(self))?;
        map.end()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::compare::Bound;

    pub fn example() -> Table {
        let row = |name: &str, ours: f64| {
            let (ours, theirs) = (Estimate::kept(ours, Some(0.1)), Estimate::kept(10.0, Some(0.1)));
            let check = Bound::Relative(0.05).check(&ours, &theirs);
            vec![name.into(), Cell::Estimate(ours, 1), Cell::Estimate(theirs, 1), check.into()]
        };
        Table {
            title: "An example".into(),
            setup: "One path.".into(),
            asked: "goodput within 5 %".into(),
            columns: &["flows", "Tandem, Mb/s", "ns-2, Mb/s", "goodput"],
            rows: vec![row("reno", 10.2), row("cubic", 10.4), row("bic", 12.0)],
        }
    }

    #[test]
    fn a_table_is_text_for_people_and_objects_for_programs() {
        let table = example();
        let text = table.text();
        assert!(text.contains("Asked: goodput within 5 %: 1 of 3 agree.\n"), "{text}");
        assert!(text.contains("| cubic | 10.4 ± 0.1 | 10.0 ± 0.1 | cannot be told apart |\n"), "{text}");
        let json = serde_json::to_value(&table).expect("a table is JSON");
        assert_eq!(json["rows"][2]["Tandem, Mb/s"], serde_json::json!({ "mean": 12.0, "ci95": 0.1 }));
        assert_eq!(json["rows"][2]["goodput"], "differs");
        assert_eq!(table.tally_where("reno"), Tally { agree: 1, open: 0, differ: 0 });
        assert_eq!(table.tally_of("goodput"), table.tally());
    }
}
