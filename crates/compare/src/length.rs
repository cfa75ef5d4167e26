// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long to run where the user does not say: past slow start, and for some cycles from loss to loss.

use tandem_model::loss_cycle::{LossCycle, loss_cycles};
use tandem_scenario::{Scenario, last_slow_start_end_s, units::Span};

/// On short paths, where more would tell no more.
pub const USUAL: Length = Length { duration: Span::from_secs(60), warmup: Span::from_secs(10) };
/// What is measured, in cycles: three losses of each flow, wherever the measure begins.
const MEASURED_CYCLES: f64 = 4.0;
/// What no run is longer than unless the user asks for it, seconds.
const MOST_S: f64 = 600.0;
/// Of [`Bounds::least_s`] and of slow start: at least this much has to be seen.
const SLOW_STARTS: f64 = 4.0;

/// What keeps a command quick.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Packets that the fastest link carries in a run.
    pub most_packets: f64,
    /// Runs are as long as this at least, seconds, whatever they carry.
    pub least_s: f64,
    /// This many round trips of the longest path show as much as [`USUAL`], and a twelfth of them as much as `least_s`.
    pub rounds: f64,
    /// Runs that carry fewer packets than this are longer than [`USUAL`]: they cost next to nothing, and on a slow link a minute is mostly start-up.
    pub cheap_packets: f64,
}

/// The part of [`Bounds::rounds`] that is the least: 5 s of 60.
const LEAST_PART: f64 = 12.0;

/// The bounds of `tandem compare` and `tandem advise`: a run takes some seconds at most. Ours.
pub const BOUNDS: Bounds = Bounds { most_packets: 30e6, least_s: 5.0, rounds: 20e3, cheap_packets: 1e6 };

/// How long a run lasts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Length {
    /// All of it.
    pub duration: Span,
    /// The part at the start that no measure counts.
    pub warmup: Span,
}

/// What decides it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// When slow start is over at the latest, seconds.
    pub slow_start_s: f64,
    /// The longest that is known, with whose it is.
    pub cycle: Option<LossCycle>,
    /// The longest run that is allowed, seconds.
    pub most_s: f64,
    /// Sufficient duration if nothing needs more, seconds: [`USUAL`]'s, less on short paths, more on slow ones.
    pub usual_s: f64,
    /// The longest period of a rate trace, seconds; 0 without one. Whole ones are measured as far as there is time: a part of one is no mean of it.
    pub trace_s: f64,
}

impl Reason {
    /// From scenarios that are to be compared, whatever their own lengths are. Runs in real time stay short.
    pub fn of(scenarios: &[Scenario], bounds: Bounds, is_real_time: bool) -> Self {
        let cycles = scenarios.iter().flat_map(loss_cycles);
        let longest = cycles.max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let fastest = scenarios.iter().flat_map(|s| s.network.links.iter().map(|l| l.rate.packets_per_s(s.mtu)));
        let slow_start_s = scenarios.iter().map(last_slow_start_end_s).fold(0.0, f64::max);
        let rtts = scenarios.iter().flat_map(|s| s.groups.iter().map(|group| s.mean_base_rtt(group).as_secs_f64()));
        let rounds_s = bounds.rounds * rtts.fold(0.0, f64::max);
        let least_s = bounds.least_s.min(rounds_s / LEAST_PART).max(SLOW_STARTS * slow_start_s).min(MOST_S);
        let fastest = fastest.fold(1.0, f64::max);
        let most_s = (bounds.most_packets / fastest).clamp(least_s, MOST_S);
        let usual_s = USUAL.duration.as_secs_f64();
        let effects = scenarios.iter().flat_map(|s| s.network.links.iter().filter_map(|link| link.effects.as_ref()));
        let periods_s = effects.filter_map(|effects| Some(effects.rate_trace.as_ref()?.period().as_secs_f64()));
        let cheap_s = if is_real_time { 0.0 } else { (bounds.cheap_packets / fastest).min(MOST_S) };
        Self {
            slow_start_s,
            cycle: longest,
            most_s: if is_real_time { usual_s } else { most_s },
            usual_s: usual_s.min(rounds_s).max(cheap_s),
            trace_s: periods_s.fold(0.0, f64::max),
        }
    }

    /// The length; a duration or a warm-up that is given wins.
    pub fn length(&self, duration: Option<Span>, warmup: Option<Span>) -> Length {
        let cycle_s = self.cycle.as_ref().map_or(0.0, |cycle| cycle.seconds);
        let usual_warmup_s = self.usual_s * (USUAL.warmup.as_secs_f64() / USUAL.duration.as_secs_f64());
        let warmup_s = whole(self.slow_start_s + cycle_s).max(usual_warmup_s);
        let measured_s = whole(MEASURED_CYCLES * cycle_s).max(self.usual_s - usual_warmup_s);
        let measured_s = multiple(measured_s, self.trace_s, f64::ceil);
        let most_s = duration.map_or(self.most_s, Span::as_secs_f64);
        // Where there is no time for a cycle, slow start at least is cut off.
        let affordable_s =
            (most_s / 4.0).max(usual_warmup_s.min(most_s / 3.0)).max(whole(self.slow_start_s).min(most_s / 2.0));
        let warmup = warmup.unwrap_or(seconds(warmup_s.min(affordable_s)));
        let wanted_s = warmup.as_secs_f64() + measured_s;
        let is_within_bound = duration.is_none() && warmup.as_secs_f64() < self.most_s;
        let chosen_s = if is_within_bound && wanted_s > self.most_s {
            warmup.as_secs_f64() + multiple(self.most_s - warmup.as_secs_f64(), self.trace_s, f64::floor)
        } else {
            wanted_s
        };
        Length { duration: duration.unwrap_or(seconds(chosen_s)), warmup }
    }

    /// One line for the user, who did not choose.
    pub fn words(&self, length: Length) -> String {
        let mut words = format!(
            "Each run lasts {}, without the first {}: slow start takes up to {:.1} s",
            length.duration, length.warmup, self.slow_start_s
        );
        if let Some(cycle) = &self.cycle {
            words += &format!(", and {} takes some {} from loss to loss", cycle.group, cycle.length());
        }
        words + "."
    }
}

/// A multiple of `unit`, if there is one and one of them fits.
fn multiple(s: f64, unit: f64, rounded: fn(f64) -> f64) -> f64 {
    if unit > 0.0 && rounded(s / unit) >= 1.0 { unit * rounded(s / unit) } else { s }
}

/// Rounded up to whole seconds, where it takes some.
fn whole(s: f64) -> f64 {
    if s > 1.0 { s.ceil() } else { s }
}

/// To the millisecond, so that a fraction of a given duration is readable.
fn seconds(s: f64) -> Span {
    Span::from_ms((s * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(slow_start_s: f64, cycle_s: Option<f64>, given: (Option<u64>, Option<u64>)) -> (f64, f64) {
        let cycle = cycle_s.map(|seconds| LossCycle { group: "reno".into(), seconds });
        let (duration, warmup) = (given.0.map(Span::from_secs), given.1.map(Span::from_secs));
        let length =
            Reason { slow_start_s, cycle, most_s: 600.0, usual_s: 60.0, trace_s: 0.0 }.length(duration, warmup);
        (length.duration.as_secs_f64(), length.warmup.as_secs_f64())
    }

    fn scenario(rate: &str, rtt: &str) -> Scenario {
        let text = format!(
            "duration = \"9s\"\n[dumbbell]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\nqueue = \"1bdp\"\n[[flows]]\ncontroller = \"reno\"\n"
        );
        tandem_scenario::file::parse(&text, "x", "x", &Default::default()).unwrap()
    }

    #[test]
    fn short_cycles_have_the_usual_length_and_long_ones_as_much_as_is_affordable() {
        assert_eq!(length(1.5, None, (None, None)), (60.0, 10.0));
        assert_eq!(length(1.5, Some(8.0), (None, None)), (60.0, 10.0));
        // 2 + 40 s, then four times 40 s.
        assert_eq!(length(1.5, Some(40.0), (None, None)), (202.0, 42.0));
        // 160 + 632 s are too much.
        assert_eq!(length(1.5, Some(158.0), (None, None)), (600.0, 150.0));
    }

    /// 12 Gb/s are a million packets of 1500 bytes a second.
    #[test]
    fn fast_links_have_shorter_runs_but_slow_start_is_seen() {
        let most_s = |rate: &str, rtt: &str, bounds| Reason::of(&[scenario(rate, rtt)], bounds, false).most_s;
        let bounds = Bounds { most_packets: 8e6, ..BOUNDS };
        assert_eq!(most_s("12gbit", "10ms", BOUNDS), 30.0);
        assert_eq!(most_s("120mbit", "10ms", BOUNDS), 600.0);
        assert_eq!(most_s("12gbit", "1ms", bounds), 8.0);
        // 2 s would carry 8 million packets; 20,000 rounds of 1 ms are 20 s, a twelfth of that less than 5.
        assert!((most_s("48gbit", "1ms", bounds) - 2.0).abs() < 1e-9);
        // 0.2 s would, and 20,000 rounds of 0.1 ms are 2 s, a twelfth of that 1/6 s.
        assert!((most_s("480gbit", "100us", bounds) - 0.2).abs() < 0.01);
        // From 10 to 2 million packets by halves, 30.1 rounds of a second, four times.
        assert!((most_s("12gbit", "1s", bounds) - 120.4).abs() < 0.1, "{}", most_s("12gbit", "1s", bounds));
    }

    /// 12 Mb/s are a thousand packets a second: a million of them take longer than ten minutes, those of 60 Mb/s 200 s, of 240 Mb/s 50.
    #[test]
    fn slow_links_have_longer_runs() {
        let usual_s = |rate: &str, is_real_time| Reason::of(&[scenario(rate, "10ms")], BOUNDS, is_real_time).usual_s;
        assert_eq!(["12mbit", "60mbit", "240mbit"].map(|rate| usual_s(rate, false)), [600.0, 200.0, 60.0]);
        assert_eq!(usual_s("12mbit", true), 60.0);
    }

    /// 50 s would be measured, and of a trace of 60 s one period, of 20 s three. Four cycles of 158 s and 150 s before them are longer than ten
    /// minutes, in which 22 periods of 20 s fit, and no period of 500 s.
    #[test]
    fn whole_periods_of_a_trace_are_measured() {
        let duration_s = |cycle_s: f64, trace_s| {
            let cycle = Some(LossCycle { group: "reno".into(), seconds: cycle_s });
            let reason = Reason { slow_start_s: 1.5, cycle, most_s: 600.0, usual_s: 60.0, trace_s };
            reason.length(None, None).duration.as_secs_f64()
        };
        assert_eq!([60.0, 20.0].map(|trace_s| duration_s(8.0, trace_s)), [70.0, 70.0]);
        assert_eq!([20.0, 500.0].map(|trace_s| duration_s(158.0, trace_s)), [590.0, 600.0]);
        let folder = tempfile::tempdir().unwrap();
        let traced = ["2\n", "1500\n"].map(|line| {
            let file = folder.path().join(format!("{}.trace", line.len()));
            std::fs::write(&file, line).unwrap();
            let text = format!("duration = \"9s\"\n[dumbbell]\nrate = \"9mbit\"\nrtt = \"9ms\"\nqueue = \"9p\"\n[effects.bottleneck]\nrate_trace = {file:?}\n[[flows]]\ncontroller = \"reno\"\n");
            tandem_scenario::file::parse(&text, "x", "x", &Default::default()).unwrap()
        });
        assert_eq!(Reason::of(&traced, BOUNDS, false).trace_s, 1.5);
    }

    #[test]
    fn what_is_given_wins() {
        assert_eq!(length(1.5, Some(40.0), (Some(100), Some(7))), (100.0, 7.0));
        assert_eq!(length(1.5, Some(40.0), (Some(100), None)), (100.0, 25.0));
        assert_eq!(length(1.5, None, (Some(3), None)), (3.0, 1.5));
        assert_eq!(length(1.5, Some(40.0), (Some(30), None)), (30.0, 10.0));
        assert_eq!(length(1.5, Some(40.0), (None, Some(7))), (167.0, 7.0));
        assert_eq!(length(1.5, Some(40.0), (None, Some(900))), (1060.0, 900.0));
    }
}
