// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem compare`: some controllers, one path; alone, against neighbours, or each against each.

mod matrix;

use tandem_scenario::{
    CongestionControl, DEFAULT_MTU, FORWARD_LINK, Group, Network, Scenario, Source, TcpSource, Transfer, units::Span,
};

use crate::{
    Failure,
    engine::EngineArgs,
    output::{prepare_folder, publish},
    path::Path,
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
    path: Path,

    /// How long each run lasts
    #[arg(long, default_value = "60s", allow_hyphen_values = true)]
    duration: Span,

    /// Cut from every measure
    #[arg(long, default_value = "10s", allow_hyphen_values = true)]
    warmup: Span,

    /// Neighbours on the same path, such as reno:4; can be given more than once
    #[arg(long, value_name = "CONTROLLER:FLOWS")]
    against: Vec<Flows>,

    /// Flows in the other direction; can be given more than once
    #[arg(long, value_name = "CONTROLLER:FLOWS")]
    reverse: Vec<Flows>,

    /// Flows start at random within this time
    #[arg(long, default_value = "100ms", allow_hyphen_values = true)]
    start_spread: Span,

    /// Random addition to each flow's RTT, up to this
    #[arg(long, default_value = "200us", allow_hyphen_values = true)]
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

pub fn compare(mut args: Args) -> Result<(), Failure> {
    let of_families = args.family.iter().flat_map(|family| family.0.iter().cloned());
    args.contenders.extend(of_families);
    if args.duration <= args.warmup {
        let message = format!("--duration {} must be longer than --warmup {}", args.duration, args.warmup);
        return Err(Failure::usage(message));
    }
    if args.matrix {
        return matrix::compare_each_with_each(&args);
    }
    if !args.against.is_empty() && !same_number_of_flows(&args.contenders) {
        let message = "with --against all contenders need the same number of flows, for they share one baseline";
        return Err(Failure::usage(message));
    }
    let mut scenarios = Vec::new();
    for contender in &args.contenders {
        let mut flows = vec![contender];
        flows.extend(&args.against);
        scenarios.push(args.scenario(&args.run_name(contender), &flows)?);
    }
    let baseline = args
        .baseline_flows()
        .map(|flows| args.scenario(&format!("all {}", flows[0].name), &flows.iter().collect::<Vec<_>>()));
    let baseline = baseline.transpose()?.map(|scenario| {
        scenarios.push(scenario);
        scenarios.len() - 1
    });
    let title = format!("{} at {}, {} RTT", args.names(), args.path.rate, args.path.rtt);
    args.engine.check(&scenarios)?;
    let folder = prepare_folder(&args.common, &format!("compare-{}-{}", args.path.rate, args.path.rtt))?;
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

    fn scenario(&self, name: &str, flows: &[&Flows]) -> Result<Scenario, Failure> {
        let network = self.path.network()?;
        let mut groups: Vec<Group> = Vec::new();
        let forward = flows.iter().map(|f| (*f, false));
        for (flows, reverse) in forward.chain(self.reverse.iter().map(|f| (f, true))) {
            groups.push(self.group(flows, reverse, &network, &groups)?);
        }
        let send_jitter =
            self.send_jitter.unwrap_or_else(|| Scenario::default_send_jitter(&network, &groups, DEFAULT_MTU));
        let first_seed = self.common.seed.unwrap_or(1);
        let seeds = u64::from(self.common.seeds.unwrap_or(DEFAULT_SEEDS));
        Ok(Scenario {
            name: name.to_owned(),
            duration: self.duration,
            warmup: self.warmup,
            seeds: (0..seeds).map(|i| first_seed.wrapping_add(i)).collect(),
            mtu: DEFAULT_MTU,
            send_jitter,
            sample_interval: Scenario::default_sample_interval(self.duration),
            network,
            groups,
        })
    }

    fn group(&self, flows: &Flows, reverse: bool, network: &Network, others: &[Group]) -> Result<Group, Failure> {
        let link = |name| network.links.iter().position(|l| l.name == name).expect("a dumbbell has both links");
        let (mut forward, mut back) = (vec![link(FORWARD_LINK)], vec![link(tandem_scenario::REVERSE_LINK)]);
        let mut name = flows.name.clone();
        if reverse {
            std::mem::swap(&mut forward, &mut back);
            name += " (reverse)";
        }
        let twins = others.iter().filter(|g| g.name.split(" #").next() == Some(&name)).count();
        if twins > 0 {
            name = format!("{name} #{}", twins + 1);
        }
        Ok(Group {
            name,
            flows: flows.count,
            source: Source::Tcp(TcpSource {
                controller: CongestionControl::Tandem(flows.params(&self.common.settings())?),
                transfer: Transfer::Bulk,
                delayed_acks: !self.common.no_delayed_acks,
                pacing: false,
                initial_window: 10,
                receive_window: None,
            }),
            forward,
            back,
            access: Span::default(),
            rtt_spread: self.rtt_spread,
            start: Span::default(),
            start_spread: self.start_spread,
            stop: None,
            first_station: 0,
        })
    }
}
