// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table `[wlan]`: what it makes, and what it refuses.

use tandem_scenario::{
    Limit, Scenario,
    file::{Overrides, parse},
    units::Rate,
    wlan::Standard,
};

/// A good file; lines are replaced or put in at the end of the table.
const GOOD: [&str; 12] = [
    r#"duration = "60s""#,
    r#"[wlan]"#,
    r#"phy = "802.11g""#,
    r#"stations = 3"#,
    r#"queue = "20p""#,
    r#"wired_rate = "100mbit""#,
    r#"rtt = "61ms""#,
    r#""#,
    r#"[[flows]]"#,
    r#"controller = "reno""#,
    r#"count = 4"#,
    r#""#,
];

fn with(number: usize, line: &str) -> Result<Scenario, String> {
    let mut lines = GOOD;
    lines[number - 1] = line;
    parse(&lines.join("\n"), "x.toml", "x", &Overrides::default()).map_err(|e| e.to_string())
}

#[track_caller]
fn refused(number: usize, line: &str, column: usize, parts: &[&str]) {
    let message = with(number, line).expect_err(line);
    let place = format!("x.toml:{number}:{column}: ");
    assert!(message.starts_with(&place), "`{line}`: expected {place} {message}");
    for part in parts {
        assert!(message.contains(part), "`{line}`: {message}");
    }
}

#[test]
fn the_table_makes_a_cell_and_a_wired_path() {
    let scenario = with(8, "").unwrap();
    let cell = scenario.network.cell.as_ref().unwrap();
    assert_eq!((cell.stations, cell.standard, cell.max_tries), (3, Standard::G, 7));
    assert_eq!((cell.data_rate.bps, cell.control_rate.bps), (54_000_000, 24_000_000));
    let links = &scenario.network.links;
    let names: Vec<&str> = links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["wired", "wired-back", "uplink", "downlink"]);
    assert_eq!((cell.uplink, cell.downlink), (2, 3));
    assert_eq!((links[3].limit, links[2].limit), (Limit::Packets(20), Limit::Packets(1000)));
    let group = &scenario.groups[0];
    assert_eq!((&group.forward[..], &group.back[..]), (&[2, 0][..], &[1, 3][..]));
    assert_eq!(scenario.base_rtt(group).ns, 61_000_000);
    assert_eq!(scenario.station_of_flow(), [0, 1, 2, 0]);
}

#[test]
fn flows_may_start_at_another_station_and_go_down() {
    let scenario = with(12, "first_station = 3\nreverse = true").unwrap();
    assert_eq!(scenario.station_of_flow(), [2, 0, 1, 2]);
    let group = &scenario.groups[0];
    assert_eq!((&group.forward[..], &group.back[..]), (&[1, 3][..], &[2, 0][..]));
}

/// The highest basic rate that is not above the data's: 1 and 2 Mb/s, or 6, 12 and 24.
#[test]
fn acks_go_at_a_basic_rate() {
    let rate = |megabits: f64| Rate { bps: (megabits * 1e6) as u64 };
    for (standard, data, control) in [
        (Standard::B, 11.0, 2.0),
        (Standard::B, 5.5, 2.0),
        (Standard::B, 1.0, 1.0),
        (Standard::G, 54.0, 24.0),
        (Standard::A, 18.0, 12.0),
        (Standard::A, 9.0, 6.0),
    ] {
        assert_eq!(standard.control_rate(rate(data)), rate(control), "{standard} at {data}");
    }
}

#[test]
fn mistakes_have_their_line() {
    refused(3, r#"phy = "802.11n""#, 7, &["no phy `802.11n`", "`802.11b`, `802.11g`, `802.11a`"]);
    refused(4, "stations = 0", 12, &["stations must be 1 to 2007"]);
    refused(5, r#"queue = "0p""#, 9, &["is 0"]);
    refused(5, r#"queue = "15ms""#, 9, &["write packets or bytes"]);
    refused(5, r#"queue = "1bdp""#, 9, &["write packets or bytes"]);
    refused(5, r#"queue = "100B""#, 9, &["does not hold one packet"]);
    refused(8, r#"rate = "11mbit""#, 8, &["802.11g has no rate 11mbit", "6mbit, 9mbit, 12mbit"]);
    refused(8, r#"control_rate = "10mbit""#, 16, &["has no rate 10mbit"]);
    refused(8, "short_preamble = true", 18, &["802.11b only"]);
    refused(8, "max_tries = 0", 13, &["1 to 255"]);
    refused(8, "frame_error_rate = 1.0", 20, &["below 1"]);
    refused(8, r#"station_queue = "1bdp""#, 17, &["write packets or bytes"]);
    refused(8, "aqm = \"codel\"", 1, &["unknown field `aqm`"]);
    refused(12, "first_station = 4", 17, &["1 to 3, the number of stations"]);
    refused(12, r#"to = "left""#, 6, &["no node `left`", "`stations`, `ap`, `server`"]);
    refused(12, r#"rtt = "10ms""#, 7, &["rtt is for [dumbbell] only"]);
    // Slower data than ACKs: the ACKs' rate is at fault.
    let message = with(8, "rate = \"6mbit\"\ncontrol_rate = \"24mbit\"").unwrap_err();
    assert!(message.starts_with("x.toml:9:16: ") && message.contains("cannot be faster than data"), "{message}");
    let message = with(2, "[dumbbell]\nrate = \"1mbit\"\nrtt = \"1ms\"\nqueue = \"9p\"\n[wlan]").unwrap_err();
    assert!(message.contains("give one network"), "{message}");
    let dumbbell = "duration = \"1s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"1ms\"\nqueue = \"9p\"\n[[flows]]\ncontroller = \"reno\"\n";
    let message = parse(&format!("{dumbbell}first_station = 1"), "x.toml", "x", &Overrides::default()).unwrap_err();
    assert!(message.to_string().starts_with("x.toml:8:17: first_station is for [wlan] only"), "{message}");
}
