// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities with units as numbers, and back: for what varies the values of scenarios.

use crate::units::{Bytes, NS_PER_SEC, QueueSize, Rate, Span};

/// What a quantity is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bits a second.
    Bps,
    /// Seconds.
    S,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Multiples of the bandwidth-delay product.
    Bdp,
}

impl Unit {
    /// How the name of a column in this unit ends.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Bps => "_bps",
            Unit::S => "_s",
            Unit::Packets => "_packets",
            Unit::Bytes => "_bytes",
            Unit::Bdp => "_bdp",
        }
    }

    /// A quantity as scenarios write it. Packets, bytes and bits a second are whole numbers, times whole nanoseconds.
    pub fn text(self, value: f64) -> String {
        let whole = value.round() as u64;
        match self {
            Unit::Bps => Rate { bps: whole }.to_string(),
            Unit::S => Span { ns: (value * NS_PER_SEC as f64).round() as u64 }.to_string(),
            Unit::Packets => format!("{whole}p"),
            Unit::Bytes => Bytes(whole).to_string(),
            Unit::Bdp => format!("{value}bdp"),
        }
    }
}

/// The number and the unit of a text such as `10mbit`; `None` if it is none.
pub fn parse(text: &str) -> Option<(f64, Unit)> {
    if let Ok(rate) = text.parse::<Rate>() {
        return Some((rate.bps as f64, Unit::Bps));
    }
    if let Ok(span) = text.parse::<Span>() {
        return Some((span.as_secs_f64(), Unit::S));
    }
    match text.parse::<QueueSize>() {
        Ok(QueueSize::Packets(packets)) => Some((f64::from(packets), Unit::Packets)),
        Ok(QueueSize::Bdp(multiple)) => Some((multiple, Unit::Bdp)),
        Ok(QueueSize::Bytes(bytes)) => Some((bytes as f64, Unit::Bytes)),
        Ok(QueueSize::Time(_)) => None,
        Err(_) => text.parse::<Bytes>().ok().map(|bytes| (bytes.0 as f64, Unit::Bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_numbers_with_a_unit() {
        for (text, expected) in [
            ("10mbit", Some((1e7, Unit::Bps))),
            ("1MB/s", Some((8e6, Unit::Bps))),
            ("40ms", Some((0.04, Unit::S))),
            ("30p", Some((30.0, Unit::Packets))),
            ("0.5bdp", Some((0.5, Unit::Bdp))),
            ("20kB", Some((20_000.0, Unit::Bytes))),
            ("reno", None),
            ("compound@gamma=20", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
            if let Some((value, unit)) = expected {
                assert_eq!(parse(&unit.text(value)), expected);
            }
        }
    }

    #[test]
    fn they_are_written_as_people_write_them() {
        let written = [
            (Unit::Bps, 3.3e6, "3.3mbit"),
            (Unit::S, 0.1, "100ms"),
            (Unit::Packets, 29.7, "30p"),
            (Unit::Bytes, 20_000.0, "20kB"),
            (Unit::Bdp, 0.3, "0.3bdp"),
        ];
        written.into_iter().for_each(|(unit, value, text)| assert_eq!(unit.text(value), text));
    }
}
