// SPDX-License-Identifier: MIT OR Apache-2.0
//! A controller as the model drives it: a round at a time. Either a [`Rule`] with its two windows, or Tandem's own C source.

use std::sync::Arc;

use tandem_controllers::{Ack, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Params, Reason, State};

use crate::rule::Rule;

/// What the end of a round tells a controller, in packets and packet times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundEnd {
    /// Packets in flight when the round that was measured began.
    pub sent: f64,
    /// Packets acknowledged in the round that ends.
    pub acked: f64,
    /// Smallest RTT of the round measured.
    pub rtt: f64,
    /// RTT of an empty path.
    pub base: f64,
}

/// What becomes of the window at the end of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Did the backlog reach gamma?
    pub is_cut: bool,
    /// Packets by which the window steps up at once. Reno's packet came before, somewhere in the round that ends.
    pub step: f64,
}

/// A connection's two windows, packets.
pub trait Windows: Clone {
    /// A connection with this loss window, no delay window, and nothing lost yet.
    fn at(&self, loss_window: f64) -> Self;
    /// Loss window plus delay window.
    fn window(&self) -> f64;
    /// Loss window alone.
    fn loss_window(&self) -> f64;
    /// Is there no delay window, and too small a window for one?
    fn is_too_small(&self) -> bool;
    /// A round has ended: Reno's growth in it, then the delay window's law.
    fn round(&mut self, end: RoundEnd) -> Change;
    /// A loss, and the recovery from it.
    fn lose(&mut self);
    /// Recovery takes another RTT; packets sent in that.
    fn recover_again(&mut self) -> f64;
}

/// The windows of a [`Rule`].
#[derive(Debug, Clone)]
pub struct Ruled<R> {
    rule: R,
    loss_window: f64,
    delay_window: f64,
    /// What a module still counts as sent in the round before the recovery.
    uncounted: f64,
}

impl<R: Rule> Ruled<R> {
    /// A connection with a loss window of one packet and no delay window.
    pub fn new(rule: R) -> Self {
        Self { rule, loss_window: 1.0, delay_window: 0.0, uncounted: 0.0 }
    }
}

impl<R: Rule> Windows for Ruled<R> {
    fn at(&self, loss_window: f64) -> Self {
        Self { loss_window, ..Self::new(self.rule.clone()) }
    }

    fn window(&self) -> f64 {
        self.loss_window + self.delay_window
    }

    fn loss_window(&self) -> f64 {
        self.loss_window
    }

    fn is_too_small(&self) -> bool {
        self.delay_window == 0.0 && self.rule.is_low(self.loss_window)
    }

    /// S0 (5), S1 (4), S2 (2).
    fn round(&mut self, end: RoundEnd) -> Change {
        let (window, delay_window) = (self.window(), self.delay_window);
        let sent = self.rule.counted(end.sent + std::mem::take(&mut self.uncounted));
        let backlog = self.rule.backlog(sent, end.base, end.rtt);
        let is_low = self.rule.is_low(window);
        let is_cut = !is_low && backlog >= self.rule.gamma();
        if is_cut {
            self.delay_window = (self.delay_window - self.rule.cut(backlog)).max(0.0);
        } else if !is_low {
            self.delay_window += self.rule.gain(self.rule.grows_from(window, sent)) - 1.0;
        } else if self.rule.forgets_when_low() {
            self.delay_window = 0.0;
        }
        self.loss_window += self.rule.reno(end.acked, window);
        Change { is_cut, step: (self.delay_window - delay_window).max(0.0) }
    }

    fn lose(&mut self) {
        if self.rule.counts_recovery() {
            self.uncounted = self.window();
        }
        (self.loss_window, self.delay_window) = self.rule.after_loss(self.loss_window, self.delay_window);
    }

    /// Linux of the modules' time went on to send one packet for two ACKs, down to half of ssthresh (`min_cwnd`), and came back
    /// by slow start in the round after.
    fn recover_again(&mut self) -> f64 {
        if !self.rule.counts_recovery() {
            return self.window();
        }
        let sent = self.window() / 2.0;
        self.uncounted += sent;
        sent
    }
}

/// Tandem's own controller, called as a host calls it, two calls a round: the ACK that ends it, then all others at once.
/// (Its `cong_avoid` takes any number of ACKs, and without `spread_gain` the number at a time makes no difference.)
#[derive(Clone)]
pub struct Driven {
    instance: Instance,
    params: Arc<Params>,
    conn: Conn,
    low_window: u32,
    base_rtt: f64,
    us_per_packet: f64,
}

impl Driven {
    /// `base_rtt` is the RTT of the empty path in packet times of `us_per_packet` each.
    pub fn new(params: Arc<Params>, base_rtt: f64, us_per_packet: f64) -> Self {
        let low_window = params.get("low_window").expect("a Compound controller") as u32;
        let conn = Conn::default();
        let instance = Instance::new(&params, &mut Conn { snd_cwnd: 1, mss: 1, ..conn });
        Self { instance, params, conn, low_window, base_rtt, us_per_packet }.at(1.0)
    }

    fn sample(&mut self, rtt: f64) {
        let rtt_us = (rtt * self.us_per_packet).round().max(1.0) as u32;
        self.instance.pkts_acked(&mut self.conn, &Ack { pkts_acked: 1, rtt_us, ..Ack::default() });
    }

    /// `flight` packets are in flight: with an MSS of one byte, packets are sequence numbers.
    fn fly(&mut self, flight: u32) {
        self.conn.snd_nxt = self.conn.snd_una.wrapping_add(flight);
    }
}

impl Windows for Driven {
    fn at(&self, loss_window: f64) -> Self {
        let mut conn = Conn {
            snd_cwnd: loss_window.clamp(1.0, f64::from(MAX_WINDOW)) as u32,
            snd_ssthresh: 2,
            snd_cwnd_clamp: MAX_WINDOW.min(INFINITE_SSTHRESH),
            mss: 1,
            is_cwnd_limited: 1,
            ..Conn::default()
        };
        let instance = Instance::new(&self.params, &mut conn);
        let mut new = Self { instance, conn, ..self.clone() };
        new.sample(self.base_rtt);
        new.fly(new.conn.snd_cwnd);
        // A recovery that cost nothing: it begins a round, without the sample above.
        new.instance.set_state(&mut new.conn, State::Recovery);
        new.instance.set_state(&mut new.conn, State::Open);
        new
    }

    fn window(&self) -> f64 {
        f64::from(self.conn.snd_cwnd)
    }

    fn loss_window(&self) -> f64 {
        f64::from(self.instance.view(&self.conn).loss_window)
    }

    fn is_too_small(&self) -> bool {
        self.conn.snd_cwnd <= self.low_window && self.instance.view(&self.conn).delay_window == 0
    }

    fn round(&mut self, end: RoundEnd) -> Change {
        let acked = end.acked as u32;
        // The other ACKs of the round that ends: they arrive before the first packet beyond its start is acknowledged.
        self.instance.cong_avoid(&mut self.conn, acked.saturating_sub(1));
        let delay_window = self.instance.view(&self.conn).delay_window;
        self.conn.snd_una = self.conn.snd_nxt.wrapping_add(1);
        self.fly(self.conn.snd_cwnd - 1);
        self.sample(end.rtt);
        self.instance.cong_avoid(&mut self.conn, 1);
        let view = self.instance.view(&self.conn);
        let is_cut = view.diff_q8 >= view.gamma_q8 && self.conn.snd_cwnd > self.low_window;
        Change { is_cut, step: f64::from(view.delay_window.saturating_sub(delay_window)) }
    }

    fn lose(&mut self) {
        let window = self.instance.ssthresh(&self.conn, Reason::Loss);
        self.instance.set_state(&mut self.conn, State::Recovery);
        self.conn.snd_ssthresh = window;
        self.conn.snd_cwnd = window;
        self.conn.snd_una = self.conn.snd_nxt;
        self.fly(window);
        self.instance.set_state(&mut self.conn, State::Open);
    }

    fn recover_again(&mut self) -> f64 {
        self.window()
    }
}
