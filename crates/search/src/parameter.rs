// SPDX-License-Identifier: MIT OR Apache-2.0
//! What varies: a number between bounds, in a unit and on a scale, or one of a list.

use tandem_scenario::units::{Bytes, NS_PER_SEC, QueueSize, Rate, Span};
use toml::{Table, Value};

/// Digits of a value that is drawn: nobody needs more, and the files stay short.
const DIGITS: i32 = 2;
/// Digits of what is worked out from several values.
const DERIVED_DIGITS: i32 = 3;

/// A parameter of a space.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, which stands in braces where the scenario has its value.
    pub name: String,
    /// The feature that it belongs to, by its place; `None`: it is always there.
    pub feature: Option<usize>,
    /// What it may be.
    pub domain: Domain,
}

/// What a parameter may be. Its value is a number: a choice's is its place in the list.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// One of these; the first is the simplest.
    OneOf(Vec<Value>),
    /// A number in a unit.
    Range {
        /// The smallest.
        from: f64,
        /// The largest.
        to: f64,
        /// Whole numbers alone.
        whole: bool,
        /// Even on a logarithmic scale.
        log: bool,
        /// What it is counted in.
        unit: Unit,
    },
}

/// What a number is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: a count or a share.
    None,
    /// Bits a second.
    Bps,
    /// Seconds.
    S,
    /// Bytes.
    Bytes,
    /// Packets.
    Packets,
    /// Multiples of the bandwidth-delay product.
    Bdp,
    /// Multiples of the path's rate, the parameter `rate`.
    Rates,
    /// Multiples of the path's RTT, the parameter `rtt`.
    Rtts,
    /// Shares of the run's length.
    Runs,
}

/// What relative units are multiples of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// The bottleneck's rate, bits a second.
    pub rate_bps: f64,
    /// Two-way propagation delay, seconds.
    pub rtt_s: f64,
    /// Length of a run, seconds.
    pub run_s: f64,
}

/// A number and its unit, from a text such as `10mbit`, `0.5bdp`, `3rtt`, `0.2rate` or `0.5run`; `None` if it is none.
pub fn quantity(value: &Value) -> Option<(f64, Unit)> {
    let text = match value {
        Value::Integer(n) => return Some((*n as f64, Unit::None)),
        Value::Float(x) => return x.is_finite().then_some((*x, Unit::None)),
        Value::String(text) => text.trim(),
        _ => return None,
    };
    let relative = [("rate", Unit::Rates), ("rtt", Unit::Rtts), ("run", Unit::Runs)];
    for (suffix, unit) in relative {
        if let Some(number) = text.strip_suffix(suffix) {
            return number.trim().parse().ok().filter(|x: &f64| x.is_finite()).map(|x| (x, unit));
        }
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return Some((rate.bps as f64, Unit::Bps));
    }
    if let Ok(span) = text.parse::<Span>() {
        return Some((span.as_secs_f64(), Unit::S));
    }
    match text.parse::<QueueSize>() {
        Ok(QueueSize::Packets(packets)) => Some((f64::from(packets), Unit::Packets)),
        Ok(QueueSize::Bdp(multiple)) => Some((multiple, Unit::Bdp)),
        _ => text.parse::<Bytes>().ok().map(|bytes| (bytes.0 as f64, Unit::Bytes)),
    }
}

/// To this many significant digits.
pub fn rounded(value: f64, digits: i32) -> f64 {
    // Through text, so that 0.3 is the 0.3 that a file has.
    let digits = usize::try_from(digits - 1).unwrap_or(0);
    format!("{value:.digits$e}").parse().unwrap_or(value)
}

impl Unit {
    /// In absolute terms, with the absolute unit.
    fn absolute(self, value: f64, path: &Path) -> (f64, Unit) {
        match self {
            Unit::Rates => (value * path.rate_bps, Unit::Bps),
            Unit::Rtts => (value * path.rtt_s, Unit::S),
            Unit::Runs => (value * path.run_s, Unit::S),
            _ => (value, self),
        }
    }

    /// As scenarios write it.
    fn written(self, value: f64, whole: bool) -> Value {
        match self {
            Unit::None if whole => Value::Integer(value.round() as i64),
            Unit::None => Value::Float(value),
            Unit::Bps => Value::String(Rate { bps: value.round().max(1.0) as u64 }.to_string()),
            Unit::S => Value::String(seconds(value)),
            Unit::Bytes => Value::String(Bytes(value.round().max(1.0) as u64).to_string()),
            Unit::Packets => Value::String(format!("{}p", value.round().max(1.0))),
            Unit::Bdp | Unit::Rates | Unit::Rtts | Unit::Runs => Value::String(format!("{value}bdp")),
        }
    }
}

/// A time as scenarios write it.
pub fn seconds(value: f64) -> String {
    Span { ns: (value * NS_PER_SEC as f64).round() as u64 }.to_string()
}

/// The sum of some values of parameters, as scenarios write it; `None` if they are of different kinds.
pub fn written(terms: &[(&Parameter, f64)], path: &Path) -> Option<Value> {
    if let [(Parameter { domain: Domain::OneOf(values), .. }, place)] = terms {
        return values.get(*place as usize).cloned();
    }
    let (mut sum, mut of_sum, mut is_whole, mut is_exact) = (0.0, None, true, terms.len() == 1);
    for (parameter, value) in terms {
        let Domain::Range { unit, whole, .. } = &parameter.domain else { return None };
        let (absolute, kind) = unit.absolute(*value, path);
        if of_sum.is_some_and(|known| known != kind) {
            return None;
        }
        (of_sum, is_whole, is_exact) = (Some(kind), is_whole && *whole, is_exact && kind == *unit);
        sum += absolute;
    }
    Some(of_sum?.written(if is_exact { sum } else { rounded(sum, DERIVED_DIGITS) }, is_whole))
}

/// What is wrong with a parameter's values in a file, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// A key that it does not have.
    #[error("unknown key `{0}`; a parameter has `from`, `to` and `scale`, or `one_of`")]
    UnknownKey(String),
    /// Fewer than two words.
    #[error("`one_of` needs a list of two values or more, the simplest first")]
    FewWords,
    /// Neither a range nor words.
    #[error("a parameter needs either `from` and `to`, or `one_of`")]
    Neither,
    /// An unknown scale.
    #[error("`scale` must be \"linear\" or \"log\"")]
    Scale,
    /// An end of the range is no number.
    #[error("`from` and `to` must be numbers, or quantities such as \"10mbit\" or \"3rtt\"")]
    NoNumbers,
    /// The ends have two kinds of unit.
    #[error("`from` and `to` must have the same kind of unit")]
    Units,
    /// The range is empty.
    #[error("`to` must be above `from`")]
    Empty,
    /// There is no logarithm.
    #[error("a logarithmic scale needs a `from` above 0")]
    NotPositive,
}

impl Domain {
    /// As a file has it: `{ from, to, scale }` or `{ one_of }`.
    ///
    /// # Errors
    /// What is wrong with it, and how to fix it.
    pub fn read(table: &Table) -> Result<Self, DomainError> {
        let known = ["from", "to", "scale", "one_of"];
        if let Some(unknown) = table.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(DomainError::UnknownKey(unknown.clone()));
        }
        match (table.get("one_of"), table.get("from"), table.get("to")) {
            (Some(Value::Array(values)), None, None) if values.len() >= 2 => Ok(Self::OneOf(values.clone())),
            (Some(_), None, None) => Err(DomainError::FewWords),
            (None, Some(from), Some(to)) => Self::range(from, to, table.get("scale")),
            _ => Err(DomainError::Neither),
        }
    }

    fn range(low: &Value, high: &Value, scale: Option<&Value>) -> Result<Self, DomainError> {
        let log = match scale.map(Value::as_str) {
            None | Some(Some("linear")) => false,
            Some(Some("log")) => true,
            Some(_) => return Err(DomainError::Scale),
        };
        let (Some((from, unit)), Some((to, other))) = (quantity(low), quantity(high)) else {
            return Err(DomainError::NoNumbers);
        };
        if unit != other {
            return Err(DomainError::Units);
        }
        if to <= from {
            return Err(DomainError::Empty);
        }
        if log && from <= 0.0 {
            return Err(DomainError::NotPositive);
        }
        let whole = unit == Unit::Packets || (low.is_integer() && high.is_integer());
        Ok(Self::Range { from, to, whole, log, unit })
    }

    /// The value at a share of the scale, 0 to 1, rounded.
    pub fn at(&self, share: f64) -> f64 {
        match self {
            Self::OneOf(values) => (share * values.len() as f64).floor().clamp(0.0, values.len() as f64 - 1.0),
            Self::Range { from, to, whole, log, .. } => {
                let value = if *log { from * libm::pow(to / from, share) } else { from + (to - from) * share };
                let value = rounded(value, DIGITS);
                if *whole { value.round() } else { value }.clamp(*from, *to)
            }
        }
    }

    /// The share of the scale at which a value lies.
    pub fn share(&self, value: f64) -> f64 {
        match self {
            Self::OneOf(values) => (value + 0.5) / values.len() as f64,
            Self::Range { from, to, log: true, .. } => libm::log(value / from) / libm::log(to / from),
            Self::Range { from, to, .. } => (value - from) / (to - from),
        }
    }

    /// Rounder values than this one, the roundest first: 1, 2 or 5 times a power of ten, then one digit. All are within the bounds. A count
    /// has none, because it is better small than round.
    pub fn rounder(&self, value: f64) -> Vec<f64> {
        let Self::Range { from, to, whole: false, .. } = self else { return Vec::new() };
        if value <= 0.0 {
            return Vec::new();
        }
        let power = libm::pow(10.0, libm::floor(libm::log10(value)));
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| rounded(step * power, 1));
        let nearest = steps.into_iter().min_by(|a, b| (a / value - 1.0).abs().total_cmp(&(b / value - 1.0).abs()));
        let found = nearest.into_iter().chain([rounded(value, 1)]);
        found.filter(|rounder| *rounder != value && (*from..=*to).contains(rounder)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Result<Domain, DomainError> {
        Domain::read(&toml::from_str(text).unwrap())
    }

    #[test]
    fn bad_bounds_are_refused() {
        for (text, part) in [
            ("from = 1", "either `from` and `to`"),
            ("from = 2\nto = 1", "above `from`"),
            ("from = 0\nto = 1\nscale = \"log\"", "above 0"),
            ("from = \"1mbit\"\nto = \"3rtt\"", "same kind of unit"),
            ("from = \"1mbit\"\nto = \"fast\"", "must be numbers"),
            ("from = 1\nto = 2\nscale = \"cubic\"", "\"linear\" or \"log\""),
            ("from = 1\nto = 2\nstep = 1", "unknown key `step`"),
            ("one_of = [\"reno\"]", "two values or more"),
        ] {
            assert!(range(text).unwrap_err().to_string().contains(part), "{text}");
        }
    }

    #[test]
    fn values_go_to_shares_and_back() {
        let rate = range("from = \"1mbit\"\nto = \"1gbit\"\nscale = \"log\"").unwrap();
        // A third of three factors of ten.
        assert_eq!([rate.at(0.0), rate.at(1.0 / 3.0), rate.at(1.0)], [1e6, 1e7, 1e9]);
        assert!((rate.share(1e8) - 2.0 / 3.0).abs() < 1e-12);
        let count = range("from = 1\nto = 8").unwrap();
        assert_eq!([count.at(0.0), count.at(0.5), count.at(1.0)], [1.0, 5.0, 8.0]);
        let choice = range("one_of = [\"a\", \"b\", \"c\"]").unwrap();
        assert!((0..3).all(|i| choice.at(choice.share(f64::from(i))) == f64::from(i)));
        assert_eq!(choice.at(1.0), 2.0);
    }

    #[test]
    fn rounder_values_are_within_the_bounds() {
        let share = range("from = 0.03\nto = 0.9").unwrap();
        assert_eq!(share.rounder(0.037), [0.05, 0.04]);
        assert_eq!(share.rounder(0.2), [0.0; 0]);
        assert_eq!(share.rounder(0.96), [0.0; 0], "1 is above the bound");
    }

    /// On 10 Mb/s and 40 ms, in a run of 20 s.
    #[test]
    fn relative_values_are_written_in_absolute_units() {
        let path = Path { rate_bps: 1e7, rtt_s: 0.04, run_s: 20.0 };
        let parameter = |low: &str, high: &str| {
            let domain = range(&format!("from = \"{low}\"\nto = \"{high}\"")).unwrap();
            Parameter { name: "p".into(), feature: None, domain }
        };
        let (rate, rtts, run) = (parameter("0.1rate", "2rate"), parameter("1rtt", "9rtt"), parameter("0run", "1run"));
        let queue = parameter("0.1bdp", "4bdp");
        let text = |terms: &[(&Parameter, f64)]| written(terms, &path).map(|value| value.as_str().unwrap().to_owned());
        assert_eq!(text(&[(&rate, 0.33)]).as_deref(), Some("3.3mbit"));
        assert_eq!(text(&[(&rtts, 2.5)]).as_deref(), Some("100ms"));
        assert_eq!(text(&[(&run, 0.25), (&rtts, 5.0)]).as_deref(), Some("5.2s"));
        assert_eq!(text(&[(&queue, 0.3)]).as_deref(), Some("0.3bdp"));
        assert_eq!(text(&[(&run, 0.25), (&rate, 0.5)]), None, "a time and a rate have no sum");
    }
}
