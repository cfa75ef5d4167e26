// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model asked backwards. Next to borders the answers are not monotone (S2: 330 and 360 Mb/s are in case 4, 350 is
//! not), so each answer says where what was asked first changes, and from where on it stays so.

use rayon::prelude::*;
use serde::Serialize;
use tandem_scenario::units::Rate;

use crate::{
    followed::followed,
    law::{Arithmetic, Law, ModelError},
    path::Path,
};

/// Does the connection reach its steady state after each loss (cases 4 to 6), and use this share of the link?
fn is_full(path: &Path, law: &Law, arithmetic: Arithmetic, utilisation: f64) -> Result<bool, ModelError> {
    let prediction = followed(path, law, arithmetic)?;
    Ok(prediction.settled_share == 1.0 && prediction.utilisation >= utilisation)
}

/// This many whole numbers are asked each. Of a longer row, this many evenly spaced ones are, and then each one next to the
/// outermost changes: an island narrower than the step between them can be missed, an answer's last packet cannot.
const ASKED: u32 = 2000;

/// The answers for 1 to `most`, in order.
fn ask_row(most: u32, is: impl Fn(u32) -> Result<bool, ModelError> + Sync) -> Result<Vec<(u32, bool)>, ModelError> {
    let ask = |numbers: Vec<u32>| -> Result<Vec<(u32, bool)>, ModelError> {
        numbers.into_par_iter().map(|number| Ok((number, is(number)?))).collect()
    };
    let count = most.min(ASKED);
    let nth = |i: u32| (u64::from(i) * u64::from(most) / u64::from(count)) as u32;
    let mut row = ask((1..=count).map(nth).collect())?;
    let mut changes = row.windows(2).filter(|two| two[0].1 != two[1].1).map(|two| (two[0].0, two[1].0));
    let outermost = [Some((0, row[0].0)), changes.next(), changes.next_back()];
    for (before, after) in outermost.into_iter().flatten() {
        row.extend(ask((before + 1..after).collect())?);
    }
    row.sort_unstable_by_key(|(number, _)| *number);
    Ok(row)
}

/// Buffers, packets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EnoughBuffer {
    /// This and every larger one is enough.
    pub queue_packets: f64,
    /// The smallest that happens to be.
    pub smallest_queue_packets: f64,
}

/// The smallest buffer that keeps the connection out of cases 1 to 3 and the link used to this share; `path`'s own buffer
/// does not matter.
///
/// # Errors
/// [`ModelError`] if path or law is out of the model's range, losses are too far apart, or no value in the range gives it.
pub fn enough_buffer(
    path: &Path,
    law: &Law,
    arithmetic: Arithmetic,
    utilisation: f64,
) -> Result<EnoughBuffer, ModelError> {
    // From there on it is case 6, without an idle moment.
    let most = (path.pipe_packets() + 2.0 * law.gamma_packets).ceil() as u32 + 2;
    let enough =
        |buffer: u32| is_full(&Path { buffer_packets: f64::from(buffer), ..*path }, law, arithmetic, utilisation);
    let all = ask_row(most, enough)?;
    let first = all.iter().find(|(_, is)| *is);
    let Some(&(smallest, _)) = first.filter(|_| all[all.len() - 1].1) else {
        return Err(ModelError::NoAnswer(format!("no buffer gives a utilisation of {utilisation}")));
    };
    let last_not = all.iter().rev().find(|(_, is)| !is).map_or(0, |(buffer, _)| *buffer);
    Ok(EnoughBuffer { queue_packets: f64::from(last_not + 1), smallest_queue_packets: f64::from(smallest) })
}

/// Rates, Mb/s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fall {
    /// Where the utilisation first falls under the share.
    pub rate_mbps: f64,
    /// From where on it stays under it in the range asked.
    pub stays_mbps: f64,
}

/// The rate between two ends at which the utilisation falls under a share, of this many rates evenly in logarithm; `path`'s own
/// does not matter.
///
/// # Errors
/// [`ModelError`] if path or law is out of the model's range, losses are too far apart, or no value in the range gives it.
pub fn fall(
    path: &Path,
    (low, high): (Rate, Rate),
    law: &Law,
    arithmetic: Arithmetic,
    utilisation: f64,
) -> Result<Fall, ModelError> {
    let rate = |i: u32| {
        let ratio = high.bps as f64 / low.bps as f64;
        Rate { bps: (low.bps as f64 * ratio.powf(f64::from(i) / f64::from(ASKED))).round() as u64 }
    };
    let is_under = |i: u32| {
        let here = Path { rate: rate(i), ..*path };
        Ok(followed(&here, law, arithmetic)?.utilisation < utilisation)
    };
    let under: Vec<bool> = (0..=ASKED).into_par_iter().map(is_under).collect::<Result<_, ModelError>>()?;
    let mbps = |i: usize| rate(i as u32).bps as f64 / 1e6;
    let Some(first) = under.iter().position(|is| *is) else {
        let text = format!("the utilisation is {utilisation} or more from {low} to {high}");
        return Err(ModelError::NoAnswer(text));
    };
    let stays = under.iter().rposition(|is| !is).map_or(0, |last| last + 1);
    if stays > ASKED as usize {
        let text = format!("it falls under {utilisation} at {} Mb/s, but is above it again at {high}", mbps(first));
        return Err(ModelError::NoAnswer(text));
    }
    Ok(Fall { rate_mbps: mbps(first), stays_mbps: mbps(stays) })
}

/// Values of gamma, packets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LargestGamma {
    /// This and every smaller one will do.
    pub gamma_packets: f64,
    /// The largest that happens to.
    pub largest_gamma_packets: f64,
}

/// The largest gamma, in whole packets, with which the connection stays out of cases 1 to 3 and uses this share of the link.
///
/// # Errors
/// [`ModelError`] if path or law is out of the model's range, losses are too far apart, or no value in the range gives it.
pub fn largest_gamma(
    path: &Path,
    law: &Law,
    arithmetic: Arithmetic,
    utilisation: f64,
) -> Result<LargestGamma, ModelError> {
    let most = path.buffer_packets.floor().clamp(1.0, 10_000.0) as u32;
    let will_do = |gamma: u32| is_full(path, &Law { gamma_packets: f64::from(gamma), ..*law }, arithmetic, utilisation);
    let all = ask_row(most, will_do)?;
    let Some(&(largest, _)) = all.iter().rev().find(|(_, is)| *is) else {
        let text = format!("no gamma from 1 to {most} gives a utilisation of {utilisation} with this buffer");
        return Err(ModelError::NoAnswer(text));
    };
    let first_not = all.iter().find(|(_, is)| !is).map_or(most + 1, |(gamma, _)| *gamma);
    Ok(LargestGamma { gamma_packets: f64::from(first_not - 1), largest_gamma_packets: f64::from(largest) })
}
