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
fn raw_values_beyond_either_end_are_refused() {
    for c in &CONTROLLERS {
        let defaults = Params::new(c).raw().to_vec();
        assert_eq!(Params::from_raw(c, &defaults).unwrap().raw(), defaults);
        for (i, p) in c.params().enumerate() {
            let raw = |value: f64| (value * f64::from(p.scale)).round() as u32;
            let with = |value: u32| {
                let mut list = defaults.clone();
                list[i] = value;
                Params::from_raw(c, &list)
            };
            for end in [p.min, p.max] {
                assert_eq!(with(raw(end)).unwrap().get(p.name), Some(end), "{}.{}", c.name, p.name);
            }
            for beyond in [raw(p.min).checked_sub(1), raw(p.max).checked_add(1), Some(u32::MAX)].into_iter().flatten() {
                assert!(with(beyond).is_none(), "{}.{} = {beyond} / {}", c.name, p.name, p.scale);
            }
        }
        assert!(Params::from_raw(c, &defaults[1..]).is_none(), "{}: a value is missing", c.name);
        assert!(Params::from_raw(c, &[&defaults[..], &[1]].concat()).is_none(), "{}: a value too many", c.name);
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

/// Controllers, and constants of their papers or of Linux.
const OF_THE_PAPERS: &[(&str, &[(&str, f64)])] = &[
    (
        "compound",
        &[
            ("alpha", 1.0 / 8.0),
            ("beta", 0.5),
            ("k", 0.75),
            ("zeta", 1.0),
            ("gamma", 30.0),
            // S0 III.B: a smoothed RTT, and the smallest RTT that has been observed so far.
            ("low_window", 41.0),
            ("rtt_gain", 1.0 / 8.0),
            ("forget_base_rtt", 0.0),
        ],
    ),
    ("compound_auto", &[("gamma_low", 3.0)]),
    ("compound_tube", &[("gamma", 30.0), ("gamma_low", 5.0), ("gamma_high", 30.0), ("lambda", 0.25), ("share", 0.75)]),
    ("reno", &[("beta", 0.5)]),
    // S4 (2), (3): 2/3 are left; 1/2 in place of Reno's 1.
    ("compound_plus", &[("reading", 1.0), ("slight_beta", 1.0 / 3.0), ("decline", 1.5), ("gamma", 30.0)]),
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
    // Where Linux's modules and the papers agree, Linux's constants: tcp_highspeed's table begins at 38, where it halves.
    ("highspeed", &[("low_window", 38.0), ("high_window", 83_000.0), ("high_decrease", 0.1)]),
    // tcp_scalable: one packet for at most 100 ACKed, cwnd >> 3 on loss (TCP_SCALABLE_AI_CNT, TCP_SCALABLE_MD_SCALE).
    ("scalable", &[("increase", 0.01), ("decrease", 0.125)]),
    // tcp_bic: max_increment, BICTCP_B, smooth_part, beta = 819 of 1024, low_window, fast_convergence.
    (
        "bic",
        &[
            ("max_increment", 16.0),
            ("search", 4.0),
            ("smooth_part", 20.0),
            ("decrease", 205.0 / 1024.0),
            ("low_window", 14.0),
            ("fast_convergence", 1.0),
        ],
    ),
    // tcp_cubic: bic_scale = 41 of 1024 at a time unit of 1/10 s is C = 0.4, beta = 717 of 1024, fast_convergence, tcp_friendliness.
    ("cubic", &[("c", 0.4), ("decrease", 0.3), ("fast_convergence", 1.0), ("reno_friendly", 1.0), ("max_growth", 0.0)]),
    // tcp_htcp: BETA_MIN = 1/2, BETA_MAX = 102/128, one second, 1 + 10 (t - 1) + ((t - 1) / 2)^2, use_rtt_scaling, use_bandwidth_switch
    // at 1/5, 0.95 of RTT_max kept.
    (
        "htcp",
        &[
            ("low_time", 1.0),
            ("linear", 10.0),
            ("square", 0.25),
            ("rtt_scaling", 1.0),
            ("least_kept", 0.5),
            ("rate_change", 0.2),
            ("rtt_memory", 0.95),
        ],
    ),
    // tcp_illinois: ALPHA_MIN = 0.3, ALPHA_MAX = 10, BETA_MIN = 1/8, BETA_MAX = 1/2, win_thresh, theta; steps at 1, 10 and 80 %.
    (
        "illinois",
        &[
            ("alpha_min", 0.3),
            ("alpha_max", 10.0),
            ("beta_min", 0.125),
            ("beta_max", 0.5),
            ("delay_1", 0.01),
            ("delay_2", 0.1),
            ("delay_3", 0.8),
            ("theta", 5.0),
            ("win_thresh", 15.0),
        ],
    ),
    // tcp_yeah: TCP_YEAH_ALPHA, _GAMMA, _DELTA (a shift by 3), _EPSILON (a shift by 1), _PHY, _RHO, _ZETA.
    (
        "yeah",
        &[
            ("queue", 80.0),
            ("gamma", 1.0),
            ("delta", 0.125),
            ("epsilon", 0.5),
            ("phi", 8.0),
            ("rho", 16.0),
            ("zeta", 50.0),
        ],
    ),
    // tcp_veno: beta = 3, 4/5 are left of a random loss.
    ("veno", &[("beta", 3.0), ("random_decrease", 0.2), ("decrease", 0.5), ("congested_increase", 0.5)]),
    // tcp_bbr: bbr_high_gain, bbr_drain_gain, bbr_pacing_gain, bbr_cwnd_gain, bbr_bw_rtts, bbr_min_rtt_win_sec,
    // bbr_probe_rtt_mode_ms, bbr_cwnd_min_target, bbr_pacing_margin_percent.
    (
        "bbr",
        &[
            ("high_gain", 739.0 / 256.0),
            ("drain_gain", 88.0 / 256.0),
            ("probe_gain", 1.25),
            ("yield_gain", 0.75),
            ("window_gain", 2.0),
            ("bw_window", 10.0),
            ("rtt_window", 10.0),
            ("probe_rtt_time", 200.0),
            ("min_window", 4.0),
            ("pacing_margin", 1.0),
        ],
    ),
];

#[test]
fn the_papers_constants_are_the_defaults() {
    for (controller, constants) in OF_THE_PAPERS {
        for (name, value) in *constants {
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
    assert_eq!(refusal("reno", "gamma", 30.0), "controller `reno` has no parameter `gamma`; it has `beta`, `hystart`");
    assert_eq!(
        refusal("compound_auto", "gamma", 30.0),
        "controller `compound_auto` has no parameter `gamma`; it has `alpha`, `beta`, `k`, `zeta`, `low_window`, \
         `spread_gain`, `forget_base_rtt`, `rtt_gain`, `rtt_per_round`, `gamma_low`, `hystart`"
    );
    assert_eq!(params("reno").get("gamma"), None);
}

#[test]
fn message_for_a_value_out_of_range_names_the_range() {
    assert_eq!(refusal("compound", "beta", 1.5), "`compound.beta` = 1.5 is out of range: give 0.0625 to 0.9375");
    assert_eq!(refusal("compound", "low_window", 0.0), "`compound.low_window` = 0 is out of range: give 1 to 16777216");
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
