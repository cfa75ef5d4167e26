// SPDX-License-Identifier: MIT OR Apache-2.0
//! The advice for the terminal: the answer first, then the reasons.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use tandem_advise::Advice;
use tandem_report::Mark;

use super::words::{
    answer, assumed, candidates, cautions, commands, counted, facts, inferred, not_advised, other_paths, rule,
};

/// Assumed width of a terminal, columns.
const WIDTH: usize = 80;
/// The column at which the text after a label begins.
const INDENT: usize = 14;
/// Rows of the short table.
const MOST_ROWS: usize = 3;

/// Fits on a screen. `explain` adds the rule, all candidates, the assumed and inferred values, and the cautions.
pub fn for_terminal(advice: &Advice, explain: bool) -> String {
    let mut text = String::new();
    for words in answer(advice) {
        let _ = writeln!(text, "{}\n", wrapped(&words, ""));
    }
    for (label, words) in commands(advice).into_iter().chain(facts(advice)) {
        let _ = writeln!(text, "{}", labelled(label, &words));
    }
    let _ = write!(text, "\n{}", table(advice, if explain { usize::MAX } else { MOST_ROWS }));
    text += &of_paths(advice);
    if explain {
        text += &explanation(advice);
    } else {
        let more = match cautions(advice).len() {
            0 => String::new(),
            1 => ", a caution".to_owned(),
            n => format!(", {n} cautions"),
        };
        let _ =
            write!(text, "\n--explain: the rule, all {} candidates{more}\n", advice.usual.decision.controllers.len());
    }
    text
}

/// A line for each path that differs in one thing.
fn of_paths(advice: &Advice) -> String {
    let paths = other_paths(advice);
    let width = paths.iter().map(|path| path.differs.chars().count()).max().unwrap_or(0);
    let mut text = if paths.is_empty() { String::new() } else { "\nWith\n".to_owned() };
    for path in &paths {
        let sign = match path.mark {
            Mark::Good | Mark::Part => "=",
            Mark::Bad => "!",
            Mark::Open => "?",
        };
        let line = format!("{sign} {:<width$}  {}", path.differs, path.advice);
        let _ = writeln!(text, "{}", wrapped(&line, "    "));
    }
    text
}

fn explanation(advice: &Advice) -> String {
    let mut text = format!("\n{}\n", wrapped(&rule(advice), ""));
    let inferred = inferred(advice);
    if !inferred.is_empty() {
        text += "\nFrom the measurements:\n";
    }
    for line in inferred {
        let _ = writeln!(text, "  {}", wrapped(&line, "    "));
    }
    let cautions = cautions(advice).into_iter().map(|caution| format!("Caution: {caution}"));
    for words in assumed(advice).into_iter().chain(not_advised(advice)).chain(cautions) {
        let _ = write!(text, "\n{}\n", wrapped(&words, "  "));
    }
    text
}

/// The choice, the default and those with the most goodput.
fn table(advice: &Advice, most_rows: usize) -> String {
    let candidates = candidates(advice);
    let decision = &advice.usual.decision;
    let is_named = |row: &[String]| [&decision.chosen, &advice.present.name].contains(&&row[0]);
    let is_shown = |(i, row): &(usize, &Vec<String>)| *i < most_rows || is_named(row);
    let shown: Vec<&Vec<String>> = candidates.rows.iter().enumerate().filter(is_shown).map(|(_, row)| row).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    // Units stand in a line of their own.
    table.set_header(candidates.header.iter().map(|title| match title.split_once(", ") {
        Some((title, unit)) => format!("{title}\n{unit}"),
        None => format!("{title}\n"),
    }));
    table.add_rows(shown.iter().copied());
    let last = candidates.header.len() - 1;
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if 0 < i && i < last {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text: String = table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect();
    if shown.len() < candidates.rows.len() {
        let left = counted(candidates.rows.len() - shown.len());
        let _ = writeln!(text, "{left} with less goodput.");
    }
    text
}

/// `Goodput:      25 Mb/s`.
fn labelled(label: &str, words: &str) -> String {
    format!("{:<INDENT$}{}", format!("{label}:"), wrapped(words, &" ".repeat(INDENT)))
}

/// Breaks words into lines; all but the first are indented.
fn wrapped(words: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.to_owned());
        } else {
            let space = if line.is_empty() { "" } else { " " };
            line.push_str(space);
            line.push_str(word);
        }
    }
    lines.join(&format!("\n{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_a_terminal() {
        let text = wrapped(&"word ".repeat(40), "  ");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        assert!(text.lines().skip(1).all(|line| line.starts_with("  w")), "{text}");
    }
}
