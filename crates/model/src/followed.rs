// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model that Tandem answers with: a connection followed until what it does repeats.

use crate::{
    connection::Connection,
    follow::{Epoch, Follower, settled},
    law::{Arithmetic, Law, ModelError},
    path::Path,
    prediction::{Parts, Prediction, case},
    totals::Totals,
};

/// Losses that are followed at most before the last of them are averaged.
const MOST_EPOCHS: usize = 24;

/// The steady state of a connection that is followed from loss to loss; see [`crate::follow`].
pub fn followed(path: &Path, law: &Law, arithmetic: Arithmetic) -> Result<Prediction, ModelError> {
    let connection = Connection::new(path, law, arithmetic)?;
    let epochs = repeating(&mut Follower::new(&connection, path.pipe_packets(), path.buffer_packets, law));
    let oscillation = epochs
        .iter()
        .filter(|epoch| epoch.is_settled)
        .find_map(|epoch| epoch.oscillation.clone())
        .or_else(|| settled(&connection, path.pipe_packets(), law));
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
        let case = case(path.bdp_packets(), law, epoch.first_window, epoch.is_settled, overflows_at_once);
        time[usize::from(case)] += epoch.totals().time;
    }
    (1..=6).max_by(|&a, &b| time[usize::from(a)].total_cmp(&time[usize::from(b)])).unwrap_or(6)
}

/// Epochs that will repeat: those since a loss found the same window as an earlier one; or the later half of many.
fn repeating(follower: &mut Follower<Connection>) -> Vec<Epoch> {
    let mut epochs = vec![follower.epoch()];
    while epochs.len() < MOST_EPOCHS {
        let next = follower.epoch();
        let same = |old: &Epoch| (old.loss_window - next.loss_window).abs() < 0.5;
        if let Some(first) = epochs.iter().rposition(same) {
            epochs.push(next);
            return epochs.split_off(first + 1);
        }
        epochs.push(next);
    }
    epochs.split_off(MOST_EPOCHS / 2)
}
