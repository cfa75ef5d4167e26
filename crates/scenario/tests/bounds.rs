// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the controllers' arithmetic is not proven for is refused, with the bound: controllers/README.md has them all.

use tandem_controllers::{CONTROLLERS, Signal};
use tandem_scenario::{
    Scenario,
    file::{FileError, Overrides, parse},
};

fn read(text: &str) -> Result<Scenario, FileError> {
    parse(text, "x.toml", "x", &Overrides::default())
}

/// A dumbbell of this RTT with one flow.
fn dumbbell(rtt: &str, extra: &str, flow: &str) -> Result<Scenario, FileError> {
    read(&format!(
        "duration = \"400s\"\nsend_jitter = \"0s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"{rtt}\"\nqueue = \"1bdp\"\n{extra}\n[[flows]]\n{flow}\n"
    ))
}

#[track_caller]
fn refused(scenario: Result<Scenario, FileError>, place: &str) {
    let message = scenario.expect_err("its RTT is too long").to_string();
    assert!(message.starts_with(place), "{message}");
    assert!(message.contains("16.777216s (2^24 us)"), "{message}");
}

/// A packet of 12000 bit takes 1.2 ms at 10 Mb/s, an ACK of 416 bit 41.6 us: 16.775974 s of propagation are the most.
#[test]
fn a_path_up_to_the_bound_is_taken_and_a_longer_one_is_not() {
    for controller in &CONTROLLERS {
        let flow = format!("controller = \"{}\"", controller.name);
        dumbbell("16.775974s", "", &flow).unwrap();
        refused(dumbbell("16.775976s", "", &flow), "x.toml:5:7: the RTT of `");
    }
    refused(dumbbell("10min", "", "controller = \"reno\""), "x.toml:5:7: ");
    // A satellite, and twice the moon.
    dumbbell("600ms", "", "controller = \"compound\"").unwrap();
    dumbbell("5.2s", "", "controller = \"compound\"").unwrap();
    // What no controller steers may be as far away as it likes.
    dumbbell("60s", "", "udp = { rate = \"1mbit\" }").unwrap();
    // A queue of three minutes is a queue.
    let queue = "duration = \"400s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"1s\"\nqueue = \"200s\"\n[[flows]]\ncontroller = \"compound\"";
    read(queue).unwrap();
}

#[test]
fn all_that_lengthens_the_path_counts() {
    let reno = "controller = \"reno\"";
    let of_flow = |key: &str| dumbbell("16s", "", &format!("{reno}\n{key}"));
    of_flow("access = \"700ms\"").unwrap();
    refused(dumbbell("1s", "", &format!("{reno}\naccess = \"16s\"")), "x.toml:10:10: ");
    refused(of_flow("rtt = \"17s\""), "x.toml:10:7: ");
    refused(dumbbell("1s", "", &format!("{reno}\nrtt_spread = \"60s\"")), "x.toml:10:14: ");
    refused(of_flow("access = \"400ms\"\nrtt_spread = \"400ms\""), "x.toml:5:7: ");
    for effect in [
        "changes = [{ at = \"100s\", delay = \"17s\" }]",
        "jitter = { time = \"10s\" }",
        "jitter = { time = \"3s\", distribution = \"normal\" }",
        "reorder = { share = 0.1, distance = \"9.9s\" }",
        "aggregate = { hold = \"9.9s\", most = 9 }",
    ] {
        let with_effect = |rtt: &str| dumbbell(rtt, &format!("[effects.bottleneck]\n{effect}"), reno);
        refused(with_effect("7.2s"), "x.toml:7:");
        if !effect.contains("17s") {
            with_effect("4s").unwrap();
        }
    }
    // An outage is a queue; a slow time is slow for each packet: 12000 bit at 600 bit/s are 20 s.
    let at = |rate: &str| {
        dumbbell("1s", &format!("[effects.bottleneck]\nchanges = [{{ at = \"9s\", rate = \"{rate}\" }}]"), reno)
    };
    at("0").unwrap();
    refused(at("600bit"), "x.toml:4:8: ");
    let jittery = "duration = \"400s\"\nsend_jitter = \"17s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"1s\"\nqueue = \"9p\"\n[[flows]]\n";
    refused(read(&format!("{jittery}{reno}")), "x.toml:2:15: ");
}

#[test]
fn every_kind_of_network_is_looked_at() {
    let reno = "[[flows]]\ncontroller = \"reno\"";
    let lot = "[parking_lot]\nhops = 3\nrate = \"10mbit\"\nhop_delay = \"3s\"\nqueue = \"9p\"";
    refused(read(&format!("duration = \"99s\"\n{lot}\n{reno}\nfrom = \"r1\"\nto = \"r4\"")), "x.toml:5:13: ");
    read(&format!("duration = \"99s\"\n{lot}\n{reno}\nfrom = \"r1\"\nto = \"r3\"")).unwrap();
    let graph = "[[links]]\nname = \"a-b\"\nfrom = \"a\"\nto = \"b\"\nrate = \"10mbit\"\ndelay = \"9s\"\nqueue = \"9p\"\nboth_ways = true";
    refused(read(&format!("duration = \"99s\"\n{graph}\n{reno}\nfrom = \"a\"\nto = \"b\"")), "x.toml:");
    let wlan = "[wlan]\nphy = \"802.11b\"\nstations = 1\nqueue = \"9p\"\nwired_rate = \"10mbit\"\nrtt = \"17s\"";
    refused(read(&format!("duration = \"99s\"\n{wlan}\n{reno}")), "x.toml:7:7: ");
}

#[test]
fn an_rtt_with_its_random_part_fits_the_duration() {
    let text = |spread: &str| {
        format!(
            "duration = \"3s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"1s\"\nqueue = \"9p\"\n[[flows]]\ncontroller = \"reno\"\nrtt_spread = \"{spread}\""
        )
    };
    read(&text("1s")).unwrap();
    let message = read(&text("2s")).unwrap_err().to_string();
    assert!(message.contains("an RTT of 3s, which does not fit the duration, 3s"), "{message}");
}

/// 256 packets of 12000 bit a microsecond are 3.072 Tb/s.
#[test]
fn a_model_of_the_path_can_tell_its_rate() {
    let at = |rate: &str, controller: &str| {
        read(&format!(
            "duration = \"9s\"\n[dumbbell]\nrate = \"{rate}\"\nrtt = \"1ms\"\nqueue = \"1bdp\"\n[[flows]]\ncontroller = \"{controller}\""
        ))
    };
    for controller in &CONTROLLERS {
        at("3.072tbit", controller.name).unwrap();
        let beyond = at("3.1tbit", controller.name);
        match controller.signal {
            Signal::Model => {
                let message = beyond.unwrap_err().to_string();
                assert!(
                    message.starts_with("x.toml:3:8: ") && message.contains("256 packets a microsecond, 3.072tbit"),
                    "{message}"
                );
            }
            _ => drop(beyond.unwrap()),
        }
    }
}
