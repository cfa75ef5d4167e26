// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem sweep`: many scenarios from one, into a data set that grows.

mod bar;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Serialize;
use tandem_engine::{Engine, EngineError};
use tandem_report::{FiguresPage, figures_html};
use tandem_scenario::file::MAX_COUNT;
use tandem_sweep::{
    GROUPS_FOLDER, MAX_RUNS, Outcome, Pair, Program, RunOptions, Store, Survey, SurveyError, Sweep, column_names,
    figures, run,
};

use crate::{
    engine::EngineArgs,
    failure::Failure,
    folder::{REPORT_FILE, RESULTS_FILE, make_folder, named},
    interrupt::{self, flag},
    origin::{COMMIT, command_line},
    output::{json_text, write},
    store,
    terminal::{note, print_kept, warn},
};

/// What `--json` prints is there, too.
const SWEEP_FILE: &str = "sweep.json";

/// Run a scenario with many values of its keys, controllers among them
///
/// Each run adds rows to a data set: Parquet files in DIR/groups, a row for each run, seed and group. Finished points are not run again, so
/// a sweep that was interrupted, killed or extended continues. Also writes report.html and sweep.json.
#[derive(clap::Args)]
#[command(after_help = "\
Example: paths.toml
  [scenario]
  duration = \"10s\"
  warmup = \"2s\"
  seeds = 2
  [scenario.dumbbell]
  rate = \"10mbit\"
  rtt = \"40ms\"
  queue = \"1bdp\"
  [[scenario.flows]]
  controller = \"reno\"

  [grid]                                  # every combination
  \"dumbbell.rtt\" = [\"10ms\", \"40ms\", \"160ms\"]
  \"flows[0].controller\" = [\"reno\", \"compound\", \"cubic\"]

  [random]                                # of each of these points
  points = 10
  [random.values]
  \"dumbbell.rate\" = { from = \"1mbit\", to = \"20mbit\", scale = \"log\" }

Commands:
  tandem sweep paths.toml
  tandem sweep paths.toml --seeds 5       # runs the three seeds that are new
  tandem sweep paths.toml --chart dumbbell.rate_bps,dumbbell.rtt_s --measure link_utilisation
  tandem sweep paths.toml --trace --out results/paths")]
pub struct Args {
    /// The sweep; docs/sweeps.md describes the format
    file: PathBuf,

    #[command(flatten)]
    engine: EngineArgs,

    /// Independent repetitions of each point [default: the file's, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_COUNT)))]
    seeds: Option<u32>,

    /// The first seed; the others follow [default: the file's, or 1]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// Folder of the data set [default: one named after FILE in tandem-out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Runs at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    workers: Option<u32>,

    /// Limit on points times seeds; more are refused before anything runs
    #[arg(long, value_name = "N", default_value_t = MAX_RUNS)]
    max_runs: u64,

    /// Also keep samples of windows and queues (Parquet), of all seeds and flows
    #[arg(long)]
    trace: bool,

    /// A chart of the report: the columns of its axes, or one column; can be given more than once [default: all pairs of keys that vary]
    #[arg(long = "chart", value_name = "X,Y")]
    charts: Vec<Pair>,

    /// Columns with the figures that charts show
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', default_value = "goodput_mbps")]
    measure: Vec<String>,

    /// Write no report.html
    #[arg(long)]
    no_report: bool,

    /// A summary as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    version: &'static str,
    commit: &'static str,
    command: String,
    sweep: String,
    /// The files of the data set.
    groups: String,
    points: usize,
    engines: Vec<EngineSummary>,
    interrupted: bool,
    /// Those of the keys that vary.
    swept_columns: Vec<String>,
    columns: Vec<String>,
}

#[derive(Serialize)]
struct EngineSummary {
    engine: &'static str,
    /// Scenarios times seeds.
    runs: usize,
    ran: usize,
    /// Of other commands, in the store of finished runs.
    stored: usize,
    /// In the data set.
    found: usize,
}

pub fn sweep(args: &Args) -> Result<(), Failure> {
    let sweep = Arc::new(Sweep::load(&args.file).map_err(Failure::usage)?.with_seeds(args.seeds, args.seed));
    sweep.check_length(args.max_runs).map_err(Failure::usage)?;
    let surveys = surveys(args, &sweep)?;
    let columns: Vec<String> = surveys[0].1.schema.fields().iter().map(|field| field.name().clone()).collect();
    check_charts(args, &columns)?;
    let default = named(&args.file.file_stem().unwrap_or_default().to_string_lossy());
    let folder = args.out.clone().unwrap_or(default);
    make_folder(&folder)?;
    if folder.join(RESULTS_FILE).exists() {
        let message =
            format!("`{}` holds the results of another command; choose another folder with --out", folder.display());
        return Err(Failure::usage(message));
    }
    let mut engines = Vec::new();
    let mut interrupted = false;
    for (engine, survey) in &surveys {
        let outcome = run_in(*engine, &sweep, survey, &folder, args)?;
        engines.push(EngineSummary {
            engine: engine.name(),
            runs: survey.tasks,
            ran: outcome.ran,
            stored: outcome.stored,
            found: outcome.found,
        });
        interrupted |= outcome.interrupted;
    }
    let summary = Summary {
        version: env!("CARGO_PKG_VERSION"),
        commit: COMMIT,
        command: command_line(),
        sweep: sweep.path.clone(),
        groups: folder.join(GROUPS_FOLDER).join("*.parquet").display().to_string(),
        points: sweep.points(),
        engines,
        interrupted,
        swept_columns: sweep.columns().map(|column| column.name.clone()).collect(),
        columns: column_names(&folder).map_err(anyhow::Error::from)?,
    };
    publish(args, &summary, &folder)
}

/// Before anything runs: has the data set the columns that charts need?
fn check_charts(args: &Args, columns: &[String]) -> Result<(), Failure> {
    let axes = args.charts.iter().flat_map(Pair::columns).map(|name| ("--chart", name));
    let all = axes.chain(args.measure.iter().map(|name| ("--measure", name)));
    all.into_iter().find(|(_, name)| !columns.contains(name)).map_or(Ok(()), |(option, name)| {
        let known = columns.join(", ");
        Err(Failure::usage(format!("{option}: the data set has no column `{name}`; it has {known}")))
    })
}

/// Every scenario is read and checked before anything is run or written.
fn surveys(args: &Args, sweep: &Sweep) -> Result<Vec<(&'static dyn Engine, Survey)>, Failure> {
    let mut surveys = Vec::new();
    for engine in args.engine.engines.iter() {
        let survey = sweep.survey(engine, args.engine.force).map_err(|error| match error {
            SurveyError::Engine { cause: EngineError::Failed(_), .. } => Failure::Failed(error.into()),
            _ => Failure::Usage(error.into()),
        })?;
        survey.warnings.iter().for_each(|line| warn(line));
        surveys.push((engine, survey));
    }
    Ok(surveys)
}

fn run_in(
    engine: &dyn Engine,
    sweep: &Arc<Sweep>,
    survey: &Survey,
    folder: &Path,
    args: &Args,
) -> Result<Outcome, Failure> {
    let mut store = Store::open(folder, sweep, engine, &survey.schema, args.trace).map_err(anyhow::Error::from)?;
    let bar = bar::Bar::new(survey.tasks);
    let progress = |done: usize| bar.set(done);
    let finished = store::of_user();
    let options = RunOptions {
        traces: args.trace,
        workers: args.workers.map(|n| n as usize),
        cancelled: Some(flag()),
        finished: finished.as_ref(),
        progress: Some(&progress),
    };
    let _unbroken = engine.needs_machine().then(interrupt::unbroken);
    let program = Program { version: env!("CARGO_PKG_VERSION"), commit: COMMIT };
    Ok(run(sweep, engine, &mut store, &program, &options).map_err(anyhow::Error::from)?)
}

fn publish(args: &Args, summary: &Summary, folder: &Path) -> Result<(), Failure> {
    let keeping = interrupt::keeping();
    let json = json_text(summary)?;
    let has_report = !args.no_report && !summary.interrupted;
    let keep = || {
        write(&folder.join(SWEEP_FILE), &json)?;
        drop(keeping);
        if has_report { write_charts(args, summary, folder) } else { Ok(()) }
    };
    print_kept(&if args.json { json.clone() } else { text(summary) }, keep())?;
    if summary.interrupted {
        warn("tandem: interrupted; finished runs are kept, and the same command continues there");
        return Err(Failure::Interrupted);
    }
    if has_report {
        note(&format!("Report: {}", folder.join(REPORT_FILE).display()));
    }
    Ok(())
}

fn write_charts(args: &Args, summary: &Summary, folder: &Path) -> Result<(), Failure> {
    let page = FiguresPage {
        title: format!("Sweep {}", summary.sweep),
        paragraphs: vec!["Each value is the mean over all rows of the data set that it stands for.".into()],
        text: text(summary),
        figures: figures(folder, &args.charts, &args.measure, &summary.swept_columns)
            .map_err(|e| Failure::Usage(e.into()))?,
        command: summary.command.clone(),
        version: summary.version.into(),
    };
    write(&folder.join(REPORT_FILE), &figures_html(&page))
}

fn counts(summary: &Summary) -> String {
    let one = |engine: &EngineSummary| {
        let EngineSummary { engine, runs, ran, stored, found } = engine;
        let stored = if *stored > 0 { format!(", {stored} other commands had made") } else { String::new() };
        format!("{runs} runs in `{engine}`: {ran} are new{stored}, {found} were there")
    };
    let engines = summary.engines.iter().map(one).collect::<Vec<_>>().join("; ");
    format!("{} points; {engines}", summary.points)
}

fn text(summary: &Summary) -> String {
    let swept = summary.swept_columns.join(", ");
    format!("{}\nSwept: {swept}\nData set: {}\n", counts(summary), summary.groups)
}
