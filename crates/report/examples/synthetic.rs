// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes a report of made-up results, to look at when the page or the table changes:
//! `cargo run -p tandem-report --example synthetic -- FOLDER`

use std::path::PathBuf;

use tandem_report::{Report, Section, html, table, write_atomically, write_trace};

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder")?);
    std::fs::create_dir_all(&folder)?;
    let alone = synthetic::scenario("reno:4", &[("reno", "reno", 4)]);
    let mixed = synthetic::scenario("compound:4 against reno:4", &[("compound", "compound", 4), ("reno", "reno", 4)]);
    let all_reno = synthetic::scenario("reno:8", &[("reno", "reno", 8)]);
    let (alone_run, mut mixed_run) = (synthetic::run(&alone, 3), synthetic::run(&mixed, 5));
    let baseline = synthetic::run(&all_reno, 5);
    mixed_run.set_stolen(1, &baseline);
    let report = Report {
        title: "Reno and Compound on 100 Mbit/s".into(),
        command:
            "tandem compare --rate 100mbit --rtt 100ms --queue 500p --loss 1e-6 --duration 150s --warmup 30s --seeds 5 \
                  --against reno:4 compound:4"
                .into(),
        version: env!("CARGO_PKG_VERSION").into(),
        sections: vec![Section { scenario: &alone, run: &alone_run }, Section { scenario: &mixed, run: &mixed_run }],
        baselines: vec![&baseline],
        why_these_seeds: None,
    };
    print!("{}", table(&report));
    write_atomically(&folder.join("report.html"), html(&report).as_bytes())?;
    write_trace(&folder, &report.sections)?;
    Ok(())
}
