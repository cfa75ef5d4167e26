// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a sender finds losses, and what its window does until they are repaired: all in which today's TCP and that of the years before 2012
//! differ. The states, the scoreboard and the retransmission timeout are common to both.

mod rate_halving;

use tandem_controllers::{
    Conn, Params, State,
    host::{Progress, Prr},
};

use crate::{
    Recovery,
    scoreboard::{Delivered, Scoreboard},
};
use rate_halving::RateHalving;

/// A sender's way to recover, with the account of the recovery under way.
#[derive(Debug, Clone, Copy)]
pub enum LossRecovery {
    /// RACK-TLP (RFC 8985) and proportional rate reduction (RFC 6937).
    Prr(Prr),
    /// FACK and rate halving.
    RateHalving(RateHalving),
}

impl LossRecovery {
    pub fn new(recovery: Recovery, params: &Params) -> Self {
        match recovery {
            Recovery::Prr => Self::Prr(Prr::default()),
            Recovery::RateHalving => Self::RateHalving(RateHalving::new(params.controller())),
        }
    }

    /// A recovery begins with this window.
    pub fn begin(&mut self, cwnd: u32) {
        match self {
            Self::Prr(prr) => *prr = Prr::new(cwnd),
            Self::RateHalving(halving) => halving.begin(),
        }
    }

    /// A segment has been sent in recovery, new or again.
    #[inline]
    pub fn sent(&mut self) {
        if let Self::Prr(prr) = self {
            prr.sent(1);
        }
    }

    /// RFC 8985 with its timers beside the retransmission timeout (a tail loss probe, one for holes that reordering may fill) and its
    /// adaptation to reordering; and undo.
    #[inline]
    pub fn has_rack(&self) -> bool {
        matches!(self, Self::Prr(_))
    }

    /// Finds segments newly known to be lost; returns how many. `high_seq`: the recovery or the timeout's repair ends there.
    #[inline]
    pub fn detect_losses(&self, board: &mut Scoreboard, delivered: &Delivered, state: State, high_seq: u64) -> u64 {
        match self {
            Self::Prr(_) => board.detect_losses(delivered, state >= State::Recovery),
            Self::RateHalving(_) => rate_halving::detect_losses(board, delivered, state, high_seq),
        }
    }

    /// The window after an ACK in recovery that delivered something. [RFC 9937 6.2]
    pub fn window(&mut self, conn: &Conn, in_flight: u64, progress: Progress) -> u32 {
        match self {
            Self::Prr(prr) => (in_flight + prr.allows(conn.snd_ssthresh.into(), in_flight, progress)).max(1) as u32,
            Self::RateHalving(halving) => halving.window(conn, in_flight),
        }
    }

    /// The window at the end of a recovery. [RFC 9937 6.4]
    pub fn final_window(&self, conn: &Conn) -> u32 {
        match self {
            Self::Prr(_) => conn.snd_ssthresh,
            Self::RateHalving(_) => conn.snd_cwnd.min(conn.snd_ssthresh),
        }
    }

    /// The window after an ACK that tells of a disturbance, outside recovery.
    pub fn moderate(&self, cwnd: u32, in_flight: u64) -> u32 {
        match self {
            Self::Prr(_) => cwnd,
            Self::RateHalving(_) => rate_halving::moderate(cwnd, in_flight),
        }
    }

    /// May cwnd grow on the ACK that just ended the state `was`?
    pub fn grows_after(&self, was: State) -> bool {
        match self {
            Self::Prr(_) => true,
            Self::RateHalving(_) => was != State::Recovery,
        }
    }
}
