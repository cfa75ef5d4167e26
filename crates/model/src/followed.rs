// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model that Tandem answers with: a connection followed until what it does repeats.

use crate::{
    connection::Connection,
    epoch::Epoch,
    follow::{Endless, Follower, settled},
    law::{Arithmetic, Law, ModelError},
    oscillation::Oscillation,
    path::Path,
    prediction::{Parts, Prediction, case},
    totals::Totals,
};

/// Losses that are followed at most before the last of them are averaged.
const MOST_EPOCHS: usize = 16;

/// The steady state of a connection that is followed from loss to loss; see [`crate::follow`].
///
/// # Errors
/// [`ModelError`] if path or law is out of the model's range, or losses are too far apart.
pub fn followed(path: &Path, law: &Law, arithmetic: Arithmetic) -> Result<Prediction, ModelError> {
    let connection = Connection::new(path, law, arithmetic)?;
    followed_with(path, law, &connection, || settled(&connection, path.pipe_packets(), law))
}

/// The same for a connection at hand; `otherwise` tells the oscillation of one that never gets as far as having one.
///
/// # Errors
/// [`ModelError::Endless`] if losses are too far apart.
pub fn followed_with(
    path: &Path,
    law: &Law,
    connection: &Connection,
    otherwise: impl FnOnce() -> Option<Oscillation>,
) -> Result<Prediction, ModelError> {
    let epochs = repeating(&mut Follower::on(path, connection, law))?;
    let seen = epochs.iter().filter(|epoch| epoch.is_settled).find_map(|epoch| epoch.oscillation.clone());
    let oscillation = seen.or_else(otherwise);
    let sum = |of: fn(&Epoch) -> Totals| {
        epochs.iter().fold(Totals::default(), |mut sum, epoch| {
            sum += of(epoch);
            sum
        })
    };
    let mean = |of: fn(&Epoch) -> f64| epochs.iter().map(of).sum::<f64>() / epochs.len() as f64;
    let last = &epochs[epochs.len() - 1];
    let spans = std::array::from_fn(|phase| {
        last.spans[phase].or_else(|| epochs.iter().rev().find_map(|epoch| epoch.spans[phase]))
    });
    let parts = Parts {
        path,
        case: commonest_case(path, law, &epochs),
        oscillation: oscillation.as_ref(),
        epochs: epochs.len() as f64,
        recovery: sum(|e| e.recovery),
        phases: [sum(|e| e.phases[0]), sum(|e| e.phases[1]), sum(|e| e.phases[2]), sum(|e| e.phases[3])],
        spans,
        loss_window: mean(|e| e.loss_window),
        first_window: mean(|e| e.first_window),
        settled_share: mean(|e| f64::from(u8::from(e.is_settled))),
    };
    Ok(parts.prediction())
}

/// The case in which the connection spends most of its time.
fn commonest_case(path: &Path, law: &Law, epochs: &[Epoch]) -> u8 {
    let mut time = [0.0; 7];
    for epoch in epochs {
        let overflows_at_once = epoch.spans[1].is_none();
        let case = match epoch.is_reno_alone() {
            true => 6,
            false => case(path.bdp_packets(), law, epoch.first_window, epoch.is_settled, overflows_at_once),
        };
        time[usize::from(case)] += epoch.totals().time;
    }
    (1..=6).max_by(|&a, &b| time[usize::from(a)].total_cmp(&time[usize::from(b)])).unwrap_or(6)
}

/// Epochs that will repeat: those since a loss found the same window as an earlier one, the one to begin with included; or
/// the later half of many.
fn repeating(follower: &mut Follower<Connection>) -> Result<Vec<Epoch>, Endless> {
    let (mut epochs, mut losses) = (Vec::new(), vec![follower.loss_window()]);
    while epochs.len() < MOST_EPOCHS {
        let epoch: Epoch = follower.epoch()?;
        let window = epoch.loss_window;
        epochs.push(epoch);
        if let Some(first) = losses.iter().rposition(|old| (old - window).abs() < 0.5) {
            return Ok(epochs.split_off(first));
        }
        losses.push(window);
    }
    Ok(epochs.split_off(MOST_EPOCHS / 2))
}
