// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem evaluate`: a controller by the criteria of RFC 9743.

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use tandem_batch::Batch;
use tandem_engine::Engine;
use tandem_evaluate::{
    Assessment, Baseline, NEIGHBOURS_OF_ALL, Origin, OverRealTcp, RFC_9743, Suite, evaluate as judge, json, junit,
    markdown, obstacles, picture_file, text,
};
use tandem_papers::{Experiment, Form, RealTcpRuns};
use tandem_scenario::file::text_of;
use tandem_sim::Sim;

use crate::{
    engine::Engines,
    failure::Failure,
    folder::make_folder,
    interrupt::flag,
    origin::{COMMIT, command_line},
    output::write,
    real_tcp::{KERNEL, Making},
    runner::of_tasks,
    store,
    terminal::{note, print_kept, warn},
};

/// Evaluate a controller against RFC 9743 (BCP 133): the runs, each limit with its source, and the answer
///
/// The RFC sets criteria but no limits. The limits come from other RFCs, drafts and papers, from CUBIC or Reno in the same place, or
/// are ours; each says so. A failure comes with a scenario file that shows it (--json, --markdown). Finished runs are kept in the store
/// (`tandem store`): after an interrupt, or for another controller, only new runs are made.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The controller, with parameters after `@`: `tandem list controllers` shows all
    #[arg(value_name = "CONTROLLER")]
    contender: String,

    /// Fewer points, shorter, with eight seeds
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// All points of each criterion, with more seeds where it is undecided (the default)
    #[arg(long)]
    full: bool,

    /// Only these sections: `5.1.3`, or `7` for all of section 7
    #[arg(long, value_name = "SECTION", value_delimiter = ',')]
    criteria: Vec<String>,

    /// The criteria: rfc9743, rfc8867, tcpeval, prudentia, or a folder of files like theirs, such as ./mine
    #[arg(long, value_name = "NAME|FOLDER/", default_value = RFC_9743)]
    suite: String,

    /// The neighbours, where a criterion asks for other controllers (RFC 9743, 5.2.1)
    #[arg(long, value_name = "CONTROLLER", value_delimiter = ',', default_values = NEIGHBOURS_OF_ALL)]
    against: Vec<String>,

    /// Write the assessment as Markdown; its pictures go to a folder of the same name beside it
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,

    /// Write the assessment as JUnit XML: a test case for each criterion
    #[arg(long, value_name = "FILE.xml")]
    junit: Option<PathBuf>,

    /// Fail (exit status 1) if a criterion fails that passed in this file, which --json wrote
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// `sim,kernel` also judges the criteria over real TCP, as far as it can run them; needs root
    ///
    /// Real TCP runs in real time, so each criterion has a short form for it (`[kernel]` in its file), which is simulated as well.
    /// With --quick one seed runs over real TCP. Runs that the machine disturbed are repeated, and finally left out.
    #[arg(long, value_name = "sim|sim,kernel", default_value = "sim")]
    engine: Engines,

    /// Over real TCP, run even if this machine is unlikely to keep up in real time
    #[arg(long)]
    force: bool,

    /// Where runs over real TCP are kept; runs of the same controller and build are not repeated
    #[arg(long, value_name = "FILE", default_value = "tandem-out/evaluate/kernel.jsonl")]
    kernel_runs: PathBuf,

    /// Results as JSON on standard output instead of a table
    #[arg(long)]
    json: bool,
}

/// The most attempts at a run over real TCP if each one is doubted.
const REAL_TCP_TRIES: usize = 3;

const EXAMPLES: &str = "\
Examples:
  tandem evaluate compound_tube --quick
  tandem evaluate bbr3 --criteria 5.1.3,7.8
  tandem evaluate compound@gamma=20 --markdown assessment.md --junit assessment.xml
  tandem evaluate bbr3 --criteria 5.2.1 --against reno,cubic,bbr3
  tandem evaluate bbr3 --suite prudentia
  tandem evaluate compound --json >before.json
  tandem evaluate compound --baseline before.json
  sudo tandem evaluate compound --quick --criteria 5.1.3,7.1 --engine sim,kernel";

pub fn evaluate(args: &Args) -> Result<(), Failure> {
    let baseline = args.baseline.as_deref().map(baseline).transpose()?;
    args.markdown.as_deref().map(picture_folder).transpose()?;
    let against: Vec<&str> = args.against.iter().map(String::as_str).collect();
    let suite = Suite::named(&args.suite).map_err(Failure::usage)?;
    let wanted = suite.criteria(&args.contender, &args.criteria, &against).map_err(Failure::usage)?;
    let wanted = if args.quick { wanted.into_iter().map(|one| one.with_kernel_seeds(1)).collect() } else { wanted };
    let kernel = kernel(&args.engine)?;
    let store = store::of_user();
    let cancelled = flag();
    let batch = of_tasks(store.as_ref());
    let form = if args.quick { Form::Quick } else { Form::Full };
    let real = kernel.map(|kernel| over_real_tcp(args, &wanted, kernel, &batch)).transpose()?;
    let real = real.as_ref().map(|(runs, obstacles)| OverRealTcp { runs, obstacles });
    let assessment = judge(&args.contender, &wanted, form, &Sim, &batch, real).map_err(anyhow::Error::from)?;
    let assessment = assessment.of_suite(&suite);
    let command = command_line();
    let origin = Origin { version: env!("CARGO_PKG_VERSION"), commit: COMMIT, command: &command };
    let shown = if args.json { json(&assessment, &origin).map_err(anyhow::Error::from)? } else { text(&assessment) };
    print_kept(&shown, documents(args, &assessment, &command))?;
    for path in args.markdown.iter().chain(&args.junit) {
        note(&format!("Document: {}", path.display()));
    }
    if cancelled.load(Ordering::Relaxed) {
        warn(&format!("tandem: interrupted; {} criteria are left: the same command continues", assessment.left));
        return Err(Failure::Interrupted);
    }
    worse(&assessment, baseline.as_ref())
}

/// The engine of real TCP, if it was asked for.
fn kernel(engines: &Engines) -> Result<Option<&'static dyn Engine>, Failure> {
    if let Some(other) = engines.iter().map(Engine::name).find(|name| ![Sim.name(), KERNEL].contains(name)) {
        return Err(Failure::usage(format!("--engine {other} cannot run the criteria: write sim, or sim,kernel")));
    }
    if engines.get(Sim.name()).is_none() {
        let message =
            "--engine kernel: over real TCP the criteria stand beside the simulation: write --engine sim,kernel";
        return Err(Failure::usage(message));
    }
    Ok(engines.get(KERNEL))
}

/// Makes the missing runs over real TCP. Returns all runs, and the reasons why criteria cannot be posed there.
fn over_real_tcp(
    args: &Args,
    wanted: &[Experiment],
    kernel: &'static dyn Engine,
    batch: &Batch,
) -> Result<(RealTcpRuns, Vec<Option<String>>), Failure> {
    let obstacles = obstacles(wanted, kernel, args.force).map_err(anyhow::Error::from)?;
    let posed: Vec<&Experiment> =
        wanted.iter().zip(&obstacles).filter_map(|(one, obstacle)| obstacle.is_none().then_some(one)).collect();
    if let (true, Some(why)) = (posed.is_empty(), obstacles.iter().flatten().next()) {
        return Err(Failure::usage(format!(
            "--engine kernel: none of these criteria can be posed over real TCP: {why}"
        )));
    }
    let runs = RealTcpRuns::open(&args.kernel_runs).map_err(anyhow::Error::from)?;
    let mut runs = runs.of_engine(kernel.arithmetic());
    Making { kernel, force: args.force, tries: REAL_TCP_TRIES, batch }.missing(&posed, &mut runs)?;
    Ok((runs, obstacles))
}

/// Writes the files that the options ask for.
fn documents(args: &Args, assessment: &Assessment, command: &str) -> Result<(), Failure> {
    if let Some(path) = &args.junit {
        write(path, &junit(assessment).map_err(anyhow::Error::from)?)?;
    }
    let Some(path) = &args.markdown else { return Ok(()) };
    let folder = picture_folder(path)?;
    make_folder(&folder)?;
    for row in &assessment.rows {
        if let Some(picture) = &row.picture {
            write(&folder.join(picture_file(row)), picture)?;
        }
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    write(path, &markdown(assessment, command, &name))
}

/// The document's name without its ending.
fn picture_folder(document: &Path) -> Result<PathBuf, Failure> {
    let folder = document.with_extension("");
    if folder == document {
        let name = document.display();
        return Err(Failure::usage(format!(
            "--markdown {name}: this is the folder for its pictures: write `{name}.md`"
        )));
    }
    Ok(folder)
}

fn baseline(path: &Path) -> Result<Baseline, Failure> {
    let text = text_of(path).map_err(Failure::usage)?;
    serde_json::from_str(&text).map_err(|e| {
        let what = "is not what `tandem evaluate --json` writes";
        Failure::usage(format!("--baseline {}: {what}: {e}", path.display()))
    })
}

/// Whether a criterion has got worse since the baseline.
fn worse(assessment: &Assessment, baseline: Option<&Baseline>) -> Result<(), Failure> {
    let worse = baseline.map_or_else(Vec::new, |baseline| baseline.regressions(assessment));
    match worse.is_empty() {
        true => Ok(()),
        false => Err(Failure::Failed(anyhow::anyhow!("passed in the baseline and fails now: {}", worse.join(", ")))),
    }
}
