// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asks as the command does, of a machine that is the same everywhere.

use anyhow::Context;
use tandem_advise::{Advice, Given, Machine, Present, Question, candidates, measured::Measured};
use tandem_batch::Batch;
use tandem_scenario::{ControllerSpec, effects::BucketSpec, units::Span};
use tandem_sim::Sim;

use super::Said;

/// The time is bounded by the seeds, so that any machine finds the same.
const TIME: Span = Span::from_secs(24 * 3600);
const MOST_SEEDS: u64 = 8;

/// With Debian's defaults for buffers and queues, too.
fn machine() -> Machine {
    Machine { send_buffer_bytes: Some(4 << 20), discipline: Some("fq_codel".into()), ..Machine::debian() }
}

/// Options as the command has them, and the controllers behind them.
fn given(options: &str) -> anyhow::Result<(Given, Vec<ControllerSpec>)> {
    let mut given = Given::default();
    let mut controllers = Vec::new();
    let mut words = options.split(' ');
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("`{word}` has no value"));
        match word {
            "--rate" => given.rate = Some(value()?.parse()?),
            "--rtt" => given.rtt = Some(value()?.parse()?),
            "--queue" => given.queue = Some(value()?.parse()?),
            "--aqm" => given.aqm = Some(value()?.parse()?),
            "--ecn" => given.ecn = true,
            "--loss" => given.loss = Some(value()?.parse()?),
            "--neighbours" => given.neighbours = Some(value()?.parse()?),
            "--flows" => given.flows = Some(value()?.parse()?),
            "--policer" => {
                let (rate, burst) = value()?.split_once(':').context("RATE:BURST")?;
                given.effects.policer = Some(BucketSpec { rate: rate.parse()?, burst: burst.parse()? });
            }
            option if option.starts_with('-') => anyhow::bail!("`{option}` is not known here"),
            name => controllers.push(name.parse().map_err(|e| anyhow::anyhow!("{e}"))?),
        }
    }
    Ok((given, controllers))
}

/// The answer.
pub fn ask(options: &str, batch: &Batch) -> anyhow::Result<Said> {
    let (given, named) = given(options)?;
    let known = given.with(&mut Measured::default())?;
    let machine = machine();
    let present = Present::new(None, &machine)?;
    let all = candidates(&named, known.flows(), &machine, &present, known.ecn)?;
    let nothing = Measured::default();
    let question = Question {
        most_seeds: MOST_SEEDS,
        cancelled: batch.cancelled,
        store: batch.store,
        time: TIME,
        ..Question::usual(&known, &nothing, &all, &present.name, &Sim)
    };
    let advice = Advice::of(&question, question.answers(&known.cases())?, &present, &machine).context("interrupted")?;
    let decision = &advice.usual.decision;
    let of = |name: &str| decision.of(name).with_context(|| format!("`{name}` was not run"));
    let (chosen, default) = (of(&decision.chosen)?, of(&present.name)?);
    Ok(Said {
        options: options.to_owned(),
        first: advice.cures(),
        advised: decision.chosen.clone(),
        why: serde_json::to_value(decision.why)?.as_str().unwrap_or_default().to_owned(),
        goodput_mbps: chosen.goodput_mbps.value,
        default_mbps: default.goodput_mbps.value,
        stolen_percent: chosen.stolen.map(|stolen| stolen.value * 100.0),
        delay_ms: chosen.delay_ms.value,
    })
}
