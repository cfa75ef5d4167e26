// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem advise`: which controller to run on a path, why, and how to switch it on.

mod page;
mod text;
mod trade_off;
mod words;

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use tandem_advise::{
    Advice, AdviseError, Doing, Given, Goal, Limits, Machine, Neighbours, Origin, Present, Question, Tools, candidates,
    measured,
};
use tandem_batch::Shown;
use tandem_compare::Budget;
use tandem_scenario::{
    ControllerSpec,
    aqm::{self, AqmSpec},
    units::{Bytes, LossRate, QueueSize, Rate, Share, Span},
};
use tandem_sim::Sim;

use crate::{
    failure::Failure,
    folder::{Folder, RESULTS_FILE},
    interrupt,
    origin::{COMMIT, command_line},
    output::{json_text, where_it_is, write, write_report},
    path::EffectArgs,
    settings::Common,
    store,
    terminal::{is_quiet, note, print_kept, warn},
};

/// Which controller should carry data over this path: one recommendation, with its reasons
///
/// Simulates the controllers that this machine could run, beside the path's other flows, until the intervals are narrow enough to decide or
/// the time is up. Prints which one to run, what it gains over the present default, what neighbours lose, what it does to delay, how sure
/// that is, and the command that switches it on. A value that is not given takes its usual value and is then varied, jitter too (`--jitter 0ms` says that there
/// is none): the advice says what would change it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem advise --rate 300mbit --rtt 100ms
  tandem advise --rate 300mbit --rtt 100ms --queue 500p --loss 1e-5 --neighbours cubic:4
  tandem advise --rate 1gbit --rtt 200ms --queue 1000p --transfer 100GB --time 5min
  tandem advise --rate 10mbit --rtt 30ms --neighbours none cubic compound_tube bbr
  tandem advise --rate 10mbit --rtt 30ms --neighbours none --goal delay
  tandem advise --rate 25gbit --rtt 100us --aqm codel --ecn
  tandem advise --rate 1gbit --rtt 50ms --policer 100mbit:1MB
  iperf3 -c HOST --json > iperf3.json; ping -c 20 HOST > ping.txt
  tandem advise --from iperf3.json --from ping.txt

docs/advise.md has the rule by which it chooses and the values that it tries. Units: as for compare.")]
pub struct Args {
    /// The path's rate, such as 100mbit
    #[arg(long, required_unless_present = "from", allow_hyphen_values = true)]
    rate: Option<Rate>,

    /// Two-way propagation delay, such as 40ms
    #[arg(long, required_unless_present = "from", allow_hyphen_values = true)]
    rtt: Option<Span>,

    /// A measurement of the path, for the values not given: `iperf3 --json`, or the output of `ping`, `ss -ti`, `mtr` or `tc`; several files say
    /// more
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,

    /// The path's buffer: 1500p, 2MB, 15ms or 0.5bdp [default: 1bdp, then 0.1bdp and 4bdp]
    #[arg(long, allow_hyphen_values = true)]
    queue: Option<QueueSize>,

    #[arg(long, help = format!("Queue discipline: {} [default: droptail]", aqm::all_names()))]
    aqm: Option<AqmSpec>,

    /// All flows have ECN, and the queue marks their packets instead of dropping them; `dctcp` and `prague` are candidates then
    #[arg(long)]
    ecn: bool,

    /// Rate of the return path [default: --rate]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    reverse_rate: Option<Rate>,

    /// Bytes of a full packet, headers included [default: 1500]
    #[arg(long, value_name = "BYTES")]
    mtu: Option<u32>,

    #[command(flatten)]
    effects: EffectArgs,

    /// Random loss, before the path's queue [default: 0, then 1e-5 and 1e-3]
    #[arg(long, allow_hyphen_values = true)]
    loss: Option<LossRate>,

    /// The other flows on the path, such as cubic:4 or reno:2,bbr:1; or none [default: cubic:1, then none and bbr:1]
    #[arg(long, value_name = "CONTROLLER:FLOWS,...")]
    neighbours: Option<Neighbours>,

    /// Number of your own flows [default: as many as were measured, 1 without measurements]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    flows: Option<u32>,

    /// The amount that these flows send together, such as 100GB: its completion time counts instead of goodput
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    transfer: Option<Bytes>,

    /// What the machine runs now [default: net.ipv4.tcp_congestion_control, cubic where there is none]
    #[arg(long, value_name = "CONTROLLER")]
    default: Option<ControllerSpec>,

    #[arg(long, value_name = "SHARE", help = limit("Neighbours may lose at most this share of their goodput beside another flow of their own kind", percent(Limits::USUAL_STOLEN)))]
    max_stolen: Option<Share>,

    #[arg(long, value_name = "TIME", help = limit("The 95th percentile of the queueing delay may exceed its value there by this", format!("half the RTT, at least {}", Limits::LEAST_USUAL_DELAY)))]
    max_added_delay: Option<Span>,

    /// What counts: goodput; delay, among controllers that keep the goodput; or both, goodput over the round-trip time
    #[arg(long, value_name = "goodput|delay|both", default_value = "goodput")]
    goal: Goal,

    #[arg(long, value_name = "SHARE", help = limit("A change must gain at least this share of the default's goodput, or of whatever --goal counts", percent(Limits::USUAL_GAIN)))]
    min_gain: Option<Share>,

    /// Stop after this time and say what is left open; the same command with enough time gives the same answer
    #[arg(long, value_name = "TIME", default_value_t = Budget::USUAL.time)]
    time: Span,

    /// Maximum number of seeds for a controller on a path; more than 20 only where they are cheap
    #[arg(long, value_name = "N", default_value_t = Question::MOST_SEEDS, value_parser = RangedU64ValueParser::<u64>::new().range(2..=1000))]
    seeds: u64,

    /// The first seed; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// Duration of each run [default: several loss cycles, 60 s to 600 s, less on fast paths]
    #[arg(long, allow_hyphen_values = true)]
    duration: Option<Span>,

    /// Excluded from every measurement [default: slow start and one loss cycle]
    #[arg(long, allow_hyphen_values = true, conflicts_with = "transfer")]
    warmup: Option<Span>,

    /// Also print the rule, all candidates, the assumed and inferred values, and the cautions
    #[arg(long, conflicts_with = "json")]
    explain: bool,

    /// Write results.json only
    #[arg(long)]
    no_report: bool,

    /// Folder for report.html and results.json [default: one in tandem-out, named after the command]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace the results of another command in that folder
    #[arg(long)]
    replace: bool,

    /// The advice as JSON on standard output
    #[arg(long)]
    json: bool,

    /// The candidates [default: all that this machine can run]
    #[arg(value_name = "CONTROLLER")]
    controllers: Vec<ControllerSpec>,
}

/// The help of a limit.
fn limit(what: &str, usual: String) -> String {
    format!("{what} [default: {usual}; the limit is ours]")
}

fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}

/// What this program was built with.
const TOOLS: Tools = Tools { loads: cfg!(all(feature = "linux", target_os = "linux")), sends: cfg!(feature = "quic") };

pub fn advise(args: &Args) -> Result<(), Failure> {
    let machine = Machine::this(TOOLS);
    let present = Present::new(args.default.as_ref(), &machine)?;
    let mut measured = measured::read(&args.from).map_err(Failure::usage)?;
    let known = args.given().with(&mut measured)?;
    let candidates = candidates(&args.controllers, known.flows(), &machine, &present, args.ecn)?;
    let store = store::of_user();
    let shown = Shown::new(is_quiet());
    let watch = |doing: Doing| shown.tell(doing.share, &in_words(doing));
    let question = Question {
        limits: args.limits(known.rtt),
        transfer: args.transfer,
        first_seed: args.seed,
        most_seeds: args.seeds,
        duration: args.duration,
        warmup: args.warmup,
        cancelled: Some(interrupt::flag()),
        watch: Some(&watch),
        store: store.as_ref(),
        time: args.time,
        ..Question::usual(&known, &measured, &candidates, &present.name, &Sim)
    };
    let cases = known.cases();
    question.check(&cases[0])?;
    let folder = Folder::prepare(&args.common(), &format!("advise-{}-{}", known.rate, known.rtt))?;
    let answers = question.answers(&cases);
    shown.end();
    let answers = answers?;
    let keeping = interrupt::keeping();
    let Some(advice) = Advice::of(&question, answers, &present, &machine) else {
        if !interrupt::is_interrupted() {
            let (default, time) = (&present.name, args.time);
            return Err(
                anyhow::anyhow!("not even two runs of `{default}` were finished in {time}: give more --time").into()
            );
        }
        warn("tandem: interrupted before anything was finished");
        return Err(Failure::Interrupted);
    };
    publish(&advice, args, &folder, keeping)
}

/// Prints and writes the advice. An interrupted one leaves what is there of an earlier one.
fn publish(advice: &Advice, args: &Args, folder: &Folder, keeping: interrupt::Guard) -> Result<(), Failure> {
    let interrupted = interrupt::is_interrupted();
    let origin = Origin { version: env!("CARGO_PKG_VERSION"), commit: COMMIT, command: command_line() };
    let json = json_text(&advice.results(&origin))?;
    let text = text::for_terminal(advice, args.explain);
    let is_kept = !interrupted || !folder.has_results();
    let keep = || {
        write(&folder.path().join(RESULTS_FILE), &json)?;
        drop(keeping);
        write_report(args.no_report, folder.path(), || tandem_report::answer_html(&page::page(advice)))
    };
    print_kept(if args.json { &json } else { &text }, if is_kept { keep() } else { Ok(()) })?;
    if is_kept {
        note(&where_it_is(args.no_report, folder.path()));
    }
    if interrupted {
        warn("tandem: interrupted; the advice is based on the finished runs");
        return Err(Failure::Interrupted);
    }
    Ok(())
}

impl From<AdviseError> for Failure {
    fn from(error: AdviseError) -> Self {
        if error.is_usage() { Failure::usage(error) } else { Failure::Failed(error.into()) }
    }
}

impl Args {
    fn limits(&self, rtt: Span) -> Limits {
        let usual = Limits::usual(rtt);
        Limits {
            stolen: self.max_stolen.map_or(usual.stolen, |share| share.0),
            added_delay_ms: self.max_added_delay.map_or(usual.added_delay_ms, |added| added.as_secs_f64() * 1e3),
            gain: self.min_gain.map_or(usual.gain, |share| share.0),
            goal: self.goal,
        }
    }

    fn given(&self) -> Given {
        Given {
            rate: self.rate,
            rtt: self.rtt,
            aqm: self.aqm,
            ecn: self.ecn,
            reverse_rate: self.reverse_rate,
            effects: self.effects.spec(),
            mtu: self.mtu,
            queue: self.queue,
            loss: self.loss,
            neighbours: self.neighbours.clone(),
            flows: self.flows,
            ..Given::default()
        }
    }

    /// Its values for the options that commands share.
    fn common(&self) -> Common {
        let Self { replace, no_report, json, .. } = *self;
        Common { out: self.out.clone(), replace, no_report, json, ..Common::default() }
    }
}

/// `path 3 of 7: with a queue of 4bdp (10000 packets)`.
fn in_words(doing: Doing) -> String {
    let path = if doing.path.is_empty() { "as it is given".to_owned() } else { format!("with {}", doing.path) };
    format!("path {} of {}: {path}", doing.number, doing.paths)
}
