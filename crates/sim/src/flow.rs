// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow: its endpoints, whatever kind of traffic they carry, and its timer.

use tandem_network::End;

use crate::{
    endpoints::{Endpoints, Make, NewFlow, Port},
    net::Net,
    packet::Header,
    short_flows::Short,
    tcp::Tcp,
    udp::Udp,
};

/// Makes the endpoints of a new flow if it is of a kind.
type EndpointsOf = fn(&NewFlow) -> Option<Box<dyn Endpoints>>;

/// The kinds of traffic beside a TCP connection. The first that knows a flow makes its endpoints.
const KINDS: [EndpointsOf; 2] = [Short::of, Udp::of];

pub struct Flow {
    pub group: usize,
    kind: Kind,
    start: u64,
    /// What the agenda holds for its timer.
    wakes_at: u64,
    /// Packets delivered to the receiver, copies included.
    pub arrived_packets: u64,
}

/// Almost all packets are those of TCP connections, whose code is part of the event loop's for the sake of speed.
enum Kind {
    Tcp(Box<Tcp>),
    Other(Box<dyn Endpoints>),
}

impl Flow {
    /// `foreign` is asked first.
    pub fn new(flow: &NewFlow, foreign: &Make) -> Self {
        let other = foreign(flow).or_else(|| KINDS.iter().find_map(|make| make(flow)));
        let kind = other.map_or_else(|| Kind::Tcp(Tcp::of(flow).expect("a kind knows each source")), Kind::Other);
        let start = flow.start();
        Self { group: flow.group, kind, start, wakes_at: start, arrived_packets: 0 }
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    pub fn endpoints(&self) -> &dyn Endpoints {
        match &self.kind {
            Kind::Tcp(tcp) => &**tcp,
            Kind::Other(other) => &**other,
        }
    }

    /// A data packet has reached the receiver.
    #[inline(never)]
    pub fn on_data(&mut self, now: u64, index: usize, data: Header, net: &mut Net) {
        self.arrived_packets += 1;
        self.on_packet(now, index, End::Receivers, data, net);
    }

    /// An ACK reaches the sender. Returns the RTT that it told, ns.
    #[inline(never)]
    pub fn on_ack(&mut self, now: u64, index: usize, ack: Header, net: &mut Net) -> Option<u64> {
        self.on_packet(now, index, End::Senders, ack, net)
    }

    #[inline(always)]
    fn on_packet(&mut self, now: u64, flow: usize, at: End, header: Header, net: &mut Net) -> Option<u64> {
        let wakes_at = &mut self.wakes_at;
        match &mut self.kind {
            Kind::Tcp(tcp) => tcp.on_packet(at, header, &mut Port { now, flow, net, wakes_at }),
            Kind::Other(other) => other.on_packet(at, header, &mut Port { now, flow, net, wakes_at }),
        }
    }

    /// One of the flow's timers may be due. Sets the next.
    pub fn on_timer(&mut self, now: u64, flow: usize, net: &mut Net) {
        let port = &mut Port { now, flow, net, wakes_at: &mut self.wakes_at };
        let next = match &mut self.kind {
            Kind::Tcp(tcp) => tcp.on_timer(port),
            Kind::Other(other) => other.on_timer(port),
        };
        self.wakes_at = next;
        net.wake(flow, next);
    }
}
