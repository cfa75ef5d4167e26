// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every controller on the longest path that its arithmetic is proven for.

mod common;

use std::sync::atomic::AtomicBool;

use common::{run, scenario};
use tandem_controllers::CONTROLLERS;
use tandem_engine::Options;

/// 2 Mb/s for 16.775 s are 2796 packets; with a queue of as many RTTs reach 33 s, which the controllers take for 2^24 us. From ten packets on,
/// eight doublings fill the path.
#[test]
fn every_controller_fills_the_longest_path() {
    for controller in &CONTROLLERS {
        // BBR and Copa measure a path anew as often as their windows say, which are to be longer than the path.
        let settings = match controller.name {
            "bbr" => "@rtt_window=60",
            "bbr3" => "@probe_rtt_interval=60,rtt_window=120",
            "copa" => "@min_rtt_time=120",
            _ => "",
        };
        let result = run(&format!(
            "duration = \"600s\"\nwarmup = \"300s\"\nsend_jitter = \"0s\"\n[dumbbell]\nrate = \"2mbit\"\nrtt = \"16.77s\"\nqueue = \"1bdp\"\n\
             [[flows]]\ncontroller = \"{}{settings}\"\n",
            controller.name
        ));
        let (name, flow, rtt_ms) = (controller.name, &result.flows[0], &result.rtt_ms[0]);
        let utilisation = result.links[0].utilisation;
        assert!(
            utilisation > 0.1 && utilisation <= 1.0 && flow.goodput_mbps > 0.1,
            "{name}: {utilisation}, {} Mb/s",
            flow.goodput_mbps
        );
        assert!(rtt_ms.p50 >= 16_770.0 && rtt_ms.max < 60_000.0, "{name}: {rtt_ms:?}");
        assert!(flow.sent_packets < 100_000, "{name}: {} packets, 50000 fit", flow.sent_packets);
    }
}

#[cfg(unix)]
fn thread_cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The recorder looks each 10 ms, in which a link of 100 Tb/s carries 83 million packets: many seconds of CPU time.
#[cfg(unix)]
#[test]
fn a_run_with_many_packets_sees_soon_that_it_is_cancelled() {
    let scenario = scenario(
        "duration = \"10s\"\n[dumbbell]\nrate = \"100tbit\"\nrtt = \"1us\"\nqueue = \"1000p\"\n[[flows]]\nudp = { rate = \"100tbit\" }\n",
    );
    let (before_s, cancelled) = (thread_cpu_s(), AtomicBool::new(true));
    let options = Options { cancelled: Some(&cancelled), ..Options::default() };
    assert!(tandem_sim::run(&scenario, 1, options).unwrap().is_none());
    assert!(thread_cpu_s() - before_s < 0.5, "{} s", thread_cpu_s() - before_s);
}
