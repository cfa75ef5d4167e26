// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem advise` for the page: the page makes the runs, one seed of one controller at a time, and asks again what they say.

use serde::{Deserialize, Serialize};
use tandem_advise::{
    Advice, Known, Machine, Neighbours, Origin, Present, Question, Stepwise, candidates, measured::Measured,
};
use tandem_engine::{Engine, Options};
use tandem_results::SeedResult;
use tandem_scenario::units::{LossRate, QueueSize, Rate, Span};
use tandem_sim::Sim;

/// The seeds that a controller gets at most: two looks.
const MOST_SEEDS: u64 = 8;

/// A path, as in the page.
#[derive(Debug, Deserialize)]
pub struct Asked {
    rate_mbps: f64,
    rtt_ms: f64,
    queue_packets: u32,
    /// A share of the packets.
    loss: f64,
    flows: u32,
    neighbour: String,
    neighbours: u32,
}

/// What is to be run for an answer, and what has been.
#[derive(Deserialize)]
struct Seen {
    asked: Asked,
    /// As [`Told::lengthened`]; empty at first.
    lengthened: Vec<u32>,
    /// The first seeds of each controller, in the order of [`Told::names`]; none at all at first.
    results: Vec<Vec<SeedResult>>,
}

/// A run to be made.
#[derive(Deserialize)]
struct Turn {
    asked: Asked,
    lengthened: Vec<u32>,
    /// The place among [`Told::names`].
    controller: usize,
    /// From 0.
    seed: usize,
}

/// The answer so far, and what to run next.
#[derive(Serialize)]
struct Told<Answer> {
    /// Each candidate, and last what they are measured against.
    names: Vec<String>,
    /// Which of them need more seeds.
    needed: Vec<bool>,
    /// The numbers of seeds at which `needed` counts.
    looks: Vec<usize>,
    /// If no more seeds are needed: how many times the runs of each are to be lengthened; those that differ begin anew. Null if none are.
    lengthened: Option<Vec<u32>>,
    /// What `tandem advise --json` would write; null without two seeds of the default.
    advice: Option<Answer>,
    /// Of each controller of the advice, in its order: the verdict in a few words.
    remarks: Vec<String>,
}

/// The answer to `seen`, which is JSON: `asked`, `lengthened` and `results`. Returns JSON: `names`, `needed`, `looks`,
/// `lengthened`, `advice` and `remarks`.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn advise(seen: &str) -> Result<String, String> {
    let Seen { asked, lengthened, results } = serde_json::from_str(seen).map_err(|e| e.to_string())?;
    ask(&asked, &lengthened, |question, steps, present, machine| {
        steps.take_in(&results);
        let names = steps.scenarios().map(|scenario| scenario.name.clone()).collect::<Vec<_>>();
        let (answers, needed) = steps.answer().unzip();
        let advice = answers.and_then(|answers| Advice::of(question, answers, present, machine));
        let origin = Origin { version: env!("CARGO_PKG_VERSION"), commit: "", command: asked.command() };
        let told = Told {
            needed: needed.unwrap_or(vec![true; names.len()]),
            names,
            looks: steps.looks(),
            lengthened: steps.lengthened(),
            remarks: advice.iter().flat_map(remarks).collect(),
            advice: advice.as_ref().map(|advice| advice.results(&origin)),
        };
        serde_json::to_string(&told).map_err(|e| e.to_string())
    })
}

/// Runs one seed of one controller. `turn` is JSON: `asked`, `lengthened`, `controller` and `seed`. Returns the [`SeedResult`] as JSON.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn advise_run(turn: &str) -> Result<String, String> {
    let Turn { asked, lengthened, controller, seed } = serde_json::from_str(turn).map_err(|e| e.to_string())?;
    ask(&asked, &lengthened, |_, steps, _, _| {
        let scenario = steps.scenarios().nth(controller).ok_or("there is no such controller")?;
        let seed = *scenario.seeds.get(seed).ok_or("there is no such seed")?;
        let result = Sim.run(scenario, seed, Options::default()).map_err(|e| e.to_string())?;
        let result = result.ok_or("it was cancelled")?;
        serde_json::to_string(&SeedResult { cpu_s: 0.0, ..result }).map_err(|e| e.to_string())
    })
}

fn remarks(advice: &Advice) -> impl Iterator<Item = String> {
    advice.usual.decision.controllers.iter().map(|judged| advice.remark(judged))
}

/// Does `then` with the question about a path and a machine that is the same everywhere.
fn ask<T>(
    asked: &Asked,
    lengthened: &[u32],
    then: impl FnOnce(&Question, &mut Stepwise, &Present, &Machine) -> Result<T, String>,
) -> Result<T, String> {
    let known = asked.known()?;
    let (machine, measured) = (Machine::debian(), Measured::default());
    let words = |e: &dyn std::fmt::Display| e.to_string();
    let present = Present::new(None, &machine).map_err(|e| words(&e))?;
    let candidates = candidates(&[], known.flows(), &machine, &present, known.ecn).map_err(|e| words(&e))?;
    // Its time bounds the length of the runs alone, as the command's default does.
    let question =
        Question { most_seeds: MOST_SEEDS, ..Question::usual(&known, &measured, &candidates, &present.name, &Sim) };
    let case = known.cases().into_iter().next().ok_or("there is no path")?;
    let mut steps = Stepwise::new(&question, &case, lengthened).map_err(|e| words(&e))?;
    then(&question, &mut steps, &present, &machine)
}

impl Asked {
    fn known(&self) -> Result<Known, String> {
        let rate = Rate { bps: (self.rate_mbps * 1e6) as u64 };
        let rtt = Span { ns: (self.rtt_ms * 1e6) as u64 };
        let neighbours: Neighbours = self.neighbours().parse().map_err(|e| format!("{e}"))?;
        Ok(Known {
            queue: Some(QueueSize::Packets(self.queue_packets)),
            loss: Some(LossRate(self.loss)),
            neighbours: Some(neighbours),
            flows: Some(self.flows),
            ..Known::new(rate, rtt)
        })
    }

    fn neighbours(&self) -> String {
        if self.neighbours == 0 { "none".into() } else { format!("{}:{}", self.neighbour, self.neighbours) }
    }

    /// The command that asks the same, of the machine that it runs on.
    fn command(&self) -> String {
        let Self { rate_mbps, rtt_ms, queue_packets, loss, flows, .. } = self;
        format!(
            "tandem advise --rate {rate_mbps}mbit --rtt {rtt_ms}ms --queue {queue_packets}p --loss {loss} --jitter 0ms --neighbours {} --flows {flows}",
            self.neighbours()
        )
    }
}
