// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values drawn at random, the same each time.

use toml::Value;

use crate::quantity::{self, Unit};

/// What a value is drawn from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// One of these, all as likely.
    OneOf(Vec<Value>),
    /// A number between two, all as likely; with `log` all ratios are.
    Range {
        /// The smallest and the largest.
        ends: [f64; 2],
        /// Whole numbers only.
        whole: bool,
        /// The unit; `None`: a bare number.
        unit: Option<Unit>,
        /// Even on a logarithmic scale.
        log: bool,
    },
}

impl Source {
    /// A range between two values as the file has them.
    pub(crate) fn range(from: &Value, to: &Value, log: bool) -> Result<Self, String> {
        let number = |value: &Value| match value {
            Value::Integer(n) => Some((*n as f64, None)),
            Value::Float(x) => Some((*x, None)),
            Value::String(text) => quantity::parse(text).map(|(x, unit)| (x, Some(unit))),
            _ => None,
        };
        let (Some((low, unit)), Some((high, other))) = (number(from), number(to)) else {
            return Err("`from` and `to` must be numbers, or quantities such as \"10mbit\"".into());
        };
        if unit != other {
            return Err("`from` and `to` must have the same kind of unit".into());
        }
        if high <= low {
            return Err("`to` must be above `from`".into());
        }
        if log && low <= 0.0 {
            return Err("a logarithmic scale needs a `from` above 0".into());
        }
        let whole = from.is_integer() && to.is_integer();
        Ok(Self::Range { ends: [low, high], whole, unit, log })
    }

    /// Values of each kind that it has.
    pub fn examples(&self) -> Vec<Value> {
        match self {
            Self::OneOf(values) => values.clone(),
            Self::Range { .. } => vec![self.draw(0, 0, "")],
        }
    }

    /// The value of one point. It depends on the seed, the point and the key alone: neither more points nor other keys change it.
    pub fn draw(&self, seed: u64, point: usize, key: &str) -> Value {
        let hash = blake3::hash(format!("{seed} {point} {key}").as_bytes());
        let bits = u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("a hash has 32 bytes"));
        // In [0, 1), with the 53 bits that a number holds.
        let share = (bits >> 11) as f64 / (1u64 << 53) as f64;
        match self {
            Self::OneOf(values) => values[(share * values.len() as f64) as usize].clone(),
            Self::Range { ends: [low, high], whole, unit, log } => {
                let value = if *log { low * libm::pow(high / low, share) } else { low + (high - low) * share };
                // Six digits: nobody needs more, and the text stays short.
                let value =
                    format!("{value:.5e}").parse::<f64>().expect("a number as it was written").clamp(*low, *high);
                match unit {
                    Some(unit) => Value::String(unit.text(value)),
                    None if *whole => Value::Integer(value.round() as i64),
                    None => Value::Float(value),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_in_their_range_and_repeat() {
        let range = Source::range(&Value::from("1mbit"), &Value::from("1gbit"), true).unwrap();
        let draws: Vec<f64> =
            (0..1000).map(|point| quantity::parse(range.draw(7, point, "rate").as_str().unwrap()).unwrap().0).collect();
        assert!(draws.iter().all(|bps| (1e6..=1e9).contains(bps)));
        // A third of the draws is expected in each factor of ten; the standard deviation of a count is 15.
        for decade in [1e6, 1e7, 1e8] {
            let count = draws.iter().filter(|&&bps| bps >= decade && bps < 10.0 * decade).count();
            assert!((250..420).contains(&count), "{count}");
        }
        assert_eq!(range.draw(7, 5, "rate"), range.draw(7, 5, "rate"));
        assert_ne!(range.draw(7, 5, "rate"), range.draw(8, 5, "rate"));
    }

    #[test]
    fn a_bad_range_is_refused() {
        let range = |from: Value, to: Value, log| Source::range(&from, &to, log).unwrap_err();
        assert!(range("1mbit".into(), "10ms".into(), false).contains("same kind of unit"));
        assert!(range(2.into(), 1.into(), false).contains("above `from`"));
        assert!(range(0.into(), 1.into(), true).contains("above 0"));
        assert!(range("reno".into(), "cubic".into(), false).contains("must be numbers"));
    }
}
