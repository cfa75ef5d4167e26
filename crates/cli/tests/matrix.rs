// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every controller against every other.

mod common;

use common::Place;
use serde_json::Value;

/// S3's Table 1: 100 Mbit/s, 40 ms, a buffer of one BDP; shortened.
const TABLE_1: &str = "--rate 100mbit --rtt 40ms --queue 1bdp --duration 20s --warmup 5s";

/// Whom each controller's snapshot shows it beside. Fixed, so that a new controller changes no other's.
const YARDSTICKS: [&str; 4] = ["reno", "compound", "cubic", "vegas"];

/// All controllers, so that a change of one shows what it does to its neighbours. docs/matrix.md has longer runs.
///
/// Each has a snapshot of its own: `INSTA_UPDATE=always cargo test -p tandem-cc --test matrix` writes those that are new or changed.
#[test]
fn all_controllers_on_the_path_of_tcp_fusions_table_1() {
    let place = Place::new();
    let finished = place.succeed(&format!("compare {TABLE_1} --seeds 1 --matrix --json"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    let matrix = &results["matrix"];
    let names: Vec<&str> = matrix["controllers"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    for (row, name) in names.iter().enumerate() {
        let beside = |other: &str| {
            let column = names.iter().position(|c| *c == other).unwrap();
            let cell = &matrix["cells"][row][column];
            let goodput = cell["goodput_mbps"].as_f64().unwrap();
            cell["share"].as_f64().filter(|_| row != column).map_or_else(
                || format!("{name} beside itself: {goodput:.2} Mb/s"),
                |share| format!("{name} beside {other}: {goodput:.2} Mb/s, of which {:.1} %", 100.0 * share),
            )
        };
        insta::with_settings!({ snapshot_suffix => *name }, {
            insta::assert_snapshot!("beside", YARDSTICKS.map(beside).join("\n"));
        });
    }
}

#[test]
fn the_matrix_is_a_table() {
    let place = Place::new();
    let finished = place.succeed(&format!("compare {TABLE_1} --seeds 1 --matrix reno compound cubic"));
    insta::assert_snapshot!(finished.out);
}

#[test]
fn cautions_name_no_pair_but_count_them() {
    let place = Place::new();
    let quick = "--rate 10mbit --rtt 20ms --queue 400p --duration 3s --warmup 1s --seeds 2";
    let finished = place.succeed(&format!("compare {quick} --matrix reno vegas --out o"));
    // Each of the pairs has two seeds; two of the three have Reno in them.
    assert!(finished.err.contains("Caution (3 of 3 pairs): two seeds make a very wide interval"), "{}", finished.err);
    assert!(finished.err.contains("Caution (2 of 3 pairs): reno takes some"), "{}", finished.err);
    assert!(place.read("o/report.html").contains("reno takes some"));
}

#[test]
fn json_has_each_pair_from_both_sides() {
    let place = Place::new();
    let quick = common::QUICK;
    let finished = place.succeed(&format!("compare {quick} --seeds 3 --matrix reno:2 scalable:2 vegas:2 --json"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(results["runs"].as_array().unwrap().len(), 6);
    let matrix = &results["matrix"];
    assert_eq!(matrix["controllers"], serde_json::json!(["reno", "scalable", "vegas"]));
    assert_eq!(matrix["flows"], 2);
    for row in 0..3 {
        for column in 0..3 {
            let share = |row: usize, column: usize| matrix["cells"][row][column]["share"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&share(row, column)));
            if row != column {
                assert!((share(row, column) + share(column, row) - 1.0).abs() < 1e-12);
            }
        }
    }
    // The second run is of the first and second controller.
    let groups = &results["runs"][1]["groups"];
    let goodput = |i: usize| groups[i]["goodput_mbps"].as_f64().unwrap();
    assert_eq!((groups[0]["controller"].as_str(), groups[1]["controller"].as_str()), (Some("reno"), Some("scalable")));
    let both = matrix["cells"][0][1]["goodput_mbps"].as_f64().unwrap();
    assert!((goodput(0) + goodput(1) - both).abs() < 1e-9);
    assert_eq!(place.read("tandem-out/matrix-10mbit-20ms/results.json"), finished.out);
    assert!(place.read("tandem-out/matrix-10mbit-20ms/report.html").contains("Share, %"));
}

#[test]
fn a_family_stands_for_its_controllers() {
    let place = Place::new();
    let finished = place.succeed(&format!("compare {} --seeds 1 reno:2 --family compound:2 --json", common::QUICK));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    let names: Vec<&str> = results["runs"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["reno", "compound", "compound_auto", "compound_tube", "compound_plus"]);
}
