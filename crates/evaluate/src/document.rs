// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment as the document that a working group asks for: a section for each criterion.

use std::fmt::Write;

use tandem_papers::Known;

use crate::{
    assessment::{Answer, Assessment, Row},
    form::Fact,
    suite::Question,
    text::summary,
};

/// In Markdown; `command` is what makes it again. `pictures` is the folder of the criteria's pictures, as seen from the document.
pub fn markdown(assessment: &Assessment, command: &str, pictures: &str) -> String {
    let mut text = format!(
        "# `{}` by the criteria of {}\n\n{}. {}Each limit below names its owner. The same command gives the same \
         numbers:\n\n```\n{command}\n```\n\n| section | criterion | answer |\n|---|---|---|\n",
        assessment.contender,
        assessment.suite,
        summary(assessment),
        if assessment.questions.is_empty() { "" } else { "RFC 9743 (BCP 133) sets criteria and no limits. " },
    );
    for Row { section, title, answer, .. } in &assessment.rows {
        writeln!(text, "| {section} | {title} | {} |", marked(*answer)).expect("a String");
    }
    for one in &assessment.unposed {
        writeln!(text, "| {} | {} | not posed: {} |", one.section, one.title, one.why).expect("a String");
    }
    for row in &assessment.rows {
        text += &section(row, pictures);
    }
    text + &form(assessment)
}

/// The file of a criterion's picture, without its folder.
pub fn picture_file(row: &Row) -> String {
    format!("{}.svg", row.id.rsplit('/').next().unwrap_or(&row.id))
}

/// What is known, and room for what only the authors can say.
fn form(assessment: &Assessment) -> String {
    if assessment.questions.is_empty() {
        return String::new();
    }
    let mut text = "\n## Questions to the authors\n\n".to_owned();
    for Fact { about, text: fact } in &assessment.facts {
        writeln!(text, "- {about}: {fact}.").expect("a String");
    }
    for Question { section, text: question } in &assessment.questions {
        write!(text, "\n**{section}** {question}\n\n> to be answered\n").expect("a String");
    }
    text
}

fn marked(answer: Answer) -> String {
    match answer {
        Answer::Fails => "**fails**".into(),
        other => other.words().into(),
    }
}

fn section(row: &Row, pictures: &str) -> String {
    let mut text = format!("\n## {} {}\n\n{} **{}.**\n\n", row.section, row.title, row.question, capital(row.answer));
    if row.picture.is_some() {
        write!(text, "![{}]({pictures}/{})\n\n", row.title, picture_file(row)).expect("a String");
    }
    text += "| limit | owner | answer | found |\n|---|---|---|---|\n";
    for asked in &row.asked {
        writeln!(text, "| {} | {} | {} | {} |", asked.text, asked.owner, marked(asked.answer), asked.finding)
            .expect("a String");
    }
    if let Some(Known { why, source, .. }) = &row.known {
        write!(text, "\nKnown: {why} ({source}).\n").expect("a String");
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
        let text = markdown(&example(), "tandem evaluate reno --quick", "reno");
        assert!(text.contains("| 5.1.3 | Title of 5.1.3 | **fails** |"), "{text}");
        assert!(text.contains("\n## 5.1.3 Title of 5.1.3\n\nA question. **Fails.**\n"), "{text}");
        assert!(
            text.contains("The worst case, at 0.1, as a file for `tandem run`:\n\n```toml\nduration = \"60s\"\n```\n"),
            "{text}"
        );
        assert_eq!(text.matches("```toml").count(), 1, "one fails");
        assert!(text.contains("![Title of 5.1.3](reno/5.1.3.svg)"), "{text}");
        assert!(text.contains("- Signals: losses.\n\n**5.3.1** "), "{text}");
    }
}
