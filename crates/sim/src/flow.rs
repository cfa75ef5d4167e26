// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow: what its application sends and when, and its two TCP halves (or none, for UDP).

use tandem_network::start_ns;
use tandem_scenario::{Group, Scenario, Source as GroupSource, Transfer};

use crate::{
    agenda::NEVER,
    net::Net,
    packet::{Kind, PackedAck},
    receiver::Receiver,
    sender::{AckIn, Sender},
};

/// Segments of a flow that never ends.
const ENDLESS: u64 = 1 << 60;

pub struct Flow {
    pub group: usize,
    pub endpoints: Endpoints,
    start: u64,
    stop: u64,
    /// Packets delivered to the receiver, copies included.
    pub arrived_packets: u64,
}

pub enum Endpoints {
    Tcp(Box<Tcp>),
    Udp(Udp),
}

pub struct Tcp {
    pub sender: Sender,
    pub receiver: Receiver,
    transfer: TransferState,
    /// Completion times of the transfers so far, ns.
    pub completed: Vec<(u64, u64)>,
}

#[derive(Debug)]
struct TransferState {
    /// Segments of one transfer.
    segments: u64,
    pause: Option<u64>,
    /// When the next transfer begins.
    next_start: u64,
    began: u64,
    running: bool,
}

#[derive(Debug)]
pub struct Udp {
    gap_ns: u64,
    on_off: Option<(u64, u64)>,
    next_send: u64,
    pub sent: u64,
}

impl Flow {
    pub fn new(scenario: &Scenario, index: usize, group_index: usize, seed: u64) -> Self {
        let group: &Group = &scenario.groups[group_index];
        let start = start_ns(group, seed, index);
        let endpoints = match &group.source {
            GroupSource::Tcp(tcp) => {
                let (segments, pause) = match tcp.transfer {
                    Transfer::Bulk => (ENDLESS, None),
                    Transfer::Finite { bytes, pause } => {
                        (bytes.div_ceil(u64::from(scenario.mss())), pause.map(|p| p.ns))
                    }
                };
                Endpoints::Tcp(Box::new(Tcp {
                    sender: Sender::new(tcp, scenario.mss(), start),
                    receiver: Receiver::new(tcp.delayed_acks),
                    transfer: TransferState { segments, pause, next_start: start, began: 0, running: false },
                    completed: Vec::new(),
                }))
            }
            GroupSource::Udp { rate, on_off } => Endpoints::Udp(Udp {
                gap_ns: (u64::from(scenario.mtu) * 8_000_000_000).div_ceil(rate.bps),
                on_off: on_off.map(|(on, off)| (on.ns, off.ns)),
                next_send: start,
                sent: 0,
            }),
        };
        Self { group: group_index, endpoints, start, stop: group.stop.map_or(NEVER, |s| s.ns), arrived_packets: 0 }
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    /// Segments that have arrived in order (UDP: packets).
    pub fn received(&self) -> u64 {
        match &self.endpoints {
            Endpoints::Tcp(tcp) => tcp.receiver.next_expected,
            Endpoints::Udp(_) => self.arrived_packets,
        }
    }

    /// A data packet has reached the receiver.
    #[inline]
    pub fn on_data(&mut self, now: u64, index: usize, seq: u64, net: &mut Net) {
        self.arrived_packets += 1;
        if let Endpoints::Tcp(tcp) = &mut self.endpoints {
            match tcp.receiver.on_data(now, seq) {
                Some(ack) => net.send_ack(now, index, ack),
                None => net.wake_by(index, tcp.receiver.ack_deadline),
            }
        }
    }

    /// An ACK reaches the sender. Returns the RTT that it told, ns.
    #[inline]
    pub fn on_ack(&mut self, now: u64, index: usize, ack: PackedAck, net: &mut Net) -> Option<u64> {
        let blocks = net.sacks.take(ack.sack());
        let Endpoints::Tcp(tcp) = &mut self.endpoints else { return None };
        let ack = AckIn { next_expected: ack.seq(), blocks: blocks.as_ref(), dsack: ack.dsack() };
        let rtt_ns = tcp.sender.on_ack(now, ack, &mut |seq| net.send_data(now, index, seq, Kind::Data));
        if tcp.transfer.running && tcp.sender.is_done() {
            tcp.complete_transfer(now);
            net.wake_by(index, tcp.transfer.next_start);
        }
        net.wake_by(index, tcp.sender.wake_at());
        rtt_ns
    }

    /// One of the flow's timers may be due. Sets the next.
    pub fn on_timer(&mut self, now: u64, index: usize, net: &mut Net) {
        let next = match &mut self.endpoints {
            Endpoints::Tcp(tcp) => tcp.on_timer(now, self.stop, index, net),
            Endpoints::Udp(udp) => udp.on_timer(now, self.start, self.stop, index, net),
        };
        net.wake(index, next);
    }
}

impl Tcp {
    fn complete_transfer(&mut self, now: u64) {
        self.transfer.running = false;
        self.completed.push((now, now - self.transfer.began));
        self.transfer.next_start = self.transfer.pause.map_or(NEVER, |pause| now + pause);
    }

    fn on_timer(&mut self, now: u64, stop: u64, index: usize, net: &mut Net) -> u64 {
        if now >= stop {
            self.sender.stop();
            self.transfer.next_start = NEVER;
        } else if self.transfer.next_start <= now {
            self.transfer.began = now;
            self.transfer.running = self.transfer.segments < ENDLESS;
            self.transfer.next_start = NEVER;
            self.sender.give(now, self.transfer.segments, &mut |seq| net.send_data(now, index, seq, Kind::Data));
        }
        if self.receiver.ack_deadline <= now {
            let ack = self.receiver.on_ack_deadline();
            net.send_ack(now, index, ack);
        }
        if self.sender.wake_at() <= now {
            self.sender.on_wake(now, &mut |seq| net.send_data(now, index, seq, Kind::Data));
        }
        let next = self.transfer.next_start.min(self.receiver.ack_deadline).min(self.sender.wake_at());
        if stop > now { next.min(stop) } else { next }
    }
}

impl Udp {
    fn on_timer(&mut self, now: u64, start: u64, stop: u64, index: usize, net: &mut Net) -> u64 {
        if now >= stop {
            return NEVER;
        }
        if let Some((on, off)) = self.on_off {
            let into_cycle = (now - start) % (on + off);
            if into_cycle >= on {
                self.next_send = now + on + off - into_cycle;
                return self.next_send;
            }
        }
        net.send_data(now, index, self.sent, Kind::Udp);
        self.sent += 1;
        self.next_send += self.gap_ns;
        self.next_send
    }
}
