// SPDX-License-Identifier: MIT OR Apache-2.0
//! Does natively what the page does, and prints each result as a line of JSON: runs scenario files; and of files that end in `.json`, what the page
//! asks for an advice, the runs and the answers. The tests of the page compare.

use tandem_web::{advise, advise_run, run};

fn main() -> Result<(), String> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        let result = match (path.ends_with(".turn.json"), path.ends_with(".json")) {
            (true, _) => advise_run(&text),
            (_, true) => advise(&text),
            _ => run(&text, true, |_| ()),
        };
        println!("{}", result?);
    }
    Ok(())
}
