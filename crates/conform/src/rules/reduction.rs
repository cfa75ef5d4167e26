// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reductions: how they begin and end, that each is one, and what the host may do to the window by itself.

use tandem_controllers::{Conn, State};

use crate::{
    check::Tally,
    event::Event,
    replay::is_reducing,
    rules::{
        Rule, Seen, named,
        sequence::{Sequence, ahead},
    },
};

/// A tail loss probe (RFC 8985, section 7): it goes beside the window, and of what is under way one packet may be there twice.
const PROBE: u32 = 1;
/// With a window that is smaller, all packets but the first may be young when that times out: the initial window of RFC 6928. Ours.
const FEW: u32 = 10;

/// What `ssthresh` was asked for, until Open or Disorder is entered.
#[derive(Clone, Copy)]
struct Reduction {
    line: u64,
    /// What was acknowledged and sent then, if the log tells.
    una_and_nxt: Option<(u32, u32)>,
    /// The window then, packets.
    window: u32,
    /// What `ssthresh` returned.
    ssthresh: u32,
    /// RFC 8511: a mark may be answered by less than the controller says.
    for_mark: bool,
    is_entered: bool,
    has_ack: bool,
}

#[derive(Clone, Default)]
pub struct Reductions {
    under_way: Option<Reduction>,
    /// A reduction was made that may be undone.
    can_undo: bool,
    /// CWR or Recovery has ended since the last ACK, with this threshold.
    ended_at: Option<u32>,
    /// Loss was entered since the last ACK.
    timed_out: Option<TimedOut>,
}

/// A timeout: where, and the largest window that it may leave, packets.
#[derive(Clone, Copy)]
struct TimedOut {
    line: u64,
    most: u32,
}

impl Reductions {
    pub fn ack(&mut self, seen: Seen, owns_window: bool, tally: &mut Tally) {
        let Seen { line, conn, state } = seen;
        if let Some(reduction) = self.under_way.as_mut() {
            reduction.has_ack = true;
            if !reduction.is_entered {
                let what = || format!("`ssthresh` was called, and {} still is the state at the next ACK", named(state));
                tally.check(Rule::Entry, reduction.line, state > State::Disorder, what);
                reduction.is_entered = true;
                self.under_way = self.under_way.filter(|_| state > State::Disorder);
            }
        }
        if let Some(TimedOut { line: entered, most }) =
            self.timed_out.take().filter(|_| state == State::Loss && !owns_window)
        {
            let window = conn.snd_cwnd;
            let what =
                || format!("Loss is entered, and the window is {window} at the ACK in line {line}: {most} at most");
            tally.check(Rule::Timeout, entered, window <= most, what);
        }
        self.ended_at = None;
    }

    pub fn ssthresh(&mut self, seen: Seen, for_mark: bool, sequence: &Sequence, tally: &mut Tally) {
        let una_and_nxt = sequence.una_and_nxt();
        let (is_new, earlier) = match &self.under_way {
            Some(earlier) => (earlier.leaves_room_for(una_and_nxt, seen.state), earlier.line),
            None => (true, 0),
        };
        let what = || format!("`ssthresh` again for the reduction of line {earlier}");
        tally.check(Rule::OneReduction, seen.line, is_new, what);
        let is_entered = self.under_way.is_some_and(|earlier| earlier.is_entered);
        let (window, ssthresh) = (seen.conn.snd_cwnd, seen.conn.snd_ssthresh);
        let has_ack = false;
        self.under_way =
            Some(Reduction { line: seen.line, una_and_nxt, window, ssthresh, for_mark, is_entered, has_ack });
        self.can_undo = true;
    }

    pub fn enter(&mut self, seen: Seen, next: State, owns_window: bool, sequence: &Sequence, tally: &mut Tally) {
        let Seen { line, conn, state } = seen;
        if next > State::Disorder {
            if state <= State::Disorder {
                let what = || format!("{} is entered without `ssthresh`", named(next));
                tally.check(Rule::Entry, line, self.under_way.is_some(), what);
            }
            self.under_way.iter_mut().for_each(|reduction| reduction.is_entered = true);
            if next == State::Loss && state != State::Loss {
                self.timed_out = Some(TimedOut { line, most: self.most_after_timeout(conn.mss, sequence) });
            }
            return;
        }
        let Some(reduction) = self.under_way.take() else { return };
        if state <= State::Disorder {
            let what = || format!("`ssthresh` was called, and {} is entered", named(next));
            tally.check(Rule::Entry, reduction.line, false, what);
        } else if is_reducing(state) && !owns_window {
            let Reduction { ssthresh, line: begun, .. } = reduction;
            let what = || {
                let (window, state) = (conn.snd_cwnd, named(state));
                format!("{state} ends with a window of {window}, and `ssthresh` in line {begun} returned {ssthresh}")
            };
            tally.check(Rule::Exit, line, conn.snd_cwnd <= ssthresh, what);
            self.ended_at = Some(ssthresh);
        }
    }

    /// The first packet is lost. What was sent in the last RTT may be under way still, a probe twice, and the window is open to that and one
    /// packet more. It is less than before, unless all but the first of a few packets were young. Where the log does not tell what is under way, 1.
    fn most_after_timeout(&self, mss: u32, sequence: &Sequence) -> u32 {
        let (Some((una, nxt)), Some(reduction)) = (sequence.una_and_nxt(), &self.under_way) else { return 1 };
        let outstanding = u32::try_from(ahead(nxt, una)).unwrap_or(0).div_ceil(mss);
        let before = if reduction.window >= FEW { reduction.window - 1 } else { u32::MAX };
        (outstanding + PROBE).min(before).max(1)
    }

    pub fn undo(&mut self, seen: Seen, tally: &mut Tally) {
        tally.check(Rule::Undo, seen.line, self.can_undo, || "there is no reduction to undo".to_owned());
        (self.under_way, self.can_undo) = (None, false);
    }

    /// The host sets the window to `cwnd` by itself.
    pub fn window(&self, seen: Seen, cwnd: u32, may_raise: bool, tally: &mut Tally) {
        let Seen { line, conn, state } = seen;
        // A host that sets it just after a recovery has ended is not much too late.
        // A timeout may leave a probe in flight that went beside the window.
        let probe = u32::from(self.under_way.is_some_and(|reduction| !reduction.is_entered));
        let holds = may_raise || cwnd <= conn.snd_cwnd.max(self.ended_at.unwrap_or(0)) + probe;
        let what = || format!("the host raises the window from {} to {cwnd} in {}", conn.snd_cwnd, named(state));
        tally.check(Rule::Raise, line, holds, what);
    }

    pub fn after(&mut self, event: &Event, conn: &Conn) {
        let Some(reduction) = &mut self.under_way else { return };
        let is_others = match event {
            Event::Ssthresh { .. } => true,
            Event::Window { ssthresh: Some(_), mss, .. } => reduction.for_mark || mss.is_some(),
            _ => false,
        };
        if is_others {
            reduction.ssthresh = conn.snd_ssthresh;
        }
    }
}

impl Reduction {
    /// May there be a further one? All that was in flight at this one has been acknowledged, or in QUIC found lost, which may have been nothing;
    /// or a timeout comes again after progress.
    fn leaves_room_for(&self, una_and_nxt: Option<(u32, u32)>, state: State) -> bool {
        let (Some((old_una, old_nxt)), Some((una, nxt))) = (self.una_and_nxt, una_and_nxt) else { return self.has_ack };
        let advances = ahead(una, old_una) > 0;
        let is_later = advances || self.has_ack || ahead(nxt, old_nxt) > 0;
        is_later && ahead(una, old_nxt) >= 0 || advances && state == State::Loss
    }
}
