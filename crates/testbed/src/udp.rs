// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP: senders whose packets go at fixed intervals, for which TCP's ticks are too coarse, and receivers that tell when each arrived.

use std::{
    io,
    net::UdpSocket,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use rustix::thread::set_current_timer_slack;
use tandem_engine::{ConstantRate, Quality};
use tandem_network::agenda::NEVER;

use crate::{
    emulator::monotonic_ns,
    socket::{Arrival, receive_stamped, stamp_arrivals},
};

/// IPv4 and UDP headers.
const HEADER_BYTES: u32 = 28;
/// The longest sleep; a stop is noticed after it.
const MAX_SLEEP_NS: u64 = 20_000_000;
/// After how long to try again when the socket has taken no more.
const RETRY_NS: u64 = 100_000;

/// What each packet begins with: its number, and when it was sent, ns since the run's start.
const STAMP_BYTES: usize = 16;

/// Sends packets when its source says. Times are ns since the run's start.
#[derive(Debug)]
pub struct UdpSender {
    socket: UdpSocket,
    source: ConstantRate,
    payload: Vec<u8>,
    pub sent_packets: Arc<AtomicU64>,
}

impl UdpSender {
    pub fn new(socket: UdpSocket, source: ConstantRate, packet_bytes: u32) -> Self {
        let payload = vec![0x5a; (packet_bytes - HEADER_BYTES) as usize];
        Self { socket, source, payload, sent_packets: Arc::default() }
    }

    /// Sends what is due by `now`, as far as the socket takes it. Returns when to look again.
    fn send_due(&mut self, now: u64) -> io::Result<u64> {
        while self.source.is_due(now) {
            let number = self.sent_packets.load(Relaxed);
            self.payload[..8].copy_from_slice(&number.to_le_bytes());
            self.payload[8..STAMP_BYTES].copy_from_slice(&now.to_le_bytes());
            match self.socket.send(&self.payload) {
                Ok(_) => self.sent_packets.fetch_add(1, Relaxed),
                // What was sent before still waits on its way into the device: the thread that was about to take it there has been starved.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(now + RETRY_NS),
                Err(e) => return Err(e),
            };
            self.source.sent();
        }
        Ok(self.source.next())
    }
}

/// Sends until `stopped`. `origin` is the run's start, ns of [`monotonic_ns`].
pub fn send_all(mut senders: Vec<UdpSender>, origin: u64, stopped: &AtomicBool) -> io::Result<()> {
    // The default slack of 50 us would be half the interval of 100 Mb/s.
    set_current_timer_slack(std::num::NonZero::new(1))?;
    while !stopped.load(Relaxed) {
        let now = monotonic_ns().saturating_sub(origin);
        let mut next = NEVER;
        for sender in &mut senders {
            next = next.min(sender.send_due(now)?);
        }
        let now = monotonic_ns().saturating_sub(origin);
        thread::sleep(Duration::from_nanos(next.saturating_sub(now).min(MAX_SLEEP_NS)));
    }
    Ok(())
}

/// Receives what a [`UdpSender`] sends.
pub struct UdpReceiver {
    socket: UdpSocket,
    pub received_packets: u64,
    pub quality: Quality,
}

impl UdpReceiver {
    /// `measured`: packets sent then count, ns since the run's start.
    pub fn new(socket: UdpSocket, measured: Range<u64>) -> io::Result<Self> {
        stamp_arrivals(&socket)?;
        Ok(Self { socket, received_packets: 0, quality: Quality::new(measured) })
    }

    /// Takes all packets that have arrived. `origin` is the run's start on the real-time clock, by which the kernel stamps packets, ns.
    pub fn receive(&mut self, origin: u64) -> io::Result<()> {
        let mut start = [0; STAMP_BYTES];
        while let Some(Arrival { bytes, at }) = receive_stamped(&self.socket, &mut start)? {
            self.received_packets += 1;
            if bytes >= STAMP_BYTES
                && let Some(at) = at
            {
                let [number, sent] = [0, 8].map(|i| u64::from_le_bytes(start[i..i + 8].try_into().expect("8 bytes")));
                self.quality.arrive(at.saturating_sub(origin), number, sent);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::{fd::OwnedFd, unix::net::UnixDatagram};

    use super::*;

    #[test]
    fn what_the_socket_does_not_take_goes_later() {
        // Unlike UDP over loopback, this one is full when nobody reads.
        let (near, far) = UnixDatagram::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        far.set_nonblocking(true).unwrap();
        let socket = UdpSocket::from(OwnedFd::from(near));
        let source = ConstantRate::new("12mbit".parse().unwrap(), None, 1500, 0, NEVER);
        let mut sender = UdpSender::new(socket, source, 1500);
        // A packet each millisecond, the first at once.
        let now = 999_999_999;
        let (mut refusals, mut arrived) = (0, 0);
        while sender.send_due(now).unwrap() == now + RETRY_NS {
            refusals += 1;
            while far.recv(&mut [0; 1472]).is_ok() {
                arrived += 1;
            }
        }
        while far.recv(&mut [0; 1472]).is_ok() {
            arrived += 1;
        }
        assert!(refusals > 0);
        assert_eq!((arrived, sender.sent_packets.load(Relaxed)), (1000, 1000));
    }
}
