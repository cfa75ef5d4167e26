// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows over a wireless cell.

mod common;

use common::{fingerprint, run, run_seed, scenario, within};
use tandem_results::{Run, SeedResult};
use tandem_statistics::jain;

fn cell(stations: u32, queue: &str, more: &str, flows: &str) -> String {
    format!(
        "duration = \"60s\"\nwarmup = \"10s\"\n[wlan]\nphy = \"802.11g\"\nstations = {stations}\nqueue = \"{queue}\"\n\
         wired_rate = \"100mbit\"\nrtt = \"60ms\"\n{more}\n{flows}"
    )
}

fn goodputs(result: &SeedResult) -> Vec<f64> {
    result.flows.iter().map(|f| f.goodput_mbps).collect()
}

/// A packet of 1500 bytes each 393.5 us (crates/network/tests/wlan.rs does the sum), 1448 of them payload; up or down.
#[test]
fn saturated_udp_gets_what_one_sender_can() {
    for direction in ["", "reverse = true"] {
        let flows = format!("[[flows]]\nudp = {{ rate = \"40mbit\" }}\n{direction}");
        let result = run(&cell(1, "50p", "station_queue = \"50p\"", &flows));
        within(result.flows[0].goodput_mbps, 1448.0 * 8.0 / 393.5, 0.005 * 29.4);
        let used = result.cell.unwrap();
        let (mine, other) = if direction.is_empty() {
            (used.up_airtime, used.down_airtime)
        } else {
            (used.down_airtime, used.up_airtime)
        };
        // 298 of the 393.5 us.
        within(mine, 298.0 / 393.5, 0.005);
        assert_eq!(other, 0.0);
    }
}

/// With saturated uplinks the access point has one share in n + 1 (S4 2.2), so that its downlink gets what a station gets.
#[test]
fn the_access_point_is_one_sender_among_all() {
    let flows =
        "[[flows]]\nudp = { rate = \"20mbit\" }\ncount = 4\n[[flows]]\nudp = { rate = \"20mbit\" }\nreverse = true";
    let result = run(&cell(4, "50p", "", flows));
    let goodputs = goodputs(&result);
    let mean = goodputs.iter().sum::<f64>() / 5.0;
    for goodput in &goodputs {
        within(*goodput, mean, 0.04 * mean);
    }
    assert!(result.links[3].drops > 1000, "what the access point cannot send is dropped");
}

/// One packet at a time. The wired path takes 60 ms, 120 us for the data and 4.16 us for the ACK; on the air the data takes 254 us and the
/// ACK's frame of 52 + 36 bytes, 726 bits in 4 symbols, 42 us. The ACK waits for a slot to begin, 4.5 us on average. The data that it sets off
/// finds the channel busy with the end of that exchange: SIFS, the MAC's ACK of 34 us, DIFS, and a backoff of 7.5 slots on average.
#[test]
fn a_round_trip_is_the_wired_path_and_two_exchanges() {
    let flows = "[[flows]]\ncontroller = \"reno\"\nreceive_window = \"1448B\"\ndelayed_acks = false";
    let result = run(&format!("send_jitter = \"0\"\n{}", cell(1, "50p", "", flows)));
    let rtt = result.rtt_ms[0];
    let least = 60.0 + 0.12 + 0.00416 + 0.254 + 0.042 + 0.010 + 0.034 + 0.028;
    // The histogram rounds by 0.03 ms.
    within(rtt.mean, least + 0.0045 + 7.5 * 0.009, 0.03);
    assert!(rtt.max <= least + 0.009 + 15.0 * 0.009 + 0.03, "{rtt:?}");
}

/// Uploads through a short queue: the access point has 1/(n + 1) of the channel and needs more for the ACKs, so it drops
/// them. Large windows survive that, small ones time out (S4 2.2; Pilosof et al. 2003 measured it). With a queue that never fills no
/// ACK is lost, and all get the same. Receive windows of 64 KiB: where windows have no end, neither has the queue, and its delay alone sets off timeouts.
#[test]
fn short_access_point_queues_starve_uploads_of_reno() {
    let flows = "[[flows]]\ncontroller = \"reno\"\ncount = 20\nstart_spread = \"1s\"\nreceive_window = \"64KiB\"";
    let short = run(&cell(20, "10p", "", flows));
    let shares = goodputs(&short);
    let fair = shares.iter().sum::<f64>() / 20.0;
    let starved = shares.iter().filter(|&&g| g < fair / 10.0).count();
    assert!(starved >= 3 && jain(&shares) < 0.75, "{starved} starve: {shares:?}");
    assert!(short.links[3].drops > 1000 && short.flows.iter().map(|f| f.timeouts).sum::<u64>() > 50);

    let endless = run(&cell(20, "1000000p", "", flows));
    let shares = goodputs(&endless);
    assert!(jain(&shares) > 0.99, "{shares:?}");
    assert_eq!(endless.links[3].drops, 0);
    assert_eq!(endless.flows.iter().map(|f| f.timeouts).sum::<u64>(), 0);
}

/// What was sent has arrived, was dropped, was given up, or is under way at the end: no more than queues and windows hold.
#[test]
fn packets_are_conserved() {
    let flows = "[[flows]]\nudp = { rate = \"20mbit\" }\ncount = 3\n[[flows]]\nudp = { rate = \"9mbit\" }\nreverse = true\ncount = 2";
    let text = cell(3, "30p", "station_queue = \"40p\"\nframe_error_rate = 0.3\nmax_tries = 3", flows);
    let result = run(&text.replace("warmup = \"10s\"", "warmup = \"0s\""));
    let sent: u64 = result.flows.iter().map(|f| f.sent_packets).sum();
    let lost: u64 = result.links.iter().map(|l| l.drops + l.random_losses).sum();
    let under_way = sent - lost - result.data_packets;
    // Three stations' queues and the access point's, the frame before each, and 60 ms of wired path.
    assert!(under_way <= 3 * 41 + 31 + 1000, "{under_way}");
    assert!(result.links[2].random_losses > 0 && result.links[3].random_losses > 0 && result.links[2].drops > 0);
    let used = result.cell.unwrap();
    within(used.damaged_frames as f64 / (used.frames - used.collided_frames) as f64, 0.3, 0.01);
}

#[test]
fn a_seed_is_a_run() {
    let flows = "[[flows]]\ncontroller = \"compound\"\ncount = 5\n[[flows]]\ncontroller = \"reno\"\ncount = 2\nreverse = true\nfirst_station = 2";
    let scenario = scenario(&cell(5, "20p", "", flows));
    let twice = || fingerprint(run_seed(&scenario, 7));
    assert_eq!(twice(), twice());
    assert_ne!(twice(), fingerprint(run_seed(&scenario, 8)));
    let seed = run_seed(&scenario, 7);
    let run = Run::from_seeds(&scenario, "sim", 1, vec![seed.clone()]);
    let cell = run.cell.unwrap();
    // The second station has an upload and a download, the first only an upload.
    within(cell.per_station_goodput_mbps[1], seed.flows[1].goodput_mbps + seed.flows[5].goodput_mbps, 1e-9);
    within(cell.per_station_goodput_mbps[0], seed.flows[0].goodput_mbps, 1e-9);
}
