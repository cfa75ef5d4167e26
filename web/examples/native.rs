// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs scenario files as the page does, but natively, and prints each result as a line of JSON. The tests of the page compare.

fn main() -> Result<(), String> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        println!("{}", tandem_web::run(&text, true, |_| ())?);
    }
    Ok(())
}
