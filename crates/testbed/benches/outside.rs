// SPDX-License-Identifier: MIT OR Apache-2.0
//! The emulated path measured from outside, with UDP probes: rate, delay, buffer, loss, order. `make bench` runs it.
//!
//! Each asks for punctuality to fractions of a millisecond, which a busy or virtual machine does not grant.

#[path = "../tests/common/mod.rs"]
mod common;

use std::{net::UdpSocket, thread, time::Duration};

use common::{Spec, can_emulate, keep_time, numbered, receive_all, while_receiving, with_path};
use tandem_testbed::monotonic_ns;

/// With the time of a packet of 1500 bytes, ns.
const RATES: [(&str, u64); 3] = [("10mbit", 1_200_000), ("100mbit", 120_000), ("1gbit", 12_000)];

fn main() {
    // It says why not.
    if !can_emulate() {
        return;
    }
    let probes: [(&str, fn()); 4] = [
        ("packets leave at the rate and in order", packets_leave_at_the_rate_and_in_order),
        ("the base RTT is the path's", the_base_rtt_is_the_path_s),
        ("the buffer holds its limit of packets", the_buffer_holds_its_limit_of_packets),
        ("random loss is binomial", random_loss_is_binomial),
    ];
    for (name, probe) in probes {
        probe();
        println!("The emulated path: {name}");
    }
}

fn is_in_order(packets: &[(u32, u64)]) -> bool {
    packets.windows(2).all(|pair| pair[0].0 < pair[1].0)
}

/// Sends at 1.25 times the rate, so that the link is never idle; the first packet waits for nobody.
fn packets_leave_at_the_rate_and_in_order() {
    for (rate, packet_ns) in RATES {
        let spec = Spec { rate, rtt: "20ms", queue: "1000p", loss: "0" };
        let seconds = 2;
        let packets = with_path(&spec, 1, |_, near, far| {
            while_receiving(&far, || {
                let (start, gap) = (monotonic_ns(), packet_ns * 4 / 5);
                for number in 0..(seconds * 1_000_000_000 / packet_ns) as u32 {
                    near.send(&numbered(number)).unwrap();
                    // Several at a time, because waking up takes longer than sending.
                    let ahead_ns = (start + u64::from(number) * gap).saturating_sub(monotonic_ns());
                    if ahead_ns > 500_000 {
                        thread::sleep(Duration::from_nanos(ahead_ns));
                    }
                }
            })
        });
        assert!(is_in_order(&packets), "{rate}");
        let (first, last) = (packets[0].1, packets[packets.len() - 1].1);
        let measured_ns = (last - first) as f64 / (packets.len() - 1) as f64;
        let deviation = measured_ns / packet_ns as f64 - 1.0;
        assert!(deviation.abs() < 0.01, "{rate}: {measured_ns:.0} ns a packet instead of {packet_ns}");
    }
}

/// The fastest of 50 echoes of 4 bytes, ns.
fn fastest_echo_ns(near: &UdpSocket, far: &UdpSocket) -> u64 {
    thread::scope(|scope| {
        scope.spawn(|| {
            keep_time();
            let mut buffer = [0; 64];
            while let Ok(bytes) = far.recv(&mut buffer) {
                far.send(&buffer[..bytes]).unwrap();
            }
        });
        let echo = |number: u32| {
            let start = monotonic_ns();
            near.send(&number.to_be_bytes()).unwrap();
            assert_eq!(near.recv(&mut [0; 64]).unwrap(), 4);
            monotonic_ns() - start
        };
        (0..50).map(echo).min().unwrap()
    })
}

/// What an echo takes without any path: waking the two programs. On the path each has waited for 20 ms or more by then, and
/// so has its CPU: waking from that takes several times as long as in a lively exchange.
fn programs_own_ns() -> u64 {
    let [near, far] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    near.connect(far.local_addr().unwrap()).unwrap();
    far.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    keep_time();
    let wakings = thread::scope(|scope| {
        let far = scope.spawn(|| {
            keep_time();
            let mut buffer = [0; 8];
            let mut wakings = Vec::new();
            while far.recv(&mut buffer).is_ok() {
                wakings.push(monotonic_ns() - u64::from_be_bytes(buffer));
            }
            wakings
        });
        for _ in 0..50 {
            thread::sleep(Duration::from_millis(20));
            near.send(&monotonic_ns().to_be_bytes()).unwrap();
        }
        far.join().unwrap()
    });
    2 * wakings.into_iter().min().unwrap()
}

/// An echo takes the two-way delay and the transmission of 28 + 4 bytes each way.
fn the_base_rtt_is_the_path_s() {
    let programs_ns = programs_own_ns();
    for (rate, packet_ns) in RATES {
        let spec = Spec { rate, rtt: "40ms", queue: "100p", loss: "0" };
        let measured = with_path(&spec, 1, |_, near, far| fastest_echo_ns(&near, &far)) - programs_ns;
        let expected = 40_000_000 + 2 * packet_ns * 32 / 1500;
        println!(
            "{rate}: base RTT {measured} ns, the path's {expected} ns; the programs' own {programs_ns} ns are not in it"
        );
        assert!(measured.abs_diff(expected) < 200_000, "{rate}: {measured} ns instead of {expected}");
    }
}

/// A burst: one packet is in transmission, the queue holds the others up to its limit. Those that leave while the burst
/// still goes on make room for as many.
fn the_buffer_holds_its_limit_of_packets() {
    for (rate, packet_ns) in RATES {
        for (queue, limit) in [("10p", 10), ("300p", 300)] {
            let spec = Spec { rate, rtt: "20ms", queue, loss: "0" };
            let (arrived, burst_ns) = with_path(&spec, 1, |_, near, far| {
                let start = monotonic_ns();
                (0..2 * limit as u32).for_each(|n| assert_eq!(near.send(&numbered(n)).unwrap(), 1472));
                let burst_ns = monotonic_ns() - start;
                (receive_all(&far), burst_ns)
            });
            assert!(is_in_order(&arrived), "{rate}, {queue}");
            // The emulator sees the last of the burst a little after it was sent. At 10 Mb/s not one packet leaves meanwhile.
            let left_meanwhile = (burst_ns + 500_000) / packet_ns;
            let most = (limit + 1 + left_meanwhile as usize).min(2 * limit);
            assert!((limit + 1..=most).contains(&arrived.len()), "{rate}, {queue}: {} of {most}", arrived.len());
        }
    }
}

/// 20 000 packets with p = 0.01: mean 200, standard deviation sqrt(20 000 * 0.01 * 0.99) = 14.07; 3.29 of them are 46.
fn random_loss_is_binomial() {
    for seed in 1..=3 {
        let spec = Spec { rate: "1gbit", rtt: "10ms", queue: "10000p", loss: "1%" };
        let arrived = with_path(&spec, seed, |_, near, far| {
            while_receiving(&far, || {
                for number in 0..20_000 {
                    near.send(&numbered(number)).unwrap();
                    if number % 100 == 99 {
                        thread::sleep(Duration::from_millis(2));
                    }
                }
            })
        });
        assert!(is_in_order(&arrived), "seed {seed}");
        let lost = 20_000 - arrived.len();
        assert!(lost.abs_diff(200) <= 46, "{lost} lost, seed {seed}");
    }
}
