// SPDX-License-Identifier: MIT OR Apache-2.0
//! The path in between, as `compare` and `shell` are told of it.

use tandem_scenario::{
    DumbbellSpec, Loss,
    aqm::AqmSpec,
    units::{LossRate, QueueSize, Rate, Span},
};

#[derive(clap::Args)]
pub struct PathArgs {
    /// The path's rate, such as 100mbit
    // Hyphens, here and below: so that a negative number is called negative, and not an unknown option.
    #[arg(long, allow_hyphen_values = true)]
    pub rate: Rate,

    /// Two-way propagation delay, such as 40ms
    #[arg(long, allow_hyphen_values = true)]
    pub rtt: Span,

    /// The path's buffer: 1500p, 2MB, 15ms or 0.5bdp
    #[arg(long, default_value = "1bdp", allow_hyphen_values = true)]
    queue: QueueSize,

    /// Queue discipline, both ways: droptail, red or codel
    #[arg(long, default_value = "droptail")]
    aqm: AqmSpec,

    /// Random loss, before the path's queue
    #[arg(long, default_value = "0", allow_hyphen_values = true)]
    loss: LossRate,

    /// Rate of the way back [default: --rate]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    reverse_rate: Option<Rate>,

    /// Buffer of the way back [default: --queue]
    #[arg(long, value_name = "QUEUE", allow_hyphen_values = true)]
    reverse_queue: Option<QueueSize>,

    /// Random loss on the way back
    #[arg(long, value_name = "LOSS", default_value = "0", allow_hyphen_values = true)]
    reverse_loss: LossRate,
}

impl PathArgs {
    /// Its network as a scenario has it.
    pub fn dumbbell(&self) -> DumbbellSpec {
        DumbbellSpec {
            rate: self.rate,
            rtt: self.rtt,
            queue: self.queue,
            aqm: self.aqm,
            loss: Loss::from(self.loss),
            reverse_rate: self.reverse_rate,
            reverse_queue: self.reverse_queue,
            reverse_loss: Loss::from(self.reverse_loss),
        }
    }
}
