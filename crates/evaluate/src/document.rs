// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment as the document that a working group asks for: a section for each criterion.

use std::fmt::Write;

use tandem_papers::Known;
use tandem_report::figure_svg;

use crate::{
    assessment::{Answer, Assessment, Row, SIM, Worst},
    form::Fact,
    real_tcp::RealTcp,
    suite::Question,
    text::{lines_of, summary},
};

/// As Markdown; `command` reproduces it. `pictures` is the folder of the criteria's pictures, relative to the document; empty if they are not kept.
pub fn markdown(assessment: &Assessment, command: &str, pictures: &str) -> String {
    let mut text = format!(
        "# `{}` by the criteria of {}\n\n{}. {}Each limit below names its source. The same command gives the same \
         numbers{}; `--criteria 7.8` runs one section alone:\n\n```\n{command}\n```\n\n",
        assessment.contender,
        assessment.suite,
        summary(assessment),
        if assessment.questions.is_empty() { "" } else { "RFC 9743 (BCP 133) sets criteria and no limits. " },
        if has_real_tcp(assessment) { ", except those over real TCP" } else { "" },
    );
    text += &table(assessment);
    for row in &assessment.rows {
        text += &section(row, &assessment.engine, pictures);
    }
    text + &form(assessment)
}

fn has_real_tcp(assessment: &Assessment) -> bool {
    assessment.rows.iter().any(|row| row.real_tcp.is_some())
}

/// One row per criterion.
fn table(assessment: &Assessment) -> String {
    let has_real_tcp = has_real_tcp(assessment);
    let heads = if has_real_tcp { " over real TCP |\n|---|---|---|---|\n" } else { "\n|---|---|---|\n" };
    let mut text = format!("| section | criterion | answer |{heads}");
    for Row { section, title, answer, real_tcp, .. } in &assessment.rows {
        let none = if has_real_tcp { " |" } else { "" };
        let there = real_tcp.as_ref().map_or_else(|| none.to_owned(), |there| format!(" {} |", there.word()));
        writeln!(text, "| {section} | {title} | {} |{there}", marked(*answer)).expect("a String");
    }
    for one in &assessment.unposed {
        let there = if has_real_tcp { " |" } else { "" };
        writeln!(text, "| {} | {} | not posed: {} |{there}", one.section, one.title, one.why).expect("a String");
    }
    text
}

/// A criterion over real TCP: each limit there, and the simulator's figures on the same path.
fn real_tcp(there: &RealTcp, row: &Row) -> String {
    let mut text = format!("\n**Over real TCP: {}.**", there.word());
    if !there.kernels.is_empty() {
        let seeds = match there.seeds.len() {
            1 => "one seed".to_owned(),
            more => format!("{more} seeds"),
        };
        write!(text, " Linux {}, {seeds}.", there.kernels.join(", ")).expect("a String");
    }
    text += "\n\n";
    for line in lines_of(there, row) {
        writeln!(text, "- {line}").expect("a String");
    }
    if !there.asked.is_empty() {
        text += "\n| limit | over real TCP | simulator on the same path |\n|---|---|---|\n";
    }
    for asked in &there.asked {
        writeln!(text, "| {} | {} | {} |", asked.text, asked.finding, asked.simulated_finding).expect("a String");
    }
    text
}

/// The pictures of an assessment: each file's name, without the folder, and its SVG.
pub fn pictures(assessment: &Assessment) -> impl Iterator<Item = (String, String)> {
    assessment.rows.iter().filter_map(|row| Some((picture_file(row), figure_svg(row.figure.as_ref()?))))
}

/// The file of a criterion's picture, without its folder.
fn picture_file(row: &Row) -> String {
    format!("{}.svg", row.id.rsplit('/').next().unwrap_or(&row.id))
}

/// The known facts, and room for the authors' answers.
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

fn section(row: &Row, engine: &str, pictures: &str) -> String {
    let mut text =
        format!("\n## {} {}\n\n{} **{}.**\n\n", row.section, row.title, row.question, capital(row.answer.words()));
    if row.figure.is_some() && !pictures.is_empty() {
        write!(text, "![{}]({pictures}/{})\n\n", row.title, picture_file(row)).expect("a String");
    }
    if let Some(why) = &row.why {
        return text + &capital(why) + ".\n";
    }
    text += "| limit | source | answer | found |\n|---|---|---|---|\n";
    for asked in &row.asked {
        writeln!(text, "| {} | {} | {} | {} |", asked.text, asked.owner, marked(asked.answer), asked.finding)
            .expect("a String");
    }
    if let Some(Known { why, source, .. }) = &row.known {
        write!(text, "\nKnown: {why} ({source}).\n").expect("a String");
    }
    if let Some(there) = &row.real_tcp {
        text += &real_tcp(there, row);
    }
    if let Some(worst) = &row.worst {
        let engine = if engine == SIM { String::new() } else { format!(" --engine {engine}") };
        let Worst { at, scenario } = worst;
        write!(text, "\nThe worst case, {at}, as a file for `tandem run{engine}`:\n\n```toml\n{scenario}```\n")
            .expect("a String");
    }
    text
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::tests::{example, over_real_tcp, with_one_that_does_not_apply};

    /// A report that was kept as JSON is drawn as when it was made.
    #[test]
    fn a_kept_assessment_has_the_same_pictures() {
        let drawn: Vec<(String, String)> = pictures(&example()).collect();
        assert_eq!(
            drawn.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["5.1.1.svg", "5.1.3.svg", "7.8.svg"]
        );
        assert!(drawn.iter().all(|(_, svg)| svg.contains("Buffer, BDP") && svg.ends_with("</svg>\n")));
        let json = serde_json::to_string(&example()).expect("it is written");
        let kept: Assessment = serde_json::from_str(&json).expect("it is read");
        assert_eq!(pictures(&kept).collect::<Vec<_>>(), drawn);
    }

    #[test]
    fn what_does_not_apply_has_a_reason_in_place_of_limits() {
        let text = markdown(&with_one_that_does_not_apply(), "tandem evaluate reno", "reno");
        assert!(text.contains("| 8 | Title of 8 | does not apply |\n"), "{text}");
        assert!(
            text.contains("A question. **Does not apply.**\n\nThis is asked of others alone.\n\n## Questions"),
            "{text}"
        );
    }

    #[test]
    fn over_real_tcp_is_a_column_and_a_table() {
        let text = markdown(&over_real_tcp(), "tandem evaluate reno --quick --engine sim,kernel", "reno");
        assert!(text.contains("numbers, except those over real TCP; `--criteria"), "{text}");
        assert!(text.contains("| 5.1.3 | Title of 5.1.3 | **fails** | passes |\n"), "{text}");
        assert!(
            text.contains("\n**Over real TCP: passes.** Linux 6.18, one seed.\n\n- real TCP passes: the eng"),
            "{text}"
        );
        assert!(text.contains("| at most 2 % are dropped | holds: 1.1 at 0.1 | fails: 3 ± 0.1 at 0.1 |\n"), "{text}");
        assert_eq!(text.matches("| over real TCP |").count(), 2, "{text}");
    }

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
        assert!(!markdown(&example(), "tandem evaluate reno --quick", "").contains("!["), "no folder, no pictures");
        assert!(text.contains("- Signals: losses.\n\n**5.3.1** "), "{text}");
    }
}
