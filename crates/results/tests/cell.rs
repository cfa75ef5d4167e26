// SPDX-License-Identifier: MIT OR Apache-2.0
//! A wireless cell summed up, by hand.

use tandem_results::{CellResult, FlowResult, LinkResult, Run, SeedResult};
use tandem_scenario::file::{Overrides, parse};

const CELL: &str = r#"
duration = "60s"
[wlan]
phy = "802.11g"
stations = 3
queue = "20p"
wired_rate = "100mbit"
rtt = "61ms"
[[flows]]
controller = "reno"
count = 4
"#;

/// Four flows at three stations, the first of which has two of them.
#[test]
fn a_summary_counts_what_stations_get() {
    let scenario = parse(CELL, "x.toml", "x", &Overrides::default()).unwrap();
    let seed = |seed, goodputs: [f64; 4], collided_frames| SeedResult {
        seed,
        flows: goodputs.map(|goodput_mbps| FlowResult { goodput_mbps, ..FlowResult::default() }).into(),
        rtt_ms: vec![Default::default()],
        links: [0, 0, 5, 7].map(|drops| LinkResult { drops, random_losses: drops / 5, ..LinkResult::default() }).into(),
        cell: Some(CellResult { frames: 100, collided_frames, up_airtime: 0.5, ..CellResult::default() }),
        ..SeedResult::default()
    };
    let run = Run::from_seeds(
        &scenario,
        "sim",
        2,
        vec![seed(1, [1.0, 3.0, 3.0, 2.0], 10), seed(2, [2.0, 1.0, 1.0, 0.0], 30)],
    );
    let cell = run.cell.unwrap();
    assert_eq!(cell.per_station_goodput_mbps, [2.5, 2.0, 2.0]);
    // Three equal shares, then 2, 1, 1: 16 / (3 * 6).
    assert!((cell.station_jain - (1.0 + 8.0 / 9.0) / 2.0).abs() < 1e-12);
    assert_eq!((cell.ap_drops, cell.given_up, cell.collision_rate, cell.up_airtime), (7.0, 2.0, 0.2, 0.5));
}
