// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem compare --matrix`: every controller against every other.

use std::{borrow::Cow, collections::BTreeMap};

use tandem_compare::{Budget, open_shares, same_number_of_flows};
use tandem_controllers::CONTROLLERS;
use tandem_report::common_setup;
use tandem_results::{Matrix, Run};

use super::{Args, note_length, refused};
use crate::{
    failure::Failure,
    folder::Folder,
    output::publish_matrix,
    runner::{Asked, Outcome, run_in_each},
    settings::Flows,
    terminal::warn,
};

pub fn compare_each_with_each(args: &Args, seeds: u32, budget: Option<Budget>) -> Result<(), Failure> {
    if args.engine.engines.len() > 1 {
        return Err(one_engine());
    }
    let contenders = contenders(args)?;
    let pairs: Vec<(&Flows, &Flows)> =
        Matrix::pairs(contenders.len()).map(|(row, column)| (&contenders[row], &contenders[column])).collect();
    let run = |&(a, b): &(&Flows, &Flows)| (format!("{} against {}", a.name, b.name), vec![a.clone(), b.clone()]);
    let runs: Vec<_> = pairs.iter().map(run).collect();
    let (scenarios, why_so_long) = args.comparison(seeds)?.scenarios(&runs).map_err(refused)?;

    let title =
        format!("{} controllers, each against each, at {}, {} RTT", contenders.len(), args.path.rate, args.path.rtt);
    args.engine.check(&scenarios)?;
    let folder = Folder::prepare(&args.common, &format!("matrix-{}-{}", args.path.rate, args.path.rtt))?;
    note_length(why_so_long.as_deref());
    let open = |runs: &mut [Option<Run>], budget: Budget| open_shares(runs, budget.precision);
    let asked = Asked { open: &open, budget };
    let [outcome] = &run_in_each(&args.engine.engines, &scenarios, Some(asked))?[..] else { return Err(one_engine()) };
    let names = contenders.iter().map(|c| c.name.clone()).collect();
    let matrix = Matrix::from_runs(names, contenders[0].count, &outcome.runs);
    let cautions = cautions(outcome);
    let set_up = common_setup(outcome.scenarios.iter());
    let set_up =
        set_up.into_iter().chain(outcome.why.clone()).chain(cautions.iter().cloned()).collect::<Vec<_>>().join(" ");
    let published = publish_matrix(&title, set_up, &matrix, outcome, &args.common, &folder);
    cautions.iter().for_each(|caution| warn(caution));
    published
}

/// The cautions of all pairs, each once, with the number of pairs that it concerns.
fn cautions(outcome: &Outcome) -> Vec<String> {
    let mut pairs_with: BTreeMap<&str, usize> = BTreeMap::new();
    let runs: Vec<_> = outcome.runs.iter().flatten().collect();
    for caution in runs.iter().flat_map(|run| &run.cautions) {
        // Naming the controller of the two would make a line for each pair.
        let text =
            caution.split_once(": ").filter(|(name, _)| !name.contains(' ')).map_or(&**caution, |(_, text)| text);
        *pairs_with.entry(text).or_default() += 1;
    }
    let say = |(text, pairs): (&str, usize)| format!("Caution ({pairs} of {} pairs): {text}.", runs.len());
    pairs_with.into_iter().map(say).collect()
}

fn one_engine() -> Failure {
    Failure::usage("--matrix takes one engine: run it once for each")
}

/// The controllers that were named, otherwise one flow of every controller.
fn contenders(args: &Args) -> Result<Cow<'_, [Flows]>, Failure> {
    if args.contenders.is_empty() {
        return Ok(CONTROLLERS.iter().map(|c| c.name.parse().expect("a name of the list")).collect());
    }
    if !same_number_of_flows(&args.contenders) {
        return Err(Failure::usage(
            "with --matrix all contenders need the same number of flows, or shares mean nothing",
        ));
    }
    for (i, contender) in args.contenders.iter().enumerate() {
        if args.contenders[..i].iter().any(|other| other.name == contender.name) {
            return Err(Failure::usage(format!("`{}` is named twice; --matrix needs each once", contender.name)));
        }
    }
    Ok(Cow::Borrowed(&args.contenders))
}
