// SPDX-License-Identifier: MIT OR Apache-2.0
//! Is the window used that the host says limits it?

use tandem_controllers::State;

use crate::{
    check::Tally,
    event::Shown,
    rules::{
        Rule, Seen,
        sequence::{Sequence, ahead},
    },
};

/// A round: from an ACK until all that was sent by then is acknowledged.
#[derive(Clone, Copy)]
struct Round {
    /// `nxt` at its beginning.
    end: u32,
    /// The most that was in flight, and what was acknowledged, packets.
    in_flight: u32,
    acked: u32,
    least_window: u32,
    /// The window was said to be the limit at each ACK.
    is_limited: bool,
}

#[derive(Clone, Default)]
pub struct Usage {
    round: Option<Round>,
    /// What was used of the window in the round before, packets: what is acknowledged in a round was sent in that one.
    used_before: Option<u32>,
    /// Rounds in a row in which not half of the window was used, though it was said to be the limit.
    unused: u32,
    /// As the log has shown it last.
    limited: Option<bool>,
}

impl Usage {
    pub fn show(&mut self, shown: &Shown) {
        self.limited = shown.limited.or(self.limited);
    }

    /// In a recovery, after an undo or after an idle time the window may be far from what is in flight.
    pub fn begin_anew(&mut self) {
        (self.round, self.used_before, self.unused) = (None, None, 0);
    }

    pub fn ack(&mut self, seen: Seen, packets: u32, sequence: &Sequence, tally: &mut Tally) {
        let (Some((una, nxt)), Some(bytes), Some(limited)) =
            (sequence.una_and_nxt(), sequence.in_flight_before_ack(), self.limited)
        else {
            return;
        };
        if seen.state > State::Disorder {
            return self.begin_anew();
        }
        if let Some(round) = self.round.take_if(|round| ahead(una, round.end) >= 0) {
            self.judge(seen.line, &round, tally);
        }
        let window = seen.conn.snd_cwnd;
        let round = self.round.get_or_insert(Round {
            end: nxt,
            in_flight: 0,
            acked: 0,
            least_window: window,
            is_limited: true,
        });
        round.in_flight = round.in_flight.max(bytes.div_ceil(seen.conn.mss));
        // Packets may be smaller than `mss`.
        round.acked = round.acked.saturating_add(packets);
        round.least_window = round.least_window.min(window);
        round.is_limited &= limited;
    }

    fn judge(&mut self, line: u64, round: &Round, tally: &mut Tally) {
        let Round { in_flight, acked, least_window, is_limited, .. } = *round;
        let used_now = in_flight.max(acked);
        let Some(used_before) = self.used_before.replace(used_now) else { return };
        let used = used_now.max(used_before);
        let is_unused = is_limited && u64::from(used) * 2 < least_window.into();
        self.unused = if is_unused { self.unused + 1 } else { 0 };
        let what = || {
            format!(
                "`limited` is true, and no more than {used} of {least_window} packets were in flight for two rounds"
            )
        };
        tally.check(Rule::Limited, line, self.unused < 2, what);
    }
}
