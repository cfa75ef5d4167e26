// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that begin during a run: those of short flows, one for each transfer, and those with a handshake.

use tandem_engine::{Counters, Due, Transfers};
use tandem_network::End;
use tandem_results::FlowSample;
use tandem_tcp::{AckOut, Config};

use crate::{
    endpoints::{Endpoints, NewFlow, Port},
    handshake::{Handshake, answer, is_answer, is_syn},
    packet::Header,
    tcp::{self, ENDLESS, Tcp},
};

pub struct Connections {
    tcp: Tcp,
    /// What each connection is made from.
    config: Config,
    /// Each transfer has a connection of its own.
    is_short: bool,
    handshake: Option<Handshake>,
}

impl Connections {
    pub fn of(flow: &NewFlow) -> Option<Box<dyn Endpoints>> {
        let source = flow.source().tcp()?;
        let is_short = flow.source().short().is_some();
        if !is_short && !source.handshake {
            return None;
        }
        let config = tcp::config(source, flow.scenario.mss());
        let handshake = source.handshake.then(Handshake::default);
        Some(Box::new(Self { tcp: Tcp::new(&config, flow)?, config, is_short, handshake }))
    }

    /// A segment has arrived. Returns the ACK to send now, if any. That of a short flow's last segment is not delayed: it has the PSH flag, and
    /// Linux acknowledges such a segment when the program reads it.
    fn on_data(&mut self, now: u64, segment: u64) -> Option<AckOut> {
        let Tcp { sender, receiver, .. } = &mut self.tcp;
        let ack = receiver.on_data(now, segment);
        ack.or_else(|| {
            (self.is_short && receiver.next_expected == sender.data_end()).then(|| receiver.on_ack_deadline())
        })
    }

    /// The application gives `segments` more; of short flows it begins a connection.
    fn begin(&mut self, segments: u64, port: &mut Port) {
        if self.is_short {
            let Tcp { sender, receiver, .. } = &mut self.tcp;
            sender.renew(&self.config, port.now);
            *receiver = receiver.renewed();
            self.handshake.iter_mut().for_each(Handshake::close);
        }
        match &mut self.handshake {
            Some(handshake) if !handshake.is_over() => handshake.give(segments, port),
            _ => self.tcp.give(segments, port),
        }
    }

    /// An ACK has reached the sender. Returns the RTT that it told, ns.
    fn on_ack(&mut self, header: Header, port: &mut Port) -> Option<u64> {
        let Some(handshake) = self.handshake.as_mut().filter(|handshake| !handshake.is_over()) else {
            // An answer to a SYN that was sent again may come late.
            return if is_answer(header) { None } else { self.tcp.on_ack(header, port) };
        };
        // What an older connection still hears is nothing to this one.
        port.take_feedback(header);
        let answered = handshake.answered(header, port.now)?;
        self.tcp.sender.establish(port.now, answered.rtt_ns, answered.syns);
        self.tcp.give(answered.segments, port);
        port.wake_by(self.tcp.sender.wake_at());
        Some(answered.rtt_ns)
    }
}

impl Endpoints for Connections {
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64> {
        match at {
            End::Receivers if is_syn(header) => {
                port.send_ack(answer(header));
                None
            }
            End::Receivers => {
                let ack = self.on_data(port.now, header.segment());
                self.tcp.answer(ack, port);
                None
            }
            End::Senders => self.on_ack(header, port),
        }
    }

    /// A new connection begins at both ends at once, so both have one timer.
    fn on_timer(&mut self, _at: End, port: &mut Port) -> u64 {
        match self.tcp.transfers.on_time(port.now) {
            Due::Nothing => {}
            Due::Stop => {
                self.tcp.sender.stop();
                self.handshake.iter_mut().for_each(Handshake::stop);
            }
            Due::Begin(segments) => self.begin(segments.unwrap_or(ENDLESS), port),
        }
        let of_handshake = self.handshake.as_mut().map_or(tandem_tcp::NEVER, |handshake| handshake.on_timer(port));
        of_handshake.min(self.tcp.on_receiver_timer(port)).min(self.tcp.on_sender_timer(port))
    }

    fn counters(&self) -> Counters {
        self.tcp.counters()
    }

    fn srtt_us(&self) -> Option<u64> {
        self.tcp.srtt_us()
    }

    fn windows(&self) -> FlowSample {
        self.tcp.windows()
    }

    fn transfers(&self) -> Option<&Transfers> {
        self.tcp.transfers()
    }
}
