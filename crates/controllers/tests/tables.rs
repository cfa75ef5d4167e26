// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that RFCs print, met by the controllers' behaviour.

mod contract;
mod trace;

use trace::{Command, Host, Rate, parse};

/// A connection in congestion avoidance with this window.
fn connection(set: &[&str], controller: &str, cwnd: u32) -> Host {
    let mut host = Host::default();
    host.play(&Command::Controller(controller.to_owned())).unwrap();
    set.iter().for_each(|line| play(&mut host, &format!("set {line}")));
    play(&mut host, &format!("conn cwnd={cwnd} ssthresh=2 flight={cwnd}"));
    host
}

fn play(host: &mut Host, line: &str) {
    host.play(&parse(line).unwrap().unwrap()).unwrap_or_else(|e| panic!("{line}: {e}"));
}

/// RFC 3649 appendix B: w, a(w) cut to a whole number, b(w) to two places.
const RFC_3649: [(u32, u32, f64); 14] = [
    (38, 1, 0.50),
    (118, 2, 0.44),
    (221, 3, 0.41),
    (347, 4, 0.38),
    (495, 5, 0.37),
    (663, 6, 0.35),
    (851, 7, 0.34),
    (1058, 8, 0.33),
    (1529, 10, 0.31),
    (5036, 20, 0.25),
    (10661, 30, 0.21),
    (25618, 46, 0.16),
    (51258, 61, 0.13),
    (75401, 69, 0.10),
];

#[test]
fn highspeed_follows_the_table_of_rfc_3649() {
    for (w, a, b) in RFC_3649 {
        let mut host = connection(&[], "highspeed", w);
        play(&mut host, &format!("ack {w} rtt=100000"));
        assert_eq!(host.conn().snd_cwnd - w, a, "a({w})");

        let mut host = connection(&[], "highspeed", w);
        play(&mut host, "loss");
        let given_up = 1.0 - f64::from(host.conn().snd_cwnd) / f64::from(w);
        // Printed to 0.01, and the window is cut to whole packets.
        assert!((given_up - b).abs() <= 0.005 + 1.0 / f64::from(w), "b({w}) is {given_up}");
    }
}

/// ACKs for so many packets: a window a round-trip time, in whole microseconds.
fn send(host: &mut Host, rtt_us: u32, packets: u32) {
    let mut due = host.conn().now_us as f64;
    for _ in 0..packets {
        due += f64::from(rtt_us) / f64::from(host.flight().max(1));
        let gap_us = (due - host.conn().now_us as f64).max(0.0) as u32;
        host.play(&Command::Ack { packets: 1, rtt_us, times: 1, gap_us, rate: Rate::default() }).unwrap();
    }
}

/// The mean window over time where every 1/p-th packet is lost: of eight periods, after four for it to settle.
fn mean_window(set: &[&str], controller: &str, rtt_us: u32, loss: f64, start: u32) -> f64 {
    let mut host = connection(set, controller, start);
    let packets = (1.0 / loss).round() as u32;
    let mut begin_us = 0;
    for period in 0..12 {
        if period == 4 {
            begin_us = host.conn().now_us;
        }
        send(&mut host, rtt_us, packets);
        play(&mut host, "loss");
        play(&mut host, "recovered");
    }
    f64::from(packets) * 8.0 * f64::from(rtt_us) / (host.conn().now_us - begin_us) as f64
}

/// RFC 9438 Tables 1 and 2: by loss rate the mean windows of Reno, HighSpeed TCP and CUBIC (C = 0.4) at 0.1 s, and CUBIC's at 0.01 s.
const RFC_9438: [(f64, f64, f64, f64, f64); 5] = [
    (1e-2, 12.0, 12.0, 12.0, 12.0),
    (1e-3, 38.0, 38.0, 38.0, 38.0),
    (1e-4, 120.0, 263.0, 187.0, 120.0),
    (1e-5, 379.0, 1795.0, 1054.0, 379.0),
    (1e-6, 1200.0, 12279.0, 5926.0, 1200.0),
];

/// What the formulas behind the tables leave out makes up to a tenth: whole packets, and windows that differ from period to period.
#[track_caller]
fn near(what: &str, mean: f64, printed: f64) {
    let off = mean / printed - 1.0;
    assert!(off.abs() <= 0.10, "{what}: {mean:.1}, printed {printed}: {:+.1} %", 100.0 * off);
}

#[test]
fn mean_windows_of_reno_and_highspeed_are_those_of_rfc_9438() {
    for (loss, reno, highspeed, ..) in RFC_9438 {
        near(&format!("reno at {loss}"), mean_window(&[], "reno", 100_000, loss, reno as u32), reno);
        near(
            &format!("highspeed at {loss}"),
            mean_window(&[], "highspeed", 100_000, loss, highspeed as u32),
            highspeed,
        );
    }
}

/// At 0.01 s all that the table prints is what Reno would have.
#[test]
fn mean_windows_of_cubic_on_a_short_path_are_those_of_rfc_9438() {
    for (loss, _, _, _, at_10_ms) in RFC_9438 {
        near(&format!("at {loss}"), mean_window(&[], "cubic", 10_000, loss, at_10_ms as u32), at_10_ms);
    }
}

/// At 0.1 s Eq. 5 gives the table's windows from 1e-4 on: mean and W_max of a period that ends where it began, mean = (3 + beta) / 4
/// W_max. From there 1/p packets must bring the window back to W_max. (Over many periods with a loss after exactly 1/p packets this
/// state does not last: long and short periods alternate, and the mean depends on where they began.)
#[test]
fn a_period_of_cubic_is_that_of_rfc_9438() {
    for (loss, _, _, printed, _) in RFC_9438.into_iter().filter(|row| row.0 <= 1e-4) {
        let w_max = printed * 4.0 / 3.7;
        let mut host = connection(&["reno_friendly 0"], "cubic", w_max.round() as u32);
        play(&mut host, "loss");
        play(&mut host, "recovered");
        let begin_us = host.conn().now_us;
        send(&mut host, 100_000, (1.0 / loss).round() as u32);
        let mean = 100_000.0 / loss / (host.conn().now_us - begin_us) as f64;
        near(&format!("mean at {loss}"), mean, printed);
        near(&format!("W_max at {loss}"), host.conn().snd_cwnd.into(), w_max);
    }
}
