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
}

impl CwndLimited {
    /// After an attempt to send: did the window end it? True once in a window of data counts for all of it.
    #[inline]
    pub fn note(&mut self, limited: bool, una: u64, nxt: u64) {
        let outstanding = nxt - una;
        if una >= self.until || limited || !self.limited && outstanding > self.max_outstanding {
            *self = Self { limited, max_outstanding: outstanding, until: nxt };
        }
    }

    /// In slow start half of the window is use enough, for it is about to double.
    #[inline]
    pub fn holds(&self, cwnd: u32, in_slow_start: bool) -> bool {
        self.limited || in_slow_start && u64::from(cwnd) < 2 * self.max_outstanding
    }
}
