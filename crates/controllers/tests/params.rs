// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names, ranges and messages: what a user meets before a controller runs.

use tandem_controllers::{CONTROLLERS, Params, find};

fn params(controller: &str) -> Params {
    Params::new(find(controller).unwrap())
}

fn refusal(controller: &str, name: &str, value: f64) -> String {
    params(controller).set(name, value).unwrap_err().to_string()
}

#[test]
fn names_are_unique_and_found() {
    for (i, c) in CONTROLLERS.iter().enumerate() {
        assert_eq!(find(c.name).unwrap().name, c.name);
        assert!(CONTROLLERS[..i].iter().all(|other| other.name != c.name), "{} is listed twice", c.name);
        assert!(["loss", "delay", "both", "model"].contains(&c.signal), "{}: signal {}", c.name, c.signal);
        assert!(!c.source.is_empty() && !c.family.is_empty());
        let mut names: Vec<&str> = c.params().map(|p| p.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{}: a parameter is listed twice", c.name);
    }
}

#[test]
fn defaults_and_both_ends_of_each_range_can_be_set() {
    for c in &CONTROLLERS {
        for p in c.params() {
            assert!(p.min < p.max && (p.min..=p.max).contains(&p.initial), "{}.{}: {p:?}", c.name, p.name);
            assert!(!p.doc.is_empty(), "{}.{} has no description", c.name, p.name);
            let mut params = Params::new(c);
            assert_eq!(params.get(p.name), Some(p.initial));
            for value in [p.min, p.max, p.initial] {
                params.set(p.name, value).unwrap();
                assert_eq!(params.get(p.name), Some(value), "{}.{}", c.name, p.name);
            }
        }
    }
}

#[test]
fn values_beyond_either_end_are_refused_and_change_nothing() {
    for c in &CONTROLLERS {
        for p in c.params() {
            let step = 1.0 / f64::from(p.scale);
            for value in [p.min - step, p.max + step, -1e300, 1e300, f64::NAN, f64::INFINITY] {
                let mut params = Params::new(c);
                let message = params.set(p.name, value).unwrap_err().to_string();
                assert!(message.contains("out of range"), "{message}");
                assert_eq!(params.get(p.name), Some(p.initial), "{}.{} = {value}", c.name, p.name);
            }
        }
    }
}

#[test]
fn setting_one_parameter_leaves_the_others() {
    for c in &CONTROLLERS {
        for p in c.params() {
            let mut params = Params::new(c);
            params.set(p.name, p.max).unwrap();
            for other in c.params().filter(|o| o.name != p.name) {
                assert_eq!(params.get(other.name), Some(other.initial), "{}.{} moved", c.name, other.name);
            }
        }
    }
}

#[test]
fn the_papers_constants_are_the_defaults() {
    let compound = params("compound");
    for (name, value) in [("alpha", 1.0 / 8.0), ("beta", 0.5), ("k", 0.75), ("zeta", 1.0), ("gamma", 30.0)] {
        assert_eq!(compound.get(name), Some(value), "{name}");
    }
    assert_eq!(compound.get("low_window"), Some(41.0));
    assert_eq!(params("compound_auto").get("gamma_low"), Some(3.0));
    let tube = params("compound_tube");
    for (name, value) in [("gamma", 30.0), ("gamma_low", 5.0), ("gamma_high", 30.0), ("lambda", 0.25), ("share", 0.75)]
    {
        assert_eq!(tube.get(name), Some(value), "{name}");
    }
    assert_eq!(params("reno").get("beta"), Some(0.5));
    for (controller, constants) in [
        // S4 (2), (3): 2/3 are left; 1/2 in place of Reno's 1.
        ("compound_plus", &[("reading", 1.0), ("slight_beta", 1.0 / 3.0), ("decline", 1.5), ("gamma", 30.0)][..]),
        // S3 II: half at least, Dmin of 4 ms and 1 ms.
        ("fusion", &[("beta", 0.5), ("alpha_delay", 4000.0), ("increase_delay", 1000.0), ("upper", 3.0)]),
        // M = 10 Mb/s.
        ("areno", &[("rate_per_packet", 10.0), ("decay", 10.0), ("memory", 0.85)]),
        // Linux: TCP_WESTWOOD_RTT_MIN is 50 ms, its filters weigh 7 to 1.
        ("westwood", &[("rate_interval", 50_000.0), ("rate_gain", 0.125)]),
        // Linux's module parameters.
        ("vegas", &[("alpha", 2.0), ("beta", 4.0), ("gamma", 1.0)]),
        // ns-2's defaults; 0.75 ms is its mi_threshold_.
        ("fast", &[("alpha", 100.0), ("gamma", 0.5), ("idle_delay", 750.0)]),
        ("africa", &[("alpha", 1.0), ("low_window", 38.0)]),
    ] {
        for (name, value) in constants {
            assert_eq!(params(controller).get(name), Some(*value), "{controller}.{name}");
        }
    }
}

#[test]
fn fine_scales_round_to_the_nearest_step() {
    let mut reno = params("reno");
    reno.set("beta", 0.3).unwrap(); // 307.2 / 1024
    assert_eq!(reno.get("beta"), Some(307.0 / 1024.0));
    reno.set("beta", 0.7).unwrap(); // 716.8 / 1024
    assert_eq!(reno.get("beta"), Some(717.0 / 1024.0));
}

#[test]
fn message_for_an_unknown_parameter_lists_those_there_are() {
    assert_eq!(refusal("reno", "gamma", 30.0), "controller `reno` has no parameter `gamma`; it has `beta`");
    assert_eq!(
        refusal("compound_auto", "gamma", 30.0),
        "controller `compound_auto` has no parameter `gamma`; it has `alpha`, `beta`, `k`, `zeta`, `low_window`, \
         `spread_gain`, `forget_base_rtt`, `gamma_low`"
    );
    assert_eq!(params("reno").get("gamma"), None);
}

#[test]
fn message_for_a_value_out_of_range_names_the_range() {
    assert_eq!(refusal("compound", "beta", 1.5), "`compound.beta` = 1.5 is out of range: give 0.0625 to 0.9375");
    assert_eq!(refusal("compound", "low_window", 1.0), "`compound.low_window` = 1 is out of range: give 2 to 16777216");
    assert_eq!(refusal("reno", "beta", f64::NAN), "`reno.beta` = NaN is out of range: give 0.0625 to 0.9375");
}

#[test]
fn message_for_a_value_between_coarse_steps_names_the_step() {
    assert_eq!(refusal("compound", "k", 0.7), "`compound.k` = 0.7 is not a multiple of 1/8");
    assert_eq!(refusal("compound", "low_window", 40.5), "`compound.low_window` = 40.5 is not a whole number");
}

#[test]
fn message_for_an_unknown_controller_suggests_the_nearest() {
    let message = |name| find(name).unwrap_err().to_string();
    assert_eq!(
        message("compund"),
        "unknown controller `compund`, did you mean `compound`?; `tandem list controllers` shows them all"
    );
    assert_eq!(
        message("compound-tube"),
        "unknown controller `compound-tube`, did you mean `compound_tube`?; `tandem list controllers` shows them all"
    );
    assert_eq!(message("xyzzyplugh"), "unknown controller `xyzzyplugh`; `tandem list controllers` shows them all");
    assert_eq!(message(""), "unknown controller ``; `tandem list controllers` shows them all");
}
