// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem model` and `--engine model`, by the built program.

mod common;

use common::Place;
use serde_json::Value;

fn json(place: &Place, arguments: &str) -> Value {
    serde_json::from_str(&place.succeed(arguments).out).unwrap()
}

/// S2's path at 200 Mb/s: case 4 with 4:2, 99 % (Figure 8), a mean queue of some 41 packets (Figure 9).
#[test]
fn a_point() {
    let place = Place::new();
    for arithmetic in ["tandem", "linux-1.3", "linux-2006", "exact"] {
        let p = json(&place, &format!("model --rate 200mbit --rtt 50ms --queue 100p --json --arithmetic {arithmetic}"));
        assert_eq!((&p["case"], &p["oscillation"]), (&4.into(), &"4:2".into()), "{p}");
        assert!((p["utilisation"].as_f64().unwrap() - 0.99).abs() < 0.005, "{p}");
        assert!((p["throughput_mbps"].as_f64().unwrap() - 198.0).abs() < 1.0, "{p}");
        assert!((p["backlog_packets"].as_f64().unwrap() - 41.0).abs() < 3.0, "{p}");
        let theta =
            ["theta_min_packets", "theta_mean_packets", "theta_max_packets"].map(|name| p[name].as_f64().unwrap());
        assert!(theta[0] < theta[1] && theta[1] < theta[2] && (theta[2] - 833.3 - 78.0).abs() < 5.0, "{p}");
        let phases: Vec<_> =
            p["phases"].as_array().unwrap().iter().map(|phase| phase["phase"].as_u64().unwrap()).collect();
        assert_eq!(phases, [1, 2, 3, 4]);
        assert_eq!(p["published"]["case"], 4);
    }
    let text = place.succeed("model --rate 200mbit --rtt 50ms --queue 100p").out;
    assert!(text.contains("Case 4") && text.contains("4:2"), "{text}");
    // A module's step that just fits the queue, behind a fast and a faster access link: see docs/model.md.
    let behind = |access: &str| {
        let path = "model --rate 900mbit --rtt 50ms --queue 99p --arithmetic linux-1.3 --json --access-rate";
        json(&place, &format!("{path} {access}"))["utilisation"].as_f64().unwrap()
    };
    assert!(behind("10gbit") < 0.65 && behind("100gbit") > 0.7);
    assert!(place.files("").is_empty());
}

#[test]
fn a_sweep_and_a_plane() {
    let place = Place::new();
    let sweep = json(&place, "model --rate 10mbit..1gbit --rtt 50ms --queue 100p --steps 20 --json");
    let points = sweep["points"].as_array().unwrap();
    assert_eq!(points.len(), 20);
    assert_eq!((&points[0]["rate_mbps"], &points[19]["rate_mbps"]), (&10.0.into(), &1000.0.into()));
    assert_eq!((&points[0]["case"], &points[19]["case"]), (&5.into(), &2.into()));
    let plane = json(&place, "model --rate 10mbit..1gbit --rtt 50ms --queue 10p..3000p --steps 10 --json");
    let cells = plane["cells"].as_array().unwrap();
    assert_eq!((cells.len(), cells[0].as_array().unwrap().len()), (10, 10));
    // Small queue and large BDP: case 1. Large queue and small BDP: case 6.
    assert_eq!((&cells[9][0]["case"], &cells[0][9]["case"]), (&1.into(), &6.into()));
}

#[test]
fn a_report_has_the_figures() {
    let place = Place::new();
    place.succeed("model --rate 200mbit --rtt 50ms --queue 100p --out here");
    place.succeed("model --rate 10mbit..1gbit --rtt 50ms --queue 10p..3000p --steps 10 --out plane");
    let page = place.read("here/model.html");
    for figure in ["Figures 2 and 3", "Figure 4", "Figure 5", "Figures 6 and 7", "Figure 8", "Figure 9"] {
        assert!(page.contains(figure), "{figure}");
    }
    assert!(place.read("plane/model.html").contains("Figures 6 and 7"));
}

#[test]
fn questions() {
    let place = Place::new();
    let queue = json(&place, "model --rate 200mbit --rtt 50ms --find queue --json");
    assert!((80.0..120.0).contains(&queue["queue_packets"].as_f64().unwrap()), "{queue}");
    let text = place.succeed("model --rate 200mbit --rtt 50ms --find queue").out;
    assert!(text.starts_with("compound alone on 200mbit, RTT 50ms; gamma 30,"), "{text}");
    let rate = json(&place, "model --rate 100mbit..1gbit --rtt 50ms --queue 100p --find rate --utilisation 0.9 --json");
    assert!((250.0..300.0).contains(&rate["rate_mbps"].as_f64().unwrap()), "{rate}");
    let gamma = json(&place, "model --rate 100mbit --rtt 50ms --queue 100p --find gamma --json");
    assert!(gamma["gamma_packets"].as_f64().unwrap() >= 30.0, "{gamma}");
    let reno = json(&place, "model --rate 1gbit --rtt 100ms --loss 1e-4 --controller reno --json");
    assert!((reno["responses"][0]["window_packets"].as_f64().unwrap() - 122.5).abs() < 0.5, "{reno}");
}

/// 10 ms sqrt(2 / 83.3): the queueing delay of two flows of compound_steady at 100 Mb/s, whose RTTs do not matter.
#[test]
fn flows_that_share_a_link() {
    let place = Place::new();
    let two = "model --rate 100mbit --rtt 126ms --peer-rtt 21ms --queue 1bdp --controller compound_steady";
    let found = json(&place, &format!("{two} --json"));
    assert!((found["queueing_delay_s"].as_f64().unwrap() - 0.001_549).abs() < 1e-6, "{found}");
    assert!((found["rates_mbps"][1].as_f64().unwrap() - 50.0).abs() < 0.01 && found["fits"] == true, "{found}");
    let text = place.succeed(two).out;
    assert!(text.starts_with("2 flows of compound_steady on 100mbit, queue 1bdp") && text.contains("Stable"), "{text}");
}

/// The model's queue of eight flows in packets, too: 25.8 on average, whatever the buffer.
#[test]
fn eight_flows_of_packets_keep_the_queue_of_the_model() {
    let place = Place::new();
    place.write(
        "eight.toml",
        "duration = \"60s\"\nwarmup = \"30s\"\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"140ms\"\nqueue = \"1bdp\"\n\
         [[flows]]\ncontroller = \"compound_steady\"\ncount = 8\nstart_spread = \"100ms\"\nrtt_spread = \"200us\"\n",
    );
    let queue_packets = json(&place, "run eight.toml --json")["runs"][0]["links"][0]["queue_packets"]["mean"].as_f64();
    assert!((queue_packets.unwrap() / 25.82 - 1.0).abs() < 0.1, "{queue_packets:?}");
}

/// The same path by both engines: one schema, and goodput within 1 %.
#[test]
fn engines_side_by_side() {
    let place = Place::new();
    place.write(
        "flow.toml",
        "duration = \"60s\"\nwarmup = \"20s\"\ndelayed_acks = false\nsend_jitter = \"0s\"\n[dumbbell]\nrate = \"50mbit\"\n\
         rtt = \"20ms\"\nqueue = \"100p\"\n[[flows]]\ncontroller = \"compound@rtt_gain=0\"\n",
    );
    let result = json(&place, "run flow.toml --engine sim,model --json");
    let runs = result["runs"].as_array().unwrap();
    assert_eq!([&runs[0]["engine"], &runs[1]["engine"]], ["sim", "model"]);
    let goodput = |i: usize| runs[i]["groups"][0]["goodput_mbps"].as_f64().unwrap();
    assert!((goodput(0) / goodput(1) - 1.0).abs() < 0.01, "{} and {}", goodput(0), goodput(1));
    place.write("reno.toml", &place.read("flow.toml").replace("compound@rtt_gain=0", "reno"));
    let refused = place.tandem("run reno.toml --engine sim,model --out refused");
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.err.contains("the model cannot answer this scenario") && refused.err.contains("`reno`"),
        "{}",
        refused.err
    );
}

/// The same words with `compare`: each engine's run of each contender, and its own baseline.
#[test]
fn compare_runs_in_several_engines() {
    let place = Place::new();
    let path = "--rate 50mbit --rtt 20ms --queue 100p --duration 40s --warmup 20s --seeds 2";
    let result = json(&place, &format!("compare {path} --engine model,sim --json compound@rtt_gain=0"));
    let names: Vec<&str> = result["runs"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["compound@rtt_gain=0, model", "compound@rtt_gain=0, sim"]);
    // Every seed of the model gives the same result, so that one is run.
    assert_eq!(result["runs"][0]["seeds"], serde_json::json!([1]));
    assert_eq!(result["runs"][1]["seeds"], serde_json::json!([1, 2]));
    assert!(result["runs"][0]["groups"][0]["srtt_ms"].is_null() && result["runs"][0]["partial"] == false);
}

#[test]
fn bad_input_is_refused() {
    let place = Place::new();
    let refused = |arguments: &str, part: &str| {
        let finished = place.tandem(&format!("model {arguments}"));
        assert_eq!(finished.status, Some(2), "{arguments}: {}", finished.err);
        assert!(finished.err.contains(part), "{arguments}: {}", finished.err);
        assert_eq!(finished.out, "");
    };
    refused("--rate 10 --rtt 50ms", "rate `10` has no unit");
    refused("--rate 10mbit --rtt 0s", "--rtt 0s");
    refused("--rate 10mbit..20mbit --rtt 1ms..2ms", "a plane is one of them and --queue");
    refused("--rate 10mbit --rtt 50ms --controller compound@k=0.7", "not a multiple of 1/8");
    refused("--rate 10mbit..1gbit --rtt 50ms --access-rate 1gbit", "more than the rate of the link");
    refused("--rate 10mbit --rtt 50ms --controller compound@k=0.625 --arithmetic linux-1.3", "compiled in");
    refused("--rate 10mbit --rtt 50ms --controller compound@gamma=-1", "`compound.gamma` = -1 is out of range");
    refused("--rate 10mbit --rtt 50ms --controller compound@rtt_gain=0.125", "the model leaves out `rtt_gain`");
    refused("--rate 10mbit --rtt 50ms --controller compound_tube", "the model knows `compound`");
    refused("--rate 10mbit --rtt 50ms --peer-rtt 10ms", "--peer-rtt needs --controller compound_steady");
    let steady = "--controller compound_steady";
    refused(&format!("--rate 10mbit --rtt 50ms --peer-rtt 0s {steady}"), "--peer-rtt 0s");
    refused(&format!("--rate 10mbit..1gbit --rtt 50ms {steady}"), "one rate, one RTT and one queue");
    refused(&format!("--rate 10mbit --rtt 50ms --arithmetic exact {steady}"), "--arithmetic are about compound");
    refused(&format!("--rate 10mbit --rtt 50ms {steady}@yield=0.5"), "the model leaves out `yield`");
    refused(&format!("--rate 10mbit --rtt 50ms --out page {steady}"), "nor with compound_steady");
    refused("--rate 10mbit --rtt 50ms --loss 1e-4 --controller compound@gamma=5", "the model leaves out `gamma`");
    refused("--rate 10mbit --rtt 50ms --mtu 40", "no room for data");
    refused("--rate 10mbit --rtt 50ms --find rate", "needs a range");
    refused("--rate 10mbit --rtt 50ms --find queue --utilisation 2", "not a share");
    refused("--rate 10mbit --rtt 50ms --loss 1e-4 --controller cubicc", "unknown controller");
    refused("--rate 10mbit --rtt 50ms --loss 0", "--loss 0");
    refused("--rate 10mbit..1gbit --rtt 50ms --queue 0.1bdp..2bdp", "a plane are packets or bytes");
    refused("--rate 10mbit --rtt 50ms --find queue --out x", "neither with --find");
}
