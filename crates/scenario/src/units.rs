// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities with units, spelled as `tc` spells them: `1gbit`, `100ms`, `1500p`, `2MB`, `0.5bdp`.
//!
//! A bare number is refused: `tc` users have lost days to bits taken for bytes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Nanoseconds in a second.
pub const NS_PER_SEC: u64 = 1_000_000_000;

/// A quantity that cannot be read; the message says what was given, what is wrong and what to write.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

impl UnitError {
    /// An error with this message, which should name the value, the fault and the fix.
    pub fn new(message: String) -> Self {
        Self(message)
    }
}

/// Splits `12.5MB` into the number and the unit, in lower case.
fn split(text: &str, what: &str, example: &str) -> Result<(f64, String), UnitError> {
    split_as_written(text, what, example).map(|(number, unit)| (number, unit.to_ascii_lowercase()))
}

fn split_as_written<'a>(text: &'a str, what: &str, example: &str) -> Result<(f64, &'a str), UnitError> {
    let text = text.trim();
    let mut end = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(text.len());
    // The `e` of `1e-6` belongs to the number, that of a unit does not.
    while end > 0 && text[..end].ends_with(['e', 'E']) {
        end -= 1;
    }
    let number = text[..end].parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(|| {
        UnitError(format!("`{text}` is not a {what}: write a number and a unit, such as `{example}`"))
    })?;
    if number < 0.0 {
        return Err(UnitError(format!("{what} `{text}` is negative: write one such as `{example}`")));
    }
    Ok((number, text[end..].trim()))
}

fn bad_unit(what: &str, text: &str, unit: &str, units: &str, example: &str) -> UnitError {
    if unit.is_empty() {
        UnitError(format!("{what} `{text}` has no unit: write {units}, such as `{example}`"))
    } else {
        UnitError(format!("{what} `{text}` has the unknown unit `{unit}`: write {units}, such as `{example}`"))
    }
}

/// Reads through `FromStr`, from a text or a number; the second argument says what is expected.
macro_rules! read_as_text {
    ($type:ty, $expected:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: de::Error>(self, s: &str) -> Result<$type, E> {
                        s.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: de::Error>(self, n: i64) -> Result<$type, E> {
                        n.to_string().parse().map_err(E::custom)
                    }
                    fn visit_f64<E: de::Error>(self, n: f64) -> Result<$type, E> {
                        n.to_string().parse().map_err(E::custom)
                    }
                }
                d.deserialize_any(Visitor)
            }
        }
    };
}

/// Serde through `FromStr` and `Display`, so that files, the command line and JSON spell a quantity alike.
macro_rules! as_text {
    ($type:ty) => {
        read_as_text!($type, "a quoted quantity with its unit");
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
    };
}

/// Seconds, exactly to the nanosecond.
pub(crate) fn seconds<S: Serializer>(span: &Span, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_f64(span.as_secs_f64())
}

pub(crate) fn seconds_if_any<S: Serializer>(span: &Option<Span>, s: S) -> Result<S::Ok, S::Error> {
    span.map(|span| span.as_secs_f64()).serialize(s)
}

pub(crate) fn pair_of_seconds<S: Serializer>(spans: &Option<(Span, Span)>, s: S) -> Result<S::Ok, S::Error> {
    spans.map(|(a, b)| [a.as_secs_f64(), b.as_secs_f64()]).serialize(s)
}

pub(crate) fn bps<S: Serializer>(rate: &Rate, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u64(rate.bps)
}

pub(crate) fn bps_if_any<S: Serializer>(rate: &Option<Rate>, s: S) -> Result<S::Ok, S::Error> {
    rate.map(|rate| rate.bps).serialize(s)
}

/// Picks the largest unit that leaves a number of at least 1.
fn scaled(f: &mut fmt::Formatter, value: f64, units: &[(f64, &str)]) -> fmt::Result {
    let &(scale, unit) = units.iter().find(|(scale, _)| value >= *scale).unwrap_or(units.last().unwrap());
    write!(f, "{}{unit}", (value / scale * 1e6).round() / 1e6)
}

/// A link or source rate, bits per second; above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate {
    /// Bits per second.
    pub bps: u64,
}

impl Rate {
    /// Packets of this size a second.
    pub fn packets_per_s(self, packet_bytes: u32) -> f64 {
        self.bps as f64 / 8.0 / f64::from(packet_bytes)
    }
}

const RATE_UNITS: &str = "bit, kbit, mbit, gbit or tbit a second, or B/s, kB/s, MB/s, GB/s";

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, as_written) = split_as_written(text, "rate", "100mbit")?;
        let unit = as_written.to_ascii_lowercase();
        let bits = match unit.trim_end_matches("/s") {
            "bit" => 1.0,
            "k" | "kbit" => 1e3,
            "m" | "mbit" => 1e6,
            "g" | "gbit" => 1e9,
            "t" | "tbit" => 1e12,
            prefix @ ("kb" | "mb" | "gb") if as_written.ends_with("b/s") => {
                let prefix = &prefix[..1];
                return Err(UnitError(format!(
                    "rate `{text}`: is `b` bits or bytes? Write `{number}{prefix}bit` for bits or `{number}{}B/s` for bytes",
                    prefix.to_uppercase()
                )));
            }
            "b" if as_written == "B/s" => 8.0,
            "kb" if unit == "kb/s" => 8e3,
            "mb" if unit == "mb/s" => 8e6,
            "gb" if unit == "gb/s" => 8e9,
            "bps" | "kbps" | "mbps" | "gbps" => {
                let prefix = unit.trim_end_matches("bps");
                return Err(UnitError(format!(
                    "rate `{text}`: tc's `{unit}` means bytes; write `{number}{prefix}bit` for bits or \
                     `{number}{}B/s` for bytes",
                    prefix.to_uppercase()
                )));
            }
            _ => return Err(bad_unit("rate", text, &unit, RATE_UNITS, "100mbit")),
        };
        let bps = number * bits;
        if bps < 1.0 {
            return Err(UnitError(format!("rate `{text}` is 0: a link needs at least 1bit")));
        }
        if bps > 100e12 {
            return Err(UnitError(format!("rate `{text}` is above 100tbit")));
        }
        Ok(Rate { bps: bps.round() as u64 })
    }
}

/// Between a number and its unit in prose.
pub const NO_BREAK: char = '\u{a0}';

fn number_and_unit(quantity: &str) -> (&str, &str) {
    quantity.split_at(quantity.find(|c: char| c.is_alphabetic()).unwrap_or(quantity.len()))
}

/// `100ms` as prose has it: `100 ms`.
fn spaced(quantity: &str) -> String {
    let (number, unit) = number_and_unit(quantity);
    format!("{number}{NO_BREAK}{}", unit.replacen("us", "µs", 1))
}

impl Rate {
    /// As prose has it: `10 Mbit/s`, with [`NO_BREAK`] between the two.
    pub fn in_words(self) -> String {
        let text = self.to_string();
        let (number, unit) = number_and_unit(&text);
        let unit = match unit {
            "tbit" => "Tbit/s",
            "gbit" => "Gbit/s",
            "mbit" => "Mbit/s",
            "kbit" => "kbit/s",
            _ => "bit/s",
        };
        format!("{number}{NO_BREAK}{unit}")
    }
}

impl Span {
    /// As prose has it: `100 ms`, with [`NO_BREAK`] between the two.
    pub fn in_words(self) -> String {
        spaced(&self.to_string())
    }
}

impl Bytes {
    /// As prose has it: `100 kB`, with [`NO_BREAK`] between the two.
    pub fn in_words(self) -> String {
        spaced(&self.to_string())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        scaled(f, self.bps as f64, &[(1e12, "tbit"), (1e9, "gbit"), (1e6, "mbit"), (1e3, "kbit"), (1.0, "bit")])
    }
}
as_text!(Rate);

/// A time span, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    /// Nanoseconds.
    pub ns: u64,
}

impl Span {
    /// A span of this many milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self { ns: ms * 1_000_000 }
    }
    /// A span of this many seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self { ns: s * NS_PER_SEC }
    }
    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.ns as f64 / 1e9
    }
}

impl FromStr for Span {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text, "time", "100ms")?;
        let ns = match unit.as_str() {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" | "sec" => 1e9,
            "min" => 60e9,
            "h" => 3600e9,
            // 0 is the same in every unit.
            "" if number == 0.0 => 1.0,
            _ => return Err(bad_unit("time", text, &unit, "ns, us, ms, s, min or h", "100ms")),
        } * number;
        if ns > 1e15 {
            return Err(UnitError(format!("time `{text}` is above 1000000s")));
        }
        Ok(Span { ns: ns.round() as u64 })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        scaled(f, self.ns as f64, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")])
    }
}
as_text!(Span);

/// An amount of data, bytes; above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

fn byte_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1048576.0,
        "gib" => 1073741824.0,
        _ => return None,
    })
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text, "size", "10MB")?;
        let Some(scale) = byte_unit(&unit) else {
            return Err(bad_unit("size", text, &unit, "B, kB, MB, GB, KiB, MiB or GiB", "10MB"));
        };
        match number * scale {
            bytes if bytes < 1.0 => Err(UnitError(format!("size `{text}` is 0"))),
            bytes if bytes > 1e18 => Err(UnitError(format!("size `{text}` is above 1000000TB"))),
            bytes => Ok(Bytes(bytes.round() as u64)),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        scaled(f, self.0 as f64, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
    }
}
as_text!(Bytes);

/// A buffer as written: packets, bytes, time at the link's rate, or a multiple of the bandwidth-delay product. Above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueueSize {
    /// Packets of any size.
    Packets(u32),
    /// Bytes, headers included.
    Bytes(u64),
    /// As long as the link takes to empty the full buffer.
    Time(Span),
    /// Multiple of the link's rate times the RTT.
    Bdp(f64),
}

impl FromStr for QueueSize {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &str = "p (packets), B, kB, MB, us, ms, s or bdp";
        let (number, unit) = split(text, "queue", "1500p")?;
        let zero = || UnitError(format!("queue `{text}` is 0: a link needs room for at least one packet, `1p`"));
        match unit.as_str() {
            "p" | "pkt" | "packets" => {
                if number < 1.0 {
                    return Err(zero());
                }
                if number.fract() != 0.0 || number > 1e8 {
                    return Err(UnitError(format!("queue `{text}` is not a whole number of packets up to 100000000")));
                }
                Ok(QueueSize::Packets(number as u32))
            }
            "bdp" if number > 0.0 => Ok(QueueSize::Bdp(number)),
            "us" | "ms" | "s" if number > 0.0 => Ok(QueueSize::Time(text.parse()?)),
            unit if byte_unit(unit).is_some() && number > 0.0 => Ok(QueueSize::Bytes(text.parse::<Bytes>()?.0)),
            "" => Err(bad_unit("queue", text, "", UNITS, "1500p")),
            _ if number == 0.0 => Err(zero()),
            unit => Err(bad_unit("queue", text, unit, UNITS, "1500p")),
        }
    }
}

impl fmt::Display for QueueSize {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            QueueSize::Packets(n) => write!(f, "{n}p"),
            QueueSize::Bytes(n) => Bytes(*n).fmt(f),
            QueueSize::Time(t) => t.fmt(f),
            QueueSize::Bdp(x) => write!(f, "{x}bdp"),
        }
    }
}
as_text!(QueueSize);

/// Bits a second, or `0` with or without a unit.
pub(crate) fn rate_or_none(text: &str) -> Result<u64, UnitError> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '/');
    if digits.trim().parse::<f64>() == Ok(0.0) {
        return Ok(0);
    }
    text.parse::<Rate>().map(|rate| rate.bps)
}

/// A probability of loss, 0 up to but not including 1; `1e-6`, `0.1%`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct LossRate(pub f64);

impl FromStr for LossRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        below_one(text, "loss rate").map(LossRate)
    }
}

impl LossRate {
    /// Every packet. For a time that is an outage; for ever it is no network, so no text is read as it by itself.
    pub const ALL: LossRate = LossRate(1.0);

    /// As [`FromStr`], or [`ALL`](Self::ALL).
    pub(crate) fn up_to_all(text: &str) -> Result<Self, UnitError> {
        let share = share_of(text, "loss rate")?;
        if share == 1.0 { Ok(Self::ALL) } else { text.parse() }
    }
}

/// A share, 0 up to but not including 1; see [`share_of`].
fn below_one(text: &str, what: &str) -> Result<f64, UnitError> {
    let share = share_of(text, what)?;
    if !(0.0..1.0).contains(&share) {
        return Err(UnitError(format!("{what} `{text}` is not from 0 up to below 1")));
    }
    Ok(share)
}

/// A share with or without a percent sign; `what` it is of is for messages.
fn share_of(text: &str, what: &str) -> Result<f64, UnitError> {
    let t = text.trim();
    let (digits, scale) = t.strip_suffix('%').map_or((t, 1.0), |t| (t.trim(), 0.01));
    let share = digits.parse::<f64>().ok().filter(|x| x.is_finite()).map(|x| x * scale);
    share.ok_or_else(|| UnitError(format!("`{text}` is not a {what}: write a share such as `1e-6` or `0.1%`")))
}

impl fmt::Display for LossRate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.0 > 0.0 && self.0 < 1e-3 { write!(f, "{:e}", self.0) } else { write!(f, "{}", self.0) }
    }
}

read_as_text!(LossRate, "a loss rate such as 1e-6 or \"0.1%\"");
read_as_text!(Share, "a share such as 1e-6 or \"0.1%\"");
read_as_text!(Portion, "a share such as 0.1 or \"100%\"");

impl Serialize for LossRate {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(self.0)
    }
}

/// A share of something that is not lost, 0 up to but not including 1, written like a [`LossRate`]: of late packets, of copies.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Share(pub f64);

/// A share of something, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Portion(pub f64);

impl FromStr for Portion {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match share_of(text, "share")? {
            share if (0.0..=1.0).contains(&share) => Ok(Self(share)),
            _ => Err(UnitError(format!("share `{text}` is not from 0 to 1"))),
        }
    }
}

impl FromStr for Share {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        below_one(text, "share").map(Share)
    }
}
