// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page about runs: it is complete, and texts from scenarios are escaped.

use std::io::Read;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::read::DeflateDecoder;
use serde_json::Value;
use tandem_report::{Report, Section, html};
use tandem_results::{Delivery, Distribution};
use tandem_scenario::file::{Overrides, parse};

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
        why_these_seeds: None,
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

/// The charts, unpacked.
fn charts(page: &str) -> Vec<Value> {
    let packed = page.split_once("id=\"charts\">").unwrap().1.split_once("</script>").unwrap().0;
    let mut json = String::new();
    DeflateDecoder::new(&*STANDARD.decode(packed).unwrap()).read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn titled<'a>(charts: &'a [Value], title: &str) -> &'a Value {
    charts.iter().find(|chart| chart["title"] == title).unwrap_or_else(|| panic!("no chart {title}"))
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let page = page(&[("compound", "compound", 4), ("reno", "reno", 4)], 5);
    let markup = markup(&page);
    for attribute in ["src=", "href=\"http", "<link", "@import", "url("] {
        assert!(!markup.contains(attribute), "{attribute}");
    }
    // Every script is in the page itself: the library, the data, and what unpacks and draws them.
    assert_eq!(page.matches("<script").count(), 3);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

#[test]
fn names_are_text_wherever_they_stand() {
    let page = page(&[(NASTY, "compound", 2), ("reno", "reno", 2)], 5);
    let markup = markup(&page);
    assert!(!markup.contains("<img"), "a name became markup");
    assert!(markup.contains("onerror"), "the name is shown");
    assert!(markup.contains("A &lt;title&gt;"));
    assert!(markup.contains("mixed &amp; more"));
    // The script makes text of it again.
    assert_eq!(titled(&charts(&page), "Goodput")["series"][0]["name"], NASTY);
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
    let few = charts(&page(&[("compound", "compound", 5), ("reno", "reno", 5)], 1));
    let many = charts(&page(&[("compound", "compound", 30), ("reno", "reno", 30)], 1));
    assert_eq!(few.len(), many.len());
    for chart in &many {
        let axes = [&chart["x"], &chart["y"]];
        let is_named = |axis: &Value| axis["names"].is_array() || axis["title"] == "Flow";
        let has_unit = |axis: &Value| axis["title"].as_str().unwrap().contains(", ");
        assert!(axes.iter().all(|axis| is_named(axis) || has_unit(axis)), "an axis without its unit: {chart}");
        let series = chart["series"].as_array().unwrap();
        assert!(series.len() <= 16);
        assert!(series.iter().all(|t| t["x"].as_array().unwrap().len() <= 1500));
    }
}

/// Thousands of groups would be thousands of entries in a legend, and a table that nobody reads.
#[test]
fn many_groups_are_cut_and_the_page_says_so() {
    let names: Vec<String> = (0..600).map(|i| format!("group {i}")).collect();
    let groups: Vec<(&str, &str, u32)> = names.iter().map(|name| (name.as_str(), "reno", 1)).collect();
    let page = page(&groups, 1);
    let markup = markup(&page);
    for text in [
        "201 more rows are in results.json",
        "Shown: the first 40 of 600 groups",
        "Shown: 8 of 600 flows",
        "And 576 more groups",
    ] {
        assert!(markup.contains(text), "{text}");
    }
    assert!(charts(&page).iter().all(|chart| chart["series"].as_array().unwrap().len() <= 40));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

#[test]
fn flows_are_on_one_scale_and_a_controller_has_one_colour() {
    let charts = charts(&page(&[("compound", "compound", 2), ("reno", "reno", 2)], 5));
    let windows = titled(&charts, "Windows");
    let names: Vec<&str> = windows["series"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["compound 1", "compound 2", "reno 1", "reno 2", "compound 1, loss window", "compound 2, loss window"]
    );
    for (title, place) in [("Windows", 2), ("Goodput", 1), ("Goodput against queueing delay", 1)] {
        assert_eq!(titled(&charts, title)["series"][place]["colour"], "#0072B2", "{title}");
    }
}

/// Reno's RTT has a 95th percentile of 148.08 ms over 100 ms of propagation.
#[test]
fn delay_is_what_the_rtt_is_above_propagation() {
    let charts = charts(&page(&[("compound", "compound", 2), ("reno", "reno", 2)], 5));
    let trade_off = titled(&charts, "Goodput against queueing delay");
    assert_eq!(
        (trade_off["x"]["reversed"].as_bool(), &trade_off["series"][1]["x"][0]),
        (Some(true), &Value::from(48.08))
    );
    assert_eq!(trade_off["series"][1]["y"][0], 38.0);
}

/// A call behind a queue for each flow: its packets wait 0.3 ms above 50 ms of propagation, those of the download beside it far longer.
#[test]
fn the_wait_of_udp_is_its_own_delay_above_propagation() {
    let text = "duration = \"150s\"\nwarmup = \"30s\"\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"100ms\"\nqueue = \"500p\"\n\
                aqm = \"fq_codel\"\n[[flows]]\ncontroller = \"reno\"\n[[flows]]\nname = \"call\"\nudp = { rate = \"1mbit\" }\n";
    let scenario = parse(text, "call.toml", "call", &Overrides::default()).unwrap();
    let met = |p95: f64| {
        let delay_ms = Distribution { mean: 50.1, p50: 50.1, p95, p99: p95 + 0.1, max: p95 + 0.2 };
        Delivery { delay_ms, jitter_ms: delay_ms, loss_rate: 0.0, loss_rate_by_second: Distribution::default() }
    };
    let wait_ms = |delivery: Option<Delivery>| {
        let mut run = synthetic::run(&scenario, 1);
        run.groups[1].delivery = delivery;
        let report = Report {
            title: String::new(),
            command: String::new(),
            version: String::new(),
            sections: vec![Section { scenario: &scenario, run: &run }],
            baselines: Vec::new(),
            why_these_seeds: None,
        };
        titled(&charts(&html(&report)), "Goodput against queueing delay")["series"][1]["x"][0].as_f64()
    };
    assert!((wait_ms(Some(met(50.3))).unwrap() - 0.3).abs() < 1e-3);
    // Who measured nothing has no point: the queue of the link, 30 ms, is not what a call behind FQ-CoDel waits for.
    assert_eq!(wait_ms(None), None);
}

/// The links' table has a column for marks, but only where a link of the run marked some.
#[test]
fn marks_stand_in_the_table_of_links() {
    let scenario = synthetic::scenario("marked", &[("reno", "reno", 4)]);
    let markup_with = |marks: f64| {
        let mut run = synthetic::run(&scenario, 1);
        run.links[0].marks = marks;
        let report = Report {
            title: String::new(),
            command: String::new(),
            version: String::new(),
            sections: vec![Section { scenario: &scenario, run: &run }],
            baselines: Vec::new(),
            why_these_seeds: None,
        };
        markup(&html(&report))
    };
    let (marked, unmarked) = (markup_with(4321.0), markup_with(0.0));
    assert!(marked.contains(">Marks</th>") && marked.contains("<td>4321</td></tr>"), "{marked}");
    assert!(marked.contains("<td>0</td></tr>"), "the other link marked none");
    assert!(!unmarked.contains(">Marks</th>"));
}

/// Mean, median, 95th and 99th percentile of the RTT, in that order.
#[test]
fn the_summary_has_percentiles_of_the_rtt() {
    let markup = markup(&page(&[("reno", "reno", 4)], 1));
    for figure in ["mean", "p50", "p95", "p99"] {
        assert!(markup.contains(&format!(">RTT {figure}<br>ms</th>")), "{figure}");
    }
    assert!(markup.contains("<td>123.4</td><td>123.4</td><td>148.1</td><td>160.4</td>"), "{markup}");
    assert!(!markup.contains("Smoothed RTT<br>"), "a column for what no run has");
}

#[test]
fn gamma_is_shown_only_where_a_controller_has_one() {
    let with = page(&[("compound", "compound", 1)], 1);
    let without = page(&[("reno", "reno", 1)], 1);
    assert!(markup(&with).contains("Estimated backlog"));
    assert!(!markup(&without).contains("Estimated backlog"));
}
