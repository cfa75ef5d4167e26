// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment for the terminal.

use std::fmt::Write;

use crate::{
    assessment::{Answer, Assessment, Row, SIM},
    real_tcp::{Agreement, RealTcp},
};

/// One line a criterion, and below each that does not pass the limits that it breaks.
pub fn text(assessment: &Assessment) -> String {
    let width = assessment.rows.iter().map(|row| row.title.chars().count()).max().unwrap_or(0);
    let sections = assessment.rows.iter().map(|row| row.section.len()).max().unwrap_or(0);
    let mut text = format!("{}\n\n", summary(assessment));
    for row in &assessment.rows {
        let Row { section, title, answer, real_tcp, .. } = row;
        let answer_words = answer.words();
        match real_tcp {
            Some(there) => {
                writeln!(text, "{section:sections$}  {title:width$}  {answer_words:12}  real TCP: {}", there.word())
            }
            None => writeln!(text, "{section:sections$}  {title:width$}  {answer_words}"),
        }
        .expect("a String");
        if let Some(why) = &row.why {
            writeln!(text, "{:sections$}    {why}", "").expect("a String");
        }
        for asked in row.asked.iter().filter(|asked| asked.answer != Answer::Passes) {
            writeln!(text, "{:sections$}    {}: {} [{}]", "", asked.text, asked.finding, asked.owner)
                .expect("a String");
        }
        if let Some(known) = row.known.as_ref().filter(|_| *answer == Answer::Fails) {
            writeln!(text, "{:sections$}    known: {} [{}]", "", known.why, known.source).expect("a String");
        }
        for line in row.real_tcp.iter().flat_map(|there| lines_of(there, row)) {
            writeln!(text, "{:sections$}    {line}", "").expect("a String");
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

/// A note if the answer over real TCP is not simply the same, or runs are doubted.
pub(crate) fn lines_of(there: &RealTcp, row: &Row) -> Vec<String> {
    let mut lines = Vec::new();
    if !there.why.is_empty() {
        let scale = there.scale.as_ref().map_or_else(String::new, |scale| format!(" ({scale})"));
        lines.push(format!("real TCP {}: {}{scale}", there.word(), there.why));
    }
    lines.extend(there.other_than(&row.asked).map(|asked| {
        format!("{}: real TCP {}; simulator on that path {}", asked.text, asked.finding, asked.simulated_finding)
    }));
    lines.extend(there.doubts.iter().map(|doubt| format!("doubted, so left out: {doubt}")));
    lines
}

/// `; over real TCP 12 of 16 answers agree, 1 differs, 3 are open, 9 criteria have none`, where it was asked for.
fn summary_of_real_tcp(assessment: &Assessment) -> String {
    let all: Vec<&RealTcp> = assessment.rows.iter().filter_map(|row| row.real_tcp.as_ref()).collect();
    if all.is_empty() {
        return String::new();
    }
    let count = |agreement| all.iter().filter(|there| there.agreement == agreement).count();
    let (agree, differ, open) = (count(Agreement::Agrees), count(Agreement::Differs), count(Agreement::Open));
    let answered = agree + differ + open;
    let none = all.len() - answered;
    format!("; over real TCP {agree} of {answered} agree, {differ} differ, {open} are open, {none} have no answer")
}

/// ``RFC 9743, `reno`, quick runs: 14 passed, 3 failed, 2 undecided``
pub(crate) fn summary(assessment: &Assessment) -> String {
    let count = |answer| assessment.count(answer);
    format!(
        "{}, `{}`, {} runs{}: {} passed, {} failed, {} undecided{}{}",
        assessment.suite,
        assessment.contender,
        assessment.form.name(),
        if assessment.engine == SIM { String::new() } else { format!(" in the engine {}", assessment.engine) },
        count(Answer::Passes),
        count(Answer::Fails),
        count(Answer::Undecided),
        summary_of_others(assessment),
        summary_of_real_tcp(assessment),
    )
}

/// `, 1 not measured, 2 do not apply`, where there are such.
fn summary_of_others(assessment: &Assessment) -> String {
    let (unmeasured, apart) = (assessment.count(Answer::NotMeasured), assessment.count(Answer::NotApplicable));
    let unmeasured = if unmeasured > 0 { format!(", {unmeasured} not measured") } else { String::new() };
    match apart {
        0 => unmeasured,
        1 => unmeasured + ", 1 does not apply",
        more => format!("{unmeasured}, {more} do not apply"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::tests::{example, over_real_tcp, with_one_that_does_not_apply};

    #[test]
    fn what_does_not_pass_says_why() {
        let text = text(&example());
        assert!(text.starts_with("RFC 9743, `reno`, quick runs: 1 passed, 1 failed, 1 undecided\n"), "{text}");
        assert!(text.contains("5.1.1  Title of 5.1.1  passes\n5.1.3  Title of 5.1.3  fails\n"), "{text}");
        assert!(text.contains("at most 2 % are dropped: 3.1 ± 0.2 at 0.1 [a draft]\n"), "{text}");
        assert!(text.contains("7.10   Multipath: "), "{text}");
        assert!(!text.contains("real TCP"), "nobody asked for it: {text}");
    }

    #[test]
    fn what_does_not_apply_says_why() {
        let text = text(&with_one_that_does_not_apply());
        assert!(
            text.starts_with("RFC 9743, `reno`, quick runs: 1 passed, 1 failed, 1 undecided, 1 does not apply\n"),
            "{text}"
        );
        assert!(
            text.contains("8      Title of 8      does not apply\n         this is asked of others alone\n"),
            "{text}"
        );
    }

    /// The first row cannot be posed, the second passes here and fails in the simulator on both paths, the third was doubted.
    #[test]
    fn both_figures_stand_where_answers_differ() {
        let text = text(&over_real_tcp());
        let summary = "1 undecided; over real TCP 0 of 1 agree, 1 differ, 0 are open, 2 have no answer\n";
        assert!(text.contains(summary), "{text}");
        let first =
            "Title of 5.1.1  passes        real TCP: cannot be posed\n         real TCP cannot be posed: no cell\n";
        assert!(text.contains(first), "{text}");
        let figures =
            "at most 2 % are dropped: real TCP holds: 1.1 at 0.1; simulator on that path fails: 3 ± 0.1 at 0.1\n";
        assert!(text.contains("real TCP passes: the engines differ on the same path (At a tenth)\n"), "{text}");
        assert!(text.contains(figures), "{text}");
        assert!(text.contains("doubted, so left out: 7.8, a, 2, seed 1: late\n"), "{text}");
    }
}
