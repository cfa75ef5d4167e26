// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that RFCs print, met by the controllers' behaviour.

mod contract;
mod trace;

use trace::{Command, Host, parse};

/// A connection in congestion avoidance with this window.
fn connection(controller: &str, cwnd: u32) -> Host {
    let mut host = Host::default();
    host.play(&Command::Controller(controller.to_owned())).unwrap();
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
        let mut host = connection("highspeed", w);
        play(&mut host, &format!("ack {w} rtt=100000"));
        assert_eq!(host.conn().snd_cwnd - w, a, "a({w})");

        let mut host = connection("highspeed", w);
        play(&mut host, "loss");
        let given_up = 1.0 - f64::from(host.conn().snd_cwnd) / f64::from(w);
        // Printed to 0.01, and the window is cut to whole packets.
        assert!((given_up - b).abs() <= 0.005 + 1.0 / f64::from(w), "b({w}) is {given_up}");
    }
}
