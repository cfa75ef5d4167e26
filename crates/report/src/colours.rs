// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colours that people with any colour vision can tell apart (Okabe and Ito 2008), on light and on dark.

/// Without black and yellow, which vanish on dark and on white.
pub const PALETTE: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#888888"];

/// One colour for each name, the same in every chart of a report.
pub struct Colours(Vec<String>);

impl Colours {
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut seen: Vec<String> = Vec::new();
        for name in names {
            if !seen.iter().any(|s| s == name) {
                seen.push(name.to_owned());
            }
        }
        Self(seen)
    }

    /// In the order in which they came.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    pub fn of(&self, name: &str) -> &'static str {
        PALETTE[self.0.iter().position(|n| n == name).unwrap_or(0) % PALETTE.len()]
    }
}

/// Links take the palette from its end, so that few links and few groups share no colour.
pub fn of_link(index: usize) -> &'static str {
    PALETTE[PALETTE.len() - 1 - index % PALETTE.len()]
}

/// `rgba(...)` of a palette colour, for areas.
pub fn translucent(colour: &str, alpha: f64) -> String {
    let part = |i: usize| u8::from_str_radix(&colour[i..i + 2], 16).unwrap_or(0);
    format!("rgba({},{},{},{alpha})", part(1), part(3), part(5))
}
