// SPDX-License-Identifier: MIT OR Apache-2.0
//! Does the window limit the sending, or the application or the receiver? A window that is not used must not grow (RFC 7661).

/// Linux's memory of it (tcp_cwnd_validate, tcp_is_cwnd_limited).
#[derive(Debug, Clone, Copy, Default)]
pub struct CwndLimited {
    limited: bool,
    /// Most segments outstanding in this window of data.
    max_outstanding: u64,
    /// The window of data ends here.
    until: u64,
    /// When the window last limited, or was last lowered because it did not, ns.
    since: u64,
    /// Most segments outstanding since then.
    used: u64,
}

impl CwndLimited {
    /// The window has ended an attempt to send. True once in a window of data counts for all of it.
    #[inline]
    pub fn by_window(&mut self, now: u64, una: u64, nxt: u64) {
        *self = Self { limited: true, max_outstanding: nxt - una, until: nxt, since: now, used: 0 };
    }

    /// Something else has.
    #[inline]
    pub fn by_other(&mut self, una: u64, nxt: u64) {
        let outstanding = nxt - una;
        if una >= self.until || !self.limited && outstanding > self.max_outstanding {
            *self = Self { limited: false, max_outstanding: outstanding, until: nxt, ..*self };
        }
    }

    /// The window limits at `now`, or is used afresh.
    #[inline]
    pub fn used_up(&mut self, now: u64) {
        (self.since, self.used) = (now, 0);
    }

    /// Segments went out and the application had no more. Returns how many of the window were used at most, in a timeout (`rto_ns`) in
    /// which the window never limited (tcp_cwnd_application_limited; RFC 2861, and in a milder form [RFC 7661 4.4.3]).
    pub fn unused(&mut self, now: u64, outstanding: u64, rto_ns: u64) -> Option<u32> {
        self.used = self.used.max(outstanding);
        if now - self.since < rto_ns {
            return None;
        }
        let used = self.used as u32;
        self.used_up(now);
        Some(used)
    }

    /// May the window grow [RFC 7661 4.4]? In slow start using half of it is enough, because it is about to double.
    #[inline]
    pub fn holds(&self, cwnd: u32, in_slow_start: bool) -> bool {
        self.limited || in_slow_start && u64::from(cwnd) < 2 * self.max_outstanding
    }
}
