// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios keep the text that another process reads them from.

use tandem_scenario::{
    Scenario, Settings,
    controller::{in_folder, parse_setting},
    file::{Overrides, load, parse, parse_inner},
};

const TEXT: &str = r#"
duration = "5s"
seeds = 3
[dumbbell]
rate = "10mbit"
rtt = "20ms"
queue = "1bdp"
[[flows]]
controller = "compound@gamma=20"
"#;

fn again(scenario: &Scenario) -> Scenario {
    scenario.written().expect("it has a text").read().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_text_means_the_same_whatever_name_and_seeds_it_got() {
    let scenario = parse(TEXT, "a.toml", "a", &Overrides { seeds: Some(9), ..Overrides::default() }).unwrap();
    let other = scenario.clone().named("other").with_seeds([7]);
    assert_eq!(again(&other).meaning(), scenario.meaning());
    assert_eq!(again(&other).seeds, [1, 2, 3]);
}

/// The process that reads it may stand elsewhere.
#[test]
fn files_are_found_from_the_folder_of_the_first_reading() {
    let place = tempfile::tempdir().unwrap();
    let text = format!("{TEXT}[effects.bottleneck]\nrate_trace = \"a.trace\"\n");
    std::fs::write(place.path().join("a.trace"), "1\n2\n").unwrap();
    std::fs::write(place.path().join("a.toml"), &text).unwrap();
    let loaded = load(&place.path().join("a.toml"), &Overrides::default()).unwrap();
    assert!(loaded.written().unwrap().folder.is_absolute());
    assert_eq!(again(&loaded).meaning(), loaded.meaning());
    let parsed = in_folder(place.path(), || parse(&text, "a.toml", "a", &Overrides::default())).unwrap();
    assert_eq!(again(&parsed).meaning(), loaded.meaning());
    std::fs::remove_file(place.path().join("a.trace")).unwrap();
    let error = loaded.written().unwrap().read().unwrap_err().to_string();
    assert!(error.contains("a.trace"), "{error}");
}

#[test]
fn a_table_of_a_file_is_a_text_of_its_own() {
    let inner = TEXT.replace("[dumbbell]", "[scenario.dumbbell]").replace("[[flows]]", "[[scenario.flows]]");
    let file = format!("title = \"of a file\"\n[scenario]{inner}[scenario.set.reno]\nbeta = 0.5\n");
    let scenario = parse_inner(&file, "b.toml", "b", &Overrides::default()).unwrap();
    let whole = parse(TEXT, "a.toml", "a", &Overrides::default()).unwrap();
    assert_eq!(again(&scenario).meaning(), whole.meaning());
}

#[test]
fn what_the_command_line_changes_is_not_in_the_text() {
    let mut settings = Settings::default();
    settings.push(parse_setting("compound.alpha=0.25").unwrap()).unwrap();
    for overrides in
        [Overrides { settings, ..Overrides::default() }, Overrides { no_delayed_acks: true, ..Overrides::default() }]
    {
        assert!(parse(TEXT, "a.toml", "a", &overrides).unwrap().written().is_none());
    }
}
