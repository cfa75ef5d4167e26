// SPDX-License-Identifier: MIT OR Apache-2.0
//! The wireless cell alone, its senders always with something to send: against arithmetic by hand and Bianchi's model.

use tandem_network::wlan::{AP, Cell, CellConfig, Phy};
use tandem_scenario::{
    Limit,
    units::{LossRate, Rate},
    wlan::{Standard, WlanCell},
};
use tandem_statistics::jain;

const SECOND: u64 = 1_000_000_000;
const PACKET_BYTES: u32 = 1500;

fn spec(standard: Standard, rate_kbps: u64, control_kbps: u64) -> WlanCell {
    WlanCell {
        stations: 1,
        standard,
        data_rate: Rate { bps: rate_kbps * 1000 },
        control_rate: Rate { bps: control_kbps * 1000 },
        short_preamble: false,
        max_tries: 7,
        frame_error_rate: LossRate(0.0),
        uplink: 2,
        downlink: 3,
    }
}

fn config(spec: &WlanCell, stations: u32, max_tries: u32) -> CellConfig {
    CellConfig {
        phy: Phy::new(spec),
        stations,
        ap_limit: Limit::Packets(10),
        station_limit: Limit::Packets(10),
        max_tries,
        frame_error_rate: spec.frame_error_rate.0,
    }
}

/// Packets that each sender got through.
struct Saturated {
    delivered: Vec<u64>,
    given_up: u64,
    cell: Cell<usize>,
}

/// Runs a cell whose stations, and whose access point if `with_ap`, always have packets waiting.
fn saturate(config: CellConfig, seconds: u64, seed: u64, with_ap: bool) -> Saturated {
    let senders = if with_ap { AP } else { AP + 1 }..=config.stations as usize;
    let mut cell = Cell::new(config, 0..seconds * SECOND, seed);
    for sender in senders {
        assert!(cell.offer(0, sender, PACKET_BYTES, sender) && cell.offer(0, sender, PACKET_BYTES, sender));
    }
    let mut delivered = vec![0; cell.senders()];
    let mut all_given_up = 0;
    loop {
        let now = cell.next_at();
        if now >= seconds * SECOND {
            break;
        }
        let mut given_up = Vec::new();
        let done = cell.serve(|packet| given_up.push(packet));
        all_given_up += given_up.len() as u64;
        if let Some(done) = done {
            assert_eq!(done.packet, done.sender);
            delivered[done.sender] += 1;
            given_up.push(done.sender);
        }
        for sender in given_up {
            assert!(cell.offer(now, sender, PACKET_BYTES, sender));
        }
    }
    Saturated { delivered, given_up: all_given_up, cell }
}

fn mbps(delivered: &[u64], seconds: u64) -> f64 {
    delivered.iter().sum::<u64>() as f64 * f64::from(PACKET_BYTES) * 8.0 / 1e6 / seconds as f64
}

#[track_caller]
fn within(actual: f64, expected: f64, share: f64) {
    let off = actual / expected - 1.0;
    assert!(off.abs() <= share, "{actual}, expected {expected}: {:+.2} %", 100.0 * off);
}

/// The one station's cycle, us: DIFS, half of the window's slots on average, the frame of 1536 bytes, SIFS, the ACK of 14.
#[test]
fn a_station_alone_gets_what_arithmetic_says() {
    // 802.11b at 11 Mb/s: 192 + ceil(1117.09); ACK at 2 Mb/s: 192 + 56.
    let b = 50.0 + 15.5 * 20.0 + 1310.0 + 10.0 + 248.0;
    // The same with short preambles, ACK at 11 Mb/s: 96 + ceil(10.18).
    let b_short = 50.0 + 15.5 * 20.0 + (96.0 + 1118.0) + 10.0 + (96.0 + 11.0);
    // 802.11g at 54 Mb/s: 216 bits a symbol, 12 310 bits are 57 symbols; ACK at 24 Mb/s: 134 bits are 2 symbols of 96.
    let g = 28.0 + 7.5 * 9.0 + (20.0 + 57.0 * 4.0 + 6.0) + 10.0 + (20.0 + 2.0 * 4.0 + 6.0);
    // 802.11a: no extension of 6 us, SIFS of 16.
    let a = 34.0 + 7.5 * 9.0 + (20.0 + 57.0 * 4.0) + 16.0 + (20.0 + 2.0 * 4.0);
    // At 6 Mb/s: 24 bits a symbol, 513 symbols; ACK: 6.
    let a6 = 34.0 + 7.5 * 9.0 + (20.0 + 513.0 * 4.0) + 16.0 + (20.0 + 6.0 * 4.0);
    let short = WlanCell { short_preamble: true, ..spec(Standard::B, 11_000, 11_000) };
    for (spec, cycle_us) in [
        (spec(Standard::B, 11_000, 2_000), b),
        (short, b_short),
        (spec(Standard::G, 54_000, 24_000), g),
        (spec(Standard::A, 54_000, 24_000), a),
        (spec(Standard::A, 6_000, 6_000), a6),
    ] {
        let one = saturate(config(&spec, 1, 7), 40, 1, false);
        within(mbps(&one.delivered, 40), f64::from(PACKET_BYTES) * 8.0 / cycle_us, 0.005);
        let result = one.cell.result(40.0);
        assert_eq!((result.collided_frames, result.damaged_frames), (0, 0));
    }
}

/// Bianchi 2000: n stations, windows from `w` doubling `m` times, frames sent until they arrive. `ts_us` and `tc_us` are what
/// a success and a collision take. Returns Mb/s.
fn bianchi(n: i32, w: f64, m: i32, slot_us: f64, ts_us: f64, tc_us: f64) -> f64 {
    // (7) and (9) of the paper: tau falls with p, p rises with tau, so bisection finds where they meet.
    let collides = |tau: f64| 1.0 - (1.0 - tau).powi(n - 1);
    let tau_of = |p: f64| {
        let doubled: f64 = (0..m).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + w + p * w * doubled)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let tau = (low + high) / 2.0;
        if tau_of(collides(tau)) > tau { low = tau } else { high = tau }
    }
    let tau = low;
    let any = 1.0 - (1.0 - tau).powi(n);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1);
    let step_us = (1.0 - any) * slot_us + one * ts_us + (any - one) * tc_us;
    one * f64::from(PACKET_BYTES) * 8.0 / step_us
}

/// Times as above; a collision takes the frame and EIFS: SIFS, an ACK at the lowest rate, DIFS. One thing differs by design: in
/// the model everybody counts a busy slot, by the standard only those who just sent can use the first slot after it (Tinnirello,
/// Bianchi, Xiao 2010), with a chance of 1 in w, and mostly alone. That costs up to 1.5 % of throughput.
#[test]
fn saturation_throughput_is_bianchis() {
    let b =
        (spec(Standard::B, 11_000, 2_000), 32.0, 5, 20.0, 1310.0 + 10.0 + 248.0 + 50.0, 1310.0 + 10.0 + 304.0 + 50.0);
    let g = (spec(Standard::G, 54_000, 24_000), 16.0, 6, 9.0, 254.0 + 10.0 + 34.0 + 28.0, 254.0 + 10.0 + 50.0 + 28.0);
    let seconds = 100;
    for (spec, w, m, slot_us, ts_us, tc_us) in [b, g] {
        for n in [1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 50] {
            let expected = bianchi(n, w, m, slot_us, ts_us, tc_us);
            let run = saturate(config(&spec, n as u32, u32::MAX), seconds, 1, false);
            within(mbps(&run.delivered, seconds), expected, 0.02);
            assert_eq!(run.given_up, 0);
        }
    }
}

/// The access point is one sender among all: it gets what each station gets, S4's 1/(n + 1).
#[test]
fn every_sender_gets_the_same_in_the_long_run() {
    for (standard, n) in [(Standard::B, 10), (Standard::G, 10), (Standard::A, 4)] {
        let rate = standard.highest_rate();
        let spec = spec(standard, rate.bps / 1000, standard.control_rate(rate).bps / 1000);
        let run = saturate(config(&spec, n, 7), 300, 2, true);
        let shares: Vec<f64> = run.delivered.iter().map(|&d| d as f64).collect();
        assert!(jain(&shares) > 0.999, "{shares:?}");
        within(shares[AP], shares.iter().sum::<f64>() / f64::from(n + 1), 0.03);
    }
}

/// Frames are damaged as often as asked; each try counts, and after the last the packet is gone. Of two tries both fail with
/// 0.3 * 0.3.
#[test]
fn damaged_frames_are_sent_again_until_the_limit() {
    let spec = WlanCell { frame_error_rate: LossRate(0.3), ..spec(Standard::G, 54_000, 24_000) };
    let run = saturate(config(&spec, 1, 2), 100, 3, false);
    let result = run.cell.result(100.0);
    within(result.damaged_frames as f64 / result.frames as f64, 0.3, 0.01);
    within(run.given_up as f64 / (run.delivered[1] + run.given_up) as f64, 0.09, 0.03);
    assert_eq!(run.cell.stats.up.given_up, run.given_up);
    // A packet takes 1.3 tries; the first has 7.5 slots before it, the second 15.5. A failure takes 254 + EIFS of 88, a success 326.
    let tries_us = 0.7 * 326.0 + 0.3 * 342.0 + 7.5 * 9.0 + 0.3 * (0.7 * 326.0 + 0.3 * 342.0 + 15.5 * 9.0);
    within(mbps(&run.delivered, 100), 0.91 * 12_000.0 / tries_us, 0.01);
}

#[test]
fn channel_time_adds_up() {
    let run = saturate(config(&spec(Standard::G, 54_000, 24_000), 5, 7), 50, 4, true);
    let result = run.cell.result(50.0);
    // Data, SIFS and ACK: 254, 10 and 34 us.
    let up: u64 = run.delivered[1..].iter().sum();
    within(result.up_airtime, up as f64 * 298e-6 / 50.0, 1e-3);
    within(result.down_airtime, run.delivered[AP] as f64 * 298e-6 / 50.0, 1e-3);
    assert!(result.up_airtime + result.down_airtime + result.collision_airtime < 1.0);
    let successes = run.delivered.iter().sum::<u64>();
    assert_eq!(result.frames, successes + result.collided_frames);
}

fn quiet(limit: Limit) -> Cell<u32> {
    let config = config(&spec(Standard::G, 54_000, 24_000), 2, 7);
    Cell::new(CellConfig { ap_limit: limit, ..config }, 0..SECOND, 1)
}

/// A frame for a channel that has been free for long goes at the next slot boundary: 28 us of DIFS, then slots of 9 us.
#[test]
fn a_free_channel_is_used_at_once() {
    let mut cell = quiet(Limit::Packets(5));
    let free_from = 28_000;
    assert!(cell.offer(free_from + 9 * 9_000 * 100 + 1, 1, PACKET_BYTES, 7));
    assert_eq!(cell.next_at(), free_from + (9 * 100 + 1) * 9_000);
    let start = cell.next_at();
    let done = cell.serve(|_| panic!("nothing is given up")).unwrap();
    assert_eq!((done.packet, done.sender, done.at), (7, 1, start + 254_000));
    // After its own frame a station counts a backoff down before the next, queue or no queue.
    let ready = start + 254_000 + 10_000 + 34_000 + 28_000;
    assert!(cell.offer(start + 100_000, 1, PACKET_BYTES, 8));
    assert!((ready..=ready + 15 * 9_000).contains(&cell.next_at()), "{} after {ready}", cell.next_at());
}

/// Two that find the channel free in the same slot collide; in the next one the second hears the first.
#[test]
fn who_sends_in_the_same_slot_collides() {
    for (later_ns, collides) in [(8_999, true), (9_001, false)] {
        let mut cell = quiet(Limit::Packets(5));
        let base = 28_000 + 9_000 * 1000;
        assert!(cell.offer(base + 1, 1, PACKET_BYTES, 1));
        if cell.next_at() < base + 1 + later_ns {
            assert!(cell.serve(|_| ()).is_some());
        }
        assert!(cell.offer(base + 1 + later_ns, 2, PACKET_BYTES, 2));
        if collides {
            assert!(cell.serve(|_| ()).is_none());
        }
        assert_eq!(cell.stats.collided, if collides { 2 } else { 0 });
    }
}

/// Three wait, one is contended with or on the air: five are one too many until that one has its ACK.
#[test]
fn a_queue_holds_what_waits() {
    let mut cell = quiet(Limit::Packets(3));
    let offer = |cell: &mut Cell<u32>, at| cell.offer(at, AP, PACKET_BYTES, 0);
    let taken: Vec<bool> = (0..5).map(|_| offer(&mut cell, 0)).collect();
    assert_eq!(taken, [true, true, true, true, false]);
    assert_eq!(cell.waiting(0, AP), 3);
    let start = cell.next_at();
    cell.serve(|_| ());
    let end = start + 298_000;
    assert_eq!((cell.waiting(end - 1, AP), cell.waiting(end, AP)), (3, 2));
    assert!(!offer(&mut cell, end - 1) && offer(&mut cell, end) && !offer(&mut cell, end));
    assert_eq!(cell.stats.down.link.queue_drops, 3);

    let mut bytes = quiet(Limit::Bytes(3100));
    let taken: Vec<bool> = (0..4).map(|_| bytes.offer(0, AP, PACKET_BYTES, 0)).collect();
    assert_eq!(taken, [true, true, true, false]);
    assert!(bytes.offer(0, AP, 100, 0) && !bytes.offer(0, AP, 1, 0));
}

/// The same seed gives the same result, another seed another.
#[test]
fn chance_is_the_seeds() {
    let run = |seed| saturate(config(&spec(Standard::B, 11_000, 2_000), 7, 7), 5, seed, true).delivered;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
