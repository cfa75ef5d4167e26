// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem compare`: some controllers, one path; alone, against neighbours, or each against each.

mod each_with_each;

use tandem_compare::{Budget, CompareError, Comparison, Seeds};
use tandem_results::Run;
use tandem_scenario::units::{Bytes, Share, Span};

use crate::{
    engine::EngineArgs,
    failure::Failure,
    folder::Folder,
    output::publish,
    path::{PathArgs, with_flag},
    runner::{Asked, run_in_each},
    settings::{Common, Family, Flows},
    terminal::note,
};

/// Compare controllers on one path: each alone, or each against neighbours
///
/// Runs each CONTROLLER:FLOWS on a dumbbell: all flows share one bottleneck, their ACKs its reverse. Prints a table and writes
/// report.html and results.json. With --against each shares the path with the flows named there, and a baseline in which
/// all flows are of the neighbours' kind gives bandwidth stolen, (P - Q) / P. With --matrix every controller meets every other.
///
/// Seeds are added until each difference is decided or narrow enough (--precision), the time is over (--time) or there are enough
/// (--most-seeds). Runs that no open question concerns get no further seeds. A number (--seeds 5) applies to every run.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem compare --rate 1gbit --rtt 100ms --queue 1500p --loss 1e-6 reno:4 compound:4
  tandem compare --rate 100mbit --rtt 40ms --queue 1bdp --against reno:2 compound:2 compound_tube:2
  tandem compare --rate 300mbit --rtt 100ms --queue 500p compound@gamma=5 compound@gamma=30 --seeds 10 --json
  tandem compare --rate 1gbit --rtt 100ms --queue 1500p --against reno:4 --family compound:4
  tandem compare --rate 100mbit --rtt 30ms --queue 15ms --reverse-rate 5mbit --reverse-queue 100p reno compound_plus
  sudo tandem compare --rate 100mbit --rtt 40ms --queue 1bdp --engine sim,kernel reno compound
  tandem compare --rate 100mbit --rtt 40ms --matrix
  tandem compare --rate 100mbit --rtt 40ms --matrix reno:2 cubic:2 compound:2 fusion:2

Units: rates 100mbit, 1gbit, 12.5MB/s; times 100ms, 2s; queues 1500p (packets), 2MB, 15ms, 0.5bdp; loss 1e-6, 0.1%.")]
pub struct Args {
    #[command(flatten)]
    path: PathArgs,

    /// Duration of each run [default: several loss cycles of the model, 60 s to 600 s]
    #[arg(long, allow_hyphen_values = true)]
    duration: Option<Span>,

    /// Excluded from every measurement [default: slow start and one loss cycle]
    #[arg(long, allow_hyphen_values = true)]
    warmup: Option<Span>,

    /// Neighbours on the same path, such as reno:4; can be given more than once
    #[arg(long, value_name = "CONTROLLER:FLOWS")]
    against: Vec<Flows>,

    /// Flows in the other direction; can be given more than once
    #[arg(long, value_name = "CONTROLLER:FLOWS")]
    reverse: Vec<Flows>,

    /// All flows have ECN (RFC 3168; `dctcp` and `prague` always have accurate ECN), and the queue marks their packets instead of dropping
    /// them; not with --aqm droptail
    #[arg(long)]
    ecn: bool,

    /// Each flow sends this much, such as 10MB; the result includes completion times
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    transfer: Option<Bytes>,

    /// Flows start at random within this time
    #[arg(long, default_value_t = Comparison::START_SPREAD, allow_hyphen_values = true)]
    start_spread: Span,

    /// Random addition to each flow's RTT, up to this
    #[arg(long, default_value_t = Comparison::RTT_SPREAD, allow_hyphen_values = true)]
    rtt_spread: Span,

    /// Random send delay, up to this; 0s switches it off [default: one packet's time at the bottleneck]
    #[arg(long, allow_hyphen_values = true)]
    send_jitter: Option<Span>,

    /// All pairs: the share that each controller gets; all controllers if none is named
    #[arg(long, conflicts_with_all = ["against", "trace"])]
    matrix: bool,

    /// Also compare all controllers of a family, such as compound:4; can be given more than once
    #[arg(long, value_name = "FAMILY:FLOWS")]
    family: Vec<Family>,

    /// What to compare, such as reno:4 or compound@gamma=20:4
    #[arg(required_unless_present_any = ["matrix", "family"], value_name = "CONTROLLER:FLOWS")]
    contenders: Vec<Flows>,

    #[command(flatten)]
    seeds: SeedArgs,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct SeedArgs {
    /// Independent repetitions, or `auto`: as many as the answer needs [default: auto; 5 with an engine that runs in real time]
    #[arg(long, value_name = "N")]
    seeds: Option<Seeds>,

    #[arg(long, value_name = "N", help = bound("the most seeds", USUAL.most_seeds), value_parser = clap::value_parser!(u32).range(2..=1000))]
    most_seeds: Option<u32>,

    #[arg(long, value_name = "TIME", help = bound("start no more seeds after this time, and say what is undecided", USUAL.time))]
    time: Option<Span>,

    #[arg(long, value_name = "SHARE", help = bound("an interval of ± this is narrow enough, of the greater of two goodputs, or of a share", USUAL.precision))]
    precision: Option<Share>,
}

const USUAL: Budget = Budget::USUAL;

/// The help heading of the options that limit seeds.
fn bound(what: &str, usual: impl std::fmt::Display) -> String {
    format!("With --seeds auto: {what} [default: {usual}]")
}

impl SeedArgs {
    /// The number of seeds, and its limits if the results decide it.
    fn chosen(&self, is_real_time: bool) -> Result<(u32, Option<Budget>), Failure> {
        let usual = if is_real_time { Seeds::REAL_TIME } else { Seeds::Auto };
        match self.seeds.unwrap_or(usual) {
            Seeds::Auto if is_real_time => {
                Err(Failure::usage("--seeds auto needs an engine that does not run in real time: give a number"))
            }
            Seeds::Auto => {
                let budget = Budget {
                    most_seeds: self.most_seeds.unwrap_or(USUAL.most_seeds),
                    time: self.time.unwrap_or(USUAL.time),
                    precision: self.precision.map_or(USUAL.precision, |share| share.0),
                };
                Ok((budget.most_seeds, Some(budget)))
            }
            Seeds::Fixed(count) => {
                let given = [("most-seeds", self.most_seeds.is_some()), ("time", self.time.is_some())];
                let mut given = given.into_iter().chain([("precision", self.precision.is_some())]);
                match given.find(|(_, is_given)| *is_given) {
                    Some((name, _)) => {
                        Err(Failure::usage(format!("--{name} does nothing with {count} seeds: it is for --seeds auto")))
                    }
                    None => Ok((count, None)),
                }
            }
        }
    }
}

pub fn compare(mut args: Args) -> Result<(), Failure> {
    let of_families = args.family.iter().flat_map(|family| family.0.iter().cloned());
    let is_named = |flows: &Flows| args.contenders.iter().any(|c| c.name == flows.name && c.count == flows.count);
    args.contenders.extend(of_families.filter(|flows| !is_named(flows)).collect::<Vec<_>>());
    args.check_settings()?;
    if let (Some(duration), Some(warmup)) = (args.duration, args.warmup)
        && duration <= warmup
    {
        return Err(Failure::usage(format!("--duration {duration} must be longer than --warmup {warmup}")));
    }
    let (seeds, budget) = args.seeds.chosen(args.engine.engines.iter().any(|engine| engine.needs_machine()))?;
    if args.matrix {
        return each_with_each::compare_each_with_each(&args, seeds, budget);
    }
    let comparison = args.comparison(seeds)?;
    let plan = comparison.plan().map_err(refused)?;
    let title = format!("{} at {}, {} RTT", comparison.names(), args.path.rate, args.path.rtt);
    args.engine.check(&plan.scenarios)?;
    let folder = Folder::prepare(&args.common, &format!("compare-{}-{}", args.path.rate, args.path.rtt))?;
    note_length(plan.why_so_long.as_deref());
    let open = |runs: &mut [Option<Run>], budget: Budget| {
        plan.set_stolen(runs);
        plan.open(runs, budget.precision)
    };
    let asked = Asked { open: &open, budget };
    let outcomes = run_in_each(&args.engine.engines, &plan.scenarios, Some(asked))?;
    publish(&title, &outcomes, plan.baseline, &args.common, &folder)
}

/// A contradiction among the options, with the flag if it belongs to the path.
fn refused(error: CompareError) -> Failure {
    match error {
        CompareError::Scenario(error) => Failure::usage(with_flag(&error)),
        other => Failure::usage(other),
    }
}

/// Tells the user why runs are long if the user did not choose it.
fn note_length(why: Option<&str>) {
    if let Some(why) = why {
        note(&format!("{why} (--duration and --warmup change that.)"));
    }
}

impl Args {
    /// The comparison that the options describe.
    fn comparison(&self, seeds: u32) -> Result<Comparison, Failure> {
        Ok(Comparison {
            dumbbell: self.path.dumbbell(),
            effects: self.path.effects(),
            contenders: self.contenders.clone(),
            against: self.against.clone(),
            reverse: self.reverse.clone(),
            ecn: self.ecn,
            transfer: self.transfer,
            start_spread: self.start_spread,
            rtt_spread: self.rtt_spread,
            send_jitter: self.send_jitter,
            duration: self.duration,
            warmup: self.warmup,
            overrides: self.common.overrides(Some(seeds))?,
            is_real_time: self.engine.engines.iter().any(|engine| engine.needs_machine()),
        })
    }

    /// Each `--set` reaches a flow, and none contradicts a controller that is named with its own value.
    fn check_settings(&self) -> Result<(), Failure> {
        for setting in &self.common.set {
            let flows = || self.contenders.iter().chain(&self.against).chain(&self.reverse);
            let name = setting.controller().name;
            if !self.contenders.is_empty() && !flows().any(|f| f.controller.has_parameter(setting)) {
                let message = format!("--set {name}.{setting} does nothing: no flow has the controller `{name}`");
                return Err(Failure::usage(message));
            }
            let has_own = |f: &&Flows| f.controller.own().iter().any(|own| own.sets_same(setting));
            if let Some(other) = flows().find(has_own) {
                let message = format!("`{}` and --set {name}.{setting} set the same: leave one out", other.name);
                return Err(Failure::usage(message));
            }
        }
        Ok(())
    }
}
