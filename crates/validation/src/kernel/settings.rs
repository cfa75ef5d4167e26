// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is run in both engines.

use tandem_scenario::{
    KERNEL_PREFIX, Scenario,
    file::{Overrides, parse},
};

use crate::compare::Bound;

/// A path and the flows that are put on it, one group after another.
pub struct Setting {
    /// In names of files and in the results.
    pub key: &'static str,
    pub title: &'static str,
    rate: &'static str,
    rtt: &'static str,
    queue: &'static str,
    loss: &'static str,
    duration_s: u32,
    warmup_s: u32,
    /// Runs over real TCP.
    pub repetitions: u64,
    /// Each a set of flows that run together, by their controllers.
    pub flows: &'static [&'static [&'static str]],
    pub queue_bound: Bound,
}

pub const GOODPUT_BOUND: Bound = Bound::Relative(0.05);
const QUEUE_BOUND: Bound = Bound::RelativeOr(0.10, 5.0);

/// The controllers that are compared on every path.
const ALONE: &[&[&str]] = &[&["reno"], &["compound"], &["compound_auto"], &["compound_tube"]];

const BDP: Setting = Setting {
    key: "bdp",
    title: "100 Mb/s, 40 ms, a buffer of one BDP",
    rate: "100mbit",
    rtt: "40ms",
    queue: "1bdp",
    loss: "0",
    duration_s: 80,
    warmup_s: 20,
    repetitions: 2,
    flows: ALONE,
    queue_bound: QUEUE_BOUND,
};

pub const SETTINGS: [Setting; 7] = [
    BDP,
    Setting { key: "quarter", title: "100 Mb/s, 40 ms, a buffer of BDP/4", queue: "0.25bdp", ..BDP },
    Setting {
        key: "long",
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
    Setting { key: "loss4", title: "100 Mb/s, 40 ms, one BDP, random loss of 1e-4", loss: "1e-4", ..BDP },
    Setting { key: "loss3", title: "100 Mb/s, 40 ms, one BDP, random loss of 1e-3", loss: "1e-3", ..BDP },
    Setting {
        key: "pairs",
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
    Setting {
        key: "others",
        title: "Other controllers, and the kernel's own CUBIC and BBR; 100 Mb/s, 40 ms, one BDP",
        flows: &[&["cubic"], &["kernel:cubic"], &["kernel:bbr"], &["fusion"], &["illinois"], &["yeah"], &["westwood"]],
        repetitions: 5,
        queue_bound: Bound::RelativeOr(0.15, 5.0),
        ..BDP
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sim,
    Kernel,
}

impl Setting {
    /// All that decides about a run but flows and seed.
    pub fn text(&self) -> String {
        let Self { rate, rtt, queue, loss, duration_s, warmup_s, .. } = self;
        format!("{rate} {rtt} {queue} loss {loss}, {duration_s} s of which {warmup_s} s warm-up")
    }

    pub fn duration_s(&self) -> u32 {
        self.duration_s
    }

    /// As `tandem run` would have it. The simulator takes our controller of the same name for one of the kernel's.
    pub fn scenario(&self, flows: &[&str], engine: Engine) -> Scenario {
        let Self { rate, rtt, queue, loss, duration_s, warmup_s, .. } = self;
        let mut text = format!(
            "duration = \"{duration_s}s\"\nwarmup = \"{warmup_s}s\"\nsample_interval = \"100ms\"\n\
             [dumbbell]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\nqueue = \"{queue}\"\nloss = {loss}\n"
        );
        for controller in flows {
            let controller = match engine {
                Engine::Sim => controller.trim_start_matches(KERNEL_PREFIX),
                Engine::Kernel => controller,
            };
            text += &format!("[[flows]]\ncontroller = \"{controller}\"\nstart_spread = \"100ms\"\n");
        }
        parse(&text, self.key, self.key, &Overrides::default()).expect("the settings are valid")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_a_scenario_for_both_engines() {
        for setting in &SETTINGS {
            for flows in setting.flows {
                let scenario = setting.scenario(flows, Engine::Sim);
                assert_eq!(scenario.flow_count(), flows.len());
                assert!(scenario.needs_kernel().is_none());
                let asks_for_the_kernels = flows.iter().any(|f| f.starts_with(KERNEL_PREFIX));
                assert_eq!(setting.scenario(flows, Engine::Kernel).needs_kernel().is_some(), asks_for_the_kernels);
            }
        }
    }
}
