// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is measured means the same in the simulator and over real TCP.

use tandem_engine::Options;
use tandem_engines::find;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

fn dumbbell(top: &str, flow: &str) -> Scenario {
    let text = format!(
        "{top}\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"10p\"\n[[flows]]\ncontroller = \"reno\"\n{flow}"
    );
    parse(&text, "s.toml", "s", &Overrides::default()).unwrap()
}

fn run(name: &str, scenario: &Scenario) -> SeedResult {
    find(name).unwrap().run(scenario, 1, Options::default()).unwrap().unwrap()
}

/// The simulator's result, and that of real TCP; `None`, and said so, where paths cannot be emulated.
fn in_both(scenario: &Scenario) -> (SeedResult, Option<SeedResult>) {
    let refused = match find("kernel") {
        Err(e) => Some(e.to_string()),
        Ok(kernel) => kernel.check(scenario, true).err().map(|e| e.to_string()),
    };
    let real = match refused {
        Some(why) => {
            tandem_testing::skip(&why);
            None
        }
        None => {
            // A test of refusals plants what keeps everybody's controllers out.
            tandem_testing::take_controllers();
            Some(run("kernel", scenario))
        }
    };
    (run("sim", scenario), real)
}

/// 100 kB take 83 ms and a round trip at least, so that the first transfer ends after 120 ms and the second begins after 1120 ms. At
/// 1170 ms it is cut off: its data until then arrives, but it is not completed.
#[test]
fn a_transfer_cut_off_at_the_stop_is_not_completed() {
    let scenario = dumbbell("duration = \"2s\"", "transfer = \"100kB\"\npause = \"1s\"\nstop = \"1170ms\"");
    let (simulated, real) = in_both(&scenario);
    for result in [Some(simulated), real].iter().flatten() {
        assert_eq!(result.flows[0].completion_times_s.len(), 1, "{:?}", result.flows[0]);
    }
}

/// A queue of ten packets of 1.2 ms adds 12 ms to the RTT of 40 ms at most, and the time on the wire a little more. Both engines smooth the
/// RTT and sample it alike; what each ACK measures is known to the simulator alone.
#[test]
fn the_smoothed_rtt_is_the_same_quantity() {
    let scenario = dumbbell("duration = \"8s\"\nwarmup = \"2s\"", "");
    let (simulated, real) = in_both(&scenario);
    let (raw, smoothed) = (simulated.rtt_ms[0], simulated.srtt_ms[0]);
    assert!((41.0..54.0).contains(&smoothed.mean), "{smoothed:?}");
    // Smoothing lags, but by less than a packet on the wire takes (1.2 ms) in the mean, and it adds no extremes.
    assert!((raw.mean - smoothed.mean).abs() < 1.2 && smoothed.max <= raw.max, "{raw:?}, {smoothed:?}");
    let Some(real) = real else { return };
    assert!(real.rtt_ms.is_empty());
    let is_trusted = real.emulation.as_ref().is_some_and(|e| e.doubts.is_empty());
    assert!(real.srtt_ms[0].mean >= 40.0, "{:?}", real.srtt_ms);
    if is_trusted {
        assert!((real.srtt_ms[0].mean - smoothed.mean).abs() < 3.0, "{:?}, {smoothed:?}", real.srtt_ms);
    }
}
