// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem advise`: which controller to run on a path, why, and how to switch it on.

mod cases;
mod figures;
mod machine;
mod report;
mod rule;
mod text;
mod trial;

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use tandem_controllers::{CONTROLLERS, Controller};
use tandem_measured::Measured;
use tandem_scenario::{
    CongestionControl, ControllerSpec, Settings,
    aqm::AqmSpec,
    units::{Bytes, LossRate, QueueSize, Rate, Span},
};

use crate::{
    Failure,
    folder::Folder,
    interrupt,
    output::{RESULTS_FILE, note, print_kept, warn, where_it_is, write, write_report},
    settings::{Common, Flows},
};
use cases::{Case, Known, Neighbours};
use machine::{Machine, Way};
use report::Advice;
use rule::Limits;
use trial::{Answer, Candidate, Clock, Question};

/// Which controller should carry data over this path: one recommendation, with its reasons
///
/// Simulates the controllers that this machine could run, beside the path's other flows, until the intervals are narrow enough to decide or
/// the time is up. Prints which one to run, what it gains over the present default, what neighbours lose, what it does to delay, how sure
/// that is, and the command that switches it on. What is not given is taken as usual and then varied: the advice says what would change it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem advise --rate 300mbit --rtt 100ms
  tandem advise --rate 300mbit --rtt 100ms --queue 500p --loss 1e-5 --neighbours cubic:4
  tandem advise --rate 1gbit --rtt 200ms --queue 1000p --transfer 100GB --time 5min
  tandem advise --rate 10mbit --rtt 30ms --neighbours none cubic compound_tube bbr
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

    /// A measurement of the path, which tells what is not given: `iperf3 --json`, or the output of `ping` or `ss -ti`; several together tell
    /// more
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,

    /// The path's buffer: 1500p, 2MB, 15ms or 0.5bdp [default: 1bdp, then 0.1bdp and 4bdp]
    #[arg(long, allow_hyphen_values = true)]
    queue: Option<QueueSize>,

    /// Queue discipline: droptail, red, codel, fq_codel, pie or dualpi2
    #[arg(long, default_value = "droptail")]
    aqm: AqmSpec,

    /// Random loss, before the path's queue [default: 0, then 1e-5 and 1e-3]
    #[arg(long, allow_hyphen_values = true)]
    loss: Option<LossRate>,

    /// The other flows on the path, such as cubic:4 or reno:2,bbr:1; or none [default: cubic:1, then none and bbr:1]
    #[arg(long, value_name = "CONTROLLER:FLOWS,...")]
    neighbours: Option<Neighbours>,

    /// How many flows are to be carried
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    flows: u32,

    /// What all of these flows have to send together, such as 100GB: its time counts instead of goodput
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    transfer: Option<Bytes>,

    /// What the machine runs now [default: net.ipv4.tcp_congestion_control, cubic where there is none]
    #[arg(long, value_name = "CONTROLLER")]
    default: Option<ControllerSpec>,

    /// Neighbours may lose at most this share of what they would have beside another of their own kind; the limit is ours
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    max_stolen: LossRate,

    /// The 95th percentile of the queueing delay may grow by this over the same [default: half the RTT, at least 10 ms; the limit is ours]
    #[arg(long, value_name = "TIME")]
    max_added_delay: Option<Span>,

    /// A change has to bring at least this share of the default's goodput; the limit is ours
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    min_gain: LossRate,

    /// Stop after this time and say what is left open; the same command with enough time gives the same answer
    #[arg(long, value_name = "TIME", default_value = "2min")]
    time: Span,

    /// The most seeds of a controller on a path
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = RangedU64ValueParser::<u64>::new().range(2..=1000))]
    seeds: u64,

    /// The first seed; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// How long each run lasts [default: some times from loss to loss, from 60 s to 600 s, on fast paths less]
    #[arg(long, allow_hyphen_values = true)]
    duration: Option<Span>,

    /// Cut from every measure [default: slow start and one time from loss to loss]
    #[arg(long, allow_hyphen_values = true, conflicts_with = "transfer")]
    warmup: Option<Span>,

    /// Write results.json only
    #[arg(long)]
    no_report: bool,

    /// Folder for report.html and results.json [default: one of the command's own in tandem-out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Give up what another command left in that folder
    #[arg(long)]
    replace: bool,

    /// The advice as JSON on standard output
    #[arg(long)]
    json: bool,

    /// What to choose from [default: all that this machine can run]
    #[arg(value_name = "CONTROLLER")]
    controllers: Vec<ControllerSpec>,
}

/// On short paths, where half the RTT is less than a browser or a call would notice.
const LEAST_DELAY_LIMIT: Span = Span::from_ms(10);
/// Where the machine does not say, and every common system has it.
const USUAL_DEFAULT: &str = "cubic";

pub fn advise(args: &Args) -> Result<(), Failure> {
    let machine = Machine::this();
    let present = Present::new(args, &machine)?;
    let candidates = args.candidates(&machine, &present)?;
    let mut measured = tandem_measured::read(&args.from).map_err(Failure::usage)?;
    let known = args.known(&measured)?;
    measured.inferred.retain(|inferred| args.takes(inferred.what));
    let usual_delay = Span { ns: known.rtt.ns / 2 }.max(LEAST_DELAY_LIMIT);
    let limits = Limits {
        stolen: args.max_stolen.0,
        added_delay_ms: args.max_added_delay.unwrap_or(usual_delay).as_secs_f64() * 1e3,
        gain: args.min_gain.0,
    };
    let question = Question {
        known: &known,
        candidates: &candidates,
        default: &present.name,
        limits,
        transfer: args.transfer,
        first_seed: args.seed,
        most_seeds: args.seeds,
        duration: args.duration,
        warmup: args.warmup,
    };
    let cases = known.cases();
    question.check(&cases[0])?;
    let common = args.common();
    let folder = Folder::prepare(&common, &format!("advise-{}-{}", known.rate, known.rtt))?;
    let (answers, not_looked_at) = look(&question, &cases, args.time)?;
    let keeping = interrupt::keeping();
    let interrupted = interrupt::is_interrupted();
    let Some((usual, others)) = answers.split_first() else {
        warn("tandem: interrupted; nothing was done by then");
        return Err(Failure::Interrupted);
    };
    let way = |name: &str| CONTROLLERS.iter().find(|c| c.name == name).and_then(|c| machine.way(c));
    let advice = Advice {
        question: &question,
        inferred: &measured.inferred,
        usual,
        others,
        not_looked_at,
        present: &present,
        time: args.time,
        way: &way,
    };
    let json = report::json(&advice)?;
    let text = text::for_terminal(&advice);
    let is_kept = !interrupted || !folder.has_results();
    let keep = || {
        write(&folder.path().join(RESULTS_FILE), &json)?;
        drop(keeping);
        write_report(args.no_report, folder.path(), || tandem_report::figures_html(&figures::page(&advice)))
    };
    print_kept(if args.json { &json } else { &text }, if is_kept { keep() } else { Ok(()) })?;
    if is_kept {
        note(&where_it_is(args.no_report, folder.path()));
    }
    if interrupted {
        warn("tandem: interrupted; the advice is from what was done by then");
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// Answers the cases in order, and names those for which there was no time.
fn look(question: &Question, cases: &[Case], time: Span) -> Result<(Vec<Answer>, Vec<String>), Failure> {
    let clock = Clock::new(time);
    let mut answers = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        match question.answer(case, &clock, i == 0)? {
            Some(answer) => answers.push(answer),
            None => break,
        }
        if clock.has_stopped() {
            break;
        }
    }
    let left = cases[answers.len()..].iter().map(|case| case.differs.clone()).collect();
    Ok((answers, left))
}

/// What the machine runs now.
pub struct Present {
    /// As the simulator has it.
    pub name: String,
    /// The machine's own name for it, where the simulator does not have it and another stands for it.
    pub stands_for: Option<String>,
    spec: ControllerSpec,
}

impl Present {
    fn new(args: &Args, machine: &Machine) -> Result<Self, Failure> {
        if let Some(spec) = &args.default {
            check_is_ours(spec)?;
            return Ok(Self { name: spec.to_string(), stands_for: None, spec: spec.clone() });
        }
        let named = machine.default.as_deref().unwrap_or(USUAL_DEFAULT);
        let (name, stands_for) = match tandem_controllers::find(named) {
            Ok(controller) => (controller.name, None),
            Err(_) => (USUAL_DEFAULT, Some(named.to_owned())),
        };
        let spec = name.parse().map_err(Failure::usage)?;
        Ok(Self { name: name.to_owned(), stands_for, spec })
    }
}

fn check_is_ours(spec: &ControllerSpec) -> Result<(), Failure> {
    match spec.with(&Settings::default()) {
        CongestionControl::Tandem(_) => Ok(()),
        CongestionControl::Kernel(name) => Err(Failure::usage(format!(
            "`{spec}` cannot be simulated: name one of Tandem's, such as `{USUAL_DEFAULT}`, in place of the kernel's `{name}`"
        ))),
    }
}

impl Args {
    /// What to choose from, the default among it.
    fn candidates(&self, machine: &Machine, present: &Present) -> Result<Vec<Candidate>, Failure> {
        let effort = |controller: &Controller| machine.way(controller).map(|way| way as u8);
        let candidate = |spec: &ControllerSpec, effort: u8| Candidate {
            flows: Flows::new(spec.clone(), self.flows),
            effort: if spec.to_string() == present.name { Way::Present as u8 } else { effort },
        };
        let mut candidates: Vec<Candidate> = if self.controllers.is_empty() {
            let here = CONTROLLERS.iter().filter_map(|c| Some((ControllerSpec::tandem(c), effort(c)?)));
            here.map(|(spec, effort)| candidate(&spec, effort)).collect()
        } else {
            self.controllers.iter().try_for_each(check_is_ours)?;
            let of = |spec: &ControllerSpec| match spec.with(&Settings::default()) {
                // With parameters of its own, only eBPF has it.
                CongestionControl::Tandem(params) if spec.own().is_empty() => effort(params.controller()),
                _ => None,
            };
            self.controllers.iter().map(|spec| candidate(spec, of(spec).unwrap_or(Way::Load as u8))).collect()
        };
        for (i, Candidate { flows, .. }) in candidates.iter().enumerate() {
            if candidates[..i].iter().any(|other| other.flows.name == flows.name) {
                return Err(Failure::usage(format!("`{}` is named twice: leave one out", flows.name)));
            }
        }
        if !candidates.iter().any(|c| c.flows.name == present.name) {
            candidates.push(candidate(&present.spec, Way::Present as u8));
        }
        Ok(candidates)
    }

    /// The path; options go before measurements.
    fn known(&self, measured: &Measured) -> Result<Known, Failure> {
        let missing = |what: &str, files: &str| {
            Failure::usage(format!("no {what}: give --{what}, or with --from a file that has it ({files})"))
        };
        Ok(Known {
            rate: self.rate.or(measured.rate).ok_or_else(|| missing("rate", "iperf3 --json, ss -ti"))?,
            rtt: self.rtt.or(measured.rtt).ok_or_else(|| missing("rtt", "ping, ss -ti, iperf3 --json"))?,
            aqm: self.aqm,
            queue: self.queue.or(measured.queue),
            loss: self.loss.or(measured.loss),
            neighbours: self.neighbours.clone(),
        })
    }

    /// Is the measured value taken, for no option gives another?
    fn takes(&self, what: &str) -> bool {
        match what {
            "rate" => self.rate.is_none(),
            "rtt" => self.rtt.is_none(),
            "queue" => self.queue.is_none(),
            _ => self.loss.is_none(),
        }
    }

    /// What it has of the options that others share.
    fn common(&self) -> Common {
        let Self { replace, no_report, json, .. } = *self;
        Common { out: self.out.clone(), replace, no_report, json, ..Common::default() }
    }
}
