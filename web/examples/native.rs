// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs scenario files as the page does, but natively, and prints each result as a line of JSON; of a file that ends in `.json`, what the page asks
//! for an advice, the answer. The tests of the page compare.

fn main() -> Result<(), String> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        let is_advice = path.ends_with(".json");
        println!("{}", if is_advice { tandem_web::advise(&text)? } else { tandem_web::run(&text, true, |_| ())? });
    }
    Ok(())
}
