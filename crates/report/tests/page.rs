// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page about runs: it is complete, and texts from scenarios are escaped.

use serde_json::Value;
use tandem_report::{Report, Section, html};

mod synthetic;

const NASTY: &str = "</script><img src=x onerror=alert(1)>";

fn page(groups: &[(&str, &str, u32)], seeds: usize) -> String {
    let scenario = synthetic::scenario("mixed & more", groups);
    let run = synthetic::run(&scenario, seeds);
    html(&Report {
        title: "A <title>".into(),
        command: "tandem run mixed.toml && echo \"done\"".into(),
        version: "1.2.3".into(),
        sections: vec![Section { scenario: &scenario, run: &run }],
        baselines: Vec::new(),
    })
}

/// Everything but the scripts, whose text browsers do not read as markup.
fn markup(page: &str) -> String {
    let mut parts = page.split("<script");
    let mut markup = parts.next().unwrap().to_owned();
    for part in parts {
        markup += part.split_once("</script>").expect("scripts end").1;
    }
    markup
}

/// What is inside `<script type="application/json">`.
fn charts(page: &str) -> Vec<Value> {
    let scripts = page.split("<script type=\"application/json\">").skip(1);
    scripts.map(|s| serde_json::from_str(s.split_once("</script>").unwrap().0).expect("JSON")).collect()
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let page = page(&[("compound", "compound", 4), ("reno", "reno", 4)], 5);
    let markup = markup(&page);
    for attribute in ["src=", "href=", "<link", "@import", "url("] {
        assert!(!markup.contains(attribute), "{attribute}");
    }
    // Every script is in the page itself.
    assert_eq!(page.matches("<script>").count(), 2);
    assert!(page.contains("plotly.js v"), "the library is in the page");
    assert!(!page.contains("MathJax.loader"), "the crate's second script, for formulas, is left out");
}

#[test]
fn names_are_text_wherever_they_stand() {
    let page = page(&[(NASTY, "compound", 2), ("reno", "reno", 2)], 5);
    let markup = markup(&page);
    assert!(!markup.contains("<img"), "a name became markup");
    assert!(markup.contains("onerror"), "the name is shown");
    assert!(markup.contains("A &lt;title&gt;"));
    assert!(markup.contains("mixed &amp; more"));
    // Plotly takes `<` for markup, too.
    for chart in charts(&page) {
        for trace in chart["traces"].as_array().unwrap() {
            assert!(!trace["name"].as_str().unwrap().contains('<'));
        }
    }
}

#[test]
fn the_page_has_the_numbers_and_how_to_get_them_again() {
    let page = page(&[("compound", "compound", 4), ("reno", "reno", 4)], 5);
    let markup = markup(&page);
    // The cells of the test of the table.
    for text in ["57.00 ± 0.56", "38.00 ± 0.37", "123.4", "148.1", "98.8 ± 0.2", "1.3e-4", "0.961", "n = 5"] {
        assert!(markup.contains(text), "{text}");
    }
    for text in ["5 seeds (1 to 5)", "1.2.3", "tandem run mixed.toml &amp;&amp; echo"] {
        assert!(markup.contains(text), "{text}");
    }
    assert!(markup.contains("50\u{a0}ms one way, a drop-tail queue of 500 packets"));
    assert!(!markup.contains("Stolen"), "a column for what no run has");
}

#[test]
fn a_partial_run_says_so() {
    assert!(markup(&page(&[("reno", "reno", 4)], 2)).contains("partial: 2 of 5 seeds"));
}

#[test]
fn charts_are_few_and_small_however_many_flows_there_are() {
    let few = charts(&page(&[("compound", "compound", 2), ("reno", "reno", 2)], 1));
    let many = charts(&page(&[("compound", "compound", 30), ("reno", "reno", 30)], 1));
    assert_eq!(few.len(), many.len());
    for chart in &many {
        assert!(chart["y"].as_str().unwrap().contains(", "), "an axis without its unit: {}", chart["y"]);
        let traces = chart["traces"].as_array().unwrap();
        assert!(traces.len() <= 16);
        assert!(traces.iter().all(|t| t["x"].as_array().unwrap().len() <= 1500));
    }
}

#[test]
fn gamma_is_shown_only_where_a_controller_has_one() {
    let with = page(&[("compound", "compound", 1)], 1);
    let without = page(&[("reno", "reno", 1)], 1);
    assert!(markup(&with).contains("Estimated backlog"));
    assert!(!markup(&without).contains("Estimated backlog"));
}
