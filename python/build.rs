// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tells the package which commit it is built from, as the command line knows it of itself: both write to the same data sets.

#[path = "../crates/cli/commit.rs"]
mod commit;

use std::{env, path::Path};

fn main() {
    let package = env::var("CARGO_MANIFEST_DIR").unwrap();
    println!("cargo::rustc-env=TANDEM_COMMIT={}", commit::of(&Path::new(&package).join(".."), Path::new(&package)));
}
