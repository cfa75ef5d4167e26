// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tells the program which commit it is built from, and how.

#[path = "commit.rs"]
mod commit;

use std::{env, path::Path};

fn main() {
    let package = env::var("CARGO_MANIFEST_DIR").unwrap();
    let commit = commit::of(&Path::new(&package).join("../.."), Path::new(&package));
    let [profile, target] = ["PROFILE", "TARGET"].map(|name| env::var(name).unwrap());
    let linux = if env::var_os("CARGO_FEATURE_LINUX").is_some() && target.contains("linux") {
        ""
    } else {
        ", without Linux's parts"
    };
    println!("cargo::rustc-env=TANDEM_COMMIT={commit}");
    println!("cargo::rustc-env=TANDEM_BUILD={profile} for {target}{linux}");
}
