// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sender and a receiver with a scripted path between them, and a timeline of what was sent.

use std::{collections::BTreeMap, fmt::Write as _};

use tandem_controllers::{Params, find};

use super::paws;
use crate::{
    Config,
    receiver::{AckOut, Receiver},
    segment::{CWR, DATA_FLAGS, ECN_FIELD, Feedback, SEQ_AND_FLAGS, stamped},
    sender::{AckIn, Sender},
};

pub const MS: u64 = 1_000_000;

/// A transmission of a data segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub at: u64,
    pub seq: u64,
    /// 1 = the first transmission of this segment.
    pub nth: u32,
    pub lost: bool,
}

enum Arrival {
    Data(u64),
    Ack(AckOut),
}

/// Data takes `forward_ns` after `packet_ns` for each packet on a wire that takes one at a time; ACKs take `back_ns`.
pub struct Wire {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: u64,
    pub forward_ns: u64,
    pub back_ns: u64,
    pub packet_ns: u64,
    /// Nothing takes a fast way but ACKs that make a train, which tell RACK of an RTT that is the least so far, too.
    pub goes_slowly: bool,
    /// Must its sender keep the controllers' contract?
    pub is_judged: bool,
    /// Is the n-th transmission of this segment lost?
    pub loses: Box<dyn FnMut(u64, u32) -> bool>,
    /// Is the n-th ACK lost (from 1)?
    pub loses_ack: Box<dyn FnMut(usize) -> bool>,
    /// How often the n-th transmission of this segment arrives (1 = once).
    pub copies: Box<dyn FnMut(u64, u32) -> usize>,
    /// By how much the n-th transmission of this segment is late, ns; others overtake it.
    pub late_ns: Box<dyn FnMut(u64, u32) -> u64>,
    /// Is this segment marked, if it may be?
    pub marks: Box<dyn FnMut(u64) -> bool>,
    /// Segments that said that the window was reduced (CWR).
    pub reduced: Vec<u64>,
    /// What each transmission said in the IP header's ECN field.
    pub ecn_fields: Vec<u64>,
    pub sent: Vec<Sent>,
    /// The segments that arrived at the receiver, in that order.
    pub arrived: Vec<u64>,
    /// When each ACK left the receiver, and what it said.
    pub acks: Vec<(u64, AckOut)>,
    /// RTT samples: when, and how long.
    pub rtts: Vec<(u64, u64)>,
    /// `snd_cwnd` after each ACK and timer.
    pub windows: Vec<(u64, u32)>,
    transmissions: BTreeMap<u64, u32>,
    arrivals: BTreeMap<(u64, usize), Arrival>,
    arrival_count: usize,
    wire_free_at: u64,
    paws: paws::Reference,
}

pub fn reno() -> Config {
    Config { delayed_acks: false, ..Config::new(Params::new(find("reno").unwrap()), 1448) }
}

/// As [`Sender::on_ack`], with no fast way but that of trains of plain senders.
fn on_ack_slowly(sender: &mut Sender, now: u64, ack: AckIn, out: &mut impl FnMut(u64)) -> Option<u64> {
    if ack.feedback.is_none()
        && let Some(mut train) = sender.train::<true>()
        && let Some(rtt_ns) = train.take(now, ack.next_expected, out)
    {
        train.end();
        return Some(rtt_ns);
    }
    sender.on_unusual_ack(now, ack, out)
}

/// Loses these transmissions: (segment, n-th).
pub fn losses(list: &[(u64, u32)]) -> Box<dyn FnMut(u64, u32) -> bool> {
    let list = list.to_vec();
    Box::new(move |seq, nth| list.contains(&(seq, nth)))
}

impl Wire {
    /// 100 ms there and back, no time on the wire, nothing lost.
    pub fn new(config: &Config) -> Self {
        Self {
            sender: Sender::new(config, 0),
            receiver: Receiver::of(config),
            now: 0,
            forward_ns: 50 * MS,
            back_ns: 50 * MS,
            packet_ns: 0,
            goes_slowly: false,
            is_judged: true,
            loses: Box::new(|_, _| false),
            loses_ack: Box::new(|_| false),
            copies: Box::new(|_, _| 1),
            late_ns: Box::new(|_, _| 0),
            marks: Box::new(|_| false),
            reduced: vec![],
            ecn_fields: vec![],
            sent: vec![],
            arrived: vec![],
            acks: vec![],
            rtts: vec![],
            windows: vec![],
            transmissions: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            arrival_count: 0,
            wire_free_at: 0,
            paws: paws::Reference::default(),
        }
    }

    pub fn losing(mut self, list: &[(u64, u32)]) -> Self {
        self.loses = losses(list);
        self
    }

    /// The application gives this many segments now.
    pub fn give(&mut self, segments: u64) {
        let mut out = vec![];
        self.sender.give(self.now, segments, &mut |seq| out.push(seq));
        self.carry(out);
    }

    fn carry(&mut self, out: Vec<u64>) {
        for segment in out {
            let seq = segment & !DATA_FLAGS;
            let nth = self.transmissions.entry(seq).or_default();
            *nth += 1;
            let nth = *nth;
            let lost = (self.loses)(seq, nth);
            self.ecn_fields.push(segment & ECN_FIELD);
            self.reduced.extend((segment & CWR != 0).then_some(seq));
            self.sent.push(Sent { at: self.now, seq, nth, lost });
            self.wire_free_at = self.wire_free_at.max(self.now) + self.packet_ns;
            for _ in 0..if lost { 0 } else { (self.copies)(seq, nth) } {
                let mark = if segment & ECN_FIELD != 0 && (self.marks)(seq) { ECN_FIELD } else { 0 };
                let at = self.wire_free_at + self.forward_ns + (self.late_ns)(seq, nth);
                self.arrive(at, Arrival::Data(stamped(segment | mark, self.now)));
            }
        }
    }

    fn arrive(&mut self, at: u64, arrival: Arrival) {
        self.arrivals.insert((at, self.arrival_count), arrival);
        self.arrival_count += 1;
    }

    fn answer(&mut self, ack: AckOut) {
        self.acks.push((self.now, ack));
        self.paws.last_ack = ack.next_expected;
        if !(self.loses_ack)(self.acks.len()) {
            self.arrive(self.now + self.back_ns, Arrival::Ack(ack));
        }
    }

    /// A segment reaches the receiver.
    fn take(&mut self, segment: u64) -> Option<AckOut> {
        let Self { receiver, now, .. } = self;
        if self.goes_slowly {
            return receiver.on_data(*now, segment);
        }
        let beyond = receiver.take_beyond(*now, segment).map(Some);
        let taken = beyond.or_else(|| {
            let marks = receiver.take_counted(*now, segment)?;
            let counted = |marks| AckOut {
                next_expected: receiver.next_expected,
                feedback: Feedback::of(None, marks, None, None),
                flags: 0,
            };
            Some(marks.map(counted))
        });
        taken.unwrap_or_else(|| receiver.on_data(*now, segment))
    }

    /// The time of what happens next.
    pub fn next_at(&self) -> u64 {
        let arrival = self.arrivals.first_key_value().map_or(u64::MAX, |(&(at, _), _)| at);
        arrival.min(self.sender.wake_at()).min(self.receiver.ack_deadline)
    }

    /// One arrival or timer; at the same time arrivals go first.
    pub fn step(&mut self) {
        self.now = self.next_at();
        let mut out = vec![];
        match self.arrivals.first_entry().filter(|a| a.key().0 == self.now).map(|a| a.remove()) {
            Some(Arrival::Data(segment)) => {
                self.arrived.push(segment & SEQ_AND_FLAGS & !DATA_FLAGS);
                let next_expected = self.paws.on_data(self.now, segment);
                if let Some(ack) = self.take(segment) {
                    self.answer(ack);
                }
                assert_eq!(
                    self.receiver.next_expected,
                    next_expected,
                    "after {}",
                    segment & SEQ_AND_FLAGS & !DATA_FLAGS
                );
            }
            Some(Arrival::Ack(ack)) => {
                let (ack, mut out) = (AckIn::from(&ack), |seq| out.push(seq));
                let rtt = match self.goes_slowly {
                    true => on_ack_slowly(&mut self.sender, self.now, ack, &mut out),
                    false => self.sender.on_ack(self.now, ack, &mut out),
                };
                self.rtts.extend(rtt.map(|rtt| (self.now, rtt)));
            }
            None if self.receiver.ack_deadline == self.now => {
                let ack = self.receiver.on_ack_deadline();
                self.answer(ack);
            }
            None if !self.goes_slowly && self.sender.timer_at() > self.now => {
                self.sender.release(self.now, &mut |seq| out.push(seq));
            }
            None => self.sender.on_wake(self.now, &mut |seq| out.push(seq)),
        }
        self.carry(out);
        self.sender.board.audit();
        self.windows.push((self.now, self.sender.conn.snd_cwnd));
    }

    /// All that happens up to this time, itself included.
    pub fn run_until_ms(&mut self, ms: u64) {
        while self.next_at() <= ms * MS {
            self.step();
        }
        self.now = ms * MS;
    }

    /// Until all that was given is acknowledged.
    pub fn run_to_end(&mut self) {
        while !self.sender.is_done() {
            assert!(self.now < 10_000_000 * MS, "the transfer never ends:\n{}", self.timeline());
            self.step();
        }
    }

    /// `snd_cwnd` at the end of this millisecond.
    pub fn window_at_ms(&self, ms: u64) -> u32 {
        self.windows.iter().rev().find(|(at, _)| *at <= ms * MS).expect("something happened by then").1
    }

    /// A line for each time: the segments sent then. `x` = lost on the way, `*` = sent before.
    pub fn timeline(&self) -> String {
        let mut text = String::new();
        for burst in self.sent.chunk_by(|a, b| a.at == b.at) {
            write!(text, "{}:", burst[0].at as f64 / MS as f64).unwrap();
            let follows = |a: &Sent, b: &Sent| b.seq == a.seq + 1 && a.lost == b.lost && (a.nth > 1) == (b.nth > 1);
            for run in burst.chunk_by(follows) {
                write!(text, " {}", run[0].seq).unwrap();
                if let [_, .., last] = run {
                    write!(text, "-{}", last.seq).unwrap();
                }
                text += if run[0].nth > 1 { "*" } else { "" };
                text += if run[0].lost { "x" } else { "" };
            }
            text += "\n";
        }
        text
    }

    /// Compares the timeline so far with one worked out by hand.
    #[track_caller]
    pub fn assert_sent(&self, expected: &str) {
        let clean = |text: &str| text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
        let (actual, expected) = (clean(&self.timeline()), clean(expected));
        assert!(actual == expected, "sent:\n{actual}\n\nexpected:\n{expected}");
    }
}

/// Whatever a test is about: as a rule its sender keeps the controllers' contract.
impl Drop for Wire {
    fn drop(&mut self) {
        if self.is_judged && !std::thread::panicking() {
            self.sender.controller.assert_kept();
        }
    }
}
