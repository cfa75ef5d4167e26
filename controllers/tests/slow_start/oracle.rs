// SPDX-License-Identifier: MIT OR Apache-2.0
//! HyStart as in Linux and HyStart++ (RFC 9406) in real numbers. They see ACKs and say when slow start ends.

/// One ACK. Positions are packets since the connection began, times microseconds.
#[derive(Clone, Copy)]
pub struct Ack {
    pub now_us: f64,
    pub acked: f64,
    pub rtt_us: Option<f64>,
    pub una: u64,
    pub nxt: u64,
    /// Packets, before the ACK.
    pub window: f64,
    pub window_limited: bool,
}

/// What slow start makes of an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The window grows by this many packets.
    Grow(f64),
    /// Slow start ends at the present window.
    End,
}

/// A way to end slow start; called only in slow start.
pub trait Exit {
    fn ack(&mut self, ack: &Ack) -> Verdict;
    /// A timeout, with this much sent.
    fn timeout(&mut self, nxt: u64, now_us: f64);
}

/// The paper's section 4 with Linux's constants, for a host that does not pace.
pub struct HyStart {
    round_end: u64,
    round_start_us: f64,
    last_us: f64,
    smallest_us: f64,
    round_rtts_us: Vec<f64>,
    found: bool,
}

impl HyStart {
    pub fn new(now_us: f64) -> Self {
        let (smallest_us, round_rtts_us) = (f64::INFINITY, Vec::new());
        Self { round_end: 0, round_start_us: now_us, last_us: now_us, smallest_us, round_rtts_us, found: false }
    }

    fn begin(&mut self, nxt: u64, now_us: f64) {
        (self.round_end, self.round_start_us, self.last_us) = (nxt, now_us, now_us);
        self.round_rtts_us.clear();
    }

    fn train_is_long(&mut self, now_us: f64) -> bool {
        let follows = now_us - self.last_us <= 2e3;
        if follows {
            self.last_us = now_us;
        }
        follows && now_us - self.round_start_us > ((self.smallest_us + 1e3) / 2.0).floor()
    }

    fn delay_is_long(&mut self, rtt_us: f64) -> bool {
        self.round_rtts_us.push(rtt_us);
        let least = self.round_rtts_us.iter().copied().fold(f64::INFINITY, f64::min);
        self.round_rtts_us.len() > 8 && least > self.smallest_us + (self.smallest_us / 8.0).clamp(4e3, 16e3)
    }
}

impl Exit for HyStart {
    fn ack(&mut self, ack: &Ack) -> Verdict {
        let Some(rtt_us) = ack.rtt_us else { return Verdict::Grow(ack.acked) };
        self.smallest_us = self.smallest_us.min(rtt_us);
        if self.found {
            return Verdict::Grow(ack.acked);
        }
        if ack.una > self.round_end {
            self.begin(ack.nxt, ack.now_us);
        }
        if ack.window < 16.0 {
            return Verdict::Grow(ack.acked);
        }
        let (train, delay) = (self.train_is_long(ack.now_us), self.delay_is_long(rtt_us));
        self.found = train || delay;
        if self.found { Verdict::End } else { Verdict::Grow(ack.acked) }
    }

    fn timeout(&mut self, nxt: u64, now_us: f64) {
        *self = Self::new(now_us);
        self.begin(nxt, now_us);
    }
}

/// RFC 9406 section 4.2, in its words, for a host that does not pace.
pub struct HyStartPlus {
    window_end: u64,
    last_round_min_rtt: f64,
    current_round_min_rtt: f64,
    rtt_sample_count: u32,
    css_baseline_min_rtt: f64,
    css_rounds: Option<u32>,
    /// ssthresh has been set, so slow start is no longer the initial one.
    over: bool,
}

impl HyStartPlus {
    pub fn new() -> Self {
        Self {
            window_end: 0,
            last_round_min_rtt: f64::INFINITY,
            current_round_min_rtt: f64::INFINITY,
            rtt_sample_count: 0,
            css_baseline_min_rtt: f64::INFINITY,
            css_rounds: None,
            over: false,
        }
    }

    fn take_sample(&mut self, rtt_us: f64) {
        self.current_round_min_rtt = self.current_round_min_rtt.min(rtt_us);
        self.rtt_sample_count += 1;
        if self.rtt_sample_count < 8 {
            return;
        }
        if self.css_rounds.is_some() {
            if self.current_round_min_rtt < self.css_baseline_min_rtt {
                (self.css_baseline_min_rtt, self.css_rounds) = (f64::INFINITY, None);
            }
        } else if self.last_round_min_rtt.is_finite() {
            // In whole microseconds.
            let thresh = (self.last_round_min_rtt / 8.0).floor().clamp(4e3, 16e3);
            if self.current_round_min_rtt >= self.last_round_min_rtt + thresh {
                (self.css_baseline_min_rtt, self.css_rounds) = (self.current_round_min_rtt, Some(0));
            }
        }
    }
}

impl Exit for HyStartPlus {
    fn ack(&mut self, ack: &Ack) -> Verdict {
        if self.over {
            return Verdict::Grow(ack.acked);
        }
        if ack.una > self.window_end {
            self.window_end = ack.nxt;
            self.last_round_min_rtt = self.current_round_min_rtt;
            (self.current_round_min_rtt, self.rtt_sample_count) = (f64::INFINITY, 0);
            self.css_rounds = self.css_rounds.map(|rounds| rounds + 1);
        }
        if let Some(rtt_us) = ack.rtt_us {
            self.take_sample(rtt_us);
        }
        if self.css_rounds.is_some_and(|rounds| rounds >= 5) {
            self.over = true;
            return Verdict::End;
        }
        Verdict::Grow(ack.acked.min(8.0) / if self.css_rounds.is_some() { 4.0 } else { 1.0 })
    }

    fn timeout(&mut self, _: u64, _: f64) {
        self.over = true;
    }
}
