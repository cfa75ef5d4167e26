// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem papers`: the experiments of the papers, run again and judged.

mod cases;
mod records;

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::atomic::Ordering,
};

use clap::{ArgAction, Subcommand};
use serde::Serialize;
use tandem_batch::{Batch, Store, StoredOnly};
use tandem_controllers::Setting;
use tandem_engine::Engine;
use tandem_papers::{Experiment, Findings, Form, RealTcpRuns, Seeds, page, source};
use tandem_report::sections_html;
use tandem_scenario::controller::parse_setting;
use tandem_sim::Sim;

use self::{
    cases::Cases,
    records::{Doc, Show},
};

use crate::{
    engine::EngineArgs,
    failure::Failure,
    folder::{REPORT_FILE, RESULTS_FILE, make_folder},
    interrupt::{self, flag},
    origin::{COMMIT, command_line},
    output::{json_text, write},
    real_tcp::{KERNEL, Making},
    runner::of_tasks,
    settings::settings,
    store,
    terminal::{note, print, print_kept, warn},
};

/// The experiments of the papers behind the controllers: do the published results hold?
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// List the experiments: id, title, claim
    #[command(after_help = EXAMPLES)]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run experiments and judge their claims
    ///
    /// Writes report.html, each figure drawn as the paper draws it, and results.json. Finished runs are kept in the store
    /// (`tandem store`): after an interrupt the same command continues.
    ///
    /// Engines are sim, kernel or both. The kernel engine (real Linux TCP over an emulated path; needs root) is for experiments that the
    /// papers ran on real machines. It takes as long as it emulates, so these have a form of their own for it; the same form is
    /// simulated beside it.
    #[command(after_help = EXAMPLES)]
    Run(Run),
    /// Print all that is kept of the last full run: claims, variants, causes, assumptions, runs over real TCP
    ///
    /// It runs nothing. The numbers come with the program; --data reads those of a run of your own.
    #[command(after_help = EXAMPLES)]
    Show(Show),
    /// Write the page of all verdicts, and a page and a picture per figure, from kept numbers
    ///
    /// It runs nothing. The numbers come with the program; --data reads those of a run of your own.
    #[command(after_help = EXAMPLES)]
    Doc(Doc),
    /// Run the test cases that a specification lists, and judge their claims ACK by ACK
    ///
    /// They run in the simulator, on paths of many rates and RTTs, with bbr3, which decides the verdict, and with bbr for information.
    #[command(after_help = EXAMPLES)]
    Cases(Cases),
}

const EXAMPLES: &str = "\
Examples:
  tandem papers list
  tandem papers run s0/fig3
  tandem papers run s0 s1/table1 --quick
  tandem papers run s0/fig3 --quick --set compound_auto.alpha=0.25
  tandem papers run --quick
  tandem papers run --kept --doc page.md
  tandem papers show s1/fig4
  tandem papers show s1/fig4 --json
  tandem papers doc page.md
  tandem papers cases bbr-draft --quick
  tandem papers cases bbr-draft/04
  tandem papers run experiments/papers/s0/fig3.toml --json
  sudo tandem papers run s3/fig4 --engine sim,kernel";

#[derive(clap::Args)]
pub struct Run {
    /// Ids such as s0/fig3, a paper such as s0, or your own file; all if none is given
    ids: Vec<String>,

    /// Three seeds, fewer and shorter points: all in a few minutes
    #[arg(long)]
    quick: bool,

    /// `auto` begins with a third of the file's seeds, and adds more where a result is undecided: for headlines up to four times
    /// the file's number, for variants up to that number; `file` keeps to it
    #[arg(long, value_name = "auto|file", default_value = "auto")]
    seeds: SeedsWord,

    /// Run nothing: judge by the runs in the store, in full where all of them are there, otherwise in the quick form
    #[arg(long, conflicts_with_all = ["quick", "engine"])]
    kept: bool,

    /// A parameter for all flows of a controller, in place of what the experiments say; their variants are left out
    #[arg(long, value_name = "CONTROLLER.KEY=VALUE", action = ArgAction::Append, value_parser = parse_setting)]
    set: Vec<Setting>,

    #[command(flatten)]
    engine: EngineArgs,

    /// Runs over real TCP, shown beside the simulation; --engine kernel adds those that are missing, and makes doubtful ones again
    ///
    /// With --engine kernel the default is kernel.jsonl in the folder.
    #[arg(long, value_name = "FILE")]
    kernel_runs: Option<PathBuf>,

    /// Folder for report.html and results.json
    #[arg(long, value_name = "DIR", default_value = "tandem-out/papers")]
    out: PathBuf,

    /// Write results.json only
    #[arg(long)]
    no_report: bool,

    /// Results as JSON on standard output instead of tables
    #[arg(long)]
    json: bool,

    /// Also write the table of all verdicts, docs/reproduction.md in the repository, and a page per figure to the folder of that name
    #[arg(long, value_name = "FILE")]
    doc: Option<PathBuf>,

    /// Also write the numbers of each experiment, with each seed's, to a file such as DIR/s0/fig3.json
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// How many seeds, as a word.
#[derive(Debug, Clone, Copy)]
struct SeedsWord(Seeds);

impl FromStr for SeedsWord {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self(Seeds::Auto)),
            "file" => Ok(Self(Seeds::OfFile)),
            other => Err(format!("`{other}`: give `auto` or `file`")),
        }
    }
}

pub fn papers(action: &Action) -> Result<(), Failure> {
    match action {
        Action::List { json } => list(*json),
        Action::Run(args) => run(args),
        Action::Show(args) => records::show(args),
        Action::Doc(args) => records::doc(args),
        Action::Cases(args) => cases::cases(args),
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    title: &'a str,
    claim: &'a str,
    engines: Vec<&'static str>,
}

fn list(json: bool) -> Result<(), Failure> {
    let all = tandem_papers::all().map_err(anyhow::Error::from)?;
    if json {
        return print(&json_text(&all.iter().map(Entry::of).collect::<Vec<_>>())?);
    }
    print(&all.chunk_by(|a, b| source(&a.id) == source(&b.id)).map(of_paper).collect::<Vec<_>>().join("\n"))
}

/// A paper as one cites it, and its experiments.
fn of_paper(experiments: &[Experiment]) -> String {
    let paper = experiments.first().and_then(|e| source(&e.id)).unwrap_or_default();
    let width = experiments.iter().map(|e| e.id.len()).max().unwrap_or(0);
    let lines = experiments.iter().map(|e| format!("{:width$}  {}\n{:width$}  {}\n", e.id, e.title(), "", e.claim()));
    format!("{paper}\n\n{}", lines.collect::<String>())
}

impl<'a> Entry<'a> {
    fn of(experiment: &'a Experiment) -> Self {
        Self { id: &experiment.id, title: experiment.title(), claim: experiment.claim(), engines: experiment.engines() }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Results<'a> {
    version: &'static str,
    commit: &'static str,
    command: &'a str,
    experiments: Vec<&'a Findings>,
}

fn run(args: &Run) -> Result<(), Failure> {
    let (experiments, form) = what(args)?;
    make_folder(&args.out)?;
    let mut kept = kept(args)?;
    let store = if args.kept { Some(store::needed("--kept")?) } else { store::of_user() };
    let cancelled = flag();
    let batch = of_tasks(store.as_ref());
    if let (Some(kept), Some(kernel)) = (kept.as_mut(), args.engine.engines.get(KERNEL)) {
        let making = Making { kernel, force: args.engine.force, tries: 1, batch: &batch };
        making.missing(&experiments.iter().collect::<Vec<_>>(), kept)?;
    }
    let found = match args.kept {
        true => from_kept(&experiments, args.seeds.0, &batch, kept.as_ref())?,
        false => tandem_papers::run(&experiments, form, args.seeds.0, &Sim, &batch, kept.as_ref())
            .map_err(anyhow::Error::from)?,
    };
    let keeping = interrupt::keeping();
    let found: Vec<(&Experiment, &Findings)> =
        experiments.iter().zip(&found).filter_map(|(e, f)| Some((e, f.as_ref()?))).collect();

    let (command, version) = (command_line(), env!("CARGO_PKG_VERSION"));
    let experiments_found = found.iter().map(|(_, f)| *f).collect();
    let results = Results { version, commit: COMMIT, command: &command, experiments: experiments_found };
    let json = json_text(&results)?;
    let text = || found.iter().map(|(e, f)| tandem_papers::text(e, f)).collect::<Vec<_>>().join("\n");
    let (left, all) = (experiments.len() - found.len(), experiments.len());
    let is_interrupted = !args.kept && cancelled.load(Ordering::Relaxed);
    let report = args.out.join(REPORT_FILE);
    let keep = || {
        write(&args.out.join(RESULTS_FILE), &json)?;
        drop(keeping);
        if !args.no_report {
            write(&report, &sections_html(&page(&found, &command, version)))?;
        }
        if let Some(folder) = &args.data {
            records::keep(folder, &found)?;
        }
        let doc = args.doc.as_ref().filter(|_| !is_interrupted);
        doc.map_or(Ok(()), |path| records::document(path, &found, &command))
    };
    print_kept(&if args.json { json.clone() } else { text() }, keep())?;
    if !args.no_report {
        note(&format!("Report: {}", report.display()));
    }
    if left > 0 && args.kept {
        let is_missing = |e: &&Experiment| !found.iter().any(|(there, _)| there.id == e.id);
        let missing = experiments.iter().filter(is_missing).map(|e| &*e.id).collect::<Vec<_>>().join(", ");
        return Err(not_kept(&missing, left, all, store.as_ref()));
    } else if is_interrupted {
        let how = if store.is_some() { "continues" } else { "begins again, because there is no store" };
        warn(&format!("tandem: interrupted; {left} of {all} experiments are left: the same command {how}"));
        return Err(Failure::Interrupted);
    } else if left > 0 {
        note(&format!("{left} of {all} experiments are left out: there is nothing to judge"));
    }
    Ok(())
}

/// Runs of some experiments are not in the store.
fn not_kept(missing: &str, left: usize, all: usize, store: Option<&Store>) -> Failure {
    let folder = store.map_or_else(String::new, |store| store.folder().display().to_string());
    Failure::Failed(anyhow::anyhow!(
        "{left} of {all} experiments are left out: {missing}. Not all of their runs are in the store `{folder}`; \
         without --kept they are made"
    ))
}

const KERNEL_FILE: &str = "kernel.jsonl";

/// Which experiments, in which form.
fn what(args: &Run) -> Result<(Vec<Experiment>, Form), Failure> {
    let mut experiments = with_settings(chosen(&args.ids)?, &args.set)?;
    let engines = &args.engine.engines;
    if let Some(other) = engines.iter().map(Engine::name).find(|name| ![Sim.name(), KERNEL].contains(name)) {
        return Err(Failure::usage(format!(
            "--engine {other} cannot run the experiments; sim and kernel can, and curves of the model come with them"
        )));
    }
    if engines.get(Sim.name()).is_some() {
        return Ok((experiments, if args.quick { Form::Quick } else { Form::Full }));
    }
    if args.quick {
        return Err(Failure::usage("over real TCP there is one form: leave out --quick, or use --engine sim,kernel"));
    }
    let can_run = |e: &Experiment| e.engines().contains(&KERNEL);
    if let Some(other) = experiments.iter().find(|e| args.ids.contains(&e.id) && !can_run(e)) {
        let why = "its paper did not run it on real machines";
        return Err(Failure::usage(format!("`{}` has no form for --engine kernel: {why}; use --engine sim", other.id)));
    }
    experiments.retain(can_run);
    if experiments.is_empty() {
        return Err(Failure::usage(
            "none of these has a form for --engine kernel; `tandem papers list --json` says which have",
        ));
    }
    Ok((experiments, Form::Kernel))
}

/// What can be said without running anything.
fn from_kept(
    experiments: &[Experiment],
    seeds: Seeds,
    batch: &Batch,
    kernel_runs: Option<&RealTcpRuns>,
) -> anyhow::Result<Vec<Option<Findings>>> {
    let full = tandem_papers::run(experiments, Form::Full, seeds, &StoredOnly(&Sim), batch, kernel_runs)?;
    let quick = tandem_papers::run(experiments, Form::Quick, seeds, &StoredOnly(&Sim), batch, kernel_runs)?;
    Ok(full.into_iter().zip(quick).map(|(full, quick)| full.or(quick)).collect())
}

/// The runs over real TCP that there are, if any are wanted.
fn kept(args: &Run) -> Result<Option<RealTcpRuns>, Failure> {
    let makes_them = args.engine.engines.get(KERNEL).is_some();
    let path = match &args.kernel_runs {
        Some(path) if !makes_them && !path.exists() => {
            let message = format!("--kernel-runs: there is no `{}`; --engine kernel would make it", path.display());
            return Err(Failure::usage(message));
        }
        Some(path) => path.clone(),
        None if makes_them => args.out.join(KERNEL_FILE),
        None => return Ok(None),
    };
    Ok(Some(RealTcpRuns::open(&path).map_err(anyhow::Error::from)?))
}

/// The experiments that were asked for, each once, in the order of the list.
fn chosen(wanted: &[String]) -> Result<Vec<Experiment>, Failure> {
    if wanted.is_empty() {
        return Ok(tandem_papers::all().map_err(anyhow::Error::from)?);
    }
    let mut ids: Vec<&str> = Vec::new();
    let mut own = Vec::new();
    for word in wanted {
        if word.ends_with(".toml") {
            own.extend(tandem_papers::load(Path::new(word)).map_err(Failure::usage)?);
            continue;
        }
        ids.extend(tandem_papers::ids_of(word).map_err(Failure::usage)?);
    }
    let listed = tandem_papers::ids().filter(|id| ids.contains(id)).filter_map(tandem_papers::find);
    let mut experiments = listed.collect::<Result<Vec<_>, _>>().map_err(anyhow::Error::from)?;
    experiments.extend(own);
    Ok(experiments)
}

/// The experiments with parameters that the user gives.
fn with_settings(experiments: Vec<Experiment>, set: &[Setting]) -> Result<Vec<Experiment>, Failure> {
    if set.is_empty() {
        return Ok(experiments);
    }
    for setting in set {
        let uses = |e: &Experiment| e.has_parameter(setting).map_err(anyhow::Error::from);
        if !experiments.iter().map(uses).collect::<Result<Vec<_>, _>>()?.contains(&true) {
            let name = setting.controller().name;
            let message = format!(
                "--set {name}.{setting} does nothing: no flow of these experiments has the controller `{name}`"
            );
            return Err(Failure::usage(message));
        }
    }
    let settings = settings(set)?;
    Ok(experiments.into_iter().map(|e| e.with_settings(settings.clone())).collect())
}
