// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of this kernel's TCP with a peer that follows a script: slow start, a packet a round, a reduction, its undo, a timeout. Which
//! ACK comes when is the script's alone, so that no busy machine changes what TCP makes of it.
//!
//! Tandem's Reno and Compound, which is Reno below 41 packets, must do as the kernel's Reno does, to the packet. The numbers are RFC 5681's
//! (10, 20, half of 20) and, for CUBIC, RFC 9438's factor of 0.7.

mod peer;

use std::{io::Write, net::TcpStream, thread, time::Duration};

use tandem_controllers::{MAX_WINDOW, Params, find};
use tandem_kernel::attach;
use tandem_testing::trusted_run;

use self::peer::{PAYLOAD_BYTES, Peer, Segment, connect};
use crate::{
    controllers::unused_name,
    error::Error,
    namespace::{Namespace, set_ipv4_sysctl},
    socket::read_tcp_info,
};

/// Linux's longest.
const NO_TIMEOUT_MS: u32 = 120_000;
/// Ten times as long as the script takes until then on a busy machine.
const TIMEOUT_MS: u32 = 3_000;
/// TCP_INFINITE_SSTHRESH: no loss so far.
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// Window and slow start threshold, packets.
type Windows = (u32, u32);

struct Host {
    peer: Peer,
    stream: TcpStream,
}

impl Host {
    /// Connected, with more to send than any script acknowledges; the first packets are under way.
    fn new(controller: &str, rto_min_ms: u32) -> (Self, Vec<Segment>) {
        // A probe would come by the clock.
        set_ipv4_sysctl("tcp_early_retrans", "0").unwrap();
        let (peer, stream) = connect(controller, rto_min_ms);
        (&stream).write_all(&vec![0; 500 * PAYLOAD_BYTES as usize]).unwrap();
        let host = Self { peer, stream };
        let first = host.peer.take();
        (host, first)
    }

    fn windows(&self) -> Windows {
        let info = read_tcp_info(&self.stream).unwrap();
        (info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh)
    }

    /// Acknowledges the segments one by one; returns those that the host sends meanwhile.
    fn acknowledge_each(&mut self, segments: &[Segment]) -> Vec<Segment> {
        for segment in segments {
            self.peer.acknowledge(end(segment), segment.sent_at, None);
        }
        self.peer.take()
    }

    /// As if the first had been lost: the next three arrive. Returns what the host sends then.
    fn lose_first(&mut self, segments: &[Segment]) -> Vec<Segment> {
        let (lost, first) = (&segments[0], &segments[1]);
        for arrived in &segments[1..4] {
            self.peer.acknowledge(lost.sequence, arrived.sent_at, Some((first.sequence, end(arrived))));
        }
        self.peer.take()
    }
}

/// The number of the byte after the segment's last.
fn end(segment: &Segment) -> u32 {
    segment.sequence.wrapping_add(segment.payload_bytes)
}

/// Two rounds of slow start, a loss, recovery, and three rounds after it; the windows after each step. The window in the middle of recovery
/// is left out (0 stands for it): RACK finds the loss by the clock (RFC 8985), on a busy machine an ACK earlier, and PRR (RFC 6937) then
/// stands a packet lower.
fn growth_and_loss(controller: &str) -> Vec<Windows> {
    let (mut host, first) = Host::new(controller, NO_TIMEOUT_MS);
    let mut windows = vec![host.windows()];
    let second = host.acknowledge_each(&first);
    windows.push(host.windows());
    let again = host.lose_first(&second);
    windows.push((0, host.windows().1));
    // Beside what ACKs of others allow (RFC 3042).
    let resent = again.iter().find(|s| s.sequence == second[0].sequence).expect("it sends again what was lost");
    // All of it has arrived, the second time.
    let last = again.iter().chain(&second).max_by_key(|s| end(s).wrapping_sub(first[0].sequence)).unwrap();
    host.peer.acknowledge(end(last), resent.sent_at, None);
    windows.push(host.windows());
    let mut round = host.peer.take();
    for _ in 0..3 {
        round = host.acknowledge_each(&round);
        windows.push(host.windows());
    }
    windows
}

/// The windows after a loss that was none: the packet was late, and its ACK says so.
fn undo(controller: &str) -> [Windows; 2] {
    let (mut host, first) = Host::new(controller, NO_TIMEOUT_MS);
    let second = host.acknowledge_each(&first);
    // Timestamps are milliseconds: the second transmission must have another.
    thread::sleep(Duration::from_millis(20));
    host.lose_first(&second);
    let reduced = host.windows();
    // The first transmission's own timestamp (RFC 3522).
    host.peer.acknowledge(end(&second[3]), second[0].sent_at, None);
    [reduced, host.windows()]
}

/// The windows after a whole window was lost.
fn timeout(controller: &str) -> Windows {
    let (mut host, first) = Host::new(controller, TIMEOUT_MS);
    let second = host.acknowledge_each(&first);
    host.peer.wait_for(|segment| segment.sequence == second[0].sequence);
    host.windows()
}

/// In a namespace of its own; `None`, and said so, where there can be none.
fn play<T: Send>(script: fn(&str) -> T, controller: &str) -> Option<T> {
    let kernels = controller.strip_prefix("kernel:");
    let inside = || -> Result<T, Error> {
        Namespace::new()?.enter(|| match kernels {
            Some(name) => Ok(script(name)),
            None => {
                let name = unused_name();
                let _registered = attach(&without_clocks(controller), &name)?;
                Ok(script(&name))
            }
        })
    };
    if !std::fs::exists("/dev/net/tun").unwrap_or(false) {
        tandem_testing::skip("there is no /dev/net/tun");
        return None;
    }
    inside().inspect_err(|e| tandem_testing::skip(&e.to_string())).ok()
}

/// Where slow start ends by the RTT, it does not here: the times are the machine's.
fn without_clocks(controller: &str) -> Params {
    let mut params = Params::new(find(controller).unwrap());
    if params.controller().params().any(|param| param.name == "hystart") {
        params.set("hystart", 0.0).unwrap();
    }
    params
}

#[test]
fn windows_grow_and_shrink_as_the_kernel_s_reno_has_them() {
    let Some(kernels) = play(growth_and_loss, "kernel:reno") else { return };
    let Some(reno) = play(growth_and_loss, "reno") else { return };
    // Ten packets at first (RFC 6928), doubled in a round; half of that after a loss.
    assert_eq!(reno[..2], [(10, NO_SSTHRESH), (20, NO_SSTHRESH)]);
    assert_eq!((reno[2].1, reno[3].1), (10, 10));
    assert!((10..=12).contains(&reno[3].0), "{reno:?}");
    // Then a packet a round.
    let grown: Vec<u32> = reno[3..].windows(2).map(|two| two[1].0 - two[0].0).collect();
    assert!(grown.iter().all(|&packets| packets <= 1) && grown.iter().sum::<u32>() >= 2, "{reno:?}");
    assert_eq!(reno, kernels);
    assert_eq!(play(growth_and_loss, "compound").unwrap(), kernels);
    let cubic = play(growth_and_loss, "cubic").unwrap();
    assert_eq!(cubic[..2], reno[..2]);
    assert_eq!((cubic[2].1, cubic[3].1), (14, 14));
}

#[test]
fn a_reduction_that_was_wrong_is_undone() {
    let Some(kernels) = play(undo, "kernel:reno") else { return };
    for (controller, reduced) in [("reno", 10), ("compound", 10), ("cubic", 14)] {
        let Some([before, after]) = play(undo, controller) else { return };
        assert_eq!(before.1, reduced, "{controller}");
        assert!(after.0 >= 20 && after.1 == NO_SSTHRESH, "{controller}: {after:?}");
        assert_eq!(after, kernels[1], "{controller}");
    }
}

/// Linux 6.18 in a virtual machine was seen to leave out all calls of a timeout, of each fiftieth connection or so: the programs' own counts
/// (kernel.bpf_stats_enabled) stood still, and the threshold was what a register happened to hold. No controller returns this much.
fn doubts(windows: Option<Windows>) -> Vec<String> {
    let is_impossible = |(_, ssthresh)| ssthresh > MAX_WINDOW && ssthresh != NO_SSTHRESH;
    let doubted = windows.filter(|&windows| is_impossible(windows));
    doubted.into_iter().map(|windows| format!("the kernel did not call the controller: {windows:?}")).collect()
}

#[test]
fn a_timeout_leaves_one_packet() {
    // BBR leaves the threshold alone.
    let expected = [("kernel:reno", 10), ("reno", 10), ("compound", 10), ("cubic", 14), ("bbr", NO_SSTHRESH)];
    for (controller, ssthresh) in expected {
        let run = || {
            let windows = play(timeout, controller);
            (windows, doubts(windows))
        };
        let Some(Some(windows)) = trusted_run(run) else { return };
        assert_eq!(windows, (1, ssthresh), "{controller}");
    }
}
