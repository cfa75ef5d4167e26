// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow: what its application sends and when, and its two TCP halves (or none, for UDP).

use tandem_engine::{Applications, Due, Transfers};
use tandem_network::{End, start_ns};
use tandem_scenario::{Group, Scenario, Traffic};
use tandem_tcp::{AckIn, Receiver, Sender};

use crate::{
    config,
    foreign::{Foreign, Hosts, Outbox},
    net::Net,
    packet::Header,
    short::Short,
    udp::Udp,
};

/// Segments of a flow that never ends.
const ENDLESS: u64 = 1 << 60;

pub struct Flow {
    pub group: usize,
    pub endpoints: Endpoints,
    start: u64,
    /// What the agenda holds for its timer.
    wakes_at: u64,
    /// Packets delivered to the receiver, copies included.
    pub arrived_packets: u64,
}

pub enum Endpoints {
    Tcp(Box<Tcp>),
    Short(Box<Short>),
    Udp(Box<Udp>),
    Foreign(Box<dyn Foreign>),
}

pub struct Tcp {
    pub sender: Sender,
    pub receiver: Receiver,
    /// In segments.
    pub transfers: Transfers,
}

impl Endpoints {
    /// The simulator's own TCP, if it is that.
    pub fn tcp(&self) -> Option<&Tcp> {
        match self {
            Endpoints::Tcp(tcp) => Some(tcp),
            Endpoints::Short(short) => Some(&short.tcp),
            Endpoints::Udp(_) | Endpoints::Foreign(_) => None,
        }
    }
}

impl Flow {
    pub fn new(
        scenario: &Scenario,
        index: usize,
        group_index: usize,
        seed: u64,
        applications: &Applications,
        hosts: &dyn Hosts,
    ) -> Self {
        let group: &Group = &scenario.groups[group_index];
        let start = start_ns(group, seed, index);
        let endpoints = match &group.source {
            Traffic::Tcp(tcp) => {
                let transfers = applications.transfers(tcp, index, group_index, scenario.mss());
                match hosts.endpoints(tcp, index, transfers) {
                    Ok(foreign) => Endpoints::Foreign(foreign),
                    Err(transfers) => {
                        let config = config::of(tcp, scenario.mss());
                        let own =
                            Tcp { sender: Sender::new(&config, start), receiver: Receiver::of(&config), transfers };
                        match group.source.short() {
                            Some(_) => Endpoints::Short(Box::new(Short::new(own, config))),
                            None => Endpoints::Tcp(Box::new(own)),
                        }
                    }
                }
            }
            Traffic::Udp { packet_bytes, .. } => {
                let source = applications.constant_rate(index, group_index).expect("the group is UDP");
                let measured = scenario.warmup.ns..scenario.duration.ns;
                Endpoints::Udp(Box::new(Udp::new(source, packet_bytes.unwrap_or(scenario.mtu), measured)))
            }
        };
        Self { group: group_index, endpoints, start, wakes_at: start, arrived_packets: 0 }
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    /// Segments that have arrived in order (UDP: packets).
    pub fn received(&self) -> u64 {
        match &self.endpoints {
            Endpoints::Tcp(tcp) => tcp.receiver.next_expected,
            Endpoints::Short(short) => short.tcp.receiver.next_expected,
            Endpoints::Udp(_) => self.arrived_packets,
            Endpoints::Foreign(foreign) => foreign.counters().received,
        }
    }

    /// A data packet has reached the receiver.
    #[inline(never)]
    pub fn on_data(&mut self, now: u64, index: usize, data: Header, net: &mut Net) {
        self.arrived_packets += 1;
        match &mut self.endpoints {
            Endpoints::Tcp(tcp) => match tcp.receiver.on_data(now, data.segment()) {
                Some(ack) => net.send_ack(now, index, ack),
                None => wake_by(&mut self.wakes_at, tcp.receiver.ack_deadline, index, net),
            },
            Endpoints::Short(short) => match short.on_data(now, data.segment()) {
                Some(ack) => net.send_ack(now, index, ack),
                None => wake_by(&mut self.wakes_at, short.tcp.receiver.ack_deadline, index, net),
            },
            Endpoints::Udp(udp) => udp.on_data(now, data.seq()),
            Endpoints::Foreign(_) => self.on_datagram(now, index, End::Receivers, data.seq(), net),
        }
    }

    /// A datagram has reached an end of other endpoints than the simulator's.
    #[cold]
    fn on_datagram(&mut self, now: u64, index: usize, at: End, number: u64, net: &mut Net) {
        let datagram = net.sacks.datagrams.take(number);
        let Endpoints::Foreign(foreign) = &mut self.endpoints else { return };
        let mut out = Outbox::new();
        foreign.on_datagram(now, at, datagram, &mut out);
        net.send_datagrams(now, index, &mut out);
        wake_by(&mut self.wakes_at, foreign.wake_at(), index, net);
    }

    /// An ACK reaches the sender. Returns the RTT that it told, ns.
    #[inline(never)]
    pub fn on_ack(&mut self, now: u64, index: usize, ack: Header, net: &mut Net) -> Option<u64> {
        let tcp = match &mut self.endpoints {
            Endpoints::Tcp(tcp) => tcp,
            Endpoints::Short(short) => &mut short.tcp,
            Endpoints::Udp(_) | Endpoints::Foreign(_) => {
                self.on_datagram(now, index, End::Senders, ack.seq(), net);
                return None;
            }
        };
        let feedback = net.sacks.take(ack.sack());
        let ack = AckIn { next_expected: ack.seq(), feedback: feedback.as_ref(), flags: ack.flags() };
        let sending = &mut *net;
        let rtt_ns = tcp.sender.on_ack(now, ack, &mut move |seq| sending.send_data(now, index, seq));
        if tcp.transfers.is_running() && tcp.sender.is_done() {
            tcp.transfers.complete(now);
            wake_by(&mut self.wakes_at, tcp.transfers.next(now), index, net);
        }
        wake_by(&mut self.wakes_at, tcp.sender.wake_at(), index, net);
        rtt_ns
    }

    /// One of the flow's timers may be due. Sets the next.
    pub fn on_timer(&mut self, now: u64, index: usize, net: &mut Net) {
        let next = match &mut self.endpoints {
            Endpoints::Tcp(tcp) => tcp.on_timer(now, index, net),
            Endpoints::Short(short) => short.on_timer(now, index, net),
            Endpoints::Udp(udp) => udp.on_timer(now, index, net),
            Endpoints::Foreign(foreign) => {
                let mut out = Outbox::new();
                foreign.on_timer(now, &mut out);
                net.send_datagrams(now, index, &mut out);
                foreign.wake_at()
            }
        };
        self.wakes_at = next;
        net.wake(index, next);
    }
}

/// Brings a flow's timer forward from `wakes_at` to `time`; never puts it off, for a timer that fires early looks for itself.
#[inline]
fn wake_by(wakes_at: &mut u64, time: u64, index: usize, net: &mut Net) {
    if time < *wakes_at {
        *wakes_at = time;
        net.wake(index, time);
    }
}

impl Tcp {
    fn on_timer(&mut self, now: u64, index: usize, net: &mut Net) -> u64 {
        match self.transfers.on_time(now) {
            Due::Nothing => {}
            Due::Begin(segments) => self.give(now, index, segments.unwrap_or(ENDLESS), net),
            Due::Stop => self.sender.stop(),
        }
        self.on_timers(now, index, net)
    }

    /// The application gives `segments` more.
    pub fn give(&mut self, now: u64, index: usize, segments: u64, net: &mut Net) {
        self.sender.give(now, segments, &mut |seq| net.send_data(now, index, seq));
    }

    /// The timers of the connection may be due. Returns when to look again.
    pub fn on_timers(&mut self, now: u64, index: usize, net: &mut Net) -> u64 {
        if self.receiver.ack_deadline <= now {
            let ack = self.receiver.on_ack_deadline();
            net.send_ack(now, index, ack);
        }
        if self.sender.wake_at() <= now {
            self.sender.on_wake(now, &mut |seq| net.send_data(now, index, seq));
        }
        self.transfers.next(now).min(self.receiver.ack_deadline).min(self.sender.wake_at())
    }
}
