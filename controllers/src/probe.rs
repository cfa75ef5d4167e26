// SPDX-License-Identifier: MIT OR Apache-2.0
//! Probes: values that controllers name of what they know, besides those of the [`View`].

use std::fmt;

use crate::{Controller, View, ffi::RawProbe};

/// How many of what a controller names are shown: the length of [`View::probes`].
pub const MAX_PROBES: usize = 10;

/// What a controller has no value for now: `TANDEM_NONE`.
pub(crate) const NONE: u64 = u64::MAX;

/// A value that a controller names: `P` or `W` in its header's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The name, with its unit; it means the same in each controller.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Steps per unit of a number.
    scale: u32,
    /// The words that it may be, in order; empty for a number.
    words: &'static str,
}

/// What a probe reads.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Reading {
    /// In the unit of the probe's name.
    Number(f64),
    /// Such as the state of a state machine.
    Word(&'static str),
}

impl Probe {
    fn new(raw: &RawProbe) -> Self {
        Self { name: raw.name(), doc: raw.doc(), scale: raw.scale, words: raw.words() }
    }

    /// The words that it may be, in the order of their places; none for a number.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.words.split_ascii_whitespace()
    }

    /// Is it a word?
    pub fn is_word(&self) -> bool {
        !self.words.is_empty()
    }

    /// What the element of [`View::probes`] says; `None` where there is no such value now.
    pub fn read(&self, raw: u64) -> Option<Reading> {
        match raw {
            NONE => None,
            _ if self.is_word() => self.words().nth(raw as usize).map(Reading::Word),
            _ => Some(Reading::Number(raw as f64 / f64::from(self.scale))),
        }
    }
}

impl Reading {
    /// The number, if it is one.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(value),
            Self::Word(_) => None,
        }
    }

    /// The word, if it is one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Number(_) => None,
            Self::Word(word) => Some(word),
        }
    }
}

impl fmt::Display for Reading {
    /// A number with at most three decimal places.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Number(value) => write!(f, "{}", (value * 1e3).round() / 1e3),
            Self::Word(word) => f.write_str(word),
        }
    }
}

impl Controller {
    /// The values that it names and shows, most important first, in the order of [`View::probes`].
    pub fn probes(&self) -> impl Iterator<Item = Probe> + use<> {
        self.all_probes().take(MAX_PROBES)
    }

    /// All that it names, in the order of [`Instance::read_probes`](crate::Instance::read_probes).
    pub fn all_probes(&self) -> impl Iterator<Item = Probe> + use<> {
        self.raw.probes().iter().map(Probe::new)
    }

    /// Each with what it reads; `None` where there is no such value now.
    pub fn readings(&self, view: &View) -> impl Iterator<Item = (Probe, Option<Reading>)> + use<> {
        let values = view.probes;
        self.probes().zip(values).map(|(probe, raw)| (probe, probe.read(raw)))
    }
}
