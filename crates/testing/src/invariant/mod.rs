// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host that keeps only the letter of the contract, and checks every call's outcome.

mod events;
mod facts;

use std::{fmt, ops::RangeInclusive, sync::Arc};

use proptest::{prelude::*, test_runner::TestCaseError};
use tandem_controllers::{Ack, Conn, Instance, MAX_RTT_US, MAX_WINDOW, Params, Probe, Reason, Signal, State, View};

pub use events::{Case, Event, case};
pub use facts::{Facts, only, q8};

use crate::trace::Contract;

/// A connection whose host keeps only the letter of the contract.
pub struct Connection<C = Instance> {
    controller: C,
    probes: Vec<Probe>,
    conn: Conn,
    facts: Facts,
    owns_window: bool,
    /// It has a use for a slow-start threshold.
    has_threshold: bool,
    /// The base RTT is measured afresh after a timeout.
    forgets_base_rtt: bool,
    gamma_q8: RangeInclusive<u32>,
    sampling: bool,
    min_rtt_us: Option<u32>,
    /// The least sample before a timeout that has made it measure afresh, until the next reduction.
    forgotten_rtt_us: Option<u32>,
    max_flight: u32,
}

fn least(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    a.into_iter().chain(b).min()
}

impl<C: Contract> Connection<C> {
    /// A connection that begins with `conn`.
    ///
    /// # Errors
    /// If an invariant does not hold.
    pub fn new(params: Params, facts: &Facts, mut conn: Conn) -> Result<Self, TestCaseError> {
        let before = conn;
        let gamma_q8 = (facts.gamma_q8)(&params);
        let owns_window = params.controller().owns_window();
        let has_threshold = params.controller().signal != Signal::Model;
        let forgets_base_rtt = params.get("forget_base_rtt") == Some(1.0);
        let probes = params.controller().probes().collect();
        let controller = C::new(&Arc::new(params), &mut conn);
        let mut new = Self {
            controller,
            probes,
            conn,
            facts: *facts,
            owns_window,
            has_threshold,
            forgets_base_rtt,
            gamma_q8,
            sampling: true,
            min_rtt_us: None,
            forgotten_rtt_us: None,
            max_flight: 0,
        };
        new.note_flight();
        new.check(&before)?;
        Ok(new)
    }

    /// One event and its calls.
    ///
    /// # Errors
    /// If an invariant does not hold.
    pub fn play(&mut self, event: &Event) -> Result<(), TestCaseError> {
        match *event {
            Event::Ack(ack) => {
                let advance = ack.pkts_acked.wrapping_mul(self.conn.mss);
                self.conn.snd_una = self.conn.snd_una.wrapping_add(advance);
                self.conn.snd_nxt = self.conn.snd_nxt.wrapping_add(advance);
                self.sample(ack)?;
                self.cong_avoid(ack.pkts_acked)
            }
            Event::Round(ack) => {
                self.conn.now_us += u64::from(ack.rtt_us);
                self.conn.snd_una = self.conn.snd_nxt.wrapping_add(1);
                self.conn.snd_nxt = self.conn.snd_una.wrapping_add(self.conn.snd_cwnd.wrapping_mul(self.conn.mss));
                self.sample(ack)?;
                self.cong_avoid(ack.pkts_acked)
            }
            Event::Sample(rtt_us) => self.sample(Ack { pkts_acked: 1, rtt_us, ..Ack::default() }),
            Event::Wait(us) => {
                self.conn.now_us += u64::from(us);
                Ok(())
            }
            Event::Reduce(state) => {
                let reason = if state == State::Cwr { Reason::Mark } else { Reason::Loss };
                self.conn.snd_ssthresh = self.ssthresh(reason)?;
                if state == State::Loss {
                    self.conn.snd_cwnd = 1;
                } else if !self.owns_window {
                    self.conn.snd_cwnd = self.conn.snd_ssthresh;
                }
                self.set_state(state)
            }
            Event::SetState(state) => self.set_state(state),
            Event::Undo { adopt } => self.undo(adopt),
            Event::Restart(cwnd) => {
                self.conn.snd_cwnd = cwnd.min(self.conn.snd_cwnd);
                self.call(C::restart)
            }
            Event::Host { cwnd, limited } => {
                self.conn.snd_cwnd = cwnd;
                self.conn.is_cwnd_limited = limited.into();
                Ok(())
            }
            Event::HostAnything(conn) => {
                // Time never goes back, and a rate is the controller's.
                let Conn { now_us, pacing_bytes_per_s, .. } = self.conn;
                self.conn = Conn { now_us, pacing_bytes_per_s, ..conn };
                Ok(())
            }
        }
    }

    fn note_flight(&mut self) {
        let bytes = self.conn.snd_nxt.wrapping_sub(self.conn.snd_una);
        self.max_flight = self.max_flight.max(bytes / self.conn.mss).min(MAX_WINDOW);
    }

    /// One call and what must hold after any of them.
    fn call<T>(&mut self, call: impl FnOnce(&mut C, &mut Conn) -> T) -> Result<T, TestCaseError> {
        let before = self.conn;
        self.note_flight();
        let result = call(&mut self.controller, &mut self.conn);
        self.check(&before)?;
        Ok(result)
    }

    fn sample(&mut self, ack: Ack) -> Result<(), TestCaseError> {
        if self.sampling && ack.rtt_us > 0 {
            let rtt_us = ack.rtt_us.min(MAX_RTT_US);
            self.min_rtt_us = least(self.min_rtt_us, Some(rtt_us));
        }
        self.call(|i, c| i.pkts_acked(c, &ack))
    }

    fn cong_avoid(&mut self, acked: u32) -> Result<(), TestCaseError> {
        let (before, shown) = (self.conn, self.controller.view(&self.conn));
        self.call(|i, c| i.cong_avoid(c, acked))?;
        let after = self.controller.view(&self.conn);
        if before.is_cwnd_limited == 0 {
            prop_assert!(self.conn.snd_cwnd <= before.snd_cwnd, "grows unused: {:?} -> {:?}", before, self.conn);
        }
        let taken = after.loss_window < shown.loss_window;
        prop_assert!(!(taken && self.facts.loss_window_stays), "{:?}: {:?} -> {:?}", before, shown, after);
        Ok(())
    }

    fn ssthresh(&mut self, reason: Reason) -> Result<u32, TestCaseError> {
        let (before, shown) = (self.conn, self.controller.view(&self.conn));
        let ssthresh = self.call(|i, c| i.ssthresh(c, reason))?;
        self.forgotten_rtt_us = None;
        if !self.has_threshold {
            prop_assert_eq!(ssthresh, before.snd_ssthresh, "it has no use for a threshold");
            return Ok(ssthresh);
        }
        // RFC 5681 (4): at least two segments.
        prop_assert!(ssthresh >= 2, "ssthresh {}", ssthresh);
        prop_assert!(ssthresh <= before.snd_cwnd.max(2), "a loss raises {:?} to {}", before, ssthresh);
        if self.facts.halves_at_most {
            prop_assert!(ssthresh >= shown.loss_window / 2, "{} is less than regular TCP's: {:?}", ssthresh, shown);
        }
        Ok(ssthresh)
    }

    fn set_state(&mut self, state: State) -> Result<(), TestCaseError> {
        self.sampling = state <= State::Disorder;
        if state == State::Loss && self.forgets_base_rtt {
            self.forgotten_rtt_us = least(self.forgotten_rtt_us, self.min_rtt_us.take());
        }
        self.call(|i, c| i.set_state(c, state))
    }

    fn undo(&mut self, adopt: bool) -> Result<(), TestCaseError> {
        // What the reduction has forgotten was no mistake after all.
        self.min_rtt_us = least(self.min_rtt_us, self.forgotten_rtt_us);
        let window = self.call(|i, c| i.undo_cwnd(c))?;
        prop_assert!((self.conn.snd_cwnd..=MAX_WINDOW).contains(&window), "undo to {} of {:?}", window, self.conn);
        if adopt {
            self.conn.snd_cwnd = window;
        }
        Ok(())
    }

    fn check(&self, before: &Conn) -> Result<(), TestCaseError> {
        let conn = &self.conn;
        let view = self.controller.view(conn);
        let holds = |name: &str, what: bool| -> Result<(), TestCaseError> {
            prop_assert!(what, "{}: {:?} -> {:?}, {:?}", name, before, conn, Shown(&view));
            Ok(())
        };
        holds("the window is never 0", conn.snd_cwnd >= 1)?;
        holds("what sets a rate keeps one", !self.owns_window || conn.pacing_bytes_per_s > 0)?;
        holds("the window never grows above the clamp", conn.snd_cwnd <= before.snd_cwnd.max(conn.snd_cwnd_clamp))?;
        holds("ssthresh is never lowered below 2", conn.snd_ssthresh >= before.snd_ssthresh.min(2))?;
        holds("ssthresh is never raised", conn.snd_ssthresh <= before.snd_ssthresh)?;
        let written = Conn {
            snd_cwnd: before.snd_cwnd,
            snd_cwnd_cnt: before.snd_cwnd_cnt,
            snd_ssthresh: before.snd_ssthresh,
            pacing_bytes_per_s: if self.owns_window { before.pacing_bytes_per_s } else { conn.pacing_bytes_per_s },
            ..*conn
        };
        holds("nothing else of the connection is written", written == *before)?;

        let parts = view.loss_window.checked_add(view.delay_window);
        holds("the two windows add up", parts == Some(conn.snd_cwnd))?;
        holds("gamma is in its range", self.gamma_q8.contains(&view.gamma_q8))?;
        holds("no more is queued than was in flight", u64::from(view.diff_q8) <= u64::from(self.max_flight) << 8)?;
        let mut places = self.probes.iter().zip(view.probes);
        holds("a word is in its list", places.all(|(probe, raw)| !probe.is_word() || probe.read(raw).is_some()))?;
        holds("no place is without a probe", view.probes[self.probes.len()..].iter().all(|&raw| raw == 0))?;
        if self.facts.shows_base_rtt {
            holds("baseRTT is the least sample", view.base_rtt_us == self.min_rtt_us.unwrap_or(0))?;
        }
        Ok(())
    }
}

/// A view in users' units.
struct Shown<'a>(&'a View);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let View { loss_window, delay_window, gamma_q8, diff_q8, base_rtt_us, .. } = self.0;
        let (gamma, diff) = (f64::from(*gamma_q8) / 256.0, f64::from(*diff_q8) / 256.0);
        write!(f, "loss {loss_window} delay {delay_window} gamma {gamma} diff {diff} base {base_rtt_us}")
    }
}
