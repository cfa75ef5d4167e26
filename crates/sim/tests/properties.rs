// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each controller is known for, in short simulations of a dumbbell.

mod common;

use common::{run_seed, scenario, within};
use tandem_results::SeedResult;

/// Seeds 1 and 2 of flows `groups` (lines of `[[flows]]` tables) on S3's path: 100 Mb/s, 40 ms, a buffer of one BDP, 333 packets.
fn on_s3_path(path: &str, groups: &[&str]) -> Vec<SeedResult> {
    on_path(&format!("rate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"333p\"\n{path}"), groups)
}

fn on_path(path: &str, groups: &[&str]) -> Vec<SeedResult> {
    let flows: String = groups.iter().map(|g| format!("[[flows]]\n{g}\n")).collect();
    let text = format!(
        r#"
        duration = "120s"
        warmup = "20s"
        [dumbbell]
        {path}
        {flows}
        "#
    );
    let scenario = scenario(&text);
    (1..=2).map(|seed| run_seed(&scenario, seed)).collect()
}

fn mean(results: &[SeedResult], measure: impl Fn(&SeedResult) -> f64) -> f64 {
    results.iter().map(measure).sum::<f64>() / results.len() as f64
}

fn goodput(results: &[SeedResult], flow: usize) -> f64 {
    mean(results, |r| r.flows[flow].goodput_mbps)
}

fn queue(results: &[SeedResult]) -> f64 {
    mean(results, |r| r.links[0].queue_packets.mean)
}

/// In equilibrium w (1 - baseRTT / RTT) = alpha = 100 for each flow. The second measures the first's queue as part of its base
/// RTT and holds more, so that two hold 200 at least (Low, Peterson, Wang 2002 of Vegas; the same of FAST).
#[test]
fn fast_holds_alpha_packets() {
    let one = on_s3_path("", &[r#"controller = "fast""#]);
    within(queue(&one), 100.0, 3.0);
    assert!(mean(&one, |r| r.links[0].utilisation) > 0.999);
    let half = on_s3_path("", &[r#"controller = "fast@alpha=50""#]);
    within(queue(&half), 50.0, 3.0);
    let two = on_s3_path("", &[r#"controller = "fast""#, r#"controller = "fast""#]);
    assert!((195.0..333.0).contains(&queue(&two)), "{}", queue(&two));
}

/// alpha = 2 to beta = 4 packets; ACKs that are not delayed, for a pair of packets at a time is a packet in the queue by itself.
#[test]
fn vegas_holds_alpha_to_beta_packets() {
    let path = on_s3_path("", &["controller = \"vegas\"\ndelayed_acks = false"]);
    let queued = queue(&path);
    assert!((1.5..=4.5).contains(&queued), "{queued}");
    assert_eq!(path[0].links[0].drops, 0);
    assert!(mean(&path, |r| r.links[0].utilisation) > 0.999);
}

/// alpha = 4 ms of the link's rate, 33.3 packets. Random losses keep Reno's twin below the window, which a single flow
/// with this buffer would otherwise follow.
#[test]
fn fusion_alone_holds_between_alpha_and_three_alpha() {
    let path = on_s3_path("loss = 1e-4", &[r#"controller = "fusion""#]);
    let queued = queue(&path);
    assert!((33.3..=100.0).contains(&queued), "{queued}");
    assert!(path.iter().all(|r| r.links[0].queue_packets.max <= 105.0), "{:?}", path[0].links[0].queue_packets);
    assert!(goodput(&path, 0) > 96.0);
    // As S3's Figure 4 has it: it is the most robust, Reno the least.
    let reno = on_s3_path("loss = 1e-4", &[r#"controller = "reno""#]);
    assert!(goodput(&path, 0) > 1.8 * goodput(&reno, 0));
}

/// S3 Table 1: next to Reno each of the three gets about as much as Reno does. ARENO's growth on top of Reno's, as in ports, does not.
#[test]
fn fusion_and_areno_leave_reno_its_share() {
    let against_reno = |controller: &str| {
        let flow = format!("controller = \"{controller}\"");
        let both = on_s3_path("", &[&flow, r#"controller = "reno""#]);
        goodput(&both, 0) / goodput(&both, 1)
    };
    for controller in ["fusion", "areno"] {
        let ratio = against_reno(controller);
        assert!((0.75..1.33).contains(&ratio), "{controller}: {ratio}");
    }
    let on_top = against_reno("areno@on_top=1");
    assert!(on_top > 1.33, "{on_top}");
}

/// Random loss without a queue: rate * RTTmin is the window itself.
#[test]
fn westwood_keeps_its_window_under_random_loss() {
    let [westwood, reno] =
        ["westwood", "reno"].map(|c| goodput(&on_s3_path("loss = 1e-3", &[&format!(r#"controller = "{c}""#)]), 0));
    assert!(westwood > 3.0 * reno, "{westwood} and {reno}");
}

/// S4: the loss window is decreased without a loss. Compound TCP alone overflows this buffer again and again; Compound TCP+ does not, and
/// still uses the link. Next to Reno it keeps less than Compound TCP.
#[test]
fn compound_plus_gives_way_before_a_loss() {
    let compound = on_s3_path("", &[r#"controller = "compound""#]);
    let plus = on_s3_path("", &[r#"controller = "compound_plus""#]);
    assert!(compound[0].links[0].drops > 0);
    assert_eq!(plus[0].links[0].drops, 0);
    assert!(mean(&plus, |r| r.links[0].utilisation) > 0.9);
    // A round's smallest RTT takes fewer short queues for congestion.
    let by_smallest = on_s3_path("", &[r#"controller = "compound_plus@rtt_gain=0""#]);
    assert!(mean(&by_smallest, |r| r.links[0].utilisation) > 0.95);
    let reno = r#"controller = "reno""#;
    let beside = |c: &str| goodput(&on_s3_path("", &[&format!(r#"controller = "{c}""#), reno]), 0);
    assert!(beside("compound_plus") < 0.5 * beside("compound"));
}

/// It grows like HighSpeed TCP while the path is idle and like Reno once it is not: far faster than Reno under random loss, and no
/// worse than Reno to Reno.
#[test]
fn africa_is_fast_alone_and_reno_in_company() {
    let [africa, reno] =
        ["africa", "reno"].map(|c| goodput(&on_s3_path("loss = 1e-4", &[&format!(r#"controller = "{c}""#)]), 0));
    assert!(africa > 1.3 * reno, "{africa} and {reno}");
    let both = on_s3_path("", &[r#"controller = "africa""#, r#"controller = "reno""#]);
    let ratio = goodput(&both, 0) / goodput(&both, 1);
    assert!((0.75..1.33).contains(&ratio), "{ratio}");
}

/// BBR v1's model knows no loss: 1 % of 100 Mb/s at 40 ms costs it little, and Reno, at 1.22 / sqrt(p) = 12 packets, nearly all.
#[test]
fn bbr_ignores_a_random_loss_of_one_percent() {
    let [bbr, reno] =
        ["bbr", "reno"].map(|c| goodput(&on_s3_path("loss = 1e-2", &[&format!(r#"controller = "{c}""#)]), 0));
    assert!(bbr > 85.0, "{bbr}");
    assert!(reno < 5.0, "{reno}");
}

/// Alone it finds the rate and hardly a queue: at most what its probing at 5/4 adds in a round, a quarter of a BDP, and that an
/// eighth of the time.
#[test]
fn bbr_alone_keeps_the_queue_short() {
    let path = on_s3_path("", &[r#"controller = "bbr""#]);
    assert!(goodput(&path, 0) > 90.0, "{}", goodput(&path, 0));
    assert!(queue(&path) < 50.0, "{}", queue(&path));
    assert!(path.iter().all(|r| r.links[0].drops == 0 && r.flows[0].timeouts == 0));
}

/// From 7/8 w back to w at 1 % a packet acknowledged: ln(8/7) / ln(1.01) = 13.4 rounds, whatever the window (Kelly). Reno needs half
/// the window in rounds. So with ten times the rate Scalable loses as often as before, and Reno a tenth as often.
#[test]
fn scalable_recovers_in_the_same_time_at_any_rate() {
    let often = |controller: &str, rate: &str| {
        let path = format!("rate = \"{rate}\"\nrtt = \"40ms\"\nqueue = \"0.2bdp\"");
        let flows = on_path(&path, &[&format!("controller = \"{controller}\"\ndelayed_acks = false")]);
        mean(&flows, |r| r.flows[0].window_reductions as f64)
    };
    let [slow, fast] = ["50mbit", "500mbit"].map(|rate| often("scalable", rate));
    assert!((0.8..1.25).contains(&(fast / slow)), "{slow} and {fast}");
    // 100 s of rounds between 40 and 48 ms, of which 13.4 and one of recovery make a period.
    assert!((100.0 / (0.048 * 16.0)..100.0 / (0.040 * 13.4)).contains(&slow), "{slow}");
    let [slow, fast] = ["50mbit", "500mbit"].map(|rate| often("reno", rate));
    assert!(fast < 0.2 * slow, "{slow} and {fast}");
}

/// A binary search for the window of the last loss: S_max = 16 packets a round while it is far. From 2 B = 8 packets below it to B = 4
/// above, B / smooth_part = 1/5 a round: 60 rounds without much of a change, of 100 to 110 ms. Then it probes on.
#[test]
fn bic_runs_to_the_window_of_the_last_loss_and_stays_there() {
    let scenario = scenario(
        r#"
        duration = "100s"
        sample_interval = "100ms"
        delayed_acks = false
        [dumbbell]
        rate = "200mbit"
        rtt = "100ms"
        queue = "0.2bdp"
        [[flows]]
        controller = "bic"
        "#,
    );
    let options = tandem_engine::Options { traced_flows_per_group: 1, ..Default::default() };
    let trace = tandem_sim::run(&scenario, 1, options).unwrap().expect("not cancelled").trace.expect("asked for");
    let windows = trace.flows[0].samples[250..].iter().map(|s| i64::from(s.cwnd_packets));
    let growth: Vec<i64> = windows.clone().zip(windows.skip(1)).map(|(a, b)| b - a).collect();
    assert_eq!(growth.iter().max(), Some(&16));
    let still = growth.chunk_by(|a, b| (0..=1).contains(a) && (0..=1).contains(b)).map(<[i64]>::len).max().unwrap();
    assert!((58..=70).contains(&still), "{still}");
}

/// RFC 3649 section 5.1 and S1: where windows are large, HighSpeed TCP takes from Reno what Reno would have had.
#[test]
fn highspeed_takes_from_reno_on_a_long_fast_path() {
    let of_reno = |other: &str| {
        let path = "rate = \"1gbit\"\nrtt = \"100ms\"\nqueue = \"1500p\"";
        let group = |controller: &str| format!("controller = \"{controller}\"\nstart_spread = \"1s\"\ncount = 4");
        let flows = on_path(path, &[&group(other), &group("reno")]);
        (4..8).map(|flow| goodput(&flows, flow)).sum::<f64>()
    };
    let [beside_highspeed, beside_reno] = ["highspeed", "reno"].map(of_reno);
    assert!(beside_highspeed < 0.6 * beside_reno, "{beside_highspeed} and {beside_reno}");
}

/// Growth by time, not by rounds: between flows of 40 and 160 ms CUBIC's ratio is nearer to 1 than Reno's.
#[test]
fn cubic_is_fairer_than_reno_to_longer_paths() {
    let ratio = |controller: &str| {
        let group = |rtt: &str| format!("controller = \"{controller}\"\nrtt = \"{rtt}\"");
        let path = "rate = \"400mbit\"\nrtt = \"160ms\"\nqueue = \"0.2bdp\"";
        let flows = on_path(path, &[&group("40ms"), &group("160ms")]);
        goodput(&flows, 0) / goodput(&flows, 1)
    };
    let [cubic, reno] = ["cubic", "reno"].map(ratio);
    assert!(1.0 < cubic && cubic < 0.6 * reno, "{cubic} and {reno}");
}
