// SPDX-License-Identifier: MIT OR Apache-2.0
//! The oscillation in the "constant window" phase, S2 section II: m increases, then n decreases, and again.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::rule::Rule;

/// Type m:n of a cycle: m rounds of growth, then n rounds of reduction (S2 section II).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CycleType {
    /// m, at least 1.
    pub increases: u32,
    /// n, at least 1.
    pub decreases: u32,
}

impl CycleType {
    /// The type `increases`:`decreases`.
    pub const fn new(increases: u32, decreases: u32) -> Self {
        Self { increases, decreases }
    }
}

impl fmt::Display for CycleType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}", self.increases, self.decreases)
    }
}

impl Serialize for CycleType {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// The window's swing, packets.
#[derive(Debug, Clone, PartialEq)]
pub struct Oscillation {
    /// The cycles that follow each other; most oscillations have one type only.
    pub types: Vec<CycleType>,
    /// Smallest window.
    pub theta_min: f64,
    /// Mean window over rounds.
    pub theta_mean: f64,
    /// Largest window.
    pub theta_max: f64,
    /// Mean queue over time.
    pub backlog: f64,
}

impl Oscillation {
    /// `4:2`, or `4:1+2:2` if two kinds of cycle take turns.
    pub fn name(&self) -> String {
        let mut kinds: Vec<_> = self.types.clone();
        kinds.sort_unstable();
        kinds.dedup();
        // The commonest first.
        kinds.sort_by_key(|kind| std::cmp::Reverse(self.types.iter().filter(|t| *t == kind).count()));
        kinds.iter().map(CycleType::to_string).collect::<Vec<_>>().join("+")
    }
}

/// A cycle of one type, whether or not the controller would go through it: S2's fixed point of `f_{m:n}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    /// Its type.
    pub kind: CycleType,
    /// `w_1` to `w_{m+n}`, after the last decrease and on; with integers it may take some passes until they repeat.
    pub windows: Vec<f64>,
    /// `Delta_1` to `Delta_{m+n+1}` of each pass: the backlog that each step acts on, and the one after the cycle.
    backlogs: Vec<Vec<f64>>,
}

/// A forced cycle on its way, by S2 (2) to (4). Times are packet times, so an RTT is a number of packets.
///
/// Some of these equations are not to be taken as they are printed: no m:1 cycle could exist by them. This reading gives Table I
/// (see `tests/oscillation.rs`): (4) has max for min, since no RTT is below that of the empty path; its first line is
/// `w_{i-2} / mu`, without the 1; its second line has 1/mu, which is lost in print; and the line holds that belongs to the last
/// change of the window. A decrease gives up zeta times the backlog, not rounded, and growth is that of `w_i`.
#[derive(Debug, Clone, Copy)]
struct Passing {
    /// `w_{i-2}`, `w_{i-1}`, `w_i`.
    windows: [f64; 3],
    /// `tau_{i-1}`.
    last_rtt: f64,
    /// Was the last change of the window an increase?
    increased: bool,
}

impl Passing {
    fn new(window: f64, pipe: f64) -> Self {
        Self { windows: [window; 3], last_rtt: pipe, increased: true }
    }

    /// `tau_i`, S2 (4).
    fn rtt(&self, pipe: f64) -> f64 {
        let [before, sent, _] = self.windows;
        pipe.max(if self.increased { before } else { sent * pipe / self.last_rtt })
    }

    /// `Delta_i`, S2 (3).
    fn backlog<R: Rule>(&self, rule: &R, pipe: f64) -> f64 {
        rule.backlog(self.windows[1], pipe, self.rtt(pipe))
    }

    /// Increases or decreases the window, S2 (2). Returns the backlog that the step found.
    fn step<R: Rule>(&mut self, rule: &R, pipe: f64, increase: bool) -> f64 {
        let [_, sent, window] = self.windows;
        let (rtt, backlog) = (self.rtt(pipe), self.backlog(rule, pipe));
        let next = if increase { window + rule.gain(window) } else { window - rule.zeta() * backlog + 1.0 };
        *self = Self { windows: [sent, window, next.max(1.0)], last_rtt: rtt, increased: increase };
        backlog
    }
}

/// Passes of a forced cycle. With the papers' constants its map contracts to a few hundredths a pass, since a decrease leaves the
/// pipe and what was sent while the backlog went unseen, whatever the window was; with faster growth it takes longer.
const PASSES: usize = 256;

impl Cycle {
    /// The fixed point of one type, found by going round. None if the windows do not return to where they were, as may be
    /// with a large zeta.
    pub fn forced<R: Rule>(rule: &R, pipe: f64, kind: CycleType) -> Option<Self> {
        let mut state = Passing::new(pipe.floor(), pipe);
        let mut passes: Vec<Self> = Vec::with_capacity(PASSES);
        while passes.len() < PASSES {
            let pass = Self::pass(rule, pipe, kind, &mut state);
            let is_same = |old: &Self| old.windows.iter().zip(&pass.windows).all(|(a, b)| (a - b).abs() < 1e-9 * b);
            if let Some(first) = passes.iter().position(is_same) {
                return Some(Self {
                    kind,
                    windows: passes[first..].iter().flat_map(|p| p.windows.iter().copied()).collect(),
                    backlogs: passes[first..].iter().flat_map(|p| p.backlogs.iter().cloned()).collect(),
                });
            }
            passes.push(pass);
        }
        None
    }

    /// Once round, from one state to the next.
    fn pass<R: Rule>(rule: &R, pipe: f64, kind: CycleType, state: &mut Passing) -> Self {
        let length = (kind.increases + kind.decreases) as usize;
        let (mut windows, mut backlogs) = (Vec::with_capacity(length), Vec::with_capacity(length + 1));
        for step in 0..length {
            windows.push(state.windows[2]);
            backlogs.push(state.step(rule, pipe, step < kind.increases as usize));
        }
        backlogs.push(state.backlog(rule, pipe));
        Self { kind, windows, backlogs: vec![backlogs] }
    }

    /// Table I: is it what the controller would do? `Delta_m < gamma`, a cut at each of the n steps after it, and, for
    /// n = 1, none at the next. (S2 asks no more of n = 2.)
    pub fn is_feasible(&self, gamma: f64) -> bool {
        let (m, n) = (self.kind.increases as usize, self.kind.decreases as usize);
        self.backlogs.iter().all(|delta| {
            let is_cut = |step: usize| delta[step - 1] >= gamma;
            !is_cut(m) && (m + 1..=m + n).all(is_cut) && (n > 1 || !is_cut(m + 2))
        })
    }

    /// Its extremes and means, on a path that holds `pipe` packets.
    pub fn oscillation(&self, pipe: f64) -> Oscillation {
        // A round lasts as long as its window takes to be sent, or the empty path's RTT.
        let time: f64 = self.windows.iter().map(|w| w.max(pipe)).sum();
        Oscillation {
            types: vec![self.kind],
            theta_min: self.windows.iter().copied().fold(f64::INFINITY, f64::min),
            theta_mean: self.windows.iter().sum::<f64>() / self.windows.len() as f64,
            theta_max: self.windows.iter().copied().fold(0.0, f64::max),
            backlog: self.windows.iter().map(|w| w.max(pipe) * (w - pipe).max(0.0)).sum::<f64>() / time,
        }
    }
}

/// The most increases in an m:1 cycle that the flow chart tries; more come only where the pipe holds a few packets.
const MOST_INCREASES: u32 = 16;

/// S2 Figure 2: which of the feasible types takes place. The figure is lost; this order follows from Table I and Figure 3.
/// None if none is feasible.
pub fn flow_chart<R: Rule>(rule: &R, pipe: f64) -> Option<Cycle> {
    let small = (4..=MOST_INCREASES).map(|m| CycleType::new(m, 1));
    let order = std::iter::once(CycleType::new(3, 1))
        .chain(small)
        .chain([(5, 2), (3, 2), (4, 2), (2, 1)].map(|(m, n)| CycleType::new(m, n)));
    order.filter_map(|kind| Cycle::forced(rule, pipe, kind)).find(|cycle| cycle.is_feasible(rule.gamma()))
}

/// Tells where cycles end: where growth follows a cut.
#[derive(Debug, Clone, Default)]
pub struct CycleWatch {
    increases: u32,
    decreases: u32,
}

impl CycleWatch {
    /// Takes the next round; returns the type of the cycle that it ends by beginning another.
    pub fn count(&mut self, is_cut: bool) -> Option<CycleType> {
        if is_cut {
            self.decreases += 1;
            return None;
        }
        let ended = (self.decreases > 0).then(|| CycleType::new(self.increases, self.decreases));
        if ended.is_some() {
            *self = Self::default();
        }
        self.increases += 1;
        ended
    }

    /// Is the round just taken the first of a cycle?
    pub fn begins(&self) -> bool {
        (self.increases, self.decreases) == (1, 0)
    }
}
