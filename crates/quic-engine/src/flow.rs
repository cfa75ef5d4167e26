// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow over QUIC: both ends, and the application that sends. Each transfer is a stream of its own.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use bytes::Bytes;
use noq_proto::{
    ClientConfig, Connection, Dir, EndpointConfig, Event, PathId, ReadError, StreamEvent, StreamId, WriteError,
};
use tandem_engine::{Counters, Due, Transfers};
use tandem_network::{End, agenda::NEVER};
use tandem_quic::{Host, OverNoq};
use tandem_results::FlowSample;
use tandem_sim::{Endpoints, Header, Port};

use crate::{config::Setup, peer::Peer};

/// Data is all zeros, and only counted.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
/// Bytes of a flow that never ends.
const ENDLESS: u64 = 1 << 60;

pub struct QuicFlow {
    /// There once the first transfer has begun.
    sender: Option<Peer>,
    setup: (Arc<EndpointConfig>, ClientConfig),
    receiver: Peer,
    transfers: Transfers,
    /// The stack's time at the start of the run.
    origin: Instant,
    /// Says why, if a connection ends.
    broken: Arc<OnceLock<String>>,
    now: u64,
    unit_bytes: u64,
    stream: Option<StreamId>,
    /// What the application has yet to hand over.
    left_bytes: u64,
    /// Streams that the receiver reads.
    open: Vec<StreamId>,
    received_bytes: u64,
    sent_packets: u64,
    lost_packets: u64,
    congestion_events: u64,
}

impl QuicFlow {
    pub fn new(setup: &Setup, transfers: Transfers, origin: Instant, broken: Arc<OnceLock<String>>) -> Self {
        Self {
            sender: None,
            setup: (setup.endpoint(1), setup.client()),
            receiver: Peer::receiver(setup),
            transfers,
            origin,
            broken,
            now: 0,
            unit_bytes: setup.unit_bytes.into(),
            stream: None,
            left_bytes: 0,
            open: Vec::new(),
            received_bytes: 0,
            sent_packets: 0,
            lost_packets: 0,
            congestion_events: 0,
        }
    }

    fn at(&self, ns: u64) -> Instant {
        self.origin + Duration::from_nanos(ns)
    }

    /// The application and the stack at both ends do what they can at this time.
    fn go_on(&mut self, port: &mut Port) {
        let now = port.now();
        self.now = now;
        let time = self.at(now);
        match self.transfers.on_time(now) {
            Due::Nothing => {}
            Due::Begin(units) => {
                self.left_bytes = units.map_or(ENDLESS, |units| self.left_bytes + units * self.unit_bytes);
                let (endpoint, client) = &self.setup;
                self.sender.get_or_insert_with(|| Peer::sender(endpoint.clone(), client.clone(), time));
            }
            Due::Stop => self.left_bytes = 0,
        }
        if let Some(mut sender) = self.sender.take() {
            sender.fire(time);
            while let Some(event) = sender.poll() {
                match event {
                    Event::Stream(StreamEvent::Finished { .. }) if self.transfers.is_running() => {
                        self.transfers.complete(now);
                    }
                    Event::ConnectionLost { reason } => drop(self.broken.set(reason.to_string())),
                    _ => {}
                }
            }
            if let Some(connection) = sender.connection() {
                self.write(connection);
            }
            sender.send(time, port);
            self.count(&mut sender);
            self.sender = Some(sender);
        }
        self.receiver.fire(time);
        while self.receiver.poll().is_some() {}
        self.read();
        self.receiver.send(time, port);
    }

    fn wake_at(&self) -> u64 {
        let peers = self.sender.iter().chain([&self.receiver]).filter_map(Peer::wake_at);
        let ns = |time: Instant| time.saturating_duration_since(self.origin).as_nanos() as u64;
        let stack = peers.map(ns).min().unwrap_or(NEVER);
        stack.min(self.transfers.next(self.now))
    }

    fn count(&mut self, sender: &mut Peer) {
        let Some(connection) = sender.connection() else { return };
        let Some(path) = connection.path_stats(PathId::ZERO) else { return };
        self.lost_packets = path.lost_packets;
        self.congestion_events = path.congestion_events;
        self.sent_packets = path.udp_tx.datagrams;
    }

    fn write(&mut self, connection: &mut Connection) {
        if self.left_bytes == 0 || connection.is_handshaking() {
            return;
        }
        let Some(id) = self.stream.or_else(|| connection.streams().open(Dir::Uni)) else { return };
        self.stream = Some(id);
        let mut stream = connection.send_stream(id);
        while self.left_bytes > 0 {
            let most = self.left_bytes.min(ZEROS.len() as u64) as usize;
            match stream.write_chunks(&mut &mut [Bytes::from_static(&ZEROS[..most])][..]) {
                Ok(written) => self.left_bytes -= written as u64,
                Err(WriteError::Blocked) => return,
                Err(_) => self.left_bytes = 0,
            }
        }
        let _ = stream.finish();
        self.stream = None;
    }

    fn read(&mut self) {
        let Some(connection) = self.receiver.connection() else { return };
        // Streams are read as soon as anything arrives, so a few are open at most.
        while let Some(id) = connection.streams().accept(Dir::Uni) {
            self.open.push(id);
        }
        let received = &mut self.received_bytes;
        self.open.retain(|&id| {
            let mut stream = connection.recv_stream(id);
            // In any order: data that waits for its place makes the stack give up at a thousand gaps, and a slow start that overshoots a
            // long fat path leaves more.
            let Ok(mut chunks) = stream.read(false) else { return false };
            let is_open = loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => *received += chunk.bytes.len() as u64,
                    Ok(None) => break false,
                    Err(ReadError::Blocked) => break true,
                    Err(_) => break false,
                }
            };
            let _ = chunks.finalize();
            is_open
        });
    }

    fn connection(&self) -> Option<&Connection> {
        self.sender.as_ref().and_then(Peer::shown)
    }

    /// What the controller is, if it is one of ours.
    fn controller(&self) -> Option<Box<OverNoq>> {
        OverNoq::of(self.connection()?.congestion_state(PathId::ZERO)?.clone_box().into_any())
    }

    fn rtt(&self) -> Option<Duration> {
        self.connection()?.rtt(PathId::ZERO)
    }
}

impl Endpoints for QuicFlow {
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64> {
        let time = self.at(port.now());
        let datagram = port.take_datagram(header);
        match at {
            End::Receivers => self.receiver.take(time, &datagram, port),
            End::Senders => self.sender.iter_mut().for_each(|sender| sender.take(time, &datagram, port)),
        }
        self.go_on(port);
        port.wake_by(self.wake_at());
        None
    }

    fn on_timer(&mut self, _at: End, port: &mut Port) -> u64 {
        self.go_on(port);
        self.wake_at()
    }

    /// The stack has smoothed ones.
    fn tells_rtts(&self) -> bool {
        false
    }

    /// QUIC has no retransmission timeout, and repeats data, not packets: what is lost counts as sent again.
    fn counters(&self) -> Counters {
        let own = self.controller().map(|controller| controller.host().reductions());
        Counters {
            received: self.received_bytes / self.unit_bytes,
            sent_packets: self.sent_packets,
            retransmits: self.lost_packets,
            timeouts: 0,
            window_reductions: own.unwrap_or(self.congestion_events),
        }
    }

    fn srtt_us(&self) -> Option<u64> {
        let is_idle = self.left_bytes == 0 && !self.transfers.is_running();
        self.rtt().filter(|_| !is_idle).map(|rtt| rtt.as_micros() as u64)
    }

    fn windows(&self) -> FlowSample {
        let srtt_ms = self.rtt().map_or(0.0, |rtt| rtt.as_secs_f32() * 1e3);
        let Some(controller) = self.controller() else { return FlowSample { srtt_ms, ..FlowSample::default() } };
        let host: &Host = controller.host();
        let conn = host.conn();
        let sample = FlowSample {
            cwnd_packets: conn.snd_cwnd,
            ssthresh_packets: conn.snd_ssthresh,
            srtt_ms,
            in_flight_packets: (host.in_flight_bytes() / u64::from(conn.mss)) as u32,
            ..FlowSample::default()
        };
        sample.with_view(host.view())
    }

    fn transfers(&self) -> Option<&Transfers> {
        Some(&self.transfers)
    }
}
