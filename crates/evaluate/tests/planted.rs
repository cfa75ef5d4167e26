// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bad controllers, each with one fault, are caught by the criterion that the fault breaks, and by none that has nothing to do with it.

use tandem_batch::Batch;
use tandem_evaluate::{Answer, Assessment, criteria, evaluate};
use tandem_papers::Form;
use tandem_sim::Sim;

/// The criteria of these sections, quick, for a header of tests/planted.
fn assess(planted: &str, sections: &[&str]) -> Assessment {
    let path = format!("{}/tests/planted/{planted}.h", env!("CARGO_MANIFEST_DIR"));
    let sections: Vec<String> = sections.iter().map(|&section| section.to_owned()).collect();
    let wanted = criteria(&path, &sections).unwrap_or_else(|e| panic!("{planted}: {e}"));
    evaluate(planted, &wanted, Form::Quick, &Sim, &Batch { quiet: true, ..Batch::default() }).expect("it runs")
}

/// Which of these criteria fail.
fn failing(planted: &str, sections: &[&str]) -> Vec<String> {
    let assessment = assess(planted, sections);
    let fails = assessment.rows.iter().filter(|row| row.answer == Answer::Fails);
    fails.map(|row| row.id.trim_start_matches("rfc9743/").to_owned()).collect()
}

/// Quick criteria that a sound AIMD passes.
const CALM: [&str; 3] = ["5.1.1", "7.4", "7.7"];

#[test]
fn a_sound_controller_passes() {
    assert!(failing("sound", &CALM).is_empty());
}

#[test]
fn who_does_not_reduce_loses_packets() {
    assert!(failing("no_backoff", &["5.1.3"]).contains(&"5.1.3-loss".into()));
}
