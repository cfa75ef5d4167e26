// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow: its endpoints, whatever kind of traffic they carry, and its timer.

use tandem_engine::Recorder;
use tandem_network::{End, agenda::NEVER};
use tandem_tcp::Receiver;

use crate::{
    connections::Connections,
    endpoints::{Endpoints, Make, NewFlow, Port},
    media::Media,
    net::Net,
    packet::{Carried, Header, NO_SACK},
    tcp::Tcp,
    udp::Udp,
};

/// Makes the endpoints of a new flow if it is of a kind.
type EndpointsOf = fn(&NewFlow) -> Option<Box<dyn Endpoints>>;

/// The kinds of traffic beside a TCP connection. The first that knows a flow makes its endpoints.
const KINDS: [EndpointsOf; 3] = [Connections::of, Udp::of, Media::of];

pub struct Flow {
    pub group: usize,
    kind: Kind,
    start: u64,
    /// What is set for its timers, by end.
    wakes_at: [u64; 2],
    /// Packets delivered to the receiver, copies included.
    pub arrived_packets: u64,
}

/// What a receiver says to a segment.
pub enum Answer {
    /// This ACK goes at once.
    Ack(Header),
    /// The ACK may wait until this time, ns.
    Later(u64),
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
        Self { group: flow.group, kind, start, wakes_at: [start, NEVER], arrived_packets: 0 }
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
        match &mut self.kind {
            Kind::Tcp(tcp) => {
                let wakes_at = &mut self.wakes_at[at as usize];
                tcp.on_packet(at, header, &mut Port { now, flow, timer: at, net, wakes_at })
            }
            Kind::Other(other) => {
                let timer = if other.are_apart() { at } else { End::Senders };
                let wakes_at = &mut self.wakes_at[timer as usize];
                other.on_packet(at, header, &mut Port { now, flow, timer, net, wakes_at })
            }
        }
    }

    /// A segment reaches the receiver. `None`: the flow is not a TCP connection, and does not take it.
    #[inline(always)]
    pub fn take_segment(&mut self, now: u64, data: Header, carried: &mut Carried) -> Option<Answer> {
        let Kind::Tcp(tcp) = &mut self.kind else { return None };
        self.arrived_packets += 1;
        let receiver = &mut tcp.receiver;
        if !receiver.is_next(data.segment()) {
            return Some(answer_to_unusual(receiver, now, data, carried));
        }
        Some(match receiver.take_next(now) {
            true => Answer::Ack(Header::new(receiver.next_expected, NO_SACK, 0)),
            false => Answer::Later(receiver.ack_deadline),
        })
    }

    /// As [`brings_forward`], of the timer at the receiver's end.
    pub fn brings_forward(&mut self, time: u64) -> bool {
        brings_forward(&mut self.wakes_at[End::Receivers as usize], time)
    }

    /// Where the run goes by windows: lets happen at the sender what is due by `until`, and records the RTTs. Returns when something is next due.
    #[inline(never)]
    pub fn advance_sender(&mut self, until: u64, flow: usize, net: &mut Net, recorder: &mut Recorder) -> u64 {
        let mut rtts = recorder.rtts(self.group);
        loop {
            if let Kind::Tcp(tcp) = &mut self.kind {
                let tell = |now, rtt_ns| rtts.record(now, rtt_ns / 1000);
                let next = match (tcp.sender.is_plain(), tcp.sender.is_paced()) {
                    (true, false) => tcp.take_train::<true>(until, flow, net, tell),
                    (false, false) => tcp.take_train::<false>(until, flow, net, tell),
                    (true, true) => tcp.take_paced_train::<true>(until, flow, net, tell),
                    (false, true) => tcp.take_paced_train::<false>(until, flow, net, tell),
                };
                if let Some(next) = next {
                    self.wakes_at[End::Senders as usize] = next;
                }
            }
            if let Kind::Tcp(tcp) = &mut self.kind
                && let Some(next) = tcp.take_one_by_one(until, flow, net, |now, rtt_ns| rtts.record(now, rtt_ns / 1000))
            {
                self.wakes_at[End::Senders as usize] = next;
                continue;
            }
            let ack_at = net.network.to_sender(flow).first().map_or(NEVER, |(at, _)| at);
            let timer_at = self.wakes_at[End::Senders as usize];
            let now = ack_at.min(timer_at);
            if now > until {
                return now;
            }
            // As the network's agenda has it: of both at the same time, the packet comes first.
            if ack_at > timer_at {
                self.on_timer(now, flow, End::Senders, net);
            } else if let Some((_, ack)) = net.network.to_sender(flow).pop()
                && let Some(rtt_ns) = self.on_ack(now, flow, ack, net)
            {
                rtts.record(now, rtt_ns / 1000);
            }
        }
    }

    /// The timer of the flow at this end may be due. Sets it anew.
    pub fn on_timer(&mut self, now: u64, flow: usize, at: End, net: &mut Net) {
        let port = &mut Port { now, flow, timer: at, net, wakes_at: &mut self.wakes_at[at as usize] };
        let next = match &mut self.kind {
            Kind::Tcp(tcp) => tcp.on_timer(at, port),
            Kind::Other(other) => other.on_timer(at, port),
        };
        self.wakes_at[at as usize] = next;
        net.wake(flow, at, next);
    }
}

/// Moves a timer set for later than `time` to `time`. It is never postponed, because a timer that fires early checks the time itself.
#[inline(always)]
pub fn brings_forward(wakes_at: &mut u64, time: u64) -> bool {
    let is_earlier = time < *wakes_at;
    *wakes_at = time.min(*wakes_at);
    is_earlier
}

#[inline(never)]
fn answer_to_unusual(receiver: &mut Receiver, now: u64, data: Header, carried: &mut Carried) -> Answer {
    if let Some(ack) = receiver.take_beyond(now, data.segment()) {
        return Answer::Ack(Header::of_ack(&ack, carried));
    }
    match receiver.take_counted(now, data.segment()) {
        Some(Some(marks)) => return Answer::Ack(Header::of_counted(receiver.next_expected, marks, carried)),
        Some(None) => return Answer::Later(receiver.ack_deadline),
        None => {}
    }
    match receiver.on_data(now, data.segment()) {
        Some(ack) => Answer::Ack(Header::of_ack(&ack, carried)),
        None => Answer::Later(receiver.ack_deadline),
    }
}
