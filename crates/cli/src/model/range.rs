// SPDX-License-Identifier: MIT OR Apache-2.0
//! A quantity, or a range of it: `10mbit`, `10mbit..1gbit`.

use std::{fmt, str::FromStr};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range<T> {
    One(T),
    From(T, T),
}

impl<T: FromStr<Err: fmt::Display>> FromStr for Range<T> {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parse = |text: &str| text.parse::<T>().map_err(|e| e.to_string());
        match text.split_once("..") {
            None => Ok(Self::One(parse(text)?)),
            Some((low, high)) => Ok(Self::From(parse(low)?, parse(high)?)),
        }
    }
}

impl<T: Copy> Range<T> {
    pub fn is_range(&self) -> bool {
        matches!(self, Self::From(..))
    }

    /// Its ends, which are one if it is no range.
    pub fn ends(&self) -> (T, T) {
        match *self {
            Self::One(value) => (value, value),
            Self::From(low, high) => (low, high),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Range<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::One(value) => write!(f, "{value}"),
            Self::From(low, high) => write!(f, "{low}..{high}"),
        }
    }
}

/// The `step`th of `steps` values between two ends, evenly in logarithm; the first end is step 0, the last one `steps - 1`.
pub fn between((low, high): (f64, f64), step: usize, steps: usize) -> f64 {
    match steps {
        0 | 1 => low,
        _ => low * (high / low).powf(step as f64 / (steps - 1) as f64),
    }
}
