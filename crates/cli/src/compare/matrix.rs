// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem compare --matrix`: every controller against every other.

use std::borrow::Cow;

use tandem_controllers::CONTROLLERS;
use tandem_report::setup;
use tandem_scenario::matrix::Matrix;

use super::{Args, same_number_of_flows};
use crate::{Failure, folder::Folder, output::publish_matrix, runner::run_in_each, settings::Flows};

pub fn compare_each_with_each(args: &Args) -> Result<(), Failure> {
    if args.engine.engines.len() > 1 {
        return Err(one_engine());
    }
    let contenders = contenders(args)?;
    let pairs: Vec<(&Flows, &Flows)> =
        Matrix::pairs(contenders.len()).map(|(row, column)| (&contenders[row], &contenders[column])).collect();
    let scenario = |(a, b): &(&Flows, &Flows)| args.scenario(&format!("{} against {}", a.name, b.name), &[a, b]);
    let scenarios = pairs.iter().map(scenario).collect::<Result<Vec<_>, _>>()?;

    let title =
        format!("{} controllers, each against each, at {}, {} RTT", contenders.len(), args.path.rate, args.path.rtt);
    args.engine.check(&scenarios)?;
    let folder = Folder::prepare(&args.common, &format!("matrix-{}-{}", args.path.rate, args.path.rtt))?;
    let [outcome] = &run_in_each(&args.engine.engines, &scenarios)?[..] else { return Err(one_engine()) };
    let names = contenders.iter().map(|c| c.name.clone()).collect();
    let matrix = Matrix::from_runs(names, contenders[0].count, &outcome.runs);
    publish_matrix(&title, setup(&scenarios[0]), &matrix, &scenarios, outcome, &args.common, &folder)
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
