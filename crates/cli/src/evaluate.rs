// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem evaluate`: a controller by the criteria of RFC 9743.

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use serde::{Deserialize, de::DeserializeOwned};
use tandem_batch::Batch;
use tandem_engine::Engine;
use tandem_evaluate::{
    Assessment, Baseline, Comparison, NEIGHBOURS_OF_ALL, Origin, OverRealTcp, RFC_9743, Suite, evaluate as judge, json,
    junit, markdown, obstacles, pictures, text,
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
    #[arg(value_name = "CONTROLLER", required_unless_present = "from", default_value = "", hide_default_value = true)]
    contender: String,

    /// Run nothing: tell what this file says, which --json wrote, for example as --markdown with its pictures
    #[arg(long, value_name = "FILE", conflicts_with_all = ["contender", "quick", "full", "criteria", "suite", "against", "engine",
        "force", "kernel_runs", "json"])]
    from: Option<PathBuf>,

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

    /// `sim,kernel` also judges the criteria over real TCP, as far as it can run them; needs root. `quic` judges them over real QUIC
    ///
    /// Over QUIC all flows are QUIC's, those that the controller is compared with as well, and the stack's own controllers can be judged:
    /// noq:bbr3. What it cannot carry, such as ECN, is named. Every packet is built, encrypted and read, so a criterion takes minutes.
    ///
    /// Real TCP runs in real time, so each criterion has a short form for it (`[kernel]` in its file), which is simulated as well.
    /// With --quick one seed runs over real TCP. Runs that the machine disturbed are repeated, and finally left out.
    #[arg(long, value_name = "sim|sim,kernel|quic", default_value = "sim")]
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

/// The engine of a real QUIC stack.
const QUIC: &str = "quic";

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
  tandem evaluate --from before.json --markdown before.md
  tandem evaluate noq:bbr3 --quick --criteria 5.1.2 --engine quic
  sudo tandem evaluate compound --quick --criteria 5.1.3,7.1 --engine sim,kernel";

/// What is read of a kept report.
#[derive(Deserialize)]
struct Kept {
    command: Option<String>,
    #[serde(flatten)]
    assessment: Assessment,
}

pub fn evaluate(args: &Args) -> Result<(), Failure> {
    match &args.from {
        Some(file) => tell(args, file),
        None => run(args),
    }
}

/// What a file says.
fn tell(args: &Args, file: &Path) -> Result<(), Failure> {
    args.markdown.as_deref().map(picture_folder).transpose()?;
    let Kept { command, assessment } = read("--from", file)?;
    let baseline = args.baseline.as_deref().map(|path| baseline(path, &assessment.suite)).transpose()?;
    finish(args, &assessment, baseline.as_ref(), &command.unwrap_or_else(|| assessment.command()))
}

/// Judges a controller.
fn run(args: &Args) -> Result<(), Failure> {
    args.markdown.as_deref().map(picture_folder).transpose()?;
    let against: Vec<&str> = args.against.iter().map(String::as_str).collect();
    let (engine, kernel) = engines(&args.engine)?;
    let suite = Suite::named(&args.suite).map_err(Failure::usage)?;
    let suite = if engine.name() == QUIC { suite.over_quic() } else { suite };
    let baseline = args.baseline.as_deref().map(|path| baseline(path, &suite.title())).transpose()?;
    let wanted = suite.criteria(&args.contender, &args.criteria, &against).map_err(Failure::usage)?;
    let wanted = if args.quick { wanted.into_iter().map(|one| one.with_kernel_seeds(1)).collect() } else { wanted };
    let store = store::of_user();
    let cancelled = flag();
    let batch = of_tasks(store.as_ref());
    let form = if args.quick { Form::Quick } else { Form::Full };
    let real = kernel.map(|kernel| over_real_tcp(args, &wanted, kernel, &batch)).transpose()?;
    let real = real.as_ref().map(|(runs, obstacles)| OverRealTcp { runs, obstacles });
    let assessment = judge(&args.contender, &wanted, form, engine, &batch, real).map_err(anyhow::Error::from)?;
    let assessment = assessment.of_suite(&suite, &against);
    let finished = finish(args, &assessment, baseline.as_ref(), &command_line());
    if cancelled.load(Ordering::Relaxed) {
        warn(&format!("tandem: interrupted; {} criteria are left: the same command continues", assessment.left));
        return Err(Failure::Interrupted);
    }
    finished
}

/// Prints and writes it. Fails if it is worse than the baseline.
fn finish(args: &Args, assessment: &Assessment, baseline: Option<&Baseline>, command: &str) -> Result<(), Failure> {
    let compared = baseline.map(|baseline| baseline.compare(assessment, &args.criteria));
    print_kept(&printed(args, assessment, compared.as_ref(), command)?, documents(args, assessment, command))?;
    for path in args.markdown.iter().chain(&args.junit) {
        note(&format!("Document: {}", path.display()));
    }
    worse(compared.as_ref())
}

/// What goes to standard output.
fn printed(
    args: &Args,
    assessment: &Assessment,
    baseline: Option<&Comparison>,
    command: &str,
) -> Result<String, Failure> {
    if args.json {
        let origin = Origin { version: env!("CARGO_PKG_VERSION"), commit: COMMIT, command };
        return Ok(json(assessment, &origin, baseline).map_err(anyhow::Error::from)?);
    }
    let file = args.baseline.as_deref().unwrap_or(Path::new("")).display().to_string();
    let compared = baseline.map_or_else(String::new, |baseline| format!("\n{}", baseline.text(&file)));
    Ok(text(assessment) + &compared)
}

/// The engine that judges, and that of real TCP beside it if it was asked for.
fn engines(engines: &Engines) -> Result<(&'static dyn Engine, Option<&'static dyn Engine>), Failure> {
    if let Some(quic) = engines.get(QUIC) {
        let message = "--engine quic: QUIC's answers stand alone: write --engine quic, or sim,kernel";
        return if engines.len() == 1 { Ok((quic, None)) } else { Err(Failure::usage(message)) };
    }
    if let Some(other) = engines.iter().map(Engine::name).find(|name| ![Sim.name(), KERNEL].contains(name)) {
        return Err(Failure::usage(format!("--engine {other} cannot run the criteria: write sim, sim,kernel or quic")));
    }
    if engines.get(Sim.name()).is_none() {
        let message =
            "--engine kernel: over real TCP the criteria stand beside the simulation: write --engine sim,kernel";
        return Err(Failure::usage(message));
    }
    Ok((&Sim, engines.get(KERNEL)))
}

/// Makes the missing runs over real TCP. Returns all runs, and the reasons why criteria cannot be posed there.
fn over_real_tcp(
    args: &Args,
    wanted: &[Experiment],
    kernel: &'static dyn Engine,
    batch: &Batch,
) -> Result<(RealTcpRuns, Vec<Option<String>>), Failure> {
    let obstacles = obstacles(&args.contender, wanted, kernel, args.force).map_err(anyhow::Error::from)?;
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
    for (name, picture) in pictures(assessment) {
        write(&folder.join(name), &picture)?;
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

/// A baseline of the suite with this title.
fn baseline(path: &Path, suite: &str) -> Result<Baseline, Failure> {
    let kept: Baseline = read("--baseline", path)?;
    kept.check(suite).map_err(|e| Failure::usage(format!("--baseline {}: {e}", path.display())))?;
    Ok(kept)
}

/// A file that --json wrote.
fn read<T: DeserializeOwned>(option: &str, path: &Path) -> Result<T, Failure> {
    let text = text_of(path).map_err(Failure::usage)?;
    serde_json::from_str(&text).map_err(|e| {
        let what = "this is not what `tandem evaluate --json` writes";
        Failure::usage(format!("{option} {}: {what}: {e}", path.display()))
    })
}

/// Whether a criterion has got worse since the baseline.
fn worse(compared: Option<&Comparison>) -> Result<(), Failure> {
    let worse = compared.map_or_else(String::new, |compared| compared.regressions.join(", "));
    match worse.is_empty() {
        true => Ok(()),
        false => Err(Failure::Failed(anyhow::anyhow!("passed in the baseline and fails now: {worse}"))),
    }
}
