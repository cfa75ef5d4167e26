// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one table of colours. A controller has the same colour and the same symbol on every page.

use std::borrow::Cow;

use serde::Serialize;
use tandem_controllers::find;

/// A controller's place in it is its `look` in the list of controllers. All stand out from white and from the dark page. The first six are for
/// any colour vision (Okabe and Ito 2008); the others lie as far as possible from each other and from those, in Oklab, for people who see
/// green and for people who do not. Users' own controllers have the last ones.
const PALETTE: [&str; 34] = [
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#2DC369", "#A51E69", "#695A00", "#4B87FF",
    "#783CB4", "#96695A", "#E187FF", "#B41E00", "#B44BB4", "#4B5A69", "#FF7869", "#969600", "#008700", "#7887B4",
    "#1E1EFF", "#E196B4", "#F000FF", "#FF0087", "#A500FF", "#96B496", "#694BFF", "#FF001E", "#A569FF", "#2D4BC3",
    "#2D785A", "#D24B69", "#C32D87", "#1E5A87",
];

/// The first link's place.
const LINKS_FROM: usize = 21;

/// For UDP, and for controllers of the kernel that are not in the list.
const OTHER: &str = "#888888";

/// As Plotly calls them. Neighbours in the table, whose colours are the most used, have different ones.
const SYMBOLS: [&str; 10] = [
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "pentagon",
    "star",
    "hexagram",
    "cross",
    "hourglass",
];

/// Symbols repeat, shifted so that similar colours get different symbols.
fn symbol(place: usize) -> &'static str {
    SYMBOLS[(place + place / SYMBOLS.len() * 7) % SYMBOLS.len()]
}

/// Colour and symbol of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Look {
    #[serde(rename = "colour")]
    pub colour: Cow<'static, str>,
    pub symbol: &'static str,
}

impl Default for Look {
    fn default() -> Self {
        Self::nth(0)
    }
}

impl Look {
    /// For series without a controller: the places of the table in order.
    pub fn nth(place: usize) -> Self {
        Self { colour: PALETTE[place % PALETTE.len()].into(), symbol: symbol(place) }
    }

    /// Links take the table from the end, so that few links and few groups share no colour.
    pub fn of_link(index: usize) -> Self {
        Self::nth(LINKS_FROM - index % (LINKS_FROM + 1))
    }

    /// The look of the `nth` series, from 0, that belongs to a controller. The first has the controller's own; others are darker or lighter.
    pub fn of_controller(controller: &str, nth: usize) -> Self {
        // The kernel's own CUBIC is a CUBIC.
        let name = controller.rsplit(':').next().unwrap_or(controller);
        let name = name.split('@').next().unwrap_or(name);
        let place = find(name).ok().map(|controller| controller.look);
        let colour = place.map_or(OTHER, |place| PALETTE[place]);
        let symbol = symbol(place.unwrap_or(0) + nth);
        Self { colour: shade(colour, nth), symbol }
    }
}

/// `#rrggbb`, lighter if it is dark and darker if it is light, then the other way, so that it still stands out from both pages.
fn shade(colour: &'static str, nth: usize) -> Cow<'static, str> {
    if nth.is_multiple_of(4) {
        return colour.into();
    }
    let parts = [1, 3, 5].map(|i| f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap_or(0)));
    let is_dark = 0.3 * parts[0] + 0.6 * parts[1] + 0.1 * parts[2] < 125.0;
    let (first, second) = if is_dark { (255.0, 0.0) } else { (0.0, 255.0) };
    let (towards, share) = [(first, 0.4), (second, 0.3), (first, 0.65)][nth % 4 - 1];
    let mixed = parts.map(|part| (part * (1.0 - share) + towards * share).round() as u8);
    format!("#{:02X}{:02X}{:02X}", mixed[0], mixed[1], mixed[2]).into()
}

/// A look for each name, the same in every chart of a page.
pub struct Looks(Vec<(String, String, Look)>);

impl Looks {
    /// Of pairs of a name and the controller that it stands for.
    pub fn new<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut looks: Vec<(String, String, Look)> = Vec::new();
        for (name, controller) in names {
            if looks.iter().all(|(known, of, _)| (known.as_str(), of.as_str()) != (name, controller)) {
                let nth = looks.iter().filter(|(_, of, _)| of == controller).count();
                looks.push((name.to_owned(), controller.to_owned(), Look::of_controller(controller, nth)));
            }
        }
        Self(looks)
    }

    pub fn of(&self, name: &str, controller: &str) -> Look {
        let look = self.0.iter().find(|(known, of, _)| (known.as_str(), of.as_str()) == (name, controller));
        look.map_or_else(|| Look::of_controller(controller, 0), |(_, _, look)| look.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tandem_controllers::CONTROLLERS;

    use super::*;

    fn channels(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|i| f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()))
    }

    /// WCAG 2's contrast.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour: &str| {
            let linear = channels(colour).map(|c| {
                let c = c / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_controller_has_a_colour_that_is_seen_on_white_and_on_the_dark_page() {
        for colour in PALETTE {
            assert!(contrast(colour, "#ffffff") > 2.2, "{colour}");
            assert!(contrast(colour, "#16181b") > 2.2, "{colour}");
        }
        for controller in &CONTROLLERS {
            assert!(controller.look < PALETTE.len(), "{controller:?}: its look is beyond the palette: add a colour");
        }
    }

    #[test]
    fn no_two_controllers_look_alike() {
        let places: BTreeSet<usize> = CONTROLLERS.iter().map(|controller| controller.look).collect();
        assert_eq!(places.len(), CONTROLLERS.len(), "two controllers have the same look");
        let users = tandem_controllers::own::LOOKS;
        assert!(
            users.iter().all(|place| *place < PALETTE.len() && !places.contains(place)),
            "users' own have {users:?}"
        );
        for a in 0..PALETTE.len() {
            for b in 0..a {
                let [a_parts, b_parts] = [a, b].map(|place| channels(PALETTE[place]));
                let apart: f64 = a_parts.iter().zip(b_parts).map(|(x, y)| (x - y).abs()).sum();
                assert!(apart > 60.0, "{a} and {b}");
                assert!(symbol(a) != symbol(b) || apart > 140.0, "{a} and {b}");
            }
        }
    }

    #[test]
    fn the_same_controller_has_the_same_colour_whatever_the_name() {
        let looks =
            Looks::new([("early", "compound"), ("late", "compound"), ("kernel", "kernel:cubic"), ("udp", "udp")]);
        assert_eq!(looks.of("early", "compound").colour, "#D55E00");
        assert_eq!(looks.of("late", "compound").colour, "#E69E66");
        assert_eq!(looks.of("kernel", "kernel:cubic").colour, "#009E73");
        assert_eq!(looks.of("udp", "udp").colour, OTHER);
        assert_eq!(Look::of_controller("compound@gamma=5", 0), Look::of_controller("compound", 0));
    }
}
