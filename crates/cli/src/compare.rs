// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem compare`: some controllers, one path; alone, against neighbours, or each against each.

mod length;
mod matrix;

use std::collections::BTreeMap;

use tandem_scenario::{
    Ecn, FORWARD_LINK, FlowsSpec, Scenario, ScenarioSpec,
    units::{Bytes, Span},
};

use length::OF_COMPARE;
pub use length::{Bounds, Length, Reason, USUAL};

use crate::{
    Failure,
    engine::EngineArgs,
    folder::Folder,
    output::{note, publish},
    path::PathArgs,
    runner::{Outcome, run_in_each},
    settings::{Common, Family, Flows},
};

/// Compare controllers on one path: each alone, or each against neighbours
///
/// Runs each CONTROLLER:FLOWS on a dumbbell: all flows share one bottleneck, their ACKs its reverse. Prints a table and writes
/// report.html and results.json. With --against each shares the path with the flows named there, and a baseline in which
/// all flows are of the neighbours' kind gives bandwidth stolen, (P - Q) / P. With --matrix every controller meets every other.
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

    /// How long each run lasts [default: some times from loss to loss, as the model has it, from 60 s to 600 s]
    #[arg(long, allow_hyphen_values = true)]
    duration: Option<Span>,

    /// Cut from every measure [default: slow start and one time from loss to loss]
    #[arg(long, allow_hyphen_values = true)]
    warmup: Option<Span>,

    /// Neighbours on the same path, such as reno:4; can be given more than once
    #[arg(long, value_name = "CONTROLLER:FLOWS")]
    against: Vec<Flows>,

    /// Flows in the other direction; can be given more than once
    #[arg(long, value_name = "CONTROLLER:FLOWS")]
    reverse: Vec<Flows>,

    /// All flows have ECN (RFC 3168), and the queue marks their packets instead of dropping them; not with --aqm droptail
    #[arg(long)]
    ecn: bool,

    /// Each flow has so much to send, such as 10MB, and the time that it takes is a result
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    transfer: Option<Bytes>,

    /// Flows start at random within this time
    #[arg(long, default_value_t = START_SPREAD, allow_hyphen_values = true)]
    start_spread: Span,

    /// Random addition to each flow's RTT, up to this
    #[arg(long, default_value_t = RTT_SPREAD, allow_hyphen_values = true)]
    rtt_spread: Span,

    /// Random send delay, up to this; 0s switches it off [default: one packet's time at the bottleneck]
    #[arg(long, allow_hyphen_values = true)]
    send_jitter: Option<Span>,

    /// Each against each, a pair at a time: who gets how much; all controllers if none is named
    #[arg(long, conflicts_with_all = ["against", "trace"])]
    matrix: bool,

    /// Also compare all controllers of a family, such as compound:4; can be given more than once
    #[arg(long, value_name = "FAMILY:FLOWS")]
    family: Vec<Family>,

    /// What to compare, such as reno:4 or compound@gamma=20:4
    #[arg(required_unless_present_any = ["matrix", "family"], value_name = "CONTROLLER:FLOWS")]
    contenders: Vec<Flows>,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    common: Common,
}

const DEFAULT_SEEDS: u32 = 5;
/// Within what flows start, and by how much their RTTs differ, so that chance has a part in what they do.
pub const START_SPREAD: Span = Span::from_ms(100);
pub const RTT_SPREAD: Span = Span { ns: 200_000 };

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
    if args.matrix {
        return matrix::compare_each_with_each(&args);
    }
    args.check_contenders()?;
    if !args.against.is_empty() && !same_number_of_flows(&args.contenders) {
        let message = "with --against all contenders need the same number of flows, for they share one baseline";
        return Err(Failure::usage(message));
    }
    let mut runs = Vec::new();
    for contender in &args.contenders {
        let flows = std::iter::once(contender.clone()).chain(args.against.iter().cloned()).collect();
        runs.push((args.run_name(contender), flows));
    }
    let baseline = args.baseline_flows().map(|flows| {
        runs.push((format!("all {}", flows[0].name), flows));
        runs.len() - 1
    });
    let (scenarios, why_so_long) = args.scenarios(&runs)?;
    let title = format!("{} at {}, {} RTT", args.names(), args.path.rate, args.path.rtt);
    args.engine.check(&scenarios)?;
    let folder = Folder::prepare(&args.common, &format!("compare-{}-{}", args.path.rate, args.path.rtt))?;
    why_so_long.iter().for_each(|why| note(why));
    let mut outcomes = run_in_each(&args.engine.engines, &scenarios)?;
    outcomes.iter_mut().for_each(|outcome| args.set_stolen(outcome, baseline));
    publish(&title, &scenarios, &outcomes, baseline, &args.common, &folder)
}

fn same_number_of_flows(contenders: &[Flows]) -> bool {
    contenders.windows(2).all(|pair| pair[0].count == pair[1].count)
}

impl Args {
    /// Sets the bandwidth that neighbours lost, if there are any, against the run at `baseline`.
    fn set_stolen(&self, outcome: &mut Outcome, baseline: Option<usize>) {
        let Some(baseline) = baseline.and_then(|i| outcome.runs[i].clone()) else { return };
        for run in outcome.runs[..self.contenders.len()].iter_mut().flatten() {
            for neighbour in 1..=self.against.len() {
                run.set_stolen(neighbour, &baseline);
            }
        }
    }

    /// As the contender is called, with its number of flows where another is called the same.
    fn run_name(&self, contender: &Flows) -> String {
        let namesakes = self.contenders.iter().filter(|c| c.name == contender.name).count();
        if namesakes > 1 { format!("{}:{}", contender.name, contender.count) } else { contender.name.clone() }
    }

    fn names(&self) -> String {
        let contenders = self.contenders.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        match &self.against[..] {
            [] => contenders,
            against => {
                let against: Vec<_> = against.iter().map(|a| format!("{}:{}", a.name, a.count)).collect();
                format!("{contenders} against {}", against.join(" and "))
            }
        }
    }

    /// All flows of the neighbours' kind, in the contenders' place too.
    fn baseline_flows(&self) -> Option<Vec<Flows>> {
        let first = self.against.first()?;
        let in_contenders_place = first.with_count(self.contenders[0].count);
        Some(std::iter::once(in_contenders_place).chain(self.against.iter().cloned()).collect())
    }

    /// Each contender once: two runs of the same would differ in nothing.
    fn check_contenders(&self) -> Result<(), Failure> {
        for (i, Flows { name, count, .. }) in self.contenders.iter().enumerate() {
            if self.contenders[..i].iter().any(|c| c.name == *name && c.count == *count) {
                return Err(Failure::usage(format!("`{name}:{count}` is named twice: leave one out")));
            }
        }
        Ok(())
    }

    /// Each `--set` reaches a flow, and none contradicts what is named with a value of its own.
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

    /// The scenarios of runs, each with its name and flows, all of one length; and why they are so long if the user did not say it.
    fn scenarios(&self, runs: &[(String, Vec<Flows>)]) -> Result<(Vec<Scenario>, Option<String>), Failure> {
        let of_length = |length: Length| {
            runs.iter().map(|(name, flows)| self.scenario(name, flows, length)).collect::<Result<Vec<_>, _>>()
        };
        let given =
            Length { duration: self.duration.unwrap_or(USUAL.duration), warmup: self.warmup.unwrap_or_default() };
        // A transfer ends when it ends. All of it counts, so nothing is cut off.
        if let Some(transfer) = self.transfer {
            let duration = self.duration.unwrap_or_else(|| self.enough_for(transfer, runs));
            return Ok((of_length(Length { duration, ..given })?, None));
        }
        if self.duration.is_some() && self.warmup.is_some() {
            return Ok((of_length(given)?, None));
        }
        let draft = of_length(Length { warmup: Span::default(), ..given })?;
        let reason = Reason::of(&draft, OF_COMPARE, self.engine.engines.iter().any(|engine| engine.needs_machine()));
        let length = reason.length(self.duration, self.warmup);
        Ok((of_length(length)?, Some(reason.words(length))))
    }

    /// Twice as long as the path takes for all transfers of the run with the most flows, and the usual duration at least.
    fn enough_for(&self, transfer: Bytes, runs: &[(String, Vec<Flows>)]) -> Span {
        let flows =
            runs.iter().map(|(_, flows)| flows.iter().map(|f| u64::from(f.count)).sum::<u64>()).max().unwrap_or(1);
        let bits = u128::from(transfer.0) * u128::from(flows) * 8;
        let ns = 2 * bits * 1_000_000_000 / u128::from(self.path.rate.bps);
        // As long as a duration can be.
        let whole_s = ns.div_ceil(1_000_000_000).min(1_000_000) as u64;
        Span::from_secs(whole_s).max(USUAL.duration)
    }

    fn scenario(&self, name: &str, flows: &[Flows], length: Length) -> Result<Scenario, Failure> {
        let forward = flows.iter().map(|f| self.group(f, false));
        let mut spec = ScenarioSpec {
            name: Some(name.to_owned()),
            warmup: length.warmup,
            seeds: Some(DEFAULT_SEEDS),
            send_jitter: self.send_jitter,
            dumbbell: Some(if self.ecn { self.path.marking_dumbbell()? } else { self.path.dumbbell() }),
            effects: BTreeMap::from([(FORWARD_LINK.to_owned(), self.path.effects())]),
            flows: forward.chain(self.reverse.iter().map(|f| self.group(f, true))).collect(),
            ..ScenarioSpec::new(length.duration)
        };
        let mut overrides = self.common.overrides()?;
        // With several runs, each has some of the controllers.
        overrides.settings.retain(|setting| spec.has_parameter(setting));
        overrides.apply(&mut spec).map_err(Failure::usage)?;
        spec.check().map_err(Failure::usage)
    }

    fn group(&self, flows: &Flows, reverse: bool) -> FlowsSpec {
        FlowsSpec {
            name: reverse.then(|| format!("{} (reverse)", flows.name)),
            controller: Some(flows.controller.clone()),
            count: flows.count,
            reverse: Some(reverse),
            ecn: self.ecn.then_some(Ecn::Rfc3168),
            transfer: self.transfer,
            rtt_spread: self.rtt_spread,
            start_spread: self.start_spread,
            ..FlowsSpec::default()
        }
    }
}
