// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long flows go from loss to loss: what a run should be longer than.

use tandem_controllers::{Params, ResponseFunction};
use tandem_scenario::{Aqm, Group, Loss, Scenario, Transfer};

use crate::{
    followed::followed,
    law::{Arithmetic, Law},
    path::Path,
    totals::{phase1, phase4},
};

/// A group of flows whose cycle is known.
#[derive(Debug, Clone, PartialEq)]
pub struct LossCycle {
    /// The group's name.
    pub group: String,
    /// From a flow's loss to its next, seconds.
    pub seconds: f64,
}

/// The cycles of the groups of `reno`, `compound` and `cubic` with endless data, on drop-tail links that do not change. Flows are taken to
/// share the slowest link of their route, its buffer too, evenly, and to lose at the same time; random loss comes in its mean distance.
pub fn loss_cycles(scenario: &Scenario) -> Vec<LossCycle> {
    let cycle = |group: &Group| Some(LossCycle { group: group.name.clone(), seconds: of_group(scenario, group)? });
    scenario.groups.iter().filter_map(cycle).collect()
}

impl LossCycle {
    /// Its length, as exact as it is known: whole seconds, or two digits of fewer than ten.
    pub fn length(&self) -> String {
        in_words(self.seconds)
    }
}

fn in_words(seconds: f64) -> String {
    let decimals = (1.0 - seconds.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{seconds:.decimals$} s")
}

/// Says of each cycle that is longer than what the scenario measures, by as much as can be told, that it is; a sentence without a full stop.
pub fn cautions(scenario: &Scenario) -> Vec<String> {
    let measured_s = scenario.measured().as_secs_f64();
    let is_longer = |cycle: &LossCycle| cycle.seconds > measured_s && cycle.length() != in_words(measured_s);
    let mut longer: Vec<LossCycle> = loss_cycles(scenario).into_iter().filter(is_longer).collect();
    longer.dedup_by(|a, b| a.group == b.group);
    let say = |cycle: &LossCycle| {
        format!(
            "{} takes some {} from loss to loss, but only {measured_s} s were measured: its figures describe a part of its cycle",
            cycle.group,
            cycle.length()
        )
    };
    longer.iter().map(say).collect()
}

fn of_group(scenario: &Scenario, group: &Group) -> Option<f64> {
    let (tcp, params) = (group.source.tcp()?, group.source.params()?);
    let &index = group.forward.iter().min_by_key(|&&i| scenario.network.links[i].rate.bps)?;
    let link = &scenario.network.links[index];
    let is_steady = link.aqm == Aqm::DropTail && link.effects.is_none() && scenario.network.cell.is_none();
    if tcp.transfer != Transfer::Bulk || !is_steady {
        return None;
    }
    let sharing: u32 = scenario.groups.iter().filter(|g| g.forward.contains(&index)).map(|g| g.flows).sum();
    let share = 1.0 / f64::from(sharing);
    let mut rate = link.rate;
    rate.bps = ((rate.bps as f64 * share) as u64).max(1);
    let path = Path {
        rate,
        rtt: scenario.mean_base_rtt(group),
        buffer_packets: link.limit.packets(scenario.mtu) * share,
        packet_bytes: scenario.mtu,
        access_rate: None,
    };
    let by_chance = match link.loss {
        Loss::None => f64::INFINITY,
        Loss::Bernoulli(loss) => 1.0 / (loss.0 * path.packets_per_s()),
        Loss::GilbertElliott { .. } => return None,
    };
    Some(cycle_s(&path, params)?.min(by_chance))
}

/// From loss to loss of one flow that has the path for itself, seconds; `None` for a controller whose cycle is not known.
pub fn cycle_s(path: &Path, params: &Params) -> Option<f64> {
    if path.rtt.ns == 0 {
        return None;
    }
    let largest = path.pipe_packets() + path.buffer_packets;
    match params.controller().response_function()? {
        ResponseFunction::Reno => Some(linear_s(path, 1.0, (1.0 - params.get("beta")?) * largest, largest)),
        ResponseFunction::Cubic => {
            let lost = params.get("decrease")?;
            // RFC 9438: K of section 4.2; W_est, section 4.3, may be there before.
            let curve_s = (lost * largest / params.get("c")?).cbrt();
            let alpha = 3.0 * lost / (2.0 - lost);
            let reno_friendly = params.get("reno_friendly")? > 0.0;
            let friendly_s =
                if reno_friendly { linear_s(path, alpha, (1.0 - lost) * largest, largest) } else { f64::INFINITY };
            Some(curve_s.min(friendly_s))
        }
        ResponseFunction::Compound => Some(followed(path, &Law::of(params)?, Arithmetic::Tandem).ok()?.epoch_s),
    }
}

/// Growth by `alpha` packets a round from a window to a larger one: without a queue up to the BDP, with one after.
fn linear_s(path: &Path, alpha: f64, from: f64, to: f64) -> f64 {
    let bdp = path.bdp_packets();
    let empty = phase1(&Law { alpha: 1.0, k: 0.0, ..Law::default() }, bdp, from.min(bdp), to.min(bdp));
    let queued = phase4(bdp, from.max(bdp), to.max(bdp));
    (empty.time + queued.time) / alpha / path.packets_per_s()
}

#[cfg(test)]
mod tests {
    use tandem_controllers::find;
    use tandem_scenario::{
        file::{Overrides, parse},
        units::Span,
    };

    use super::*;

    /// 96 Mb/s are 8000 packets a second, in 100 ms 800; with the packet in transmission and 199 that wait the window is 1000.
    fn path() -> Path {
        let rate = "96mbit".parse().unwrap();
        Path { rate, rtt: Span::from_ms(100), buffer_packets: 199.0, packet_bytes: 1500, access_rate: None }
    }

    fn cycle_of(controller: &str) -> Option<f64> {
        cycle_s(&path(), &Params::new(find(controller).unwrap()))
    }

    #[test]
    fn cycles_worked_out_by_hand() {
        // From 500: 300 rounds of 0.1 s to 800 packets, then (1000^2 - 800^2) / 2 packets at 8000 a second.
        let reno = cycle_of("reno").unwrap();
        assert!((reno - 52.5).abs() < 1e-6, "{reno}");
        // docs/controllers/cubic.md: cbrt(300 / 0.4) = 9.09 s.
        let cubic = cycle_of("cubic").unwrap();
        assert!((cubic - 9.086).abs() < 1e-3, "{cubic}");
        assert_eq!(cycle_of("bbr"), None);
    }

    fn scenario(queue_and_loss: &str, flows: &str) -> Scenario {
        let text = format!(
            "duration = \"30s\"\nwarmup = \"10s\"\n[dumbbell]\nrate = \"192mbit\"\nrtt = \"100ms\"\n{queue_and_loss}\n{flows}"
        );
        parse(&text, "x", "x", &Overrides::default()).unwrap()
    }

    #[test]
    fn flows_share_the_link_and_chance_may_be_first() {
        let two = "[[flows]]\ncontroller = \"reno\"\ncount = 2\n";
        let [cycle] = &loss_cycles(&scenario("queue = \"398p\"", two))[..] else { panic!() };
        assert!((cycle.seconds - 52.5).abs() < 1e-6, "{cycle:?}");
        // One packet in 80000, at 8000 packets a second for each of the two: each 10 s.
        let [cycle] = &loss_cycles(&scenario("queue = \"398p\"\nloss = 1.25e-5", two))[..] else { panic!() };
        assert!((cycle.seconds - 10.0).abs() < 1e-9, "{cycle:?}");
        let transfer = format!("{two}transfer = \"1MB\"\n");
        assert!(loss_cycles(&scenario("queue = \"398p\"", &transfer)).is_empty());
    }

    #[test]
    fn a_cycle_longer_than_what_is_measured_is_told() {
        let both = "[[flows]]\ncontroller = \"reno\"\n[[flows]]\ncontroller = \"cubic\"\n";
        let [caution] = &cautions(&scenario("queue = \"398p\"", both))[..] else { panic!() };
        assert!(
            caution.starts_with("reno takes some 52 s from loss to loss, but only 20 s were measured"),
            "{caution}"
        );
    }

    /// 12 packets of 12000 bit in flight at 1 Mb/s: from 8.4 packets on, with the alpha of RFC 9438, 9/17 of a packet a round.
    #[test]
    fn short_cycles_have_figures() {
        let text = "duration = \"0.5s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"20ms\"\nqueue = \"9p\"\n[[flows]]\ncontroller = \"cubic\"\n";
        let scenario = parse(text, "x", "x", &Overrides::default()).unwrap();
        let [cycle] = &loss_cycles(&scenario)[..] else { panic!() };
        let [caution] = &cautions(&scenario)[..] else { panic!("{cycle:?}") };
        assert!(caution.starts_with(&format!("cubic takes some {:.2} s", cycle.seconds)), "{caution}");
        assert!((0.5..1.0).contains(&cycle.seconds), "{cycle:?}");
        assert_eq!(["79 s", "9.3 s", "0.023 s", "0.50 s"], [79.4, 9.26, 0.0234, 0.5].map(in_words));
    }

    #[test]
    fn a_cycle_as_long_as_what_is_measured_is_no_longer_one() {
        // 52.5 s, as worked out above.
        let text = |duration| {
            format!(
                "duration = \"{duration}\"\n[dumbbell]\nrate = \"96mbit\"\nrtt = \"100ms\"\nqueue = \"199p\"\n[[flows]]\ncontroller = \"reno\"\n"
            )
        };
        let of = |duration| cautions(&parse(&text(duration), "x", "x", &Overrides::default()).unwrap()).len();
        assert_eq!([of("40s"), of("52.4s"), of("60s")], [1, 0, 0]);
    }
}
