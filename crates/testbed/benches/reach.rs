// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast a path this machine emulates: one flow of 1500-byte packets over 100 ms for 60 s, from 1 Gb/s down to the first rate that holds.
//! `make bench` runs it. `-- RATE SECONDS` (`-- 1gbit 10`) measures one rate.

use tandem_engine::Options;
use tandem_results::{Emulation, SeedResult};
use tandem_scenario::file::{Overrides, parse};
use tandem_testbed::run;

const RATES: [&str; 6] = ["1gbit", "800mbit", "600mbit", "400mbit", "200mbit", "100mbit"];
const SECONDS: &str = "60";
/// A rate holds if 99 % of the packets leave less late than this, us.
const MAX_P99_US: f64 = 1000.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    match &arguments[..] {
        [rate, seconds] => {
            measure(rate, seconds);
        }
        _ => match RATES.into_iter().find(|rate| measure(rate, SECONDS)) {
            Some(rate) => println!("Reach: {rate} of 1500-byte packets over 100 ms hold for {SECONDS} s"),
            None => println!("Reach: no rate holds; this machine has too much else to do"),
        },
    }
}

/// Prints what came of one rate. Does it hold?
fn measure(rate: &str, seconds: &str) -> bool {
    // With a buffer of two BDP the flow fills the link without a break.
    let text = format!(
        "duration = \"{seconds}s\"\nwarmup = \"3s\"\n[dumbbell]\nrate = \"{rate}\"\nrtt = \"100ms\"\nqueue = \"2bdp\"\n\
         [[flows]]\ncontroller = \"compound\"\n"
    );
    let scenario = match parse(&text, "reach", "reach", &Overrides::default()) {
        Ok(scenario) => scenario,
        Err(e) => {
            println!("Reach: {e}");
            return false;
        }
    };
    match run(&scenario, 1, Options::default()) {
        Ok(Some(SeedResult { flows, emulation: Some(emulation), .. })) => {
            let Emulation { lateness_us: late, look_gap_us: gap, cpu_share, starved_share, doubts, .. } = emulation;
            println!(
                "{rate:>8}: {:.0} Mb/s of payload; late: median {:.0} us, p99 {:.0} us, at most {:.1} ms; looks p99 {:.0} us apart; \
                 {cpu_share:.2} cores, starved {:.1} % of the time{}",
                flows[0].goodput_mbps,
                late.p50,
                late.p99,
                late.max / 1e3,
                gap.p99,
                100.0 * starved_share,
                doubts.iter().map(|d| format!("; NOT TRUSTWORTHY: {d}")).collect::<String>()
            );
            late.p99 < MAX_P99_US && doubts.is_empty()
        }
        Ok(_) => false,
        Err(e) => {
            println!("Reach: SKIPPED: {e}");
            false
        }
    }
}
