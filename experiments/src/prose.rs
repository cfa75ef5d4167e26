// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paragraphs of Markdown.

/// Lines of prose have this many characters at most.
const WIDTH: usize = 160;

/// A paragraph in lines, with a line end after each.
pub fn paragraph(text: &str) -> String {
    wrapped(text, "", "")
}

/// An item of a list.
pub fn item(text: &str) -> String {
    wrapped(text, "- ", "  ")
}

/// The page with short lines of prose: rows of tables and headings stay as they are.
pub fn with_short_lines(page: &str) -> String {
    let is_long = |line: &str| line.chars().count() > WIDTH && !line.starts_with(['|', '#']);
    page.lines().map(|line| if is_long(line) { paragraph(line) } else { format!("{line}\n") }).collect()
}

fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            None => lines.push(format!("{first}{word}")),
            Some(line) if begins_a_block(word) || line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{rest}{word}")),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Whether Markdown would take this word, were it the first of a line, for the mark of a list, a heading or a quotation.
fn begins_a_block(word: &str) -> bool {
    let number = word.trim_end_matches(['.', ')']);
    let is_item = number.len() + 1 == word.len() && number.chars().all(|c| c.is_ascii_digit());
    is_item || word.starts_with('>') || word.chars().all(|c| c == '#') || matches!(word, "-" | "+" | "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_to_the_width() {
        let text = format!("{} {} end", "a".repeat(100), "b".repeat(59));
        assert_eq!(paragraph(&text), format!("{} {}\nend\n", "a".repeat(100), "b".repeat(59)));
        assert_eq!(item(&text), format!("- {}\n  {} end\n", "a".repeat(100), "b".repeat(59)));
        assert_eq!(paragraph("two\n lines"), "two lines\n");
    }

    #[test]
    fn no_line_begins_with_a_mark() {
        for mark in ["-", "+", "*", "##", ">80", "12.", "3)"] {
            let text = format!("{} {mark} Q", "P".repeat(160));
            assert_eq!(paragraph(&text), format!("{} {mark}\nQ\n", "P".repeat(160)));
        }
        assert!(!begins_a_block("-18.4") && !begins_a_block("1.5") && !begins_a_block("80"));
    }
}
