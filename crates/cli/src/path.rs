// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of `compare` and `shell` that describe the path.

use std::path::PathBuf;

use tandem_scenario::{
    DumbbellSpec, EffectsSpec, Loss, SpecError,
    aqm::{self, AqmSpec},
    effects::{BucketSpec, JitterSpec, ReorderSpec},
    units::{LossRate, QueueSize, Rate, Span, UnitError},
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

    #[arg(long, default_value = "droptail", help = format!("Queue discipline, both ways: {}", aqm::all_names()))]
    aqm: AqmSpec,

    /// Random loss, before the path's queue
    #[arg(long, default_value = "0", allow_hyphen_values = true)]
    loss: LossRate,

    /// Rate of the return path [default: --rate]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    reverse_rate: Option<Rate>,

    /// Buffer of the return path [default: --queue]
    #[arg(long, value_name = "QUEUE", allow_hyphen_values = true)]
    reverse_queue: Option<QueueSize>,

    /// Random loss on the return path
    #[arg(long, value_name = "LOSS", default_value = "0", allow_hyphen_values = true)]
    reverse_loss: LossRate,

    #[command(flatten)]
    effects: EffectArgs,
}

/// What the path's forward link does to packets besides carrying them.
#[derive(clap::Args)]
pub struct EffectArgs {
    /// When packets may leave, as mahimahi's traces have it, instead of --rate, which then only sizes the queue
    #[arg(long, value_name = "FILE")]
    rate_trace: Option<PathBuf>,

    /// Uniform random change of the path's delay, by up to this in either direction; packets stay in order
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    jitter: Option<Span>,

    /// Late packets: the share, and by how much they are late or how many others overtake each, such as 1%:5ms or 1%:3p
    #[arg(long, value_name = "SHARE:DISTANCE", value_parser = reorder)]
    reorder: Option<ReorderSpec>,

    /// A policer before the path: what exceeds this rate and burst is dropped, such as 10mbit:100kB
    #[arg(long, value_name = "RATE:BURST", value_parser = bucket)]
    policer: Option<BucketSpec>,
}

/// A problem with the path, and the flag of [`PathArgs`] that causes it; if no flag does, the message alone.
pub fn with_flag(error: &SpecError) -> String {
    let effect = error.key.strip_prefix("effects.").and_then(|key| key.split('.').nth(1));
    effect.map_or(error.message.clone(), |effect| format!("--{}: {}", effect.replace('_', "-"), error.message))
}

/// Both parts of `A:B`.
fn pair<'a>(text: &'a str, example: &str) -> Result<(&'a str, &'a str), String> {
    text.split_once(':').ok_or_else(|| format!("`{text}` has one part: write two, such as `{example}`"))
}

fn reorder(text: &str) -> Result<ReorderSpec, String> {
    let (share, distance) = pair(text, "1%:5ms")?;
    let share = share.parse().map_err(|e: UnitError| e.to_string())?;
    let distance = distance.parse().map_err(|e: UnitError| e.to_string())?;
    Ok(ReorderSpec { share, distance, from: None, until: None })
}

fn bucket(text: &str) -> Result<BucketSpec, String> {
    let (rate, burst) = pair(text, "10mbit:100kB")?;
    let rate = rate.parse().map_err(|e: UnitError| e.to_string())?;
    Ok(BucketSpec { rate, burst: burst.parse().map_err(|e: UnitError| e.to_string())? })
}

impl PathArgs {
    /// Its network, as in a scenario.
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

    /// What its forward link does to packets besides carrying them.
    pub fn effects(&self) -> EffectsSpec {
        self.effects.spec()
    }
}

impl EffectArgs {
    /// As in a scenario.
    pub fn spec(&self) -> EffectsSpec {
        EffectsSpec {
            rate_trace: self.rate_trace.clone(),
            jitter: self.jitter.map(JitterSpec::uniform),
            reorder: self.reorder,
            policer: self.policer,
            ..EffectsSpec::default()
        }
    }
}
