// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes docs/validation.md, the simulator beside ns-2 and ns-3; with `--model` docs/model.md, the analytical model beside all
//! there is; with `--kernel` docs/sim-vs-kernel.md, the simulator beside real TCP; with `--quic` docs/sim-vs-quic.md, beside real QUIC.
//! With `--bbr` docs/bbr-beside-others.md, `bbr` and `bbr3` beside others' and over real TCP.
//! With `--advice` docs/advise-vs-truth.md, the answers of `tandem advise` beside longer runs.
//! With `--experts` docs/advise-vs-experts.md, the same beside what people say of ten paths.
//! With `--statistics` docs/statistics.md, the estimator of bandwidth stolen and its intervals.
//! With `--criteria` docs/criteria.md, controllers by the criteria of RFC 9743.
//! With `--slow-start` it prints the table of docs/slow-start.md, with `--unequal-rtts` that of docs/controllers/prague.md.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use clap::Parser;
use tandem_batch::{Batch, Store};
use tandem_engine::Engine;
use tandem_papers::Form;
use tandem_scenario::units::Span;
use tandem_validate::{
    Evidence, Paths, Places, RealTcpValidation, Validation, advice_page, bbr_page, criteria_page, experts_page, put,
    quic, real_tcp as beside_real_tcp, slow_start_table, statistics,
};

/// Repeats the runs of experiments/reference in Tandem's simulator and writes docs/validation.md
#[derive(Parser)]
struct Args {
    /// Seeds of each point (one for the runs without chance) [default: 30; 5 for --slow-start]
    #[arg(long)]
    seeds: Option<u64>,

    /// Only these experiments: fig3, fig4, fig5, fig6, fig8, recovery, controllers, wlan, queues, l4s, prague, features; prints them instead of writing the page
    #[arg(long)]
    only: Vec<String>,

    /// The page of the analytical model instead, docs/model.md
    #[arg(long, conflicts_with = "only")]
    model: bool,

    /// The simulator beside real Linux TCP instead, docs/sim-vs-kernel.md
    ///
    /// Runs that are kept in experiments/reference/real-tcp are not made again. Those that are missing need root, and as long as
    /// they emulate.
    #[arg(long, conflicts_with_all = ["only", "model"], group = "over_real_tcp")]
    kernel: bool,

    /// The simulator beside a real QUIC stack in virtual time instead, docs/sim-vs-quic.md
    #[arg(long, conflicts_with_all = ["only", "model", "kernel"])]
    quic: bool,

    /// `bbr` beside the kernel's own over real TCP, and `bbr3` beside the simulator's and noq's, instead, docs/bbr-beside-others.md
    ///
    /// Runs over real TCP as with --kernel.
    #[arg(long, conflicts_with_all = ["only", "model", "quic"], group = "over_real_tcp")]
    bbr: bool,

    /// The page of the statistics instead, docs/statistics.md: 2,000 seeds of each path by default
    #[arg(long, conflicts_with_all = ["only", "model", "kernel", "quic"])]
    statistics: bool,

    /// The answers of `tandem advise` beside longer runs instead, docs/advise-vs-truth.md
    ///
    /// Paths that are kept in experiments/advice/paths.jsonl are not judged again.
    #[arg(long, conflicts_with_all = ["only", "model", "kernel", "quic", "statistics"])]
    advice: bool,

    /// The answers of `tandem advise` on ten paths beside those of experts instead, docs/advise-vs-experts.md
    #[arg(long, conflicts_with_all = ["only", "model", "kernel", "quic", "statistics", "advice"])]
    experts: bool,

    /// Asks for those anew that are kept in experiments/advice/experts.jsonl
    #[arg(long, requires = "experts")]
    anew: bool,

    /// Some controllers by the criteria of RFC 9743 instead, docs/criteria.md
    #[arg(long, conflicts_with_all = ["only", "model", "kernel", "quic", "statistics", "advice"])]
    criteria: bool,

    /// Fewer seeds and shorter runs
    #[arg(long, requires = "criteria")]
    quick: bool,

    /// Ten of those paths over real TCP, too, as far as runs are missing: needs root, and most of an hour
    #[arg(long, requires = "advice")]
    real_tcp: bool,

    /// How many paths
    #[arg(long, requires = "advice", default_value_t = 100)]
    paths: u64,

    /// Only these paths, asked anew, such as 3,9: long runs that are kept count if the short ones find the figures that they found
    #[arg(long, requires = "advice", value_delimiter = ',', value_name = "NUMBER")]
    path: Vec<u64>,

    /// No path is begun after this time
    #[arg(long, requires = "advice", default_value = "8h")]
    time: Span,

    /// Prints the table of docs/slow-start.md instead: the window at which slow start ends, over real TCP and in the simulator
    ///
    /// Needs root, and some seven minutes.
    #[arg(long, conflicts_with_all = ["only", "model", "kernel", "quic", "out"])]
    slow_start: bool,

    /// The simulator's part of that table alone, which needs no root
    #[arg(long, requires = "slow_start")]
    simulated: bool,

    /// Only these runs over real TCP, again if they are there: a set-up (bdp), flows (compound+reno) or both (bdp/reno)
    #[arg(long, requires = "over_real_tcp")]
    again: Vec<String>,

    /// Runs over real TCP at a time; more than the machine carries are not trusted and made again
    #[arg(long, requires = "over_real_tcp", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    parallel: u8,

    /// The page from the runs that there are; without --again, none is made
    #[arg(long, requires = "over_real_tcp")]
    incomplete: bool,

    /// Prints the table of docs/controllers/prague.md instead: two Prague flows with unequal RTTs beside Linux's
    #[arg(long, conflicts_with_all = ["only", "model", "kernel", "quic", "out"])]
    unequal_rtts: bool,

    /// Where the page goes [default: docs/ and the name above]; images go to `images` beside it
    #[arg(long)]
    out: Option<PathBuf>,
}

const SEEDS: u64 = 30;
const SLOW_START_SEEDS: u64 = 5;
const STATISTICS_SEEDS: u64 = 2_000;

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if args.slow_start {
        let engine = if args.simulated { None } else { Some(real_tcp()?) };
        print!("{}", slow_start_table(engine, args.seeds.unwrap_or(SLOW_START_SEEDS))?);
        return Ok(());
    }
    let out = |default: &str| args.out.clone().unwrap_or(default.into());
    if args.statistics {
        let seeds = args.seeds.unwrap_or(STATISTICS_SEEDS).try_into().context("too many seeds")?;
        let page = out("docs/statistics.md");
        statistics(seeds)?.write(&page)?;
        return written(&page);
    }
    // So that the same command goes on after an interrupt.
    let store = Store::of_user(|warning| eprintln!("{warning}"));
    let batch = Batch { store: store.as_ref(), by_task: true, ..Batch::default() };
    if answers_question(&args, &batch, &out)? {
        return Ok(());
    }
    let validation =
        Validation { reference: Path::new("experiments/reference"), seeds: args.seeds.unwrap_or(SEEDS), batch };
    if args.unequal_rtts {
        print!("{}", validation.unequal_rtts()?);
        return Ok(());
    }
    if !args.only.is_empty() {
        print!("{}", validation.simulators(&args.only)?.text());
        return Ok(());
    }
    let places = |default: &str| {
        let page = out(default);
        Places { images: page.with_file_name("images"), page, data: "experiments/validation".into() }
    };
    let how = |images| {
        Ok::<_, anyhow::Error>(RealTcpValidation {
            engine: real_tcp()?,
            again: &args.again,
            parallel: usize::from(args.parallel),
            incomplete: args.incomplete,
            images,
        })
    };
    if args.model {
        write_evidence(&validation.model()?, &places("docs/model.md"))
    } else if args.kernel {
        let places = places("docs/sim-vs-kernel.md");
        write_evidence(&beside_real_tcp(&validation, &how(places.images.clone())?)?, &places)
    } else if args.bbr {
        let places = places("docs/bbr-beside-others.md");
        let data = places.data.join("bbr-beside-others.json");
        bbr_page(&validation, &how(places.images.clone())?, real_quic()?, &data, &places.page)?;
        written(&places.page)
    } else if args.quic {
        write_evidence(&quic(&validation, real_quic()?)?, &places("docs/sim-vs-quic.md"))
    } else {
        write_evidence(&validation.simulators(&[])?, &places("docs/validation.md"))
    }
}

/// Pages on what commands answer; false if none is asked for.
fn answers_question(args: &Args, batch: &Batch, out: &dyn Fn(&str) -> PathBuf) -> anyhow::Result<bool> {
    if args.advice {
        let paths = Paths { count: args.paths, anew: &args.path, time: Duration::from_nanos(args.time.ns) };
        let (kept, page) = (Path::new("experiments/advice/paths.jsonl"), out("docs/advise-vs-truth.md"));
        let engine = args.real_tcp.then(real_tcp).transpose()?;
        put(&page, &advice_page(kept, paths, engine, batch)?)?;
        written(&page)?;
    } else if args.experts {
        let (kept, page) = (Path::new("experiments/advice/experts.jsonl"), out("docs/advise-vs-experts.md"));
        put(&page, &experts_page(kept, args.anew, batch)?)?;
        written(&page)?;
    } else if args.criteria {
        let form = if args.quick { Form::Quick } else { Form::Full };
        criteria_page(form, batch, Path::new("experiments/validation/criteria.json"), &out("docs/criteria.md"))?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

#[cfg(all(feature = "linux", target_os = "linux"))]
fn real_tcp() -> anyhow::Result<&'static dyn Engine> {
    Ok(&tandem_testbed::Kernel)
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn real_tcp() -> anyhow::Result<&'static dyn Engine> {
    anyhow::bail!(
        "this build lacks real Linux TCP, which --kernel and --slow-start run: build it on Linux, with the feature `linux`"
    )
}

#[cfg(feature = "quic")]
fn real_quic() -> anyhow::Result<&'static dyn Engine> {
    Ok(&tandem_quic_engine::Quic)
}

#[cfg(not(feature = "quic"))]
fn real_quic() -> anyhow::Result<&'static dyn Engine> {
    anyhow::bail!("this build lacks the QUIC stack that --quic and --bbr run: build it with the feature `quic`")
}

fn write_evidence(evidence: &Evidence, places: &Places) -> anyhow::Result<()> {
    evidence.write(places)?;
    written(&places.page)
}

fn written(page: &Path) -> anyhow::Result<()> {
    println!("wrote {}", page.display());
    Ok(())
}
