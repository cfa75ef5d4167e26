// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP senders: packets at fixed intervals, for which TCP's ticks are too coarse.

use std::{
    io,
    net::UdpSocket,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use rustix::thread::set_current_timer_slack;
use tandem_network::agenda::NEVER;
use tandem_scenario::units::{Rate, Span};

use crate::emulator::monotonic_ns;

/// IPv4 and UDP headers.
const HEADER_BYTES: u32 = 28;
/// The longest sleep; a stop is noticed after it.
const MAX_SLEEP_NS: u64 = 20_000_000;
/// After how long to try again when the socket has taken no more.
const RETRY_NS: u64 = 100_000;

/// Sends packets of the MTU at a constant rate, all the time or on and off in turn. Times are ns since the run's start.
#[derive(Debug)]
pub struct UdpSender {
    socket: UdpSocket,
    payload_bytes: usize,
    gap_ns: u64,
    on_off: Option<(u64, u64)>,
    start: u64,
    stop: u64,
    next: u64,
    pub sent_packets: Arc<AtomicU64>,
}

impl UdpSender {
    pub fn new(
        socket: UdpSocket,
        rate: Rate,
        on_off: Option<(Span, Span)>,
        mtu: u32,
        start: u64,
        stop: Option<Span>,
    ) -> Self {
        Self {
            socket,
            payload_bytes: (mtu - HEADER_BYTES) as usize,
            gap_ns: (u64::from(mtu) * 8_000_000_000).div_ceil(rate.bps),
            on_off: on_off.map(|(on, off)| (on.ns, off.ns)),
            start,
            stop: stop.map_or(NEVER, |s| s.ns),
            next: start,
            sent_packets: Arc::default(),
        }
    }

    /// Sends what is due by `now`, as far as the socket takes it. Returns when to look again.
    fn send_due(&mut self, now: u64, payload: &[u8]) -> io::Result<u64> {
        while self.next <= now {
            if self.next >= self.stop {
                self.next = NEVER;
                break;
            }
            if let Some((on, off)) = self.on_off {
                let into_cycle = (self.next - self.start) % (on + off);
                if into_cycle >= on {
                    self.next += on + off - into_cycle;
                    continue;
                }
            }
            match self.socket.send(&payload[..self.payload_bytes]) {
                Ok(_) => self.sent_packets.fetch_add(1, Relaxed),
                // What was sent before still waits on its way into the device: whoever was about to take it there has been starved.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(now + RETRY_NS),
                Err(e) => return Err(e),
            };
            self.next += self.gap_ns;
        }
        Ok(self.next)
    }
}

/// Sends until `stopped`. `origin` is the run's start, ns of [`monotonic_ns`].
pub fn send_all(mut senders: Vec<UdpSender>, origin: u64, stopped: &AtomicBool) -> io::Result<()> {
    // The default slack of 50 us would be half the interval of 100 Mb/s.
    set_current_timer_slack(std::num::NonZero::new(1))?;
    let longest = senders.iter().map(|s| s.payload_bytes).max().unwrap_or(0);
    let payload = vec![0x5a; longest];
    while !stopped.load(Relaxed) {
        let now = monotonic_ns().saturating_sub(origin);
        let mut next = NEVER;
        for sender in &mut senders {
            next = next.min(sender.send_due(now, &payload)?);
        }
        let now = monotonic_ns().saturating_sub(origin);
        thread::sleep(Duration::from_nanos(next.saturating_sub(now).min(MAX_SLEEP_NS)));
    }
    Ok(())
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
        let mut sender = UdpSender::new(socket, "12mbit".parse().unwrap(), None, 1500, 0, None);
        // A packet each millisecond, the first at once.
        let now = 999_999_999;
        let (mut refusals, mut arrived) = (0, 0);
        while sender.send_due(now, &[0; 1472]).unwrap() == now + RETRY_NS {
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
