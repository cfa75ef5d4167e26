// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection followed from loss to loss, round by round: where S2's fluid says too little.
//!
//! What it adds to S2: the way into the oscillation, on which a buffer may overflow that the oscillation itself would fit;
//! the rounds of recovery, and the one after, in which nothing is measured; the round that a loss takes to be noticed, at whose
//! end a second burst may be lost, so that recovery takes a second RTT; and the bursts by which the window grows, which wait in
//! the queue also while the window is below the pipe; and, if the path has one, the access link, behind which a burst takes its
//! time to arrive, so that a full queue takes in some of it.
//! What it leaves out: losses of what recovery sends, and timeouts.

use crate::{
    cycles::{MEASURED_CYCLES, MeasuredCycle, SETTLING_CYCLES, oscillation, settling},
    epoch::{Epoch, Record},
    law::Law,
    oscillation::{CycleWatch, Oscillation},
    path::Path,
    queue::{self, Segment, Spacing},
    rounds::{Round, Rounds},
    totals::{Totals, phase4},
    window::Windows,
};

/// A connection is followed for this many rounds: a thousand times what those take that the model is about, and some tenths of a second. One
/// whose window never gets to where something happens would be followed for ever.
pub const MOST_ROUNDS: u64 = 1 << 20;

/// The rounds were not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endless;

/// How phases 1 and 2 end.
enum Growth {
    Overflow,
    /// With this round, which belongs to phase 3.
    Cut(Round),
    /// The loss window alone keeps a backlog of gamma.
    Reno,
}

/// A connection on its path.
#[derive(Clone)]
pub struct Follower<W> {
    rounds: Rounds<W>,
    spacing: Spacing,
    /// Share of the window given up on loss.
    beta: f64,
    /// Packets in flight that the path and its buffer hold.
    capacity: f64,
    gamma: f64,
    /// Packets by which the last round's window stepped up.
    burst: f64,
    /// Packets that waited in front of them.
    ahead: f64,
    /// Packets that will wait in front of the next round's step.
    waiting: f64,
    /// Share of a burst that a full queue takes in while the burst arrives; 0 if it comes at once.
    admitted_share: f64,
    /// Packets of the bursts lost that the full queue took in, here and there one.
    admitted: f64,
    /// Was the burst lost, too, that followed the one that overflowed?
    lost_twice: bool,
    /// Rounds that may still be followed.
    rounds_left: u64,
    /// Every round, if they are wanted; `None`: the long stretches are summed up.
    records: Option<Vec<Record>>,
}

impl<W: Windows> Follower<W> {
    /// Just before a loss with all of the window in the loss window: how phase 4 ends.
    pub fn on(path: &Path, windows: &W, law: &Law) -> Self {
        let buffer = path.buffer_packets;
        Self { admitted_share: path.admitted_share(), ..Self::new(windows, path.pipe_packets(), buffer, law) }
    }

    fn new(windows: &W, pipe: f64, buffer: f64, law: &Law) -> Self {
        let capacity = pipe + buffer;
        Self {
            rounds: Rounds::new(windows.at(capacity.floor() + 1.0), pipe),
            spacing: Spacing { pipe, density: 1.0 - law.beta, spread_gain: law.spread_gain, back_to_back: 0.0 },
            beta: law.beta,
            capacity,
            gamma: law.gamma_packets,
            burst: 0.0,
            ahead: 0.0,
            waiting: 0.0,
            admitted_share: 0.0,
            admitted: 0.0,
            lost_twice: false,
            rounds_left: MOST_ROUNDS,
            records: None,
        }
    }

    /// Keeps every round from now on, and follows this many at most.
    pub fn recording(self, most_rounds: u64) -> Self {
        Self { records: Some(Vec::new()), rounds_left: most_rounds, ..self }
    }

    /// What was recorded since the last call.
    pub fn take_records(&mut self) -> Vec<Record> {
        self.records.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The window that the loss at hand finds.
    pub fn loss_window(&self) -> f64 {
        self.rounds.windows.window()
    }

    fn pipe(&self) -> f64 {
        self.rounds.pipe
    }

    /// From the loss that is at hand to the next.
    ///
    /// # Errors
    /// If it does not come within the rounds that are left.
    pub fn epoch(&mut self) -> Result<Epoch, Endless> {
        let mut epoch =
            Epoch { recovery: self.recover(), first_window: self.rounds.windows.window(), ..Epoch::default() };
        let overflowed = match self.grow(&mut epoch)? {
            Growth::Overflow => true,
            Growth::Reno => {
                epoch.is_settled = true;
                false
            }
            Growth::Cut(first) => self.swing(first, &mut epoch)?,
        };
        if overflowed {
            self.overflow(&mut epoch)?;
        } else {
            self.reno(&mut epoch)?;
        }
        Ok(epoch)
    }

    /// Ends a round and begins the next.
    fn step(&mut self) -> Result<Round, Endless> {
        self.rounds_left = self.rounds_left.checked_sub(1).ok_or(Endless)?;
        Ok(self.rounds.step())
    }

    /// Recovery brings the flight down over one RTT, sending at `1 - beta` of the rate of the ACKs; what a second burst lost is
    /// noticed at the end of that, and takes a second one. Then one round passes before anything is measured.
    fn recover(&mut self) -> Totals {
        let (pipe, flight) = (self.pipe(), self.rounds.windows.window().min(self.capacity));
        let queue = (flight - pipe).max(0.0);
        let mut sum = self.note(flight, &queue::drain(queue, 0.0, self.beta, flight.max(pipe)), true);
        self.rounds.windows.lose();
        sum += self.pass(self.rounds.windows.window());
        if std::mem::take(&mut self.lost_twice) {
            let sent = self.rounds.windows.recover_again();
            sum += self.pass(sent);
            // The ACKs of what was admitted come back to back, and slow start sends two packets for each.
            if sent < self.rounds.windows.window() {
                self.waiting = self.admitted;
            }
        }
        self.rounds = Rounds::new(self.rounds.windows.clone(), pipe);
        // ACKs come at the link's rate if the flight filled the pipe.
        self.spacing.density = (1.0 - self.beta) * (flight / pipe).min(1.0);
        self.spacing.back_to_back = 0.0;
        sum
    }

    /// A round that acknowledges `data` and in which nothing changes.
    fn pass(&mut self, data: f64) -> Totals {
        let queue = (data - self.pipe()).max(0.0);
        self.note(data, &[Segment { time: data.max(self.pipe()), from: queue, to: queue }], false)
    }

    /// What a round takes, delivers and keeps waiting.
    fn account(&mut self, round: Round) -> Totals {
        let segments = self.spacing.round(round);
        self.spacing.after(round);
        self.burst = round.change.step;
        self.ahead = std::mem::take(&mut self.waiting);
        self.note(round.before, &segments, false)
    }

    fn note(&mut self, data: f64, segments: &[Segment], is_recovery: bool) -> Totals {
        let totals = queue::totals(data, segments);
        let (window, loss_window) = (self.rounds.windows.window(), self.rounds.windows.loss_window());
        if let Some(records) = &mut self.records {
            let queue = segments.iter().copied().filter(|s| s.time > 0.0).collect();
            records.push(Record { window, loss_window, totals, queue, is_recovery });
        }
        totals
    }

    /// Does the change at the beginning of this round need more room than there is?
    fn overflows(&self, round: Round) -> bool {
        let at_once = round.change.step * (1.0 - self.spacing.spread_gain);
        let on_empty_queue = round.before < self.pipe() && self.pipe() + self.ahead + at_once > self.capacity;
        round.window > self.capacity || on_empty_queue
    }

    /// Phases 1 and 2, and Reno's growth where the window is too small for a delay window.
    fn grow(&mut self, epoch: &mut Epoch) -> Result<Growth, Endless> {
        while !self.is_reno_now() {
            let round = self.step()?;
            if round.change.is_cut {
                return Ok(Growth::Cut(round));
            }
            let totals = self.account(round);
            let is_reno = self.rounds.windows.is_too_small();
            let phase = if is_reno { 3 } else { usize::from(round.window > self.pipe()) };
            epoch.enter(phase, round.window, totals);
            if self.overflows(round) {
                epoch.is_settled = is_reno;
                return Ok(Growth::Overflow);
            }
        }
        Ok(Growth::Reno)
    }

    /// Is the loss window alone enough for a backlog of gamma? Then the delay window can only shrink.
    fn is_past_gamma(&self) -> bool {
        self.rounds.windows.loss_window() >= self.pipe() + self.gamma
    }

    /// Is only Reno left?
    fn is_reno_now(&self) -> bool {
        self.is_past_gamma() && self.rounds.windows.loss_window() >= self.rounds.windows.window()
    }

    /// Phase 3: the delay window swings while the loss window rises below it. The swing is measured, and then repeated until the
    /// loss window has come up to its lower end; from there on it is followed again. True if the buffer overflows.
    fn swing(&mut self, first: Round, epoch: &mut Epoch) -> Result<bool, Endless> {
        let (cycles, overflowed) = self.cycles(first, Some(epoch))?;
        let measured = &cycles[settling(cycles.len())..];
        epoch.oscillation = oscillation(measured);
        if overflowed {
            return Ok(true);
        }
        epoch.is_settled = true;
        if let (Some(oscillation), None) = (&epoch.oscillation, &self.records) {
            let lower_end = oscillation.theta_min;
            let left = lower_end - self.rounds.windows.loss_window();
            if let (true, [first, others @ .., last]) = (left > 0.0, measured) {
                let mut swing = last.totals;
                others.iter().for_each(|cycle| swing += cycle.totals);
                // Reno's packet a round is a little less, because a round acknowledges what the last window sent.
                epoch.phases[2] += swing * (left / (last.loss_window - first.loss_window));
                self.rounds = Rounds::new(self.rounds.windows.at(lower_end), self.pipe());
            }
        }
        while !self.is_reno_now() {
            let round = self.step()?;
            let totals = self.account(round);
            epoch.enter(2, round.window, totals);
            if self.overflows(round) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Cycles from the first cut on, until there are enough of them, or the loss window ends them, or the buffer overflows (true).
    fn cycles(&mut self, first: Round, mut epoch: Option<&mut Epoch>) -> Result<(Vec<MeasuredCycle>, bool), Endless> {
        let mut watch = CycleWatch::default();
        let mut cycles: Vec<MeasuredCycle> = Vec::with_capacity(SETTLING_CYCLES + MEASURED_CYCLES + 1);
        let (mut now, mut round) = (MeasuredCycle::EMPTY, first);
        loop {
            let totals = self.account(round);
            // The first cut is the end of phase 2, and no cycle.
            if let Some(kind) = watch.count(round.change.is_cut).filter(|kind| kind.increases > 0) {
                cycles.push(MeasuredCycle { kind, loss_window: self.rounds.windows.loss_window(), ..now });
            }
            if watch.begins() {
                now = MeasuredCycle::EMPTY;
            }
            now.take(round.window, totals);
            if let Some(epoch) = epoch.as_deref_mut() {
                epoch.enter(2, round.window, totals);
                if self.overflows(round) {
                    return Ok((cycles, true));
                }
            }
            let is_clipped = round.change.is_cut && self.rounds.windows.loss_window() >= round.window;
            if cycles.len() >= SETTLING_CYCLES + MEASURED_CYCLES || is_clipped || self.is_past_gamma() {
                return Ok((cycles, false));
            }
            round = self.step()?;
        }
    }

    /// Phase 4, Reno until the buffer overflows.
    fn reno(&mut self, epoch: &mut Epoch) -> Result<(), Endless> {
        while self.records.is_some() {
            let round = self.step()?;
            let totals = self.account(round);
            epoch.enter(3, round.window, totals);
            if self.overflows(round) {
                return self.overflow(epoch);
            }
        }
        let from = self.rounds.windows.window();
        let to = self.capacity.floor() + 1.0;
        if to > from {
            epoch.enter(3, from, phase4(self.pipe(), from, to));
        }
        epoch.enter(3, to.max(from), Totals::default());
        epoch.loss_window = to.max(from);
        epoch.lost_packets = 1.0;
        self.rounds = Rounds::new(self.rounds.windows.at(epoch.loss_window), self.pipe());
        Ok(())
    }

    /// The burst that overflowed is followed by a round, at whose end the controller acts once more, not knowing of the
    /// loss; then the loss is noticed.
    fn overflow(&mut self, epoch: &mut Epoch) -> Result<(), Endless> {
        let Spacing { pipe, .. } = self.spacing;
        let window = self.rounds.windows.window();
        // Below the pipe what does not fit is the end of the burst itself.
        let beyond = if window > self.capacity {
            window - self.capacity
        } else {
            self.ahead + self.burst + pipe - self.capacity
        };
        let next = self.step()?;
        self.lost_twice = next.change.step >= 1.0;
        epoch.loss_window = self.rounds.windows.window();
        epoch.lost_packets = beyond.max(1.0).round() + next.change.step;
        self.admitted = self.admitted_share * epoch.lost_packets;
        epoch.peak_window = epoch.peak_window.max(epoch.loss_window);
        Ok(())
    }
}

/// What the controller settles into where the buffer has room for everything, starting from a small loss window, which leaves the
/// delay window the most room. None if it never swings, or not within [`MOST_ROUNDS`].
pub fn settled<W: Windows>(windows: &W, pipe: f64, law: &Law) -> Option<Oscillation> {
    let start = (law.low_window_packets + 1.0).max(pipe.sqrt()).min(pipe / 2.0).max(2.0).ceil();
    let mut follower = Follower::new(windows, pipe, f64::INFINITY, law);
    follower.rounds = Rounds::new(windows.at(start), pipe);
    let Ok(Growth::Cut(first)) = follower.grow(&mut Epoch::default()) else { return None };
    let (cycles, _) = follower.cycles(first, None).ok()?;
    oscillation(&cycles[settling(cycles.len())..])
}
