// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contract's rules for a host, as checks of its calls and of what it shows. What a host may do at its own discretion breaks none of
//! them: proportional rate reduction, inflation, limited transmit, probes, undo, a window that it lowers.

mod growth;
mod reduction;
mod sequence;
mod usage;

use tandem_controllers::{Conn, State};

use crate::{
    check::Tally,
    event::{Event, StateName},
    replay::is_reducing,
};
use growth::Growth;
use reduction::Reductions;
use sequence::Sequence;
use usage::Usage;

macro_rules! rules {
    ($($rule:ident $name:literal asks: $asks:literal source: $source:literal
        needs: $needs:literal mend: $mend:literal)*) => {
        /// A rule of the contract for a host.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $(#[doc = $asks] $rule,)*
        }

        impl Rule {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// Its name, as in messages.
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// What it asks of a host.
            pub fn asks(self) -> &'static str {
                match self { $(Self::$rule => $asks,)* }
            }

            /// Where the contract says it.
            pub fn source(self) -> &'static str {
                match self { $(Self::$rule => $source,)* }
            }

            /// What a log must have for it to be checked.
            pub fn needs(self) -> &'static str {
                match self { $(Self::$rule => $needs,)* }
            }

            /// What to do about it.
            pub fn mend(self) -> &'static str {
                match self { $(Self::$rule => $mend,)* }
            }
        }
    };
}

rules! {
    Values "values"
        asks: "after a call, window, threshold and pacing rate are the controller's"
        source: "the table of calls"
        needs: "`cwnd`, `ssthresh` or `pacing_bytes_per_s` after a call"
        mend: "take the values that the controller gives"
    Clock "clock"
        asks: "`now_us` never goes back"
        source: "`contract.h`, `now_us`"
        needs: "`now_us` in two lines"
        mend: "take one monotonic clock for all calls"
    Sequence "sequence"
        asks: "`una` and `nxt` never go back, and `una` never passes `nxt`"
        source: "`contract.h`, `snd_una` and `snd_nxt`"
        needs: "`una` or `nxt` in two lines"
        mend: "show the first byte that is not acknowledged and the next that was never sent; a retransmission takes neither back"
    Acked "acked"
        asks: "an ACK acknowledges no more packets than were in flight"
        source: "`contract.h`, `pkts_acked`"
        needs: "`una` and `nxt` in the `ack` lines"
        mend: "count each packet once, in units of `mss`, when it is first acknowledged"
    Growth "growth"
        asks: "`cong_avoid` at each ACK that advances `una`, outside CWR and Recovery, unless it shows a loss"
        source: "the table of calls, `NAME_cong_avoid`"
        needs: "`ack` lines that raise `una`, outside CWR and Recovery"
        mend: "call `cong_avoid` last on each such ACK: whether to grow is the controller's to decide"
    NoGrowth "no-growth"
        asks: "no `cong_avoid` in CWR and Recovery"
        source: "the table of calls, `NAME_cong_avoid`"
        needs: "`ack` lines in CWR or Recovery"
        mend: "leave it out until they end; if this ACK ends them, `set_state` comes before `cong_avoid`"
    OneReduction "one-reduction"
        asks: "`ssthresh` once for each reduction: again only for what was sent since, or for another timeout after progress"
        source: "the table of calls, `NAME_ssthresh`"
        needs: "an `ssthresh` line"
        mend: "keep the threshold until all that was in flight at the reduction is acknowledged"
    Entry "entry"
        asks: "`ssthresh` and then `set_state`, whenever CWR, Recovery or Loss is entered from Open or Disorder"
        source: "the table of calls, `NAME_ssthresh`, `NAME_set_state`"
        needs: "an `ssthresh` line, or a `state` line that enters CWR, Recovery or Loss"
        mend: "call `ssthresh`, take its value, then call `set_state`, all before the next ACK"
    Exit "exit"
        asks: "when CWR or Recovery ends, the window is what `ssthresh` returned, or less"
        source: "the order of the calls"
        needs: "a `state` line that ends CWR or Recovery"
        mend: "set `snd_cwnd` to that value before `set_state`; a mistaken reduction is taken back by `undo_cwnd`"
    Raise "raise"
        asks: "outside CWR and Recovery only the controller raises the window, unless `mss` changes"
        source: "the order of the calls"
        needs: "a `window` line with `cwnd`"
        mend: "leave growth to `cong_avoid`, and the way back to `undo_cwnd`"
    Timeout "timeout"
        asks: "at the first ACK after a timeout, the window is at most what was sent in the last RTT, plus one packet"
        source: "the order of the calls"
        needs: "an `ack` line in Loss"
        mend: "set `snd_cwnd` to 1, or as Linux to what is still in flight and 1; a transport may still send two packets, as QUIC does"
    Undo "undo"
        asks: "`undo_cwnd` for a reduction that was made and not undone yet"
        source: "the table of calls, `NAME_undo_cwnd`"
        needs: "an `undo` line"
        mend: "call it once for a mistaken reduction"
    Limited "limited"
        asks: "`limited` is not true while less than half of the window is used, for three rounds"
        source: "units, `is_cwnd_limited`"
        needs: "`limited`, `una` and `nxt` in the `ack` lines, three rounds of them outside recovery"
        mend: "show 0 while the application or the receiver, not the window, limits the sending"
}

impl Rule {
    /// Is it asked of a host whose controller owns the window (the trait `OWNS_WINDOW`)?
    pub fn is_for_owners(self) -> bool {
        !matches!(self, Self::Growth | Self::NoGrowth | Self::Exit | Self::Timeout | Self::Limited)
    }
}

/// What a rule sees of a line before the call is played.
#[derive(Clone, Copy)]
struct Seen<'a> {
    line: u64,
    /// As it was after the line before, except for what this line shows.
    conn: &'a Conn,
    state: State,
}

/// One connection's host.
#[derive(Clone)]
pub struct HostRules {
    owns_window: bool,
    state: State,
    sequence: Sequence,
    growth: Growth,
    reductions: Reductions,
    usage: Usage,
}

impl HostRules {
    pub fn begin(owns_window: bool, init: &Event, conn: &Conn) -> Self {
        let sequence = Sequence::begin(init.shown().copied().unwrap_or_default(), conn.snd_cwnd);
        let (growth, reductions, usage) = (Growth::default(), Reductions::default(), Usage::default());
        Self { owns_window, state: State::Open, sequence, growth, reductions, usage }
    }

    /// Judges an event by the connection as it was before.
    pub fn before(&mut self, line: u64, event: &Event, conn: &Conn, tally: &mut Tally) {
        let seen = Seen { line, conn, state: self.state };
        self.growth.look(seen);
        if let Some(shown) = event.shown() {
            self.sequence.show(line, shown, tally);
            self.usage.show(shown);
        }
        match event {
            Event::Ack { packets, grow, .. } => {
                self.reductions.ack(seen, self.owns_window, tally);
                self.sequence.ack(seen, *packets, tally);
                if !self.owns_window {
                    self.growth.ack(seen, *packets, *grow, self.sequence.advances(), tally);
                    self.usage.ack(seen, *packets, &self.sequence, tally);
                }
            }
            Event::Grow { .. } if !self.owns_window => self.growth.grow(seen, tally),
            Event::Ssthresh { for_mark, .. } => {
                self.growth.excuse();
                self.usage.begin_anew();
                self.reductions.ssthresh(seen, *for_mark, &self.sequence, tally);
            }
            Event::State { state, .. } => self.enter(seen, (*state).into(), tally),
            Event::Undo { .. } => {
                self.usage.begin_anew();
                self.reductions.undo(seen, tally);
            }
            Event::Window { cwnd: Some(cwnd), mss: None, .. } => {
                let may_raise = is_reducing(self.state) && !self.owns_window;
                self.reductions.window(seen, *cwnd, may_raise, tally);
            }
            Event::Restart { .. } | Event::Window { mss: Some(_), .. } => self.usage.begin_anew(),
            Event::Init { .. } | Event::Grow { .. } | Event::Window { .. } => {}
        }
    }

    fn enter(&mut self, seen: Seen, next: State, tally: &mut Tally) {
        if next > State::Disorder {
            self.growth.excuse();
            self.usage.begin_anew();
        }
        self.reductions.enter(seen, next, self.owns_window, &self.sequence, tally);
        self.state = next;
    }

    /// Takes note of what an event has come to.
    pub fn after(&mut self, event: &Event, conn: &Conn) {
        self.sequence.note_window(conn.snd_cwnd);
        self.reductions.after(event, conn);
    }
}

/// As the log names it.
fn named(state: State) -> &'static str {
    match StateName::from(state) {
        StateName::Open => "Open",
        StateName::Disorder => "Disorder",
        StateName::Cwr => "CWR",
        StateName::Recovery => "Recovery",
        StateName::Loss => "Loss",
    }
}
