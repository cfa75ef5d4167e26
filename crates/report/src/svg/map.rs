// SPDX-License-Identifier: MIT OR Apache-2.0
//! A figure's map: a coloured cell for each place of two axes.

use super::{Svg, px, scale::Scale};
use crate::chart::Cells;

/// Neighbours of one colour in a row are one rectangle.
pub fn draw(svg: &mut Svg, cells: &Cells, x: &Scale, y: &Scale) {
    let columns = edges(&cells.x, x);
    let rows = edges(&cells.y, y);
    for (row, values) in cells.z.iter().enumerate() {
        let mut from = 0;
        while from < values.len() {
            let alike =
                values[from..].iter().take_while(|v| **v == values[from] || v.is_nan() && values[from].is_nan());
            let to = from + alike.count().max(1);
            if values[from].is_finite() {
                let [top, bottom] = [rows[row].max(rows[row + 1]), rows[row].min(rows[row + 1])];
                svg.open(&format!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
                    px(columns[from]),
                    px(bottom),
                    px(columns[to] - columns[from]),
                    px(top - bottom),
                    colour(cells, values[from]),
                ));
            }
            from = to;
        }
    }
}

/// The kinds with their colours, or the ends of the scale.
pub fn entries(cells: &Cells) -> Vec<(String, String)> {
    let values: Vec<f64> = match cells.kinds {
        true => (1..=cells.ends[1].floor() as u32).map(f64::from).collect(),
        false => cells.ends.to_vec(),
    };
    values.into_iter().map(|value| (colour(cells, value), super::label(value))).collect()
}

/// Where cells meet: halfway between their places, in pixels.
fn edges(places: &[f64], scale: &Scale) -> Vec<f64> {
    let at: Vec<f64> = places.iter().map(|&place| scale.px(place)).collect();
    let (Some(first), Some(last)) = (at.first(), at.last()) else { return Vec::new() };
    let halves: Vec<f64> = at.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    let (before, after) = match (halves.first(), halves.last()) {
        (Some(second), Some(before_last)) => (2.0 * first - second, 2.0 * last - before_last),
        _ => (first - 10.0, last + 10.0),
    };
    [before].into_iter().chain(halves).chain([after]).collect()
}

fn colour(cells: &Cells, value: f64) -> String {
    let share = ((value - cells.ends[0]) / (cells.ends[1] - cells.ends[0])).clamp(0.0, 1.0);
    let after = cells.scale.iter().position(|(at, _)| *at >= share).unwrap_or(cells.scale.len() - 1);
    let (high_at, high) = cells.scale[after];
    let (low_at, low) = cells.scale[after.saturating_sub(1)];
    let part = if high_at > low_at { (share - low_at) / (high_at - low_at) } else { 1.0 };
    let channel = |colour: &str, i: usize| f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap_or(0));
    let mixed = [1, 3, 5].map(|i| ((1.0 - part) * channel(low, i) + part * channel(high, i)).round() as u8);
    format!("#{:02X}{:02X}{:02X}", mixed[0], mixed[1], mixed[2])
}
