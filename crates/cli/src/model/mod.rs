// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem model`: what an isolated Compound TCP connection does on a path, worked out without a simulation.

mod questions;
mod range;
mod s2_figures;
mod setup;
mod steady;
mod text;

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use tandem_model::{Answer, Arithmetic, Cell, Law, plane, sweep};
use tandem_scenario::{
    ControllerSpec,
    units::{LossRate, QueueSize, Rate, Span},
};

use crate::{
    failure::Failure,
    origin::command_line,
    output::{MODEL_FILE, json_text, write_model_report},
    terminal::{note, print, print_kept},
};
use range::Range;
use setup::{Constants, Setup};

/// What one Compound TCP connection does on a path, calculated without a simulation
///
/// Prints the case, the oscillation, utilisation and backlog of a connection that has a link to itself: by Tandem's model, which
/// follows the connection from loss to loss, and beside it by the model of Blanc, Collange and Avrachenkov (2009). One range makes
/// a sweep, two make the plane of their Figure 6.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem model --rate 400mbit --rtt 50ms --queue 100p
  tandem model --rate 400mbit --rtt 50ms --queue 100p --controller compound@gamma=5 --arithmetic linux-1.3 --out model-400
  tandem model --rate 10mbit..1gbit --rtt 50ms --queue 100p --steps 200 --json
  tandem model --rate 10mbit..1gbit --rtt 50ms --queue 10p..3000p --steps 300 --out plane
  tandem model --rate 1gbit --rtt 50ms --find queue
  tandem model --rate 100mbit..1gbit --rtt 50ms --queue 100p --find rate --utilisation 0.9
  tandem model --rate 200mbit --rtt 50ms --queue 100p --find gamma
  tandem model --rate 1gbit --rtt 100ms --loss 1e-6..1e-2 --controller reno
  tandem model --rate 100mbit --rtt 126ms --peer-rtt 21ms --queue 0.1bdp --controller compound_steady

docs/model.md describes what the model assumes, and how far it agrees with packets.")]
pub struct Args {
    /// The link's rate, such as 400mbit, or a range, such as 10mbit..1gbit
    #[arg(long, allow_hyphen_values = true)]
    rate: Range<Rate>,

    /// Two-way propagation delay, such as 50ms, or a range
    #[arg(long, allow_hyphen_values = true)]
    rtt: Range<Span>,

    /// The link's buffer: 100p, 2MB, 15ms or 0.5bdp, or a range
    #[arg(long, default_value = "1bdp", allow_hyphen_values = true)]
    queue: Range<QueueSize>,

    /// Points of a range
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    steps: u32,

    #[command(flatten)]
    constants: Constants,

    /// What to look for instead: the smallest sufficient queue, the rate at which utilisation falls, the largest gamma
    #[arg(long, value_enum, value_name = "WHAT")]
    find: Option<Find>,

    /// The share of the link that counts as enough, for --find
    #[arg(long, default_value_t = 0.98, requires = "find")]
    utilisation: f64,

    /// Random loss: prints the response function instead (mean window and goodput against loss, no queue)
    #[arg(long, allow_hyphen_values = true, conflicts_with_all = ["find", "queue"])]
    loss: Option<Range<LossRate>>,

    /// The controller and the constants of its law, such as compound@gamma=5,alpha=0.25; or compound_steady, or with --loss any
    #[arg(long, value_name = "CONTROLLER[@KEY=VALUE]", default_value = tandem_model::CONTROLLER)]
    controller: ControllerSpec,

    /// The RTT of another flow that shares the link, with compound_steady; may be repeated
    #[arg(long, value_name = "RTT", allow_hyphen_values = true, conflicts_with_all = ["find", "loss", "out"])]
    peer_rtt: Vec<Span>,

    /// Folder for a report with plots, model.html
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// As JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Find {
    /// The smallest queue that avoids cases 1 to 3 and keeps the link used; --queue is ignored
    Queue,
    /// The rate at which utilisation falls, within the range that --rate gives
    Rate,
    /// The largest gamma that avoids cases 1 to 3 and keeps the link used
    Gamma,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Output<'a, T> {
    version: &'static str,
    command: String,
    /// The constants of the law; `None` for controllers other than `compound`.
    #[serde(skip_serializing_if = "Option::is_none")]
    law: Option<&'a Law>,
    /// Likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    arithmetic: Option<Arithmetic>,
    #[serde(flatten)]
    answer: T,
}

#[derive(Serialize)]
struct Points {
    points: Vec<Answer>,
}

#[derive(Serialize)]
struct Plane {
    rates_mbps: Vec<f64>,
    rtts_ms: Vec<f64>,
    bdps_packets: Vec<f64>,
    queues_packets: Vec<f64>,
    /// A row for each BDP, a column for each queue.
    cells: Vec<Vec<Cell>>,
}

pub fn model(args: &Args) -> Result<(), Failure> {
    let setup = Setup::new(args)?;
    rayon::ThreadPoolBuilder::new().build_global().context("cannot start the threads that work it out")?;
    if let Some(loss) = args.loss {
        let answer = questions::response(&setup, loss)?;
        return finish(args, &setup, answer, text::response, |_| None);
    }
    if let Some(law) = steady_law(args, &setup)? {
        let answer = steady::together(&setup, &law, &args.peer_rtt)?;
        return finish(args, &setup, answer, steady::text, |_| None);
    }
    if let Some(find) = args.find {
        let answer = questions::find(&setup, find, args)?;
        return finish(args, &setup, answer, text::found, |_| None);
    }
    if setup.is_plane() {
        let (paths, queues_packets) = setup.plane()?;
        let plane = Plane {
            rates_mbps: paths.iter().map(|p| p.rate.bps as f64 / 1e6).collect(),
            rtts_ms: paths.iter().map(|p| p.rtt.as_secs_f64() * 1e3).collect(),
            bdps_packets: paths.iter().map(|p| p.bdp_packets()).collect(),
            cells: plane(&paths, &queues_packets, &setup.law, setup.arithmetic).map_err(Failure::usage)?,
            queues_packets,
        };
        return finish(args, &setup, plane, text::plane, |p| Some(s2_figures::of_plane(&setup, p)));
    }
    let mut points = sweep(&setup.paths()?, &setup.law, setup.arithmetic).map_err(Failure::usage)?;
    if points.len() == 1 {
        let point = points.remove(0);
        return finish(args, &setup, point, text::point, |p| Some(s2_figures::of_point(&setup, p)));
    }
    finish(
        args,
        &setup,
        Points { points },
        |p| text::sweep(&p.points),
        |p| Some(s2_figures::of_sweep(&setup, &p.points)),
    )
}

/// The law of `compound_steady`, if that is asked about; it has no cases to find.
fn steady_law(args: &Args, setup: &Setup) -> Result<Option<tandem_model::steady::Law>, Failure> {
    let law = tandem_model::steady::Law::of(&setup.params);
    match law {
        None if !args.peer_rtt.is_empty() => Err(Failure::usage("--peer-rtt needs --controller compound_steady")),
        Some(_) if args.find.is_some() => Err(Failure::usage("--find is about compound, not compound_steady")),
        Some(_) if setup.access_rate.is_some() || setup.arithmetic != Arithmetic::Tandem => {
            Err(Failure::usage("--access-rate and --arithmetic are about compound, not compound_steady"))
        }
        law => Ok(law),
    }
}

/// Writes the report if one is asked for, and prints an answer, as text or JSON.
fn finish<T: Serialize>(
    args: &Args,
    setup: &Setup,
    answer: T,
    text: impl Fn(&T) -> String,
    report: impl Fn(&T) -> Option<anyhow::Result<tandem_report::FiguresPage>>,
) -> Result<(), Failure> {
    let page = args.out.is_some().then(|| report(&answer));
    if let Some(None) = page {
        return Err(Failure::usage(
            "--out writes plots of points, sweeps and planes; it goes neither with --find or --loss nor with compound_steady",
        ));
    }
    let printed = if args.json {
        let is_compound = Law::of(&setup.params).is_some();
        let law = is_compound.then_some(&setup.law);
        let arithmetic = is_compound.then_some(setup.arithmetic);
        let version = env!("CARGO_PKG_VERSION");
        json_text(&Output { version, command: command_line(), law, arithmetic, answer: &answer })?
    } else {
        let title = match Law::of(&setup.params) {
            _ if args.loss.is_some() => setup.response_title(),
            Some(_) => setup.title(args.find),
            None => setup.steady_title(1 + args.peer_rtt.len()),
        };
        format!("{title}\n\n{}\n", text(&answer).trim_end())
    };
    let Some((folder, page)) = args.out.as_ref().zip(page.flatten()) else { return print(&printed) };
    print_kept(&printed, page.map_err(Failure::from).and_then(|page| write_model_report(folder, &page)))?;
    note(&format!("Report: {}", folder.join(MODEL_FILE).display()));
    Ok(())
}
