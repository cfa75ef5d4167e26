// SPDX-License-Identifier: MIT OR Apache-2.0
//! The set-ups that are run in the simulator and in another engine.

use tandem_papers::{Missing, scenario_key};
use tandem_scenario::{
    KERNEL_PREFIX, Scenario,
    file::{Overrides, parse_inner},
};

use super::compare::Bound;

/// A path and the flows that are put on it, one group after another.
#[derive(Clone, Copy)]
pub struct Setup {
    /// In names of files and in the runs that are kept.
    pub name: &'static str,
    pub title: &'static str,
    rate: &'static str,
    rtt: &'static str,
    queue: &'static str,
    loss: &'static str,
    /// More lines of the dumbbell's table.
    dumbbell: &'static str,
    /// The lines of the bottleneck's effects.
    effects: &'static str,
    /// More lines of each flow's table.
    flow: &'static str,
    duration_s: u32,
    warmup_s: u32,
    /// Runs over real TCP.
    pub repetitions: u64,
    /// Each a set of flows that run together, by their controllers.
    pub flows: &'static [&'static [&'static str]],
    queue_bound: (f64, f64),
}

pub const GOODPUT_BOUND: Bound = Bound::Relative(0.05);
/// A share, or packets.
const QUEUE_BOUND: (f64, f64) = (0.10, 5.0);

/// The controllers that are compared on every path.
const ALONE: &[&[&str]] = &[&["reno"], &["compound"], &["compound_auto"], &["compound_tube"]];

const BDP: Setup = Setup {
    name: "bdp",
    title: "100 Mb/s, 40 ms, a buffer of one BDP",
    rate: "100mbit",
    rtt: "40ms",
    queue: "1bdp",
    loss: "0",
    dumbbell: "",
    effects: "",
    flow: "",
    duration_s: 80,
    warmup_s: 20,
    repetitions: 2,
    flows: ALONE,
    queue_bound: QUEUE_BOUND,
};

/// Paths that stay as they are.
pub const SETUPS: [Setup; 7] = [
    BDP,
    Setup { name: "quarter", title: "100 Mb/s, 40 ms, a buffer of BDP/4", queue: "0.25bdp", ..BDP },
    Setup {
        name: "long",
        title: "300 Mb/s, 100 ms, 500 packets",
        rate: "300mbit",
        rtt: "100ms",
        queue: "500p",
        duration_s: 200,
        warmup_s: 30,
        // How slow start ends is chance, and a run holds but one cycle.
        repetitions: 5,
        ..BDP
    },
    Setup { name: "loss4", title: "100 Mb/s, 40 ms, one BDP, random loss of 1e-4", loss: "1e-4", ..BDP },
    Setup { name: "loss3", title: "100 Mb/s, 40 ms, one BDP, random loss of 1e-3", loss: "1e-3", ..BDP },
    Setup {
        name: "pairs",
        title: "Two flows, 100 Mb/s, 40 ms, a buffer of one BDP",
        duration_s: 110,
        // How two flows share is chance.
        repetitions: 10,
        flows: &[
            &["reno", "reno"],
            &["compound", "compound"],
            &["compound", "reno"],
            &["compound_auto", "reno"],
            &["compound_tube", "reno"],
        ],
        ..BDP
    },
    Setup {
        name: "others",
        title: "Other controllers, and the kernel's own CUBIC and BBR; 100 Mb/s, 40 ms, one BDP",
        flows: &[&["cubic"], &["kernel:cubic"], &["kernel:bbr"], &["fusion"], &["illinois"], &["yeah"], &["westwood"]],
        repetitions: 5,
        queue_bound: (0.15, 5.0),
        ..BDP
    },
];

/// Slow enough that the emulator carries two at a time.
const TODAY: Setup = Setup {
    rate: "20mbit",
    duration_s: 40,
    warmup_s: 10,
    repetitions: 10,
    flows: &[&["kernel:reno"], &["kernel:cubic"], &["compound_tube"]],
    ..BDP
};

/// Paths that change, police, reorder and mark. QUIC flows have no ECN, so its page leaves them out.
const PATHS: [Setup; 7] = [
    Setup {
        name: "steps",
        title: "Steps: 5 Mb/s for 5 s of each 10, otherwise 20 Mb/s",
        effects: "changes = [{ at = \"5s\", every = \"10s\", rate = \"5mbit\" }, { at = \"10s\", every = \"10s\", rate = \"20mbit\" }]",
        ..TODAY
    },
    Setup {
        name: "satellite",
        title: "Satellite: another rate and delay every 15 s, with an outage",
        effects: "changes = [\
            { at = \"15s\", every = \"30s\", rate = \"0\" }, \
            { at = \"15100ms\", every = \"30s\", rate = \"12mbit\", delay = \"32ms\" }, \
            { at = \"30s\", every = \"30s\", rate = \"0\" }, \
            { at = \"30050ms\", every = \"30s\", rate = \"24mbit\", delay = \"22ms\" }]",
        duration_s: 75,
        warmup_s: 15,
        ..TODAY
    },
    Setup {
        name: "cellular",
        title: "Cellular: a rate trace that wanders and stops at times",
        rate: "6mbit",
        rtt: "60ms",
        queue: "250p",
        effects: "rate_trace = \"cellular.trace\"",
        ..TODAY
    },
    Setup {
        name: "policer",
        title: "A policer of 10 Mb/s and 100 kB on a link of 100 Mb/s",
        rate: "100mbit",
        rtt: "30ms",
        effects: "policer = { rate = \"10mbit\", burst = \"100kB\" }",
        ..TODAY
    },
    Setup {
        name: "jitter",
        title: "Jitter: normal, 5 ms, order kept",
        effects: "jitter = { time = \"5ms\", distribution = \"normal\", correlation = \"25%\" }",
        ..TODAY
    },
    Setup {
        name: "reordering",
        title: "Reordering: one packet in a hundred is overtaken by three",
        queue: "0.25bdp",
        effects: "reorder = { share = \"1%\", distance = \"3p\" }",
        ..TODAY
    },
    Setup {
        name: "ecn",
        title: "ECN: FQ-CoDel that marks",
        queue: "2bdp",
        dumbbell: "aqm = { kind = \"fq_codel\", ecn = true }",
        flow: "ecn = \"rfc3168\"",
        ..TODAY
    },
];

/// As many packets a round trip, but four times slower. `bbr` keeps a short buffer full, so a pause of the emulator that is no longer
/// than a tenth of it must be rare: 10 ms at 20 Mb/s would be too short.
const SLOWER: Setup = Setup { rate: "5mbit", rtt: "160ms", ..TODAY };

/// Paths of docs/bbr-beside-others.md that stay as they are.
const SLOW: [Setup; 4] = [
    Setup { name: "slow", title: "20 Mb/s, 40 ms, a buffer of one BDP", ..TODAY },
    Setup { name: "shallow", title: "5 Mb/s, 160 ms, a buffer of BDP/4", queue: "0.25bdp", ..SLOWER },
    Setup { name: "deep", title: "20 Mb/s, 40 ms, a buffer of four BDP", queue: "4bdp", ..TODAY },
    Setup { name: "lossy", title: "20 Mb/s, 40 ms, one BDP, random loss of 1e-3", loss: "1e-3", ..TODAY },
];

/// Ten paths for `bbr` and `bbr3`: four that stay as they are, and those that change, police, delay and reorder.
pub fn for_bbr() -> [Setup; 10] {
    let [steps, satellite, cellular, policer, jitter, reordering, _] = PATHS;
    let reordering = Setup { rate: SLOWER.rate, rtt: SLOWER.rtt, ..reordering };
    let [slow, shallow, deep, lossy] = SLOW;
    [slow, shallow, deep, lossy, steps, satellite, cellular, policer, jitter, reordering]
}

/// Those that are run over real TCP.
pub fn over_real_tcp() -> impl Iterator<Item = &'static Setup> {
    SETUPS.iter().chain(&PATHS)
}

/// Where the rate traces lie that set-ups name.
const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/");

impl Setup {
    /// The same path with other flows.
    pub fn with(self, flows: &'static [&'static [&'static str]], repetitions: u64) -> Self {
        Self { flows, repetitions, ..self }
    }

    /// All that decides about a run except flows and seed.
    pub fn text(&self) -> String {
        let Self { rate, rtt, queue, loss, duration_s, warmup_s, .. } = self;
        let more: String = [self.dumbbell, self.effects, self.flow]
            .iter()
            .filter(|lines| !lines.is_empty())
            .map(|lines| format!(", `{lines}`"))
            .collect();
        format!("{rate} {rtt} {queue} loss {loss}{more}, {duration_s} s of which {warmup_s} s warm-up")
    }

    /// What is asked of the engines.
    pub fn asked(&self) -> String {
        let (share, packets) = self.queue_bound;
        format!("goodput within 5 %, mean queue within {:.0} % or {packets} packets", share * 100.0)
    }

    pub fn queue_bound(&self) -> Bound {
        Bound::RelativeOr(self.queue_bound.0, self.queue_bound.1)
    }

    pub fn duration_s(&self) -> u32 {
        self.duration_s
    }

    /// The label of runs with these flows.
    pub fn label(&self, flows: &[&str]) -> String {
        format!("{}/{}", self.name, flows.join("+"))
    }

    /// The scenario in a file of `tandem papers`, in the table `[scenario]`.
    fn file(&self, controllers: &[&str]) -> String {
        let Self { rate, rtt, queue, loss, dumbbell, effects, flow, duration_s, warmup_s, .. } = self;
        let path = format!(
            "[scenario]\nduration = \"{duration_s}s\"\nwarmup = \"{warmup_s}s\"\nsample_interval = \"100ms\"\n\
             [scenario.dumbbell]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\nqueue = \"{queue}\"\nloss = {loss}\n{dumbbell}\n"
        );
        // A table that is there and empty would be another scenario to the runs that are kept.
        let effects = match effects {
            &"" => String::new(),
            lines => format!("[scenario.effects.bottleneck]\n{lines}\n"),
        };
        let flows = controllers.iter().map(|controller| {
            format!("[[scenario.flows]]\ncontroller = \"{controller}\"\nstart_spread = \"100ms\"\n{flow}\n")
        });
        path + &effects + &flows.collect::<String>()
    }

    fn parsed(&self, text: &str, flows: &[&str], seeds: Vec<u64>) -> Scenario {
        let name = self.label(flows);
        let text = &text.replace("rate_trace = \"", &format!("rate_trace = \"{TRACES}"));
        let scenario = parse_inner(text, &name, &name, &Overrides::default()).expect("the set-ups are valid");
        scenario.with_seeds(seeds)
    }

    /// For the engines in virtual time, which take Tandem's controller of the same name for one of the kernel's own.
    pub fn simulated(&self, flows: &[&str], seeds: u64) -> Scenario {
        let controllers: Vec<&str> = flows.iter().map(|flow| flow.trim_start_matches(KERNEL_PREFIX)).collect();
        self.parsed(&self.file(&controllers), flows, (1..=seeds).collect())
    }

    /// One run over real TCP. The window of a flow on its own is drawn, so the first run traces it.
    pub fn wanted(&self, flows: &[&str], seed: u64) -> Missing {
        let text = self.file(flows);
        let is_drawn = seed == 1 && flows.len() == 1;
        let scenario = self.parsed(&text, flows, vec![seed]);
        Missing { scenario, key: scenario_key(&text), traced_flows_per_group: is_drawn.into() }
    }

    /// The key of the runs over real TCP with these flows.
    pub fn key(&self, flows: &[&str]) -> String {
        scenario_key(&self.file(flows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setup_is_a_scenario_for_both_engines() {
        for setup in over_real_tcp() {
            for flows in setup.flows {
                let scenario = setup.simulated(flows, 2);
                assert_eq!(scenario.flow_count(), flows.len());
                assert!(scenario.needs_kernel().is_none());
                let asks_for_the_kernels = flows.iter().any(|f| f.starts_with(KERNEL_PREFIX));
                let wanted = setup.wanted(flows, 7);
                assert_eq!(wanted.scenario.needs_kernel().is_some(), asks_for_the_kernels);
                assert_eq!((wanted.seed(), scenario.seeds.len()), (7, 2));
            }
        }
    }
}
