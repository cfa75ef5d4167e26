// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linux's internal pacing: bursts at a rate. Segments that were spaced one by one stand closer in a full queue when ACKs stop being delayed, as
//! they do at a loss, and one more was dropped after the window had been reduced.

use tandem_controllers::Conn;

use crate::NEVER;

#[derive(Debug, Clone, Copy)]
pub struct Pacing {
    on: bool,
    /// When the next segment may go.
    next_send: u64,
    /// Only this kept the last attempt to send from sending more.
    held: bool,
    /// Segments that still go with the one before.
    burst_left: u64,
}

/// A burst is what the rate carries in a 1024th of a second (Linux's sk_pacing_shift), two segments at least (tcp_min_tso_segs) and 64 kB at most,
/// because it is one packet until the interface cuts it up (tcp_tso_autosize).
const BURSTS_PER_S: u64 = 1024;
const LEAST_BURST: u64 = 2;
const MOST_BURST_BYTES: u64 = 65536;

impl Pacing {
    pub fn new(on: bool) -> Self {
        Self { on, next_send: 0, held: false, burst_left: 0 }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// A new attempt to send begins.
    #[inline]
    pub fn release(&mut self) {
        self.held = false;
        self.burst_left = 0;
    }

    /// Must the next segment wait?
    #[inline]
    pub fn holds(&mut self, now: u64) -> bool {
        if !self.on {
            return false;
        }
        self.held = self.burst_left == 0 && self.next_send > now;
        self.held
    }

    /// When a held segment may go.
    #[inline]
    pub fn wake_at(&self) -> u64 {
        if self.held { self.next_send } else { NEVER }
    }

    /// A segment is sent: the next one follows at the controller's rate, or if it sets none at 2 windows a round in slow start,
    /// 1.2 after (Linux's tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
    #[inline]
    pub fn sent(&mut self, now: u64, srtt_ns: u64, conn: &Conn) {
        if self.on {
            let gap_ns = match conn.pacing_bytes_per_s {
                0 => {
                    let percent = if conn.snd_cwnd < conn.snd_ssthresh / 2 { 200 } else { 120 };
                    srtt_ns * 100 / (u64::from(conn.snd_cwnd.max(1)) * percent)
                }
                rate => u64::from(conn.mss) * 1_000_000_000 / rate,
            };
            self.next_send = now.max(self.next_send) + gap_ns;
            self.burst_left = match (conn.pacing_bytes_per_s, self.burst_left) {
                // The controller that sets a rate decides how even it is.
                (1.., _) => 0,
                (0, 0) => burst(gap_ns, u64::from(conn.mss)) - 1,
                (0, left) => left - 1,
            };
        }
    }
}

/// How many segments go together if one takes `gap_ns`.
fn burst(gap_ns: u64, mss: u64) -> u64 {
    let in_time = 1_000_000_000 / BURSTS_PER_S / gap_ns.max(1);
    in_time.min(MOST_BURST_BYTES / mss).max(LEAST_BURST)
}
