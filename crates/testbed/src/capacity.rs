// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether real TCP and this machine can run a scenario, before it begins.

use std::thread;

use tandem_engine::Warning;
use tandem_scenario::{
    CongestionControl, Ecn, Group, Honesty, LinkConfig, Recovery, Scenario, Traffic, USUAL_ACK_EVERY,
};

use crate::{
    addresses::{MAX_FLOWS_PER_GROUP, MAX_GROUPS},
    descriptors,
    error::Error,
};

/// Packets read and written a second for each core, with two threads at work. Measured on two cores of 2.4 GHz: 1 Gb/s of
/// 1500 bytes with an ACK for each second packet makes 250 000 and is carried.
const MOVES_PER_SECOND_AND_CORE: f64 = 130_000.0;

/// What is doubtful about a scenario here; an error if it cannot run at all, or hardly can and is not forced to.
pub fn check(scenario: &Scenario, force: bool) -> Result<Vec<Warning>, Error> {
    check_with(scenario, force, descriptors::hard_limit())
}

/// `max_descriptors`: how many file descriptors this process can have; `None` if there is no limit.
fn check_with(scenario: &Scenario, force: bool, max_descriptors: Option<u64>) -> Result<Vec<Warning>, Error> {
    check_possible(scenario)?;
    check_descriptors(scenario, max_descriptors)?;
    check_pace(scenario, force)
}

fn refuse<T>(why: String) -> Result<T, Error> {
    Err(Error::Unsupported(why))
}

/// Can real TCP, with our addresses and controllers, do what the scenario asks for?
fn check_possible(scenario: &Scenario) -> Result<(), Error> {
    if scenario.network.cell.is_some() {
        return refuse("the kernel engine emulates links, not a wireless cell: use --engine sim".into());
    }
    if scenario.groups.len() > MAX_GROUPS {
        return refuse(format!("the kernel engine has addresses for {MAX_GROUPS} groups of flows: use fewer"));
    }
    if let Some(group) = scenario.groups.iter().find(|g| g.flows > MAX_FLOWS_PER_GROUP) {
        return refuse(format!(
            "the kernel engine has addresses for {MAX_FLOWS_PER_GROUP} flows of a group; `{}` has {}",
            group.name, group.flows
        ));
    }
    for group in &scenario.groups {
        if matches!(&group.source, Traffic::Udp(udp) if udp.least_rate.is_some()) {
            return refuse(format!(
                "real UDP is sent at a constant rate here, and `{}` asks for media that adapts: leave `min_rate` out, or use --engine sim",
                group.name
            ));
        }
        let Some(tcp) = group.source.tcp() else { continue };
        if let CongestionControl::Tandem(params) = &tcp.controller {
            tandem_kernel::check_loadable(params.controller()).map_err(|e| Error::Unsupported(e.to_string()))?;
        }
        if tcp.ecn == Ecn::Accurate {
            return refuse(format!(
                "real TCP has ECN with one bit of feedback here (RFC 3168), and `{}` needs the number of marks: use --engine sim",
                group.name
            ));
        }
        if tcp.ecn == Ecn::Rfc8511 {
            return refuse(format!(
                "Linux's TCP does not have RFC 8511, and `{}` asks for it: write `ecn = \"rfc3168\"`, or use --engine sim",
                group.name
            ));
        }
        if tcp.ack_every != USUAL_ACK_EVERY || tcp.receiver != Honesty::Honest {
            return refuse(format!(
                "Linux's receiver acknowledges two segments at once and says what has come, and `{}` asks for `ack_every` or another \
                 `receiver`: leave them out, or use --engine sim",
                group.name
            ));
        }
        if tcp.handshake {
            return refuse(format!(
                "real connections are made before their transfers begin, and `{}` asks for `handshake`: leave it out, or use --engine sim",
                group.name
            ));
        }
        if tcp.recovery != Recovery::Prr {
            return refuse(format!(
                "real TCP has the recovery of this kernel, and `{}` asks for `recovery = \"rate-halving\"`: leave it out, or use \
                 --engine sim",
                group.name
            ));
        }
    }
    Ok(())
}

/// Too few would end the run in the middle of its set-up.
fn check_descriptors(scenario: &Scenario, limit: Option<u64>) -> Result<(), Error> {
    let wanted = descriptors::wanted(scenario);
    match limit {
        Some(limit) if limit < wanted => refuse(format!(
            "this scenario needs up to {wanted} open files, two for each flow and some; this process may have {limit}: raise that limit \
             (`ulimit -n {wanted}` as root; in a systemd service LimitNOFILE={wanted}), or use fewer flows"
        )),
        _ => Ok(()),
    }
}

/// Is this machine likely to keep up?
fn check_pace(scenario: &Scenario, force: bool) -> Result<Vec<Warning>, Error> {
    let needed = moves_per_second(scenario);
    let cores = thread::available_parallelism().map_or(1, |n| n.get()).min(2);
    let carried = MOVES_PER_SECOND_AND_CORE * cores as f64;
    if needed <= carried {
        return Ok(Vec::new());
    }
    let why = format!(
        "this scenario needs up to {needed:.0} packets read and written a second; this machine is likely to keep time up to {carried:.0}"
    );
    if force { Ok(vec![Warning(why)]) } else { refuse(format!("{why}: lower the rates, or use --force")) }
}

/// Each packet is read once and written once, and so is its ACK.
fn moves_per_second(scenario: &Scenario) -> f64 {
    let data = entering(scenario, |g| g.forward.first()).min(entering(scenario, |g| g.forward.last()));
    let acks = scenario.groups.iter().map(acks_per_packet).fold(0.0, f64::max);
    2.0 * data * (1.0 + acks)
}

fn acks_per_packet(group: &Group) -> f64 {
    group.source.tcp().map_or(0.0, |tcp| if tcp.delayed_acks { 0.5 } else { 1.0 })
}

/// Data packets a second that the links which `choose` takes of each group carry at most.
fn entering(scenario: &Scenario, choose: fn(&Group) -> Option<&usize>) -> f64 {
    let carried_by = |(l, link): (usize, &LinkConfig)| {
        let users = scenario.groups.iter().filter(|g| choose(g) == Some(&l));
        let offered_bps = |g: &Group| {
            // Smaller packets are as many as full ones at a higher rate.
            let smaller = f64::from(scenario.mtu) / f64::from(g.source.packet_bytes(scenario.mtu));
            g.source.constant_rate().map_or(f64::INFINITY, |rate| rate.bps as f64 * f64::from(g.flows) * smaller)
        };
        users.map(offered_bps).sum::<f64>().min(link.fastest_bps() as f64)
    };
    let bps: f64 = scenario.network.links.iter().enumerate().map(carried_by).sum();
    bps / 8.0 / f64::from(scenario.mtu)
}

#[cfg(test)]
mod tests {
    use tandem_scenario::file::{Overrides, parse};

    use super::*;

    fn scenario(text: &str) -> Scenario {
        parse(&format!("duration = \"10s\"\n{text}"), "s.toml", "s", &Overrides::default()).unwrap()
    }

    fn dumbbell(rate: &str, flows: &str) -> Scenario {
        scenario(&format!("[dumbbell]\nrate = \"{rate}\"\nrtt = \"40ms\"\nqueue = \"1bdp\"\n{flows}"))
    }

    const RENO: &str = "[[flows]]\ncontroller = \"reno\"\n";

    fn moves(scenario: &Scenario) -> u64 {
        moves_per_second(scenario).round() as u64
    }

    /// 120 Mb/s are 10 000 packets of 1500 bytes a second, each read and written; an ACK for every second, likewise.
    #[test]
    fn each_packet_and_each_ack_is_moved_twice() {
        assert_eq!(moves(&dumbbell("120mbit", RENO)), 30_000);
        assert_eq!(moves(&dumbbell("120mbit", &format!("{RENO}delayed_acks = false"))), 40_000);
        // More flows share the same link.
        assert_eq!(moves(&dumbbell("120mbit", &format!("{RENO}count = 100"))), 30_000);
    }

    /// UDP sends at its own rate, and nothing answers.
    #[test]
    fn udp_needs_what_it_sends() {
        let udp = "[[flows]]\nudp = { rate = \"12mbit\" }\ncount = 3\n";
        assert_eq!(moves(&dumbbell("120mbit", udp)), 6_000);
        assert_eq!(moves(&dumbbell("24mbit", udp)), 4_000);
    }

    /// A packet that crosses three links is still read once and written once: the short flow of the last link comes in there.
    #[test]
    fn hops_in_a_row_cost_nothing() {
        let long = "[parking_lot]\nhops = 3\nrate = \"120mbit\"\nhop_delay = \"10ms\"\nqueue = \"1bdp\"\n\
                    [[flows]]\ncontroller = \"reno\"\nfrom = \"r1\"\nto = \"r4\"\n";
        assert_eq!(moves(&scenario(long)), 30_000);
        let short = "[[flows]]\ncontroller = \"reno\"\nfrom = \"r3\"\nto = \"r4\"\n";
        assert_eq!(moves(&scenario(&format!("{long}{short}"))), 30_000);
    }

    #[test]
    fn more_than_the_machine_carries_is_refused_unless_forced() {
        let much = dumbbell("100gbit", RENO);
        let refused = check(&much, false).unwrap_err().to_string();
        assert!(refused.contains("25000000 packets") && refused.contains("--force"), "{refused}");
        let warnings = check(&much, true).unwrap();
        assert!(warnings.len() == 1 && warnings[0].to_string().starts_with("warning: "), "{warnings:?}");
        assert!(check(&dumbbell("10mbit", RENO), false).unwrap().is_empty());
    }

    #[test]
    fn flows_without_an_address_are_refused_though_forced() {
        let many = dumbbell("10mbit", &RENO.repeat(129));
        let refused = check(&many, true).unwrap_err().to_string();
        assert!(refused.contains("128 groups"), "{refused}");
        let many = dumbbell("10mbit", &format!("{RENO}count = 65535"));
        let refused = check(&many, true).unwrap_err().to_string();
        assert!(refused.contains("65534 flows") && refused.contains("`reno` has 65535"), "{refused}");
        assert!(check_with(&dumbbell("10mbit", &format!("{RENO}count = 65534")), true, None).is_ok());
    }

    #[test]
    fn another_recovery_than_the_kernels_is_refused_though_forced() {
        let other = dumbbell("10mbit", &format!("{RENO}recovery = \"rate-halving\""));
        let refused = check(&other, true).unwrap_err().to_string();
        assert!(refused.contains("`reno` asks for `recovery = \"rate-halving\"`"), "{refused}");
        assert!(refused.contains("--engine sim"), "{refused}");
    }

    #[test]
    fn a_handshake_is_refused_though_forced() {
        let other = dumbbell("10mbit", &format!("{RENO}handshake = true"));
        let refused = check(&other, true).unwrap_err().to_string();
        assert!(refused.contains("`reno` asks for `handshake`"), "{refused}");
    }

    #[test]
    fn media_that_adapts_is_refused_though_forced() {
        let media = "[[flows]]\nname = \"call\"\nudp = { rate = \"1mbit\", min_rate = \"150kbit\" }\n";
        let refused = check(&dumbbell("10mbit", &format!("{RENO}{media}")), true).unwrap_err().to_string();
        assert!(refused.contains("`call` asks for media") && refused.contains("--engine sim"), "{refused}");
    }

    #[test]
    fn rfc_8511_is_refused_though_forced() {
        let other = dumbbell("10mbit", &format!("{RENO}ecn = \"rfc8511\""));
        let refused = check(&other, true).unwrap_err().to_string();
        assert!(refused.contains("does not have RFC 8511") && refused.contains("`reno`"), "{refused}");
        assert!(check(&dumbbell("10mbit", &format!("{RENO}ecn = \"rfc3168\"")), false).is_ok());
    }

    #[test]
    fn accurate_ecn_is_refused_though_forced() {
        for flows in [format!("{RENO}ecn = \"accurate\""), "[[flows]]\ncontroller = \"dctcp\"\n".into()] {
            let refused = check(&dumbbell("10mbit", &flows), true).unwrap_err().to_string();
            assert!(refused.contains("needs the number of marks") && refused.contains("--engine sim"), "{refused}");
        }
    }

    /// 600 flows have 1200 sockets. What a run has open besides is not much, but some.
    #[test]
    fn flows_without_a_descriptor_are_refused_though_forced() {
        let many = dumbbell("10mbit", &format!("{RENO}count = 600"));
        let refused = check_with(&many, true, Some(1200)).unwrap_err().to_string();
        let wanted = descriptors::wanted(&many);
        let words =
            [format!("up to {wanted} open files"), format!("`ulimit -n {wanted}`"), format!("LimitNOFILE={wanted}")];
        assert!(words.iter().all(|w| refused.contains(w)) && refused.contains("may have 1200:"), "{refused}");
        assert!((1201..1500).contains(&wanted), "{wanted}");
        assert!(check_with(&many, false, Some(wanted)).unwrap().is_empty());
    }
}
