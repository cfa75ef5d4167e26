// SPDX-License-Identifier: MIT OR Apache-2.0
//! A quantity that changes at known times.

use crate::agenda::NEVER;

/// One entry of a timeline.
#[derive(Debug, Clone, Copy)]
struct Step<T> {
    at: u64,
    every: Option<u64>,
    value: T,
}

impl<T> Step<T> {
    /// The last time up to `now` at which it took place.
    fn last_by(&self, now: u64) -> Option<u64> {
        let since = now.checked_sub(self.at)?;
        Some(self.every.map_or(self.at, |every| self.at + since / every * every))
    }

    /// The first time after `now` at which it takes place.
    fn first_after(&self, now: u64) -> u64 {
        match (now.checked_sub(self.at), self.every) {
            (None, _) => self.at,
            (Some(since), Some(every)) => self.at + (since / every + 1) * every,
            (Some(_), None) => NEVER,
        }
    }
}

/// The value that holds from one time until before another.
#[derive(Debug, Clone, Copy)]
pub struct Segment<T> {
    pub from: u64,
    pub until: u64,
    pub value: T,
}

/// What a quantity is at each time, ns.
#[derive(Debug, Clone)]
pub struct Timeline<T> {
    initial: T,
    steps: Vec<Step<T>>,
    /// Where the last question was about.
    current: Segment<T>,
}

impl<T: Copy> Timeline<T> {
    /// `steps`: when, again how much later, and the value from then on. Of those at the same time the last one holds.
    pub fn new(initial: T, steps: impl Iterator<Item = (u64, Option<u64>, T)>) -> Self {
        let steps: Vec<Step<T>> = steps.map(|(at, every, value)| Step { at, every, value }).collect();
        let until = steps.iter().map(|step| step.at).min().unwrap_or(NEVER);
        Self { initial, steps, current: Segment { from: 0, until, value: initial } }
    }

    /// The value at `now`, and for how long it holds.
    pub fn segment(&self, now: u64) -> Segment<T> {
        if (self.current.from..self.current.until).contains(&now) {
            return self.current;
        }
        let mut segment = Segment { from: 0, until: NEVER, value: self.initial };
        for step in &self.steps {
            segment.until = segment.until.min(step.first_after(now));
            if let Some(at) = step.last_by(now).filter(|&at| at >= segment.from) {
                (segment.from, segment.value) = (at, step.value);
            }
        }
        segment
    }

    /// As [`Self::segment`]; the next question is most often about the same one.
    pub fn follow(&mut self, now: u64) -> Segment<T> {
        self.current = self.segment(now);
        self.current
    }

    /// The value at `now`.
    pub fn at(&mut self, now: u64) -> T {
        self.follow(now).value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 at first; 2 from 10 on, again at 40, 70, ...; 3 from 20 on, again at 50, 80, ...; 9 once at 45.
    #[test]
    fn values_hold_until_the_next_change() {
        let steps = [(10, Some(30), 2), (20, Some(30), 3), (45, None, 9)];
        let mut timeline = Timeline::new(1, steps.into_iter());
        let expected =
            [(0, 1), (9, 1), (10, 2), (19, 2), (20, 3), (39, 3), (40, 2), (45, 9), (49, 9), (50, 3), (70, 2)];
        for (now, value) in expected {
            assert_eq!(timeline.at(now), value, "at {now}");
        }
        let Segment { from, until, value } = timeline.segment(42);
        assert_eq!((from, until, value), (40, 45, 2));
        assert_eq!(timeline.segment(5).until, 10);
    }
}
