// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem search`: the worst paths for a controller.

mod bar;
mod files;
mod page;

use std::path::PathBuf;

use tandem_batch::{Batch, Store};
use tandem_engines::ENGINES;
use tandem_evaluate::Origin;
use tandem_report::sections_html;
use tandem_scenario::units::Span;
use tandem_search::{
    Asked, Budget, Compared, Done, JudgeError, Plan, PosedError, Question, Results, Space, Words, hunt,
};
use tandem_sim::Sim;

use crate::{
    failure::Failure,
    folder::{Folder, REPORT_FILE, RESULTS_FILE},
    interrupt,
    origin::{COMMIT, command_line},
    output::write,
    runner::of_tasks,
    settings::Common,
    store,
    terminal::{note, print_kept, warn},
};

/// Look for the paths on which a controller does worst, compared with another on the same path
///
/// Finds must hold with five seeds and on nearby paths, and are then reduced: features off, fewer flows, shorter, rounder numbers. Each is
/// a scenario file that `tandem run` runs. Runs are kept in the store (`tandem store`): the same command continues where it was. The same
/// seed and number of evaluations give the same finds on any number of cores.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The controller, with parameters after `@`, or your own header: ./mine.h
    #[arg(value_name = "CONTROLLER")]
    contender: String,

    /// The measure in which it is worst: utilisation, stolen, delay, loss, starvation, recovery, oscillation, or a criterion of RFC 9743 such as 5.1.2
    #[arg(long, value_name = "MEASURE|CRITERION", default_value = "utilisation")]
    worst: String,

    /// The paths: fixed-path, changing-path, competition, data-centre, satellite, or a file like theirs, such as ./mine.toml
    #[arg(long, value_name = "SPACE|FILE", default_value = "fixed-path")]
    over: String,

    /// What it is compared with: a path on which this does as badly is not a find [default: cubic, or a criterion's own]
    #[arg(long, value_name = "CONTROLLER")]
    baseline: Option<String>,

    /// Where the two differ most, whichever is worse: another controller, another version of a header, or the engine quic
    #[arg(long, value_name = "CONTROLLER|ENGINE", conflicts_with = "baseline")]
    differ: Option<String>,

    /// How long it may take; the last third is for reducing finds
    #[arg(long, value_name = "TIME", default_value = "2min")]
    budget: Span,

    /// Instead of --budget: this many paths are looked at, and finds are reduced however long that takes
    #[arg(long, value_name = "N", conflicts_with = "budget", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    evaluations: Option<u32>,

    /// The smallest difference that is a find, such as 0.1: a tenth less than the baseline [default: 0.1; delay 0.25, loss 0.01, oscillation 0.05]
    #[arg(long, value_name = "SHARE", value_parser = limit)]
    least: Option<f64>,

    /// Maximum number of finds to reduce; 0: the worst violation alone
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100))]
    finds: u32,

    /// Also keep points that are bad though their neighbours are not
    #[arg(long)]
    knife_edge: bool,

    /// Seed of the random points
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// All points are drawn at random: to see what the search is worth
    #[arg(long, hide = true)]
    random: bool,

    /// Runs at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    workers: Option<u32>,

    /// Also keep the finds there as regression tests: `tandem evaluate CONTROLLER --suite DIR/`
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Folder for find-N.toml, report.html and results.json [default: one in tandem-out, named after the command]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace the results of another command in that folder
    #[arg(long)]
    replace: bool,

    /// Results as JSON on standard output instead of text
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  tandem search compound
  tandem search bbr --worst starvation --over competition --budget 10min
  tandem search ./mine.h --worst delay --baseline reno
  tandem search ./mine.h --differ ./mine-before.h --over changing-path
  tandem search compound --differ quic          # where simulator and QUIC do not agree
  tandem search bbr3 --worst 5.1.3 --over changing-path
  tandem search fast --over changing-path --evaluations 2000 --json >finds.json
  tandem search ./mine.h --keep worst           # finds as regression tests:
  tandem evaluate ./mine.h --suite worst/
  sudo tandem evaluate ./mine.h --suite worst/ --engine sim,kernel  # over real TCP
  tandem run tandem-out/search/find-1.toml      # a find, again";

pub fn search(args: &Args) -> Result<(), Failure> {
    let words = Words {
        contender: &args.contender,
        worst: &args.worst,
        over: &args.over,
        baseline: args.baseline.as_deref(),
        differ: args.differ.as_deref(),
    };
    let posed = words.pose(&Sim, ENGINES).map_err(|e| match e {
        PosedError::Words(words) => Failure::usage(words),
        PosedError::Space(error) => Failure::usage(error),
    })?;
    if args.keep.is_some() && posed.other_engine.is_some() {
        return Err(Failure::usage("--keep: criteria compare controllers, not engines: leave it out"));
    }
    let (space, compared) = (&posed.space, posed.compared(&Sim, posed.other_engine.unwrap_or(&Sim)));
    let common = Common { out: args.out.clone(), replace: args.replace, ..Common::default() };
    let folder = Folder::prepare(&common, "search")?;
    let store = store::of_user();
    let done = look(args, space, &compared, store.as_ref())?;
    let keeping = interrupt::keeping();
    let command = command_line();
    let origin = Origin { version: env!("CARGO_PKG_VERSION"), commit: COMMIT, command: &command };
    let results = Results::new(space, &compared, &done, args.least(compared.question), folder.path(), &origin);
    let json = results.json().map_err(anyhow::Error::from)?;
    let kept = || {
        files::write_files(&results, folder.path())?;
        if let Some(keep) = &args.keep {
            files::keep(&results, keep, space, &compared, &done.settled.finds)?;
        }
        write(&folder.path().join(RESULTS_FILE), &json)?;
        drop(keeping);
        if done.is_interrupted {
            return Ok(());
        }
        let page = page::page(&results, &compared, space, &done.settled, store.as_ref())?;
        write(&folder.path().join(REPORT_FILE), &sections_html(&page))
    };
    print_kept(&if args.json { json.clone() } else { results.text() }, kept())?;
    if done.is_interrupted {
        warn("tandem: interrupted; finished runs are kept, and the same command continues");
        return Err(Failure::Interrupted);
    }
    note(&format!("Report: {}", folder.path().join(REPORT_FILE).display()));
    Ok(())
}

impl Args {
    fn least(&self, question: &Question) -> f64 {
        self.least.unwrap_or(question.worst.usual_limit())
    }
}

fn look(args: &Args, space: &Space, compared: &Compared, store: Option<&Store>) -> Result<Done, Failure> {
    let budget = args.evaluations.map_or(Budget::Time(args.budget), Budget::Evaluations);
    let limit = args.least(compared.question);
    let asked = Asked { limit, finds: args.finds as usize, knife_edge: args.knife_edge, seed: args.seed };
    let plan = Plan { budget, asked, is_random: args.random };
    let batch = Batch { quiet: true, workers: args.workers.map(|n| n as usize), ..of_tasks(store) };
    let bar = bar::Bar::new(args.evaluations.map(|points| points as usize), args.budget);
    hunt(space, compared, &plan, batch, &|progress| bar.tell(progress)).map_err(failure)
}

fn failure(error: JudgeError) -> Failure {
    match error {
        JudgeError::Scenario(_) => Failure::usage(error),
        JudgeError::Batch(e) => e.into(),
        JudgeError::Engine(e) => anyhow::Error::from(e).into(),
    }
}

fn limit(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1e3).contains(share) && *share > 0.0);
    share.ok_or_else(|| "the least violation is a number above 0, such as 0.1".into())
}
