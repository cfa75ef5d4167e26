// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a controller of the list has elsewhere, found by its name: its page, and its line in the table of pages.

use std::{env, fmt::Write, fs, path::PathBuf};

use tandem_controllers::CONTROLLERS;

/// Set: the table is written instead of compared.
const UPDATE: &str = "UPDATE_DOCS";

fn pages() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/controllers")
}

#[test]
fn every_controller_has_a_page() {
    for controller in &CONTROLLERS {
        let (name, page) = (controller.name, pages().join(controller.name).with_extension("md"));
        let text = fs::read_to_string(page).unwrap_or_default();
        let title = format!("# `{name}`\n");
        assert!(text.starts_with(&title), "write docs/controllers/{name}.md, which begins with the line {title}");
    }
}

/// docs/controllers/README.md, made from the list.
fn table() -> String {
    let mut text = String::from(
        "# Controllers\n\nEach controller has a page with its equations, parameters and open points. \
         [`controllers/`](../../controllers/README.md) has the code.\n\n\
         | controller | family | signal | source |\n|---|---|---|---|\n",
    );
    for c in &CONTROLLERS {
        writeln!(text, "| [`{0}`]({0}.md) | {1} | {2} | {3} |", c.name, c.family, c.signal.as_str(), c.source).unwrap();
    }
    let elsewhere = CONTROLLERS.iter().filter(|c| c.kernel_obstacle().is_some()).map(|c| format!("`{}`", c.name));
    let elsewhere = elsewhere.collect::<Vec<_>>().join(" and ");
    text + "\n`signal` is what the controller listens to: loss, delay, both, a model of the path, or the number of ECN marks (`l4s`: with \
         ECT(1), for L4S queues).\n"
        + &format!("All run in the Linux kernel except {elsewhere}; `tandem kernel check` says why.\n")
}

#[test]
fn the_table_of_pages_is_that_of_the_list() {
    let path = pages().join("README.md");
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, table()).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == table(),
        "docs/controllers/README.md is old; write it anew: {UPDATE}=1 cargo test -p tandem-controllers --test places"
    );
}
