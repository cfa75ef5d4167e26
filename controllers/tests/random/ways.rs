// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decisions that rounding can turn: a reference in real numbers takes both ways, and the one that the integer controller took goes on.

/// Answers the doubtful comparisons of one step by the bits of a number.
pub struct Ways {
    bits: u32,
    asked: u32,
}

impl Ways {
    /// `a < b`, in doubt if they differ by no more than `margin`.
    pub fn less(&mut self, a: f64, b: f64, margin: f64) -> bool {
        if (a - b).abs() > margin {
            return a < b;
        }
        self.asked += 1;
        self.bits >> (self.asked - 1) & 1 == 1
    }
}

/// What becomes of `state` in one step, in every way that the doubtful decisions allow.
pub fn all_ways<S: Clone>(state: &S, step: impl Fn(&mut S, &mut Ways)) -> Vec<S> {
    let mut ways = Vec::new();
    let (mut bits, mut count) = (0, 1);
    while bits < count {
        let (mut next, mut choices) = (state.clone(), Ways { bits, asked: 0 });
        step(&mut next, &mut choices);
        count = count.max(1 << choices.asked);
        ways.push(next);
        bits += 1;
    }
    ways
}
