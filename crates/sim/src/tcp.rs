// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TCP connection, and what its application gives it.

use tandem_engine::{Counters, Due, Transfers};
use tandem_network::{End, Ring, agenda};
use tandem_results::FlowSample;
use tandem_scenario::{CongestionControl, TcpSource};
use tandem_tcp::{AckIn, AckOut, Config, NEVER, Receiver, Sender, Train};

use crate::{
    endpoints::{Endpoints, NewFlow, Port},
    net::{Net, SenderEnd},
    packet::Header,
};

/// Segments of a flow that never ends.
pub const ENDLESS: u64 = 1 << 60;

const _: () = assert!(NEVER == agenda::NEVER);

pub struct Tcp {
    pub sender: Sender,
    pub receiver: Receiver,
    /// In segments.
    pub transfers: Transfers,
}

/// A connection of `source` with segments of `mss` bytes. Its controller is one of ours.
pub fn config(source: &TcpSource, mss: u32) -> Config {
    let CongestionControl::Tandem(controller) = &source.controller else {
        unreachable!("`run` refuses `{}`, which is not ours", source.controller)
    };
    Config {
        controller: controller.clone(),
        mss,
        initial_window: source.initial_window,
        receive_window: source.receive_window,
        delayed_acks: source.delayed_acks,
        ack_every: source.ack_every,
        receiver: source.receiver,
        pacing: source.pacing,
        recovery: source.recovery,
        ecn: source.ecn,
    }
}

/// While one ACK is worked on, what the one with this many before it says is fetched. Ours.
const SOON: usize = 4;

/// When the next of these ACKs reaches the sender, ns.
#[inline(always)]
fn next_at(acks: &Ring<(u64, Header)>) -> u64 {
    acks.first().map_or(NEVER, |(at, _)| at)
}

/// The number that an ACK says, if it says nothing else that is new to a train's sender.
#[inline(always)]
fn number_in_train<const PLAIN: bool>(ack: Header, train: &Train<PLAIN>) -> Option<u64> {
    let counted = || ack.counted().filter(|&(_, marks)| train.knows(marks)).map(|(number, _)| number);
    if PLAIN { ack.bare_number() } else { ack.bare_number().or_else(counted) }
}

impl Tcp {
    pub fn new(config: &Config, flow: &NewFlow) -> Option<Self> {
        let (sender, receiver) = (Sender::new(config, flow.start()), Receiver::of(config));
        Some(Self { sender, receiver, transfers: flow.transfers()? })
    }

    /// Those of a flow that has one connection.
    pub fn of(flow: &NewFlow) -> Option<Box<Self>> {
        let source = flow.source().tcp()?;
        Self::new(&config(source, flow.scenario.mss()), flow).map(Box::new)
    }

    /// A segment has been received, and `ack` is what is to be sent now, if anything.
    #[inline(always)]
    pub fn answer(&self, ack: Option<AckOut>, port: &mut Port) {
        match ack {
            Some(ack) => port.send_ack(ack),
            None => port.wake_by(self.receiver.ack_deadline),
        }
    }

    /// An ACK reaches the sender. Returns the RTT that it told, ns.
    #[inline(always)]
    pub fn on_ack(&mut self, header: Header, port: &mut Port) -> Option<u64> {
        let feedback = port.take_feedback(header);
        let ack = AckIn { next_expected: header.seq(), feedback: feedback.as_ref(), flags: header.flags() };
        let (now, flow) = (port.now, port.flow);
        let net = &mut *port.net;
        let rtt_ns = self.sender.on_ack(now, ack, &mut move |segment| net.send_data(now, flow, segment));
        if self.transfers.is_running() && self.sender.is_done() {
            self.transfers.complete(now);
            port.wake_by(self.transfers.next(now));
        }
        port.wake_by(self.sender.wake_at());
        rtt_ns
    }

    /// Where the run goes by windows: takes the ACKs that reach the sender by `until`, as long as they are usual and no timer comes before them;
    /// `tell` hears of the RTTs. Returns when the sender must be looked at besides, if there were any.
    #[inline(always)]
    pub fn take_train<const PLAIN: bool>(
        &mut self,
        until: u64,
        flow: usize,
        net: &mut Net,
        mut tell: impl FnMut(u64, u64),
    ) -> Option<u64> {
        let SenderEnd { acks, mut way, .. } = net.sender_end(flow)?;
        let (first, _) = acks.first()?;
        if self.transfers.is_running() {
            return None;
        }
        let until = until.min(self.transfers.next(first)).min(self.sender.wake_at());
        let mut train = self.sender.train::<PLAIN>()?;
        let (mut taken, mut last) = (0, None);
        'train: for part in acks.parts() {
            for &(now, ack) in part {
                if now <= until
                    && let Some(number) = number_in_train(ack, &train)
                    && let Some(rtt_ns) = train.take(now, number, &mut |segment| way.send(now, segment))
                {
                    tell(now, rtt_ns);
                    (taken, last) = (taken + 1, Some(now));
                } else {
                    break 'train;
                }
            }
        }
        acks.skip_many(taken);
        train.end();
        Some(self.transfers.next(last?).min(self.sender.wake_at()))
    }

    /// As [`Self::take_train`] of a sender that is paced: lets happen what pacing lets go between the ACKs, too.
    #[inline(always)]
    pub fn take_paced_train<const PLAIN: bool>(
        &mut self,
        until: u64,
        flow: usize,
        net: &mut Net,
        mut tell: impl FnMut(u64, u64),
    ) -> Option<u64> {
        let SenderEnd { acks, mut way, .. } = net.sender_end(flow)?;
        if self.transfers.is_running() {
            return None;
        }
        let transfer_at = self.transfers.next(next_at(acks).min(self.sender.release_at()));
        let until = until.min(transfer_at);
        let mut train = self.sender.train::<PLAIN>()?;
        let mut last = None;
        loop {
            let (ack_at, release_at) = (next_at(acks), train.release_at());
            let now = ack_at.min(release_at);
            if now > until {
                break;
            }
            // As the network's agenda has it: of both at the same time, the packet comes first.
            if ack_at <= release_at {
                let Some((_, ack)) = acks.first() else { break };
                let Some(number) = number_in_train(ack, &train) else { break };
                let Some(rtt_ns) = train.take(now, number, &mut |segment| way.send(now, segment)) else { break };
                acks.skip();
                tell(now, rtt_ns);
            } else if now == transfer_at || !train.release(now, &mut |segment| way.send(now, segment)) {
                break;
            }
            last = Some(now);
        }
        train.end();
        Some(self.transfers.next(last?).min(self.sender.wake_at()))
    }

    /// Where the run goes by windows: lets happen what ACKs and pacing make a sender do by `until` that does not go by trains, as long as no
    /// other timer comes before and no train may begin; `tell` hears of the RTTs. Returns when the sender must be looked at besides, if anything
    /// happened.
    #[inline(always)]
    pub fn take_one_by_one(
        &mut self,
        until: u64,
        flow: usize,
        net: &mut Net,
        mut tell: impl FnMut(u64, u64),
    ) -> Option<u64> {
        let Self { sender, transfers, .. } = self;
        if sender.goes_by_trains() || transfers.is_running() {
            return None;
        }
        let SenderEnd { acks, carried, mut way } = net.sender_end(flow)?;
        let transfer_at = transfers.next(next_at(acks).min(sender.release_at()));
        let has_trains = sender.has_trains();
        let mut last = None;
        loop {
            let (ack_at, release_at) = (next_at(acks), sender.release_at());
            let now = ack_at.min(release_at);
            let timer_at = transfer_at.min(sender.timer_at());
            if now > until.min(timer_at) {
                break;
            }
            // As the network's agenda has it: of both at the same time, the packet comes first.
            if ack_at <= release_at {
                let Some((_, ack)) = acks.pop() else { break };
                if let Some((_, soon)) = acks.get(SOON) {
                    carried.feedback.fetch(soon.sack());
                }
                let feedback = carried.feedback.take(ack.sack());
                let ack = AckIn { next_expected: ack.seq(), feedback: feedback.as_ref(), flags: ack.flags() };
                if let Some(rtt_ns) = sender.on_ack(now, ack, &mut |segment| way.send(now, segment)) {
                    tell(now, rtt_ns);
                }
            } else if now < timer_at {
                sender.release(now, &mut |segment| way.send(now, segment));
            } else {
                break;
            }
            last = Some(now);
            if has_trains && sender.is_undisturbed() {
                break;
            }
        }
        Some(transfers.next(last?).min(sender.wake_at()))
    }

    /// The application gives `segments` more.
    pub fn give(&mut self, segments: u64, port: &mut Port) {
        let Port { now, flow, .. } = *port;
        self.sender.give(now, segments, &mut |segment| port.net.send_data(now, flow, segment));
    }

    /// A timer of the sender's may be due. Returns when to look again.
    pub fn on_sender_timer(&mut self, port: &mut Port) -> u64 {
        let Port { now, flow, .. } = *port;
        if self.sender.wake_at() <= now {
            self.sender.on_wake(now, &mut |segment| port.net.send_data(now, flow, segment));
        }
        self.transfers.next(now).min(self.sender.wake_at())
    }

    /// A delayed ACK may be due. Returns when to look again.
    pub fn on_receiver_timer(&mut self, port: &mut Port) -> u64 {
        if self.receiver.ack_deadline <= port.now {
            let ack = self.receiver.on_ack_deadline();
            port.send_ack(ack);
        }
        self.receiver.ack_deadline
    }
}

impl Endpoints for Tcp {
    #[inline(always)]
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64> {
        match at {
            End::Receivers => {
                let ack = self.receiver.on_data(port.now, header.segment());
                self.answer(ack, port);
                None
            }
            End::Senders => self.on_ack(header, port),
        }
    }

    fn on_timer(&mut self, at: End, port: &mut Port) -> u64 {
        if at == End::Receivers {
            return self.on_receiver_timer(port);
        }
        match self.transfers.on_time(port.now) {
            Due::Nothing => {}
            Due::Begin(segments) => self.give(segments.unwrap_or(ENDLESS), port),
            Due::Stop => self.sender.stop(),
        }
        self.on_sender_timer(port)
    }

    fn are_apart(&self) -> bool {
        true
    }

    fn counters(&self) -> Counters {
        let counters = self.sender.counters;
        Counters {
            received: self.receiver.next_expected,
            sent_packets: counters.sent,
            retransmits: counters.retransmits,
            timeouts: counters.timeouts,
            window_reductions: counters.window_reductions,
        }
    }

    fn srtt_us(&self) -> Option<u64> {
        let sender = &self.sender;
        // Before the first ACK there is none.
        (sender.outstanding() > 0 && sender.srtt_ns() > 0).then_some(sender.srtt_ns() / 1000)
    }

    fn windows(&self) -> FlowSample {
        let sender = &self.sender;
        let sample = FlowSample {
            cwnd_packets: sender.conn.snd_cwnd,
            ssthresh_packets: sender.conn.snd_ssthresh,
            srtt_ms: sender.srtt_ns() as f32 / 1e6,
            in_flight_packets: sender.in_flight() as u32,
            ..FlowSample::default()
        };
        sample.with_view(sender.view())
    }

    fn transfers(&self) -> Option<&Transfers> {
        Some(&self.transfers)
    }
}
