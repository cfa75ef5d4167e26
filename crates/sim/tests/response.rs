// SPDX-License-Identifier: MIT OR Apache-2.0
//! Response functions: the mean window of a flow whose only trouble is random loss.
//!
//! RTT 100 ms, no queueing to speak of, no delayed ACKs; mean window = goodput * RTT / MSS. Reno: 1.22 / sqrt(p) (RFC 5681's rules at
//! periodic loss; independent losses make the constant 1.31, Ott et al. 1996). Compound: 0.2553 p^-0.8 where that is above
//! the window from which its delay part acts, 41 packets.
//!
//! With n losses the mean's standard error is about 0.6 / sqrt(n) of it.

mod common;

use common::{run_seed, scenario};

struct Measured {
    window: f64,
    losses: u64,
    timeouts: u64,
}

/// 8 flows and 4 seeds, each flow as good as alone.
fn measure(controller: &str, loss: f64, seconds: u32) -> Measured {
    let scenario = scenario(&format!(
        r#"
        duration = "{seconds}s"
        warmup = "{warmup}s"
        delayed_acks = false
        send_jitter = "0"
        [dumbbell]
        rate = "1tbit"
        rtt = "100ms"
        queue = "1000000p"
        loss = {loss}
        [[flows]]
        controller = "{controller}"
        count = 8
        start_spread = "1s"
        "#,
        warmup = seconds / 5,
    ));
    let results: Vec<_> = (1..=4).map(|seed| run_seed(&scenario, seed)).collect();
    let flows = || results.iter().flat_map(|r| &r.flows);
    let window = flows().map(|f| f.goodput_mbps * 1e6 * 0.1 / (1448.0 * 8.0)).sum::<f64>() / flows().count() as f64;
    assert!(results.iter().all(|r| r.links[0].drops == 0 && r.rtt_ms[0].mean < 100.1), "no queueing");
    let measured = Measured {
        window,
        losses: flows().map(|f| f.window_reductions).sum(),
        timeouts: flows().map(|f| f.timeouts).sum(),
    };
    println!(
        "{controller} at {loss:e}: window {window:.1}, {} losses, {} timeouts",
        measured.losses, measured.timeouts
    );
    measured
}

#[track_caller]
fn assert_window(measured: &Measured, expected: f64, tolerance: f64, least_losses: u64) {
    let ratio = measured.window / expected;
    assert!((ratio - 1.0).abs() <= tolerance, "{:.2} is {ratio:.3} of {expected:.2}", measured.window);
    assert!(measured.losses >= least_losses, "{} losses", measured.losses);
}

fn reno(loss: f64) -> f64 {
    1.22 / loss.sqrt()
}

fn compound(loss: f64) -> f64 {
    0.2553 * loss.powf(-0.8)
}

#[test]
fn reno_at_1e_2() {
    let measured = measure("reno", 1e-2, 300);
    assert_window(&measured, reno(1e-2), 0.1, 5000);
    // RACK-TLP leaves timeouts to losses of a whole window and its probe.
    assert!(measured.timeouts * 100 < measured.losses);
}

#[test]
fn reno_at_1e_3() {
    assert_window(&measure("reno", 1e-3, 400), reno(1e-3), 0.1, 3000);
}

#[test]
fn reno_at_1e_4() {
    assert_window(&measure("reno", 1e-4, 400), reno(1e-4), 0.1, 1000);
}

#[test]
fn reno_at_1e_5() {
    assert_window(&measure("reno", 1e-5, 500), reno(1e-5), 0.1, 500);
}

#[test]
fn compound_at_1e_3() {
    assert_window(&measure("compound", 1e-3, 400), compound(1e-3), 0.15, 3000);
}

#[test]
fn compound_at_1e_4() {
    assert_window(&measure("compound", 1e-4, 120), compound(1e-4), 0.15, 1000);
}

#[test]
fn compound_at_1e_5() {
    assert_window(&measure("compound", 1e-5, 60), compound(1e-5), 0.15, 300);
}

/// At 1.7e-3 the law gives a mean of 42 packets, so that about half of the time the window is below 41, where only Reno acts,
/// with half the growth: the law itself is seen only without that threshold.
#[test]
fn compound_at_its_threshold() {
    let law = measure("compound@low_window=2", 1.7e-3, 400);
    assert_window(&law, compound(1.7e-3), 0.15, 3000);
    assert!(measure("compound", 1.7e-3, 400).window < law.window);
}
