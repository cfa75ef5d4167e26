// SPDX-License-Identifier: MIT OR Apache-2.0
//! Is the controller asked for growth when it should be, and only then?

use tandem_controllers::State;

use crate::{
    check::Tally,
    replay::is_reducing,
    rules::{Rule, Seen, named},
};

/// An ACK that asks for growth, which may come later on the same ACK.
#[derive(Clone, Copy)]
struct Owed {
    line: u64,
    is_paid: bool,
}

#[derive(Clone, Default)]
pub struct Growth {
    owed: Option<Owed>,
    /// The window at the last look, packets.
    window: u32,
}

impl Growth {
    /// An ACK: settles what the one before owed, because all that belongs to that one has been told. An ACK that ends CWR or Recovery may grow the
    /// window or leave it.
    pub fn ack(&mut self, seen: Seen, packets: u32, grow: Option<bool>, advances: Option<bool>, tally: &mut Tally) {
        self.settle(seen, tally);
        let is_reducing = is_reducing(seen.state);
        let grows = packets > 0 && grow.unwrap_or(!is_reducing);
        if is_reducing {
            self.judge_growth(seen, grows, tally);
        } else if packets > 0 && advances == Some(true) {
            self.owed = Some(Owed { line: seen.line, is_paid: grows });
        }
    }

    /// `cong_avoid` by itself.
    pub fn grow(&mut self, seen: Seen, tally: &mut Tally) {
        self.excuse();
        if is_reducing(seen.state) {
            self.judge_growth(seen, true, tally);
        }
    }

    fn judge_growth(&self, seen: Seen, grows: bool, tally: &mut Tally) {
        let what = || format!("`cong_avoid` in {}", named(seen.state));
        tally.check(Rule::NoGrowth, seen.line, !grows, what);
    }

    /// Growth has come, or this ACK asks for none: it has shown a loss.
    pub fn excuse(&mut self) {
        self.owed.iter_mut().for_each(|owed| owed.is_paid = true);
    }

    /// Before each event. A window of 1 in Loss, or one that has become smaller: a timeout that repeats itself has undone growth, and has no state
    /// to enter.
    pub fn look(&mut self, seen: Seen) {
        let window = seen.conn.snd_cwnd;
        if seen.state == State::Loss && (window == 1 || window < self.window) {
            self.excuse();
        }
        self.window = window;
    }

    fn settle(&mut self, seen: Seen, tally: &mut Tally) {
        let Some(Owed { line, is_paid }) = self.owed.take() else { return };
        let what = || format!("an ACK advances in {}, and `cong_avoid` does not come", named(seen.state));
        tally.check(Rule::Growth, line, is_paid, what);
    }
}
