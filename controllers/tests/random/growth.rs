// SPDX-License-Identifier: MIT OR Apache-2.0
//! Growth for thousands of rounds: with the defaults, and with each parameter that decides how fast a controller grows.

use tandem_controllers::{CONTROLLERS, Controller, Params, find};

use crate::{
    model::LongRun,
    oracle::{Kind, oracle},
    windows::{self, Growth},
};

const COMPOUND: &[&str] = &["compound", "compound_auto", "compound_tube", "compound_plus"];
const HIGHSPEED: &[&str] = &["highspeed", "africa"];
const SMALL: Growth = Growth { by: 1, window: 40, ..Growth::USUAL };
/// The RTT is twice that of the empty path.
const QUEUED: Growth = Growth { others: Growth::BDP, ..Growth::USUAL };

/// Settings of controllers that have them: the ends of the ranges, and what is between where the law bends.
const SETTINGS: [(&[&str], &str, Growth); 46] = [
    (COMPOUND, "alpha=0.001,k=0.125", Growth::USUAL),
    (COMPOUND, "alpha=0.02", Growth::USUAL),
    (COMPOUND, "alpha=1,k=0.875", Growth::USUAL),
    (COMPOUND, "spread_gain=1", Growth::USUAL),
    (
        &["fusion"],
        "increase_delay=1",
        Growth { base_rtt_us: 260_000, window: 4000, losses: 2, rounds: 950, due: 6.0, ..Growth::USUAL },
    ),
    (&["fusion"], "increase_delay=1000000", Growth::USUAL),
    (&["areno"], "rate_per_packet=1", Growth::USUAL),
    (&["areno"], "rate_per_packet=100000", Growth::USUAL),
    (&["areno"], "decay=2", Growth::USUAL),
    (&["areno"], "decay=11,on_top=1", Growth::USUAL),
    (&["fast"], "alpha=1,gamma=0.001", Growth { rounds: 24_000, ..SMALL }),
    (&["fast"], "alpha=3,gamma=0.499", SMALL),
    (&["fast"], "gamma=1", Growth::USUAL),
    (&["fast"], "multiply=1,gamma=0.01", Growth::USUAL),
    (HIGHSPEED, "response=0.001", Growth::USUAL),
    (HIGHSPEED, "response=1", Growth::USUAL),
    (HIGHSPEED, "count_acks=1", Growth::USUAL),
    (HIGHSPEED, "high_window=16777216,high_decrease=0.5", Growth::USUAL),
    (&["ledbat_pp"], "spacing=0,gain_limit=64,target=1000000", Growth { by: 1, window: 20, rounds: 2000, ..SMALL }),
    (&["scalable"], "increase=0.001", Growth { window: 20, rounds: 2000, due: 50.0, ..SMALL }),
    (&["scalable"], "increase=0.009", Growth { window: 20, ..SMALL }),
    (&["scalable"], "increase=0.011", Growth { window: 20, ..SMALL }),
    (&["scalable"], "increase=0.1", Growth::USUAL),
    (&["cubic"], "c=0.01", Growth::USUAL),
    (&["cubic"], "c=10", Growth::USUAL),
    (&["cubic"], "decrease=0.05", Growth::USUAL),
    (&["cubic"], "reno_friendly=0", Growth { base_rtt_us: 200_000, ..Growth::USUAL }),
    (&["cubic"], "alpha_rises=0", Growth::USUAL),
    (&["cubic"], "est_interval=31", Growth::USUAL),
    (&["cubic"], "max_growth=1,c=10,reno_friendly=0", Growth { base_rtt_us: 500, rounds: 24_000, ..SMALL }),
    (&["cubic"], "max_growth=20,c=10,reno_friendly=0", Growth { base_rtt_us: 190, rounds: 8000, ..SMALL }),
    (&["cubic"], "max_growth=160,c=10", Growth::USUAL),
    (&["cubic"], "max_growth=100000,c=10", Growth::USUAL),
    (&["bic"], "max_increment=1", Growth::USUAL),
    (&["bic"], "search=2,smooth_part=1000", Growth { rounds: 2500, due: 5.0, ..SMALL }),
    (&["bic"], "search=16,smooth_part=21", Growth::USUAL),
    (&["htcp"], "low_time=0,linear=0.0625,square=0", Growth::USUAL),
    (&["htcp"], "linear=0,square=0.004,rtt_scaling=0", Growth::USUAL),
    (
        &["htcp"],
        "linear=0,square=0,most_kept=0.935,rate_change=1",
        Growth { by: 4, window: 4000, losses: 3, rounds: 3000, ..Growth::USUAL },
    ),
    (&["illinois"], "alpha_min=0.001,alpha_max=1.001", Growth { rounds: 8000, ..QUEUED }),
    (&["illinois"], "alpha_min=0.299", QUEUED),
    (&["illinois"], "alpha_max=100", Growth::USUAL),
    (&["yeah"], "increase=0.001", Growth { window: 2000, ..Growth::USUAL }),
    (&["yeah"], "increase=0.1", Growth::USUAL),
    (&["veno"], "congested_increase=0.004", Growth { window: 40, rounds: 4000, ..QUEUED }),
    (&["veno"], "congested_increase=1", QUEUED),
];

/// Parameters that say what a loss, a mark or a queue does, or when a law begins; not how fast a window grows.
const OTHERS: &str = "hystart beta g initial_alpha zeta low_window forget_base_rtt rtt_gain rtt_per_round compound.gamma \
    compound_plus.gamma compound_tube.gamma gamma_low gamma_high lambda share reading slight_beta \
    decline after_growth rate_interval rate_gain alpha_delay alpha_low upper bandwidth gap_filter memory \
    vegas.alpha vegas.gamma least_samples loss_beta average_weight idle_delay africa.alpha always_b \
    fast_convergence adaptive_backoff least_kept rtt_memory theta win_thresh beta_min beta_max delay_1 \
    delay_2 delay_3 random_decrease decrease exit_share freeze base_history yeah.queue phi yeah.gamma epsilon delta rho";

fn params(controller: &'static Controller, settings: &str) -> Params {
    let mut params = Params::new(controller);
    for setting in settings.split(',').filter(|s| !s.is_empty()) {
        let (name, value) = setting.split_once('=').unwrap();
        params.set(name, value.parse().unwrap()).unwrap();
    }
    params
}

/// What has grown apart, if it has.
fn apart(name: &str, settings: &str, growth: Growth) -> Option<String> {
    let controller = find(name).unwrap();
    let params = params(controller, settings);
    let grown = match oracle(controller).kind {
        Kind::Windows(reference) => windows::grow_for_long(&params, reference, growth),
        Kind::Model { run_for_long, .. } => {
            run_for_long(&params, LongRun { base_rtt_us: growth.base_rtt_us, by: growth.by, rounds: growth.rounds })
        }
    };
    grown.err().map(|e| format!("{name}@{settings}: {e}"))
}

/// Without these a window is lowered, and the reference set to it, where nothing is lost.
fn settings_to_grow(controller: &Controller) -> &'static str {
    if controller.name == "ledbat_pp" { "spacing=0" } else { "" }
}

/// Three RTTs, ACKs of one packet and of more.
#[test]
fn long_growth_loses_nothing() {
    let ways = [(500, 1), (500, 2), (20_000, 2), (200_000, 3)];
    let growths = ways.map(|(base_rtt_us, by)| Growth { base_rtt_us, by, due: 0.0, ..Growth::USUAL });
    let all = CONTROLLERS.iter().flat_map(|c| growths.map(|growth| apart(c.name, settings_to_grow(c), growth)));
    let apart: Vec<String> = all.flatten().collect();
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}

#[test]
fn long_growth_loses_nothing_with_any_parameter() {
    let all =
        SETTINGS.iter().flat_map(|(names, settings, growth)| names.iter().map(|name| apart(name, settings, *growth)));
    let apart: Vec<String> = all.flatten().collect();
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}

/// Each on its own path through thousands of rounds, slowdowns and losses: neither is ever set to the other's window.
#[test]
fn long_runs_have_the_same_mean_window() {
    let names = ["ledbat_pp", "reno"];
    let paths = [(5_000, 400, 0.5), (40_000, 100, 3.0), (150_000, 300, 1.0)];
    for (name, (base_rtt_us, bdp, buffer)) in names.iter().flat_map(|name| paths.map(|path| (name, path))) {
        let controller = find(name).unwrap();
        let Kind::Windows(reference) = oracle(controller).kind else { panic!("{name} owns its window") };
        let params = params(controller, "");
        let path = windows::Path { base_rtt_us, bdp, buffer: (f64::from(bdp) * buffer) as u32, jitter_us: 0 };
        let integer = windows::mean_window(&params, path, 6000);
        let real = windows::mean_real_window(reference(&params, 10.0, 1e6), path, 6000);
        println!("{name}, {path:?}: {integer:.2}, in real numbers {real:.2}");
        assert!((integer / real - 1.0).abs() < 0.02, "{name}, {path:?}: {integer}, in real numbers {real}");
    }
}

/// A new parameter stands in one of the two lists.
#[test]
fn every_parameter_of_growth_is_tried() {
    let is_in =
        |settings: &str, name: &str| settings.split(',').any(|s| s.split_once('=').is_some_and(|(n, _)| n == name));
    for controller in CONTROLLERS.iter().filter(|c| matches!(oracle(c).kind, Kind::Windows(_))) {
        for parameter in controller.params() {
            let (name, of) = (parameter.name, controller.name);
            let tried = SETTINGS.iter().any(|(names, settings, _)| names.contains(&of) && is_in(settings, name));
            let other = OTHERS.split(' ').any(|other| other == name || other == format!("{of}.{name}"));
            assert!(
                tried || other,
                "{of}.{name}: if it decides how fast the window grows, add a setting to SETTINGS of {file}, otherwise its name to OTHERS",
                file = file!()
            );
        }
    }
}
