// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment for the terminal.

use std::fmt::Write;

use crate::assessment::{Answer, Assessment, Row};

/// One line a criterion, and below each that does not pass the limits that it breaks.
pub fn text(assessment: &Assessment) -> String {
    let width = assessment.rows.iter().map(|row| row.title.chars().count()).max().unwrap_or(0);
    let sections = assessment.rows.iter().map(|row| row.section.len()).max().unwrap_or(0);
    let mut text = format!("{}\n\n", summary(assessment));
    for row in &assessment.rows {
        let Row { section, title, answer, .. } = row;
        writeln!(text, "{section:sections$}  {title:width$}  {}", answer.words()).expect("a String");
        for asked in row.asked.iter().filter(|asked| asked.answer != Answer::Passes) {
            writeln!(text, "{:sections$}    {}: {} [{}]", "", asked.text, asked.finding, asked.owner)
                .expect("a String");
        }
        if let Some(known) = row.known.as_ref().filter(|_| *answer == Answer::Fails) {
            writeln!(text, "{:sections$}    known: {} [{}]", "", known.why, known.source).expect("a String");
        }
    }
    if !assessment.unposed.is_empty() {
        text += "\nNo run answers:\n";
    }
    for one in &assessment.unposed {
        writeln!(text, "{:sections$}  {}: {}", one.section, one.title, one.why).expect("a String");
    }
    if !assessment.questions.is_empty() {
        let count = assessment.questions.len();
        writeln!(text, "\n{count} questions to its authors are in the document (--markdown)").expect("a String");
    }
    text
}

/// ``RFC 9743, `reno`, quick runs: 14 passed, 3 failed, 2 undecided``
pub(crate) fn summary(assessment: &Assessment) -> String {
    let count = |answer| assessment.count(answer);
    format!(
        "{}, `{}`, {} runs: {} passed, {} failed, {} undecided",
        assessment.suite,
        assessment.contender,
        assessment.form.name(),
        count(Answer::Passes),
        count(Answer::Fails),
        count(Answer::Undecided),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::tests::example;

    #[test]
    fn what_does_not_pass_says_why() {
        let text = text(&example());
        assert!(text.starts_with("RFC 9743, `reno`, quick runs: 1 passed, 1 failed, 1 undecided\n"), "{text}");
        assert!(text.contains("5.1.1  Title of 5.1.1  passes\n5.1.3  Title of 5.1.3  fails\n"), "{text}");
        assert!(text.contains("at most 2 % are dropped: 3.1 ± 0.2 at 0.1 [a draft]\n"), "{text}");
        assert!(text.contains("7.10   Multipath: "), "{text}");
    }
}
