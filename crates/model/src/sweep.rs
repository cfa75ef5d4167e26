// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many points at once, on all cores.

use rayon::prelude::*;
use serde::Serialize;

use crate::{
    connection::Connection,
    followed::{followed, followed_with},
    law::{Arithmetic, Law, ModelError},
    path::Path,
    prediction::Prediction,
    published::{oscillation, published},
};

/// Both models' word on one path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Rate of the bottleneck, headers included.
    pub rate_mbps: f64,
    /// Two-way propagation delay.
    pub rtt_ms: f64,
    /// Buffer of the bottleneck.
    pub queue_packets: f64,
    /// Bandwidth-delay product.
    pub bdp_packets: f64,
    /// The one to believe: the connection followed from loss to loss.
    #[serde(flatten)]
    pub followed: Prediction,
    /// S2's own.
    pub published: Prediction,
}

impl Answer {
    /// Asks both models about one path.
    ///
    /// # Errors
    /// If the path or the law is outside the model, see [`ModelError`].
    pub fn new(path: &Path, law: &Law, arithmetic: Arithmetic) -> Result<Self, ModelError> {
        Ok(Self {
            rate_mbps: path.rate.bps as f64 / 1e6,
            rtt_ms: path.rtt.as_secs_f64() * 1e3,
            queue_packets: path.buffer_packets,
            bdp_packets: path.bdp_packets(),
            followed: followed(path, law, arithmetic)?,
            published: published(path, law, oscillation(path, law, arithmetic)?.as_ref()),
        })
    }
}

/// Each path's answer, in order.
///
/// # Errors
/// The first path's error, as in [`Answer::new`].
pub fn sweep(paths: &[Path], law: &Law, arithmetic: Arithmetic) -> Result<Vec<Answer>, ModelError> {
    paths.par_iter().map(|path| Answer::new(path, law, arithmetic)).collect()
}

/// One point of S2's Figure 6.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cell {
    /// The case by [`followed()`], 1 to 6.
    pub case: u8,
    /// The case by S2's own model, 1 to 6.
    pub published_case: u8,
    /// Share of the link's rate, by [`followed()`].
    pub utilisation: f64,
    /// Mean queue over time, by [`followed()`].
    pub backlog_packets: f64,
}

/// The plane of buffer and BDP: a row for each of `paths`, whose own buffers do not matter, a column for each buffer.
///
/// # Errors
/// [`ModelError`] if path or law is out of the model's range, or losses are too far apart.
pub fn plane(
    paths: &[Path],
    buffers_packets: &[f64],
    law: &Law,
    arithmetic: Arithmetic,
) -> Result<Vec<Vec<Cell>>, ModelError> {
    let row = |path: &Path| {
        // The oscillation depends on rate and RTT alone.
        let swing = oscillation(path, law, arithmetic)?;
        let connection = Connection::new(path, law, arithmetic)?;
        let cell = |&buffer_packets: &f64| {
            let path = Path { buffer_packets, ..*path };
            let followed = followed_with(&path, law, &connection, || None)?;
            Ok(Cell {
                case: followed.case,
                published_case: published(&path, law, swing.as_ref()).case,
                utilisation: followed.utilisation,
                backlog_packets: followed.backlog_packets,
            })
        };
        buffers_packets.iter().map(cell).collect()
    };
    paths.par_iter().map(row).collect()
}
