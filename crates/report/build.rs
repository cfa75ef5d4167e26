// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packs the charting script for pages: Plotly's, as the crate `plotly` has it, without its maps and without 3-D.
//!
//! Whole and plain the script has 4.7 MB, so that each report had. No crate has one of Plotly's smaller bundles, and one that is fetched
//! would not be in this repository.

use std::{env, fs, path::Path};

#[path = "src/pack.rs"]
mod pack;

/// The large parts that no chart here draws with, each by a text that it alone contains: two programs for maps, two for WebGL.
const UNUSED: [&str; 4] = [".maplibregl=t()", ".mapboxgl=t()", "alpha_shape:o(", ".createREGL=t()"];

/// What stands in their places: charts look at some of it when they are registered, and use it only if they are drawn.
const STUB: &str = "var Unused=new Proxy(function(){},{get:()=>Unused,apply:()=>Unused,construct:()=>Unused});";

/// Where the script itself begins and ends. What is around it, for other ways to load it, makes browsers read it a second time.
const BEGIN: &str = "var Plotly=";
const END: &str = "\nwindow.Plotly = Plotly;";
const LICENCE_END: &str = "*/";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/pack.rs");
    let small = small_script(&plotly::Plot::offline_js_sources());
    let small = small.expect("plotly is another: adapt crates/report/build.rs to it, or its version in Cargo.toml");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("plotly"), pack::pack(&small)).expect("the build folder can be written to");
}

/// The script with its licence. Behind it the crate puts another script, for formulas.
fn small_script(scripts: &str) -> Option<String> {
    let licence = &scripts[scripts.find("/*")?..scripts.find(LICENCE_END)? + LICENCE_END.len()];
    let whole = &scripts[scripts.find(BEGIN)?..scripts.find(END)?];
    let small = UNUSED.iter().try_fold(whole.to_owned(), |script, part| without(&script, part))?;
    Some(format!("{licence}\n'use strict';{STUB}{small}"))
}

/// The script with a stub for the module that contains `part`. A module is `var NAME=ye((EXPORTS,MODULE)=>{...});`, and another follows.
fn without(script: &str, part: &str) -> Option<String> {
    const MODULE: &str = "=ye((";
    let inside = script.find(part)?;
    let arguments = script[..inside].rfind(MODULE)? + MODULE.len();
    let body = arguments + script[arguments..].find("=>{")? + "=>{".len();
    let module = script[arguments..].split([',', ')']).nth(1)?;
    let end = body + end_of_module(&script[body..])?;
    (end > inside).then(|| format!("{}{module}.exports=Unused{}", &script[..body], &script[end..]))
}

fn end_of_module(body: &str) -> Option<usize> {
    const END: &str = "});";
    let mut ends = body.match_indices(END).map(|(at, _)| at);
    ends.find(|at| {
        let next = body[at + END.len()..].trim_start();
        let name = next.strip_prefix("var ").and_then(|next| next.split_once('='));
        name.is_some_and(|(name, value)| name.len() < 8 && value.starts_with("ye("))
    })
}
