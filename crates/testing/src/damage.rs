// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random damage to good files: cut, joined, translated badly, or written by another version.

use std::{fmt::Debug, ops::Range};

use proptest::{prelude::*, sample::select};
use serde::{Deserialize, Serialize};

/// What happens to a file. Places are shares of its length, in millionths; numbers and fields are counted, again from the first after the last.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(missing_docs, reason = "what the fields are stands above")]
pub enum Step {
    /// Another number, or what is none, in the place of a number.
    Number { nth: usize, value: String },
    /// The same for what stands behind an `=` or a colon.
    Field { nth: usize, value: String },
    /// Text that does not belong there.
    Put { at: usize, value: String },
    /// A part is lost.
    Cut { from: usize, to: usize },
    /// A part is repeated.
    Twice { from: usize, to: usize },
    /// A bit is wrong.
    Flip { at: usize, bit: u8 },
}

const ALL: usize = 1_000_000;

/// One step with these values. Most often it changes a number or a field, as the weights `[numbers, fields]` say: other damage is soon noticed.
pub fn step(values: Vec<String>, [numbers, fields]: [u32; 2]) -> impl Strategy<Value = Step> {
    let place = || 0..ALL;
    let value = move || select(values.clone());
    prop_oneof![
        numbers => (any::<usize>(), value()).prop_map(|(nth, value)| Step::Number { nth, value }),
        fields => (any::<usize>(), value()).prop_map(|(nth, value)| Step::Field { nth, value }),
        1 => (place(), value()).prop_map(|(at, value)| Step::Put { at, value }),
        1 => (place(), place()).prop_map(|(from, to)| Step::Cut { from, to }),
        1 => (place(), place()).prop_map(|(from, to)| Step::Twice { from, to }),
        1 => (place(), 0..8u8).prop_map(|(at, bit)| Step::Flip { at, bit }),
    ]
}

impl Step {
    /// Does it.
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |share: usize| bytes.len() * share / ALL;
        let span = |from: usize, to: usize| place(from.min(to))..place(from.max(to));
        match self {
            Self::Number { nth, value } => replace(bytes, &numbers(bytes), *nth, value),
            Self::Field { nth, value } => replace(bytes, &fields(bytes), *nth, &format!(" {value}")),
            Self::Put { at, value } => drop(bytes.splice(place(*at)..place(*at), value.bytes())),
            Self::Cut { from, to } => drop(bytes.drain(span(*from, *to))),
            Self::Twice { from, to } => {
                let (span, at) = (span(*from, *to), place(*from.max(to)));
                let again = bytes[span].to_vec();
                bytes.splice(at..at, again);
            }
            Self::Flip { at, bit } => {
                let at = place(*at);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
            }
        }
    }
}

fn replace(bytes: &mut Vec<u8>, spans: &[Range<usize>], nth: usize, value: &str) {
    if !spans.is_empty() {
        bytes.splice(spans[nth % spans.len()].clone(), value.bytes());
    }
}

/// Where they stand.
fn numbers(bytes: &[u8]) -> Vec<Range<usize>> {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| is_of_number(byte)).count();
        if length > 0 {
            found.push(at..at + length);
        }
        at += length + 1;
    }
    found
}

/// Likewise; each ends with its line, or before a comma or a brace.
fn fields(bytes: &[u8]) -> Vec<Range<usize>> {
    let is_mark = |byte: u8| byte == b'=' || byte == b':';
    let begins = (0..bytes.len()).filter(|&i| is_mark(bytes[i])).map(|mark| mark + 1);
    let end = |from: usize| bytes[from..].iter().position(|byte| b",\n}".contains(byte));
    begins.map(|from| from..end(from).map_or(bytes.len(), |length| from + length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(step: &Step) -> String {
        let mut bytes = b"rate = 10.5\nrtt: 20, 30".to_vec();
        step.apply(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn each_step_changes_what_it_names() {
        let value = || "x".to_owned();
        assert_eq!(after(&Step::Number { nth: 5, value: value() }), "rate = 10.5\nrtt: 20, x");
        assert_eq!(after(&Step::Field { nth: 1, value: value() }), "rate = 10.5\nrtt: x, 30");
        assert_eq!(after(&Step::Put { at: 0, value: value() }), "xrate = 10.5\nrtt: 20, 30");
        // Of 23 bytes, from the 11th on.
        assert_eq!(after(&Step::Cut { from: 999_999, to: 500_000 }), "rate = 10.50");
        assert_eq!(after(&Step::Twice { from: 0, to: 200_000 }), "raterate = 10.5\nrtt: 20, 30");
        assert_eq!(after(&Step::Flip { at: 0, bit: 1 }), "pate = 10.5\nrtt: 20, 30");
    }
}
