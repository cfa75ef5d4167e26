// SPDX-License-Identifier: MIT OR Apache-2.0
//! Media over UDP that adapts its rate by NADA (RFC 8698): packets of one size, evenly spaced at that rate, as from an encoder that follows at
//! once.

use tandem_engine::{
    Counters, Quality,
    nada::{MediaReceiver, MediaSender, REPORT_EVERY_NS, Report},
};
use tandem_network::{End, agenda::NEVER};
use tandem_scenario::Traffic;

use crate::{
    endpoints::{Endpoints, NewFlow, Port},
    packet::{DATAGRAM, Header},
    unanswered::Unanswered,
};

pub struct Media {
    sender: MediaSender,
    receiver: MediaReceiver,
    packets: Unanswered,
    packet_bytes: u32,
    /// When the next packet is due.
    next: u64,
    /// Nothing is sent from this time on.
    stop: u64,
    /// When the receiver reports next.
    report_at: u64,
    /// The packet that came last, and when.
    last_arrival: (u64, u64),
}

impl Media {
    pub fn of(flow: &NewFlow) -> Option<Box<dyn Endpoints>> {
        let Traffic::Udp(udp) = flow.source() else { return None };
        let (start, stop) = flow.applications.times(flow.index, flow.group);
        Some(Box::new(Self {
            sender: MediaSender::new(start, udp.least_rate?, udp.rate),
            receiver: MediaReceiver::default(),
            packets: Unanswered::of(flow.scenario),
            packet_bytes: flow.source().packet_bytes(flow.scenario.mtu),
            next: start,
            stop,
            report_at: NEVER,
            last_arrival: (0, 0),
        }))
    }

    fn on_data(&mut self, number: u64, port: &mut Port) {
        let Some(sent_at) = self.packets.arrive(port.now, number) else { return };
        self.receiver.arrive(port.now, number, self.packet_bytes, sent_at);
        self.last_arrival = (number, port.now);
        if self.report_at == NEVER && port.now < self.stop {
            self.report_at = port.now + REPORT_EVERY_NS;
            port.wake_by(self.report_at);
        }
    }

    /// The receiver reports, with the packet that came last and how long ago that was, so that the sender knows the RTT. Nobody asks once
    /// the flow has stopped.
    fn report(&mut self, port: &mut Port) {
        if port.now >= self.stop {
            self.report_at = NEVER;
            return;
        }
        let (number, arrived_at) = self.last_arrival;
        let report = self.receiver.report(port.now);
        port.send_datagram(End::Senders, written(report, number, port.now - arrived_at));
        self.report_at += REPORT_EVERY_NS;
    }

    fn on_report(&mut self, datagram: &[u8], now: u64) {
        let (report, number, waited_ns) = read(datagram);
        // A packet that nobody remembers was sent more than a thousand packets ago: such a report is of no use.
        if let Some(sent_at) = self.packets.sent_at(number) {
            self.sender.on_report(now, report, now - sent_at - waited_ns);
        }
    }
}

impl Endpoints for Media {
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64> {
        match at {
            End::Receivers => self.on_data(header.seq(), port),
            End::Senders => {
                debug_assert!(header.sack() == DATAGRAM, "a report");
                let datagram = port.take_datagram(header);
                self.on_report(&datagram, port.now);
            }
        }
        None
    }

    /// Sends what is due, and reports.
    fn on_timer(&mut self, _: End, port: &mut Port) -> u64 {
        if port.now >= self.report_at {
            self.report(port);
        }
        if port.now >= self.next {
            self.next = NEVER;
            if port.now < self.stop {
                port.send_udp(self.packets.send(port.now), self.packet_bytes);
                self.next = port.now + (f64::from(self.packet_bytes) * 8e9 / self.sender.rate_bps()).ceil() as u64;
            }
        }
        self.next.min(self.report_at)
    }

    fn counters(&self) -> Counters {
        self.packets.counters()
    }

    fn quality(&self) -> Option<&Quality> {
        Some(&self.packets.quality)
    }
}

/// A report on the wire: 6 bytes as RFC 8698 section 5.3 has them, then the packet that came last, and how long ago, ns.
fn written(report: Report, number: u64, waited_ns: u64) -> Vec<u8> {
    let first = u16::from(!report.speeds_up) << 15 | report.congestion;
    let mut bytes = first.to_be_bytes().to_vec();
    bytes.extend(report.received_bps.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.extend(waited_ns.to_be_bytes());
    bytes
}

/// What [`written`] wrote.
fn read(bytes: &[u8]) -> (Report, u64, u64) {
    let part = |from: usize, length: usize| {
        bytes[from..from + length].iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
    };
    let (first, received_bps) = (part(0, 2) as u16, part(2, 4) as u32);
    let report = Report { speeds_up: first >> 15 == 0, congestion: first & (u16::MAX >> 1), received_bps };
    (report, part(6, 8), part(14, 8))
}
