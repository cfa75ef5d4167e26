// SPDX-License-Identifier: MIT OR Apache-2.0
//! What lies between the hosts: the network in virtual time, and what its packets leave behind while they are under way.

use tandem_network::{
    Alarm, Contents, DropReason, Ecn, End, Event, Lookahead, Network, Ring, Route, Sends,
    agenda::{Agenda, NEVER},
    wired_links,
    wlan::Air,
};
use tandem_scenario::Scenario;
use tandem_tcp::{
    AckOut,
    segment::{NS_PER_MS, stamp},
};

use crate::packet::{Carried, DATAGRAM, Header, NO_SACK, Packet};

/// UDP (8) and IPv4 (20).
pub const UDP_HEADER_BYTES: u32 = 28;

pub struct Net {
    pub network: Network<Packet>,
    pub carried: Carried,
    /// If the run goes by windows.
    pub windows: Option<Windows>,
    pub ack_bytes: u32,
    data_bytes: u32,
    /// The timestamp of what is sent from `stamp_since` on for a millisecond, ns: a division for each segment would cost more.
    stamp: u32,
    stamp_since: u64,
}

/// What takes the place of the network's agenda where a run goes by windows.
pub struct Windows {
    pub ahead: Lookahead,
    /// What senders have sent in this window.
    pub sends: Sends<Packet>,
    /// By flow: when the timer at its receiver's end is due.
    pub deadlines: Agenda,
}

/// The senders' end of one flow.
pub struct SenderEnd<'a> {
    /// The ACKs on their way to it, with the times when they arrive, ns.
    pub acks: &'a mut Ring<(u64, Header)>,
    pub carried: &'a mut Carried,
    pub way: SenderWay<'a>,
}

/// Where the segments of one flow go.
pub struct SenderWay<'a> {
    sends: &'a mut Sends<Packet>,
    stamp: &'a mut u32,
    stamp_since: &'a mut u64,
    bytes: u32,
    place: u32,
}

impl SenderWay<'_> {
    /// As [`Net::send_data`].
    #[inline(always)]
    pub fn send(&mut self, now: u64, segment: u64) {
        let header = Header::new(segment, stamp_at(now, self.stamp, self.stamp_since), 0);
        self.sends.push(now, Packet { header, bytes: self.bytes, place: self.place });
    }
}

/// A window must be worth a look at each flow: no fewer full packets than this for each of them can pass the link in it.
const MIN_PACKETS_PER_FLOW: u64 = 1;

impl tandem_network::Packet for Packet {
    type Returning = Header;

    #[inline]
    fn bytes(&self) -> u32 {
        self.bytes
    }

    #[inline]
    fn place(&self) -> u32 {
        self.place
    }

    #[inline]
    fn set_place(&mut self, place: u32) {
        self.place = place;
    }

    fn ecn(&self) -> Ecn {
        self.header.ecn()
    }

    fn mark(&mut self) {
        self.header.mark();
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.header.set_ecn(ecn);
    }
}

impl Contents<Packet> for Carried {
    #[inline]
    fn dropped(&mut self, _now: u64, packet: Packet, _reason: DropReason) {
        match packet.header.sack() {
            DATAGRAM => drop(self.datagrams.take(packet.header.seq())),
            place => drop(self.feedback.take(place)),
        }
    }

    fn copied(&mut self, packet: Packet) -> Packet {
        let header = match packet.header.sack() {
            DATAGRAM => Header::new(self.datagrams.copy(packet.header.seq()), DATAGRAM, 0),
            place => packet.header.with_sack(self.feedback.copy(place)),
        };
        Packet { header, ..packet }
    }
}

impl Net {
    /// `by_windows`: the run may go by windows, if the network is one for it.
    pub fn new(scenario: &Scenario, seed: u64, by_windows: bool) -> Self {
        let topology = &scenario.network;
        let measured = scenario.warmup.ns..scenario.duration.ns;
        let routes = Route::of_flows(scenario, seed);
        let links = wired_links(topology, scenario.mtu, 0, &measured, seed);
        let flows = routes.len();
        let network = Network::new(links, Air::of(topology, &measured, seed), routes);
        let is_worth_it = |ahead: &Lookahead| {
            network.packets_in(*ahead, ahead.forward_ns + ahead.back_ns) >= MIN_PACKETS_PER_FLOW * flows as u64
        };
        let ahead = by_windows.then(|| network.lookahead()).flatten().filter(is_worth_it);
        let windows =
            ahead.map(|ahead| Windows { ahead, sends: Sends::default(), deadlines: Agenda::new(&vec![0; flows]) });
        Self {
            network,
            carried: Carried::default(),
            windows,
            ack_bytes: tandem_scenario::HEADER_BYTES,
            data_bytes: scenario.mtu,
            stamp: stamp(0),
            stamp_since: 0,
        }
    }

    /// The next thing that a flow or the host must deal with, if it comes by `end`, ns.
    #[inline]
    pub fn advance(&mut self, end: u64) -> Option<(u64, Event<Packet>)> {
        self.network.advance(end, &mut self.carried)
    }

    /// What senders send from now on is sent from `from` to `until`.
    pub fn begin_window(&mut self, from: u64, until: u64) {
        self.windows.iter_mut().for_each(|windows| windows.sends.begin(from, until));
    }

    /// Lets happen at the link from the senders what is due by `until`, with what they have sent in this window.
    pub fn carry(&mut self, ahead: Lookahead, until: u64) {
        let Self { network, windows, carried, .. } = self;
        windows.iter_mut().for_each(|windows| network.carry(ahead, &mut windows.sends, until, carried));
    }

    /// What a sender has in hand where the run goes by windows.
    #[inline(always)]
    pub fn sender_end(&mut self, flow: usize) -> Option<SenderEnd<'_>> {
        let Self { network, windows, carried, stamp, stamp_since, data_bytes, .. } = self;
        let place = network.place_of(flow);
        let sends = &mut windows.as_mut()?.sends;
        let way = SenderWay { sends, stamp, stamp_since, bytes: *data_bytes, place };
        Some(SenderEnd { acks: network.to_sender(flow), carried, way })
    }

    /// The timer at a receiver's end that is due next: when, and the flow.
    #[inline(always)]
    pub fn next_deadline(&self) -> (u64, usize) {
        self.windows.as_ref().map_or((NEVER, 0), |windows| windows.deadlines.next())
    }

    /// The next packet that reaches its receiver by `until`, ns. What the link back does before that has happened then.
    #[inline(always)]
    pub fn at_receiver(&mut self, ahead: Lookahead, until: u64) -> Option<(u64, usize, Packet)> {
        let arrival = self.network.at_receiver(ahead, until)?;
        self.network.serve_back_before_arrival(ahead, arrival.0, &mut self.carried);
        Some(arrival)
    }

    /// Lets happen at the link from the receivers what is due by `until`.
    #[inline(always)]
    pub fn serve_back(&mut self, ahead: Lookahead, until: u64) {
        self.network.serve_back(ahead, until, &mut self.carried);
    }

    /// When something is next due anywhere but at the senders, ns.
    pub fn next_at_receivers(&self, ahead: Lookahead) -> u64 {
        let arrival = self.network.next_at_receivers(ahead).unwrap_or(NEVER);
        arrival.min(self.next_deadline().0).min(self.network.next_at_links(ahead))
    }

    /// Sets when the timer of a flow at this end is next due.
    #[inline]
    pub fn wake(&mut self, flow: usize, at: End, time: u64) {
        match &mut self.windows {
            None => self.network.wake(Alarm::Flow(flow, at), time),
            Some(windows) if at == End::Receivers => windows.deadlines.set(flow, time),
            Some(_) => {
                let due = self.network.due_at_sender(flow);
                self.network.set_due_at_sender(flow, due.min(time));
            }
        }
    }

    /// A sender sends a segment, with what it says about ECN in the upper bits.
    #[inline(always)]
    pub fn send_data(&mut self, now: u64, flow: usize, seq: u64) {
        let stamp = stamp_at(now, &mut self.stamp, &mut self.stamp_since);
        self.send(now, flow, Header::new(seq, stamp, 0), self.data_bytes);
    }

    /// A UDP source sends a packet of this many bytes.
    pub fn send_udp(&mut self, now: u64, flow: usize, number: u64, bytes: u32) {
        self.send(now, flow, Header::new(number, NO_SACK, 0), bytes);
    }

    #[inline(always)]
    fn send(&mut self, now: u64, flow: usize, header: Header, bytes: u32) {
        let packet = Packet { header, bytes, place: 0 };
        match &mut self.windows {
            None => self.network.send(now, flow, End::Receivers, packet, &mut self.carried),
            Some(windows) => windows.sends.push(now, Packet { place: self.network.place_of(flow), ..packet }),
        }
    }

    /// An end sends a datagram. On the wire it has the headers of UDP and IPv4, too.
    pub fn send_datagram(&mut self, now: u64, flow: usize, to: End, datagram: Vec<u8>) {
        let bytes = datagram.len() as u32 + UDP_HEADER_BYTES;
        let number = self.carried.datagrams.keep(datagram);
        let packet = Packet { header: Header::new(number, DATAGRAM, 0), bytes, place: 0 };
        self.network.send(now, flow, to, packet, &mut self.carried);
    }

    /// A receiver sends an ACK.
    #[inline(always)]
    pub fn send_ack(&mut self, now: u64, flow: usize, ack: AckOut) {
        let header = Header::of_ack(&ack, &mut self.carried);
        let packet = Packet { header, bytes: self.ack_bytes, place: 0 };
        match &self.windows {
            None => self.network.send(now, flow, End::Senders, packet, &mut self.carried),
            Some(windows) => self.network.send_back(windows.ahead, now, flow, packet, &mut self.carried),
        }
    }
}

/// The timestamp of `now`, with the last one and since when it was that. By windows, time may be earlier now than it was.
#[inline(always)]
fn stamp_at(now: u64, last: &mut u32, since: &mut u64) -> u32 {
    if now.wrapping_sub(*since) >= NS_PER_MS {
        (*last, *since) = new_stamp(now);
    }
    *last
}

/// The timestamp of `now`, and since when it is that.
#[cold]
#[inline(never)]
fn new_stamp(now: u64) -> (u32, u64) {
    (stamp(now), now / NS_PER_MS * NS_PER_MS)
}
