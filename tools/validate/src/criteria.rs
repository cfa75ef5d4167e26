// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/criteria.md: some controllers by the criteria of RFC 9743, side by side, and a report on each.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use tandem_batch::Batch;
use tandem_evaluate::{Answer, Assessment, NEIGHBOURS_OF_ALL, Row, criteria, evaluate, markdown};
use tandem_papers::{Form, prose::with_short_lines};
use tandem_sim::Sim;

use crate::evidence::{put, write};

/// Whom the page shows.
const CONTENDERS: [&str; 7] = ["cubic", "reno", "bbr", "bbr3", "compound", "compound_tube", "prague"];

/// Judges them, writes what came of it to `data` and a report on each to the folder of that name, and the table of it between the marks of
/// the page.
///
/// # Errors
/// If a run fails, it is interrupted, or a file cannot be read or written.
pub fn criteria_page(form: Form, batch: &Batch, data: &Path, page: &Path) -> anyhow::Result<()> {
    let mut assessments = Vec::new();
    for contender in CONTENDERS {
        let posed = criteria(contender, &[], &NEIGHBOURS_OF_ALL)?;
        let assessment = evaluate(contender, &posed, form, &Sim, batch, None).with_context(|| contender.to_owned())?;
        anyhow::ensure!(assessment.left == 0, "interrupted: the same command continues");
        assessments.push(assessment);
    }
    let json = data_of(&assessments)?;
    write(data, &json)?;
    // Of what is kept, so that the reports are those of the data.
    let assessments: Vec<Assessment> = serde_json::from_str(&json)?;
    for assessment in &assessments {
        write(&report_file(data, assessment), &report(assessment))?;
    }
    put(page, &block(&assessments))
}

/// A controller a line: spread over lines of their own, the figures would be most of the file.
fn data_of(assessments: &[Assessment]) -> serde_json::Result<String> {
    let lines = assessments.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

/// Where a controller's report is. It is Markdown; the site makes a page of it.
fn report_file(data: &Path, assessment: &Assessment) -> PathBuf {
    data.with_extension("").join(format!("{}.txt", assessment.contender))
}

/// What `tandem evaluate --markdown` writes, without pictures.
fn report(assessment: &Assessment) -> String {
    markdown(assessment, &assessment.command(), "")
}

/// The answers.
fn block(assessments: &[Assessment]) -> String {
    let Some(first) = assessments.first() else { return String::new() };
    let link = |one: &Assessment| format!("[`{0}`](../experiments/validation/criteria/{0}.txt)", one.contender);
    let names: Vec<String> = assessments.iter().map(link).collect();
    let apart =
        if assessments.iter().any(|one| one.count(Answer::NotApplicable) > 0) { "; n/a does not apply" } else { "" };
    let mut text = format!(
        "Each name links to the report of a {} run: the limits, what was found, and a scenario file for each failure. ✓ passes, ✗ fails, ? is undecided with the seeds of that run; (✗) fails as the literature says{apart}.\n\n\
         | section | criterion | {} |\n|---|---|{}\n",
        first.form.name(),
        names.join(" | "),
        ":-:|".repeat(names.len()),
    );
    for (place, row) in first.rows.iter().enumerate() {
        let answers: Vec<&str> = assessments.iter().map(|one| one.rows.get(place).map_or("", sign)).collect();
        writeln!(text, "| {} | {} | {} |", row.section, row.title, answers.join(" | ")).expect("a String");
    }
    with_short_lines(&text)
}

fn sign(row: &Row) -> &'static str {
    match (row.answer, row.known.is_some()) {
        (Answer::Passes, _) => "✓",
        (Answer::Fails, true) => "(✗)",
        (Answer::Fails, false) => "✗",
        (Answer::Undecided, _) => "?",
        (Answer::NotMeasured, _) => "–",
        (Answer::NotApplicable, _) => "n/a",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::assert_has;

    /// Page, reports and data are committed together, and each criterion of today is there. UPDATE_DOCS=1 writes page and reports.
    #[test]
    fn the_page_is_that_of_its_data() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/validation/criteria.json");
        let text = std::fs::read_to_string(&data).expect("the data is there");
        let assessments: Vec<Assessment> = serde_json::from_str(&text).expect("it is read");
        assert_eq!(assessments.iter().map(|one| one.contender.as_str()).collect::<Vec<_>>(), CONTENDERS);
        assert_has("docs/criteria.md", &block(&assessments));
        for assessment in &assessments {
            let (file, due) = (report_file(&data, assessment), report(assessment));
            if std::env::var_os("UPDATE_DOCS").is_some() {
                write(&file, &due).expect("written");
            }
            let found = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            assert_eq!(due, found, "{}: write it again: UPDATE_DOCS=1, or tandem-validate --criteria", file.display());
        }
        let posed = criteria("cubic", &[], &NEIGHBOURS_OF_ALL).expect("it is posed");
        for assessment in &assessments {
            let ids: Vec<&String> = assessment.rows.iter().map(|row| &row.id).collect();
            assert_eq!(ids, posed.iter().map(|one| &one.id).collect::<Vec<_>>(), "{}", assessment.contender);
        }
    }
}
