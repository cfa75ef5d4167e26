// SPDX-License-Identifier: MIT OR Apache-2.0
//! A criterion that has a meaning for some controllers only.

use std::fs;

use tandem_batch::Batch;
use tandem_evaluate::{Answer, Row, Suite, evaluate};
use tandem_papers::{Form, SUITES};
use tandem_sim::Sim;

/// RFC 9743's 7.4, asked of controllers alone that count marks.
fn suite(folder: &std::path::Path) -> Suite {
    let kept = |id: &str| SUITES.iter().find(|(known, _)| *known == id).expect("it comes with the program").1;
    fs::write(folder.join("paper.toml"), kept("rfc9743/paper")).unwrap();
    let slow = kept("rfc9743/7.4-slow");
    let section = "section = \"7.4\"\n";
    assert!(slow.contains(section));
    fs::write(folder.join("slow.toml"), slow.replace(section, &format!("{section}applies_to = \"counts_marks\"\n")))
        .unwrap();
    Suite::named(&format!("{}/", folder.display())).unwrap()
}

/// A header of a user's declares nothing of the kind unless it says so.
#[test]
fn it_is_run_of_those_alone_that_it_applies_to() {
    let folder = tempfile::tempdir().unwrap();
    let suite = suite(folder.path());
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/planted/sound.h");
    for (contender, applies) in [("prague", true), ("dctcp", true), ("reno", false), (header, false)] {
        let posed = suite.criteria(contender, &[], &["reno"]).unwrap_or_else(|e| panic!("{contender}: {e}"));
        let batch = Batch { quiet: true, ..Batch::default() };
        let assessment = evaluate(contender, &posed, Form::Smoke, &Sim, &batch, None).unwrap();
        let [Row { answer, why, asked, .. }] = &assessment.rows[..] else { panic!("there is one criterion") };
        assert_eq!(
            (*answer != Answer::NotApplicable, !asked.is_empty(), why.is_none()),
            (applies, applies, applies),
            "{contender}"
        );
        let reason = "this is asked of controllers that count ECN marks (RFC 9768) alone";
        assert!(why.as_ref().is_none_or(|why| why == reason), "{why:?}");
    }
}

#[test]
fn what_is_no_property_is_refused_with_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let _ = suite(folder.path());
    let file = folder.path().join("slow.toml");
    let text = fs::read_to_string(&file).unwrap().replace("counts_marks", "counts_losses");
    fs::write(&file, text).unwrap();
    let suite = Suite::named(&format!("{}/", folder.path().display())).unwrap();
    let refused = suite.criteria("reno", &[], &["reno"]).expect_err("there is no such property").to_string();
    assert!(refused.contains("slow.toml:") && refused.contains("`counts_marks`"), "{refused}");
}
