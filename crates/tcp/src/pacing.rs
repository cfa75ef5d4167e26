// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linux's internal pacing.

use tandem_controllers::Conn;

use crate::NEVER;

#[derive(Debug, Clone, Copy)]
pub struct Pacing {
    on: bool,
    /// When the next segment may go.
    next_send: u64,
    /// Only this kept the last attempt to send from sending more.
    held: bool,
}

impl Pacing {
    pub fn new(on: bool) -> Self {
        Self { on, next_send: 0, held: false }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// A new attempt to send begins.
    #[inline]
    pub fn release(&mut self) {
        self.held = false;
    }

    /// Must the next segment wait?
    #[inline]
    pub fn holds(&mut self, now: u64) -> bool {
        if !self.on {
            return false;
        }
        self.held = self.next_send > now;
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
        }
    }
}
