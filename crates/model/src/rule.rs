// SPDX-License-Identifier: MIT OR Apache-2.0
//! The law in numbers: backlog, growth and cut of one round, in real numbers and as two Linux modules round them.
//!
//! Windows are packets, times are packet times (one packet's transmission at the bottleneck), so that an RTT is the number
//! of packets in flight that it belongs to.

use crate::law::Law;

/// One round's arithmetic.
pub trait Rule: Clone {
    /// Packets as the controller counts them: a module counts whole ones.
    fn counted(&self, packets: f64) -> f64;
    /// Backlog of a round in packets, S2 (3): `sent` packets measured, smallest RTT `rtt`, of an empty path `base`.
    fn backlog(&self, sent: f64, base: f64, rtt: f64) -> f64;
    /// Growth of the whole window in a round from this window, Reno's packet included; at least 1. S2 (2).
    fn gain(&self, window: f64) -> f64;
    /// The window that a running connection grows from: `window` now, or the `sent` packets of the round measured.
    fn grows_from(&self, window: f64, sent: f64) -> f64;
    /// S2's zeta: the share of the backlog that a decrease gives up.
    fn zeta(&self) -> f64;
    /// The packets that the delay window of a running connection gives up for this backlog: zeta times the backlog, rounded as
    /// the controller rounds it.
    fn cut(&self, backlog: f64) -> f64;
    /// Both windows after a loss.
    fn after_loss(&self, loss_window: f64, delay_window: f64) -> (f64, f64);
    /// Reno's growth in a round that acknowledged `acked` packets with this window.
    fn reno(&self, acked: f64, window: f64) -> f64;
    /// Threshold of the backlog, packets: the delay window shrinks from it on (S2 (1)).
    fn gamma(&self) -> f64;
    /// Is the window so small that the delay window neither grows nor shrinks?
    fn is_low(&self, window: f64) -> bool;
    /// Is it given up there?
    fn forgets_when_low(&self) -> bool;
    /// Does the first round after a recovery count all that was sent since the last round before it? (Modules, left edge.)
    fn counts_recovery(&self) -> bool;
}

/// Real numbers: S2 (1) to (3) with the module's `w_{i-1}`.
#[derive(Debug, Clone, Copy)]
pub struct Exact(pub Law);

impl Rule for Exact {
    fn counted(&self, packets: f64) -> f64 {
        packets
    }

    fn backlog(&self, sent: f64, base: f64, rtt: f64) -> f64 {
        sent * (1.0 - base / rtt)
    }

    fn gain(&self, window: f64) -> f64 {
        (self.0.alpha * window.powf(self.0.k)).max(1.0)
    }

    fn grows_from(&self, window: f64, _sent: f64) -> f64 {
        window
    }

    fn zeta(&self) -> f64 {
        self.0.zeta
    }

    fn cut(&self, backlog: f64) -> f64 {
        self.zeta() * backlog
    }

    /// S0 (4) and the loss rule of S0 (5).
    fn after_loss(&self, loss_window: f64, delay_window: f64) -> (f64, f64) {
        let halved = loss_window / 2.0;
        (halved, ((loss_window + delay_window) * (1.0 - self.0.beta) - halved).max(0.0))
    }

    fn reno(&self, acked: f64, window: f64) -> f64 {
        acked / window
    }

    fn gamma(&self) -> f64 {
        self.0.gamma_packets
    }

    fn is_low(&self, window: f64) -> bool {
        window <= self.0.low_window_packets
    }

    fn forgets_when_low(&self) -> bool {
        false
    }

    fn counts_recovery(&self) -> bool {
        false
    }
}

/// Both modules keep backlogs in half packets: `2 w - floor(2 w base / rtt)`, halved.
fn backlog_in_halves(sent: f64, base: f64, rtt: f64) -> f64 {
    sent - (2.0 * sent * base / rtt).floor() / 2.0
}

/// Release 1.3 of Lachlan Andrew's module.
#[derive(Debug, Clone, Copy)]
pub struct Linux13 {
    /// The module's `gamma`, which users may set.
    pub gamma_packets: f64,
}

impl Linux13 {
    /// w^0.75 / 8 as in the module: the inner root is floored before the outer one is taken, so it is not monotone.
    pub fn growth(window: u64) -> u64 {
        let outer = (window.isqrt() << 16).isqrt();
        (window << 8).checked_div(outer).map_or(0, |power| power >> 3)
    }

    /// Below it there is no delay window (LOW_WINDOW).
    const LOW_WINDOW: f64 = 38.0;
}

impl Rule for Linux13 {
    fn counted(&self, packets: f64) -> f64 {
        packets.floor()
    }

    fn backlog(&self, sent: f64, base: f64, rtt: f64) -> f64 {
        backlog_in_halves(sent, base, rtt)
    }

    fn gain(&self, window: f64) -> f64 {
        Self::growth(window as u64).max(1) as f64
    }

    fn grows_from(&self, _window: f64, sent: f64) -> f64 {
        sent
    }

    fn zeta(&self) -> f64 {
        1.0
    }

    fn cut(&self, backlog: f64) -> f64 {
        backlog.floor()
    }

    /// Both parts are scaled alike.
    fn after_loss(&self, loss_window: f64, delay_window: f64) -> (f64, f64) {
        let total = loss_window + delay_window;
        let halved = (total / 2.0).floor();
        let delay = (delay_window * halved / total).floor();
        (halved - delay, delay)
    }

    /// The kernel of the time grew by one for each `window + 1` packets.
    fn reno(&self, acked: f64, window: f64) -> f64 {
        acked / (window + 1.0)
    }

    fn gamma(&self) -> f64 {
        self.gamma_packets
    }

    fn is_low(&self, window: f64) -> bool {
        window < Self::LOW_WINDOW
    }

    fn forgets_when_low(&self) -> bool {
        true
    }

    fn counts_recovery(&self) -> bool {
        true
    }
}

/// The first module.
#[derive(Debug, Clone, Copy)]
pub struct Linux2006 {
    /// The module's `gamma`, which users may set.
    pub gamma_packets: f64,
}

impl Linux2006 {
    /// Fourth root of `window^3` by Newton's method, until two values differ by one at most; then a shift by 3.
    pub fn growth(window: u64) -> u64 {
        let cube = u128::from(window).pow(3);
        if cube == 0 {
            return 0;
        }
        let mut root = 1u128 << ((128 - cube.leading_zeros()) / 4);
        loop {
            let next = (3 * root + cube / root.pow(3)) / 4;
            if next.abs_diff(root) <= 1 {
                return (next >> 3) as u64;
            }
            root = next;
        }
    }
}

impl Rule for Linux2006 {
    fn counted(&self, packets: f64) -> f64 {
        packets.floor()
    }

    fn backlog(&self, sent: f64, base: f64, rtt: f64) -> f64 {
        backlog_in_halves(sent, base, rtt)
    }

    fn gain(&self, window: f64) -> f64 {
        Self::growth(window as u64).max(1) as f64
    }

    fn grows_from(&self, _window: f64, sent: f64) -> f64 {
        sent
    }

    fn zeta(&self) -> f64 {
        1.0
    }

    /// The difference is halved, not the backlog: an odd half packet counts whole.
    fn cut(&self, backlog: f64) -> f64 {
        backlog.ceil()
    }

    /// The loss is charged to the loss window alone, or, if that cannot bear it, ends the delay window.
    fn after_loss(&self, loss_window: f64, delay_window: f64) -> (f64, f64) {
        let halved = ((loss_window + delay_window) / 2.0).floor();
        if loss_window > halved || delay_window > halved {
            (halved, 0.0)
        } else {
            (halved - delay_window, delay_window)
        }
    }

    fn reno(&self, acked: f64, window: f64) -> f64 {
        acked / window
    }

    fn gamma(&self) -> f64 {
        self.gamma_packets
    }

    fn is_low(&self, _window: f64) -> bool {
        false
    }

    fn forgets_when_low(&self) -> bool {
        false
    }

    fn counts_recovery(&self) -> bool {
        true
    }
}
