// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment as the document that a working group asks for: a section for each criterion.

use std::fmt::Write;

use crate::{
    assessment::{Answer, Assessment, Row},
    text::summary,
};

/// In Markdown; `command` is what makes it again.
pub fn markdown(assessment: &Assessment, command: &str) -> String {
    let mut text = format!(
        "# `{}` by the criteria of RFC 9743\n\n{}. RFC 9743 (BCP 133) sets criteria and no limits; each limit below names its owner. The same \
         command gives the same numbers:\n\n```\n{command}\n```\n\n| section | criterion | answer |\n|---|---|---|\n",
        assessment.contender,
        summary(assessment),
    );
    for Row { section, title, answer, .. } in &assessment.rows {
        writeln!(text, "| {section} | {title} | {} |", marked(*answer)).expect("a String");
    }
    for one in &assessment.unposed {
        writeln!(text, "| {} | {} | not posed: {} |", one.section, one.title, one.why).expect("a String");
    }
    for row in &assessment.rows {
        text += &section(row);
    }
    text
}

fn marked(answer: Answer) -> String {
    match answer {
        Answer::Fails => "**fails**".into(),
        other => other.words().into(),
    }
}

fn section(row: &Row) -> String {
    let mut text = format!("\n## {} {}\n\n{} **{}.**\n\n", row.section, row.title, row.question, capital(row.answer));
    text += "| limit | owner | answer | found |\n|---|---|---|---|\n";
    for asked in &row.asked {
        writeln!(text, "| {} | {} | {} | {} |", asked.text, asked.owner, marked(asked.answer), asked.finding)
            .expect("a String");
    }
    if let Some(worst) = &row.worst {
        write!(text, "\nThe worst case, {}, as a file for `tandem run`:\n\n```toml\n{}```\n", worst.at, worst.scenario)
            .expect("a String");
    }
    text
}

fn capital(answer: Answer) -> String {
    let words = answer.words();
    words[..1].to_uppercase() + &words[1..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::tests::example;

    #[test]
    fn each_criterion_has_a_section_and_each_failure_its_scenario() {
        let text = markdown(&example(), "tandem evaluate reno --quick");
        assert!(text.contains("| 5.1.3 | Title of 5.1.3 | **fails** |"), "{text}");
        assert!(text.contains("\n## 5.1.3 Title of 5.1.3\n\nA question. **Fails.**\n"), "{text}");
        assert!(
            text.contains("The worst case, at 0.1, as a file for `tandem run`:\n\n```toml\nduration = \"60s\"\n```\n"),
            "{text}"
        );
        assert_eq!(text.matches("```toml").count(), 1, "one fails");
    }
}
