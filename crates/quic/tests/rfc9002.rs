// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host of QUIC's events against RFC 9002: windows worked out by hand, with Reno.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use quinn_proto::congestion::Controller;
use tandem_controllers::{Params, State, find};
use tandem_quic::{Acked, Error, Host, Losses, Options, OverQuinn, controller, paced_controller};

const MS: u64 = 1_000_000;
const SIZE: u64 = 1200;

fn reno(options: Options) -> Host {
    Host::new(&Arc::new(Params::new(find("reno").unwrap())), options, SIZE as u16)
}

fn by_the_rfc() -> Host {
    reno(Options { rate_reduction: false, ..Options::default() })
}

/// One ACK of `packets` sent at `sent_ms`.
fn ack(host: &mut Host, now_ms: u64, sent_ms: u64, packets: u64, in_flight: u64) {
    for _ in 0..packets {
        host.acked(Acked { sent_ns: sent_ms * MS, bytes: SIZE, stamp: None });
    }
    host.end_of_ack(now_ms * MS, in_flight * SIZE, false);
}

fn lose(host: &mut Host, now_ms: u64, newest_sent_ms: u64, packets: u64, is_persistent: bool) {
    host.lost(now_ms * MS, Losses { newest_sent_ns: newest_sent_ms * MS, bytes: packets * SIZE, is_persistent });
}

/// Section 7.2: 10 packets, but no more than 14720 bytes, unless two packets are more.
#[test]
fn initial_window() {
    let window =
        |size: u16| Host::new(&Arc::new(Params::new(find("reno").unwrap())), Options::default(), size).window_bytes();
    assert_eq!(window(1200), 12_000);
    assert_eq!(window(1472), 14_720);
    assert_eq!(window(4000), 3 * 4000);
    assert_eq!(window(9000), 2 * 9000);
    let wide = Options { initial_window: Some(32), ..Options::default() };
    assert_eq!(reno(wide).window_bytes(), 32 * SIZE);
}

/// Sections 7.3.1 and 7.3.2: slow start grows by what is acknowledged; a loss halves the window once, whatever else of that window is lost;
/// nothing grows until a packet is acknowledged that was sent after.
#[test]
fn one_reduction_for_each_recovery_period() {
    let mut host = by_the_rfc();
    host.sent(1000 * MS, 10 * SIZE);
    ack(&mut host, 1100, 1000, 10, 0);
    assert_eq!(host.window_bytes(), 20 * SIZE);
    host.sent(1100 * MS, 20 * SIZE);
    // The ACK of two of them shows that four are lost. Growth was told first, but does not count: 20 / 2.
    ack(&mut host, 1200, 1100, 2, 18);
    lose(&mut host, 1200, 1100, 4, false);
    assert_eq!((host.window_bytes(), host.state()), (10 * SIZE, State::Recovery));
    // More of the same flight lost, more acknowledged.
    ack(&mut host, 1210, 1100, 4, 10);
    lose(&mut host, 1210, 1100, 2, false);
    assert_eq!(host.window_bytes(), 10 * SIZE);
    host.sent(1220 * MS, 2 * SIZE);
    ack(&mut host, 1320, 1220, 2, 0);
    assert_eq!((host.window_bytes(), host.state()), (10 * SIZE, State::Open));
    // Congestion avoidance, appendix B.5: a packet for each window acknowledged. Two of ten were counted when the period ended.
    host.sent(1320 * MS, 10 * SIZE);
    ack(&mut host, 1420, 1320, 8, 2);
    assert_eq!(host.window_bytes(), 11 * SIZE);
}

/// Section 7.3.2 lets a sender reduce gradually, "such as Proportional Rate Reduction". RFC 9937: 20 in flight when ten are the aim, so one packet
/// for each two delivered.
#[test]
fn rate_reduction() {
    let mut host = reno(Options { initial_window: Some(20), ..Options::default() });
    host.sent(1000 * MS, 20 * SIZE);
    ack(&mut host, 1100, 1000, 3, 17);
    lose(&mut host, 1100, 1000, 1, false);
    // 16 in flight, 3 delivered: ceil(3 * 10 / 20) = 2 may go.
    assert_eq!(host.window_bytes(), 18 * SIZE);
    host.sent(1100 * MS, 2 * SIZE);
    ack(&mut host, 1101, 1000, 1, 17);
    // 4 * 10 / 20 = 2, which went.
    assert_eq!(host.window_bytes(), 17 * SIZE);
    ack(&mut host, 1102, 1000, 1, 16);
    assert_eq!(host.window_bytes(), 17 * SIZE);
    // Below the aim it catches up: 7 delivered, 2 sent, and one packet more.
    ack(&mut host, 1201, 1100, 2, 0);
    assert_eq!((host.window_bytes(), host.state()), (6 * SIZE, State::Recovery));
    host.sent(1202 * MS, SIZE);
    ack(&mut host, 1302, 1202, 1, 0);
    assert_eq!((host.window_bytes(), host.state()), (10 * SIZE, State::Open));
}

/// quinn has MTU probes in flight that it does not tell of: what was acknowledged stays acknowledged.
#[test]
fn untold_bytes_in_flight_take_no_acknowledgement_back() {
    let mut host = by_the_rfc();
    host.sent(1000 * MS, 10 * SIZE);
    ack(&mut host, 1100, 1000, 1, 9);
    assert_eq!(host.conn().snd_una, SIZE as u32);
    host.acked(Acked { sent_ns: 1000 * MS, bytes: SIZE, stamp: None });
    host.end_of_ack(1101 * MS, 8 * SIZE + 1452, false);
    assert_eq!(host.conn().snd_una, SIZE as u32);
    ack(&mut host, 1102, 1000, 2, 6);
    assert_eq!(host.conn().snd_una, 4 * SIZE as u32);
}

/// Section 7.6.2: the window falls to its minimum, two packets (section 7.2), and slow start follows up to the threshold.
#[test]
fn persistent_congestion() {
    let mut host = by_the_rfc();
    host.sent(1000 * MS, 10 * SIZE);
    ack(&mut host, 5000, 1000, 1, 9);
    lose(&mut host, 5000, 1000, 9, true);
    assert_eq!((host.window_bytes(), host.state()), (2 * SIZE, State::Loss));
    assert_eq!(host.ssthresh_bytes(), Some(5 * SIZE));
    for round in 0..4 {
        let at = 5000 + 100 * round;
        host.sent((at + 1) * MS, 2 * SIZE);
        ack(&mut host, at + 100, at + 1, 2, 0);
    }
    // 1 + 2 + 2 reach the threshold of 5, then 2 + 1 of the 5 packets that the next one takes.
    assert_eq!((host.window_bytes(), host.state()), (5 * SIZE, State::Open));
    // It falls in a recovery, too, without another reduction of the threshold.
    let mut host = by_the_rfc();
    host.sent(1000 * MS, 10 * SIZE);
    ack(&mut host, 1100, 1000, 1, 9);
    lose(&mut host, 1100, 1000, 1, false);
    lose(&mut host, 3000, 1000, 8, true);
    assert_eq!((host.window_bytes(), host.ssthresh_bytes()), (2 * SIZE, Some(5 * SIZE)));
}

/// Section 7.8: a window that is not used does not grow.
#[test]
fn no_growth_while_the_application_limits() {
    let mut host = by_the_rfc();
    host.sent(1000 * MS, 5 * SIZE);
    for _ in 0..5 {
        host.acked(Acked { sent_ns: 1000 * MS, bytes: SIZE, stamp: None });
    }
    host.end_of_ack(1100 * MS, 0, true);
    assert_eq!(host.window_bytes(), 10 * SIZE);
}

/// Section 7.1 and appendix B.7: a mark is answered as a loss is, once for each round.
#[test]
fn marks() {
    let mut host = by_the_rfc();
    host.sent(1000 * MS, 10 * SIZE);
    ack(&mut host, 1100, 1000, 5, 5);
    host.marked(1100 * MS, 1000 * MS);
    assert_eq!((host.window_bytes(), host.state()), (5 * SIZE, State::Cwr));
    ack(&mut host, 1110, 1000, 5, 0);
    host.marked(1110 * MS, 1000 * MS);
    assert_eq!(host.window_bytes(), 5 * SIZE);
}

/// A reduction that was a mistake is undone: the window of before, and growth as if nothing had been.
#[test]
fn spurious_loss() {
    let mut host = by_the_rfc();
    host.sent(1000 * MS, 10 * SIZE);
    ack(&mut host, 1100, 1000, 3, 7);
    lose(&mut host, 1100, 1000, 1, false);
    assert_eq!((host.window_bytes(), host.ssthresh_bytes()), (5 * SIZE, Some(5 * SIZE)));
    host.spurious();
    assert_eq!((host.window_bytes(), host.ssthresh_bytes(), host.state()), (10 * SIZE, None, State::Open));
    // Nothing is left to undo.
    host.spurious();
    assert_eq!(host.window_bytes(), 10 * SIZE);
}

/// A window keeps its bytes, to within half a packet, when packets grow or shrink: 12000 bytes are 8.26 packets of 1452.
#[test]
fn packets_of_another_size() {
    let mut host = by_the_rfc();
    host.packet_size(1452);
    assert_eq!(host.window_bytes(), 8 * 1452);
    host.packet_size(1200);
    assert_eq!(host.window_bytes(), 10 * 1200);
    assert_eq!(host.ssthresh_bytes(), None);
}

/// Section 5.1: an ACK that does not raise the largest acknowledged tells no RTT.
#[test]
fn late_acks_tell_no_rtt() {
    let mut host = reno(Options::default());
    host.sent(1000 * MS, SIZE);
    host.sent(1050 * MS, SIZE);
    ack(&mut host, 1100, 1050, 1, 1);
    assert_eq!(host.view().base_rtt_us, 0, "Reno keeps none");
    let params = Arc::new(Params::new(find("compound").unwrap()));
    let mut host = Host::new(&params, Options::default(), SIZE as u16);
    host.sent(1000 * MS, SIZE);
    host.sent(1050 * MS, SIZE);
    ack(&mut host, 1100, 1050, 1, 1);
    ack(&mut host, 1101, 1049, 1, 0);
    assert_eq!(host.view().base_rtt_us, 50_000);
}

/// A stack may give an ACK the time at which it began to look for one. The RTT is then at least what the adapter's own clock says.
#[test]
fn an_ack_came_in_no_earlier_than_it_was_heard_of() {
    let params = Arc::new(Params::new(find("compound").unwrap()));
    let base_rtt_us = |virtual_time| {
        let host = Host::new(&params, Options { virtual_time, ..Options::default() }, SIZE as u16);
        let sent = Instant::now();
        let mut quinn = OverQuinn::resume(host, sent);
        quinn.on_sent(sent, SIZE, 0);
        thread::sleep(Duration::from_millis(3));
        quinn.acknowledge(sent, SIZE);
        quinn.on_end_acks(sent + Duration::from_millis(1), 0, false, None);
        quinn.host().view().base_rtt_us
    };
    assert_eq!(base_rtt_us(true), 1000);
    assert!(base_rtt_us(false) >= 3000);
}

/// Ten packets of 120 bytes are one of 1200 to the window.
#[test]
fn small_packets_count_by_their_bytes() {
    let mut host = by_the_rfc();
    host.sent(1000 * MS, 1200);
    for i in 0..10 {
        host.acked(Acked { sent_ns: 1000 * MS, bytes: 120, stamp: None });
        host.end_of_ack((1100 + i) * MS, 1200 - 120 * (i + 1), false);
        let packets = if i < 9 { 10 } else { 11 };
        assert_eq!(host.window_bytes(), packets * SIZE, "{i}");
    }
}

#[test]
fn names() {
    assert!(controller("compound_tube").is_ok());
    assert!(matches!(controller("bbr"), Err(Error::NeedsPacing("bbr"))));
    assert!(paced_controller("bbr").is_ok());
    assert!(controller("compund").unwrap_err().to_string().contains("did you mean `compound`?"));
}
