// SPDX-License-Identifier: MIT OR Apache-2.0
//! What sits at the two ends of a flow's path. Each kind of traffic is one [`Endpoints`]; QUIC's are another crate's.

use tandem_engine::{Applications, Counters, Quality, Transfers};
use tandem_network::{End, start_ns};
use tandem_results::FlowSample;
use tandem_scenario::{Scenario, Traffic};
use tandem_tcp::{AckOut, segment::Feedback};

use crate::{flow::brings_forward, net::Net, packet::Header};

/// Both ends of one flow.
pub trait Endpoints {
    /// A packet has reached an end. Returns the RTT that it told, ns.
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64>;

    /// The timer of an end may be due. Returns when to look at it again, ns; [`NEVER`](tandem_network::agenda::NEVER): not at all.
    fn on_timer(&mut self, at: End, port: &mut Port) -> u64;

    /// Do the two ends matter to each other by packets alone, so that the simulator may deal with one of them for a while before it looks at the
    /// other? Each has a timer of its own then. Otherwise there is but the one at the senders' end.
    fn are_apart(&self) -> bool {
        false
    }

    /// The flow's counts; what has been received in units of the scenario's MSS, or in packets.
    fn counters(&self) -> Counters;

    /// The smoothed RTT, us; `None` while nothing is outstanding.
    fn srtt_us(&self) -> Option<u64> {
        None
    }

    /// Does [`Self::on_packet`] tell each RTT that is measured, if any is?
    fn tells_rtts(&self) -> bool {
        true
    }

    /// A sample for the trace, without its goodput.
    fn windows(&self) -> FlowSample {
        FlowSample::default()
    }

    /// When the application has data to send; `None`: at a constant rate.
    fn transfers(&self) -> Option<&Transfers> {
        None
    }

    /// What the packets met on their way, if someone looks.
    fn quality(&self) -> Option<&Quality> {
        None
    }
}

/// Makes the endpoints of a flow, if it is of a kind that this knows.
pub type Make<'a> = dyn Fn(&NewFlow) -> Option<Box<dyn Endpoints>> + 'a;

/// A flow whose endpoints are to be made.
pub struct NewFlow<'a> {
    /// The scenario that it is part of.
    pub scenario: &'a Scenario,
    /// Its number, from 0.
    pub index: usize,
    /// The number of its group.
    pub group: usize,
    pub(crate) seed: u64,
    pub(crate) applications: &'a Applications<'a>,
}

impl NewFlow<'_> {
    /// What it sends.
    pub fn source(&self) -> &Traffic {
        &self.scenario.groups[self.group].source
    }

    /// When it begins, ns.
    pub(crate) fn start(&self) -> u64 {
        start_ns(&self.scenario.groups[self.group], self.seed, self.index)
    }

    /// When its application has data to send, in units of the scenario's MSS; `None` for UDP. To be asked for once.
    pub fn transfers(&self) -> Option<Transfers> {
        let source = self.source().tcp()?;
        Some(self.applications.transfers(source, self.index, self.group, self.scenario.mss()))
    }
}

/// A flow's way into the network, at one time.
pub struct Port<'a> {
    pub(crate) now: u64,
    pub(crate) flow: usize,
    /// The end whose timer it sets.
    pub(crate) timer: End,
    pub(crate) net: &'a mut Net,
    /// What is set for that timer, ns.
    pub(crate) wakes_at: &'a mut u64,
}

impl Port<'_> {
    /// Now, ns since the start of the run.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Brings the timer of this end forward to `time`, ns.
    #[inline]
    pub fn wake_by(&mut self, time: u64) {
        if brings_forward(self.wakes_at, time) {
            self.net.wake(self.flow, self.timer, time);
        }
    }

    /// Sends a datagram. On the wire it has the headers of UDP and IPv4, too.
    pub fn send_datagram(&mut self, to: End, datagram: Vec<u8>) {
        self.net.send_datagram(self.now, self.flow, to, datagram);
    }

    /// The datagram that has arrived with this header. It can be taken once.
    pub fn take_datagram(&mut self, header: Header) -> Vec<u8> {
        self.net.carried.datagrams.take(header.seq())
    }

    /// What has arrived with the header of an ACK.
    #[inline]
    pub(crate) fn take_feedback(&mut self, ack: Header) -> Option<Feedback> {
        self.net.carried.feedback.take(ack.sack())
    }

    #[inline(always)]
    pub(crate) fn send_ack(&mut self, ack: AckOut) {
        self.net.send_ack(self.now, self.flow, ack);
    }

    /// Sends a packet without a connection.
    pub(crate) fn send_udp(&mut self, number: u64, bytes: u32) {
        self.net.send_udp(self.now, self.flow, number, bytes);
    }
}
