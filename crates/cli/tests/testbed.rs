// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem run --engine kernel` and `tandem shell`: real TCP, refusals, nothing left behind.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use common::{Place, trusted};
use serde_json::Value;
use tandem_testbed::Namespace;
use tandem_testing::{Running, take_controllers, wait_until};

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// False, and said so, where there is no right to make namespaces and devices. `scripts/test.sh` counts the line.
fn can_emulate() -> bool {
    let refused = match Namespace::new() {
        Err(e) => e.to_string(),
        Ok(_) if !fs::exists("/dev/net/tun").unwrap_or(false) => "there is no /dev/net/tun".into(),
        Ok(_) => {
            take_controllers();
            return true;
        }
    };
    tandem_testing::skip(&refused);
    false
}

/// Runs in real time take turns, except where two at once are the point.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn scenario(duration: &str, flows: &str) -> String {
    format!(
        "duration = \"{duration}\"\nwarmup = \"1s\"\n[dumbbell]\nrate = \"20mbit\"\nrtt = \"20ms\"\nqueue = \"1bdp\"\n{flows}"
    )
}

const RENO: &str = "[[flows]]\ncontroller = \"kernel:reno\"\n";

#[test]
fn the_result_has_the_simulators_schema_and_says_how_exact_it_is() {
    if !can_emulate() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    place.write("s.toml", &scenario("4s", "[[flows]]\ncontroller = \"reno\"\n"));
    let run = || {
        let results: Value = serde_json::from_str(&place.succeed("run s.toml --engine sim,kernel --json").out).unwrap();
        let [sim, kernel] = &results["runs"].as_array().unwrap()[..] else { panic!("{results}") };
        assert_eq!((&sim["engine"], &kernel["engine"]), (&"sim".into(), &"kernel".into()));
        let keys = |run: &Value| run.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(sim), keys(kernel));
        assert!(sim["emulation"].is_null());
        let emulation = kernel["emulation"].clone();
        assert!(emulation["lateness_us"]["p99"].as_f64().unwrap() > 0.0, "{emulation}");
        (kernel["groups"][0]["goodput_mbps"].as_f64().unwrap(), emulation)
    };
    let Some(goodput) = trusted(run) else { return };
    // 20 Mb/s carry 19.3 Mb/s of payload; less arrives only if the machine was too busy, which the result must say.
    assert!((18.5..19.5).contains(&goodput), "{goodput}");
}

/// A criterion of one's own that is clear in either engine.
const CLEAR: &str = r#"
title = "A link that anybody uses"
claim = "It is used."
[criterion]
section = "1"
[scenario]
duration = "4s"
warmup = "1s"
seeds = 2
[scenario.dumbbell]
rate = "5mbit"
rtt = "20ms"
queue = "2bdp"
[[scenario.flows]]
controller = "contender"
[sweep]
label = "RTT, ms"
values = [20]
set = { "dumbbell.rtt" = "{}ms" }
[y]
label = "Utilisation, %"
[measure]
kind = "utilisation"
[[curves]]
name = "contender"
[[curves]]
name = "sent"
measure = { kind = "sent" }
[[claims]]
text = "a third of it is used"
headline = true
ours = true
curve = "contender"
above = 33
[[claims]]
text = "some packets are sent"
headline = true
ours = true
curve = "sent"
above = 100
[kernel]
"#;

/// What was measured is judged by what is not kept of the papers' runs, too; and it is kept.
#[test]
fn a_criterion_is_judged_in_both_engines() {
    if !can_emulate() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/clear.toml", CLEAR);
    let evaluate = "evaluate compound --suite ./mine --quick --engine sim,kernel --json";
    let run = || {
        let json: Value = serde_json::from_str(&place.succeed(evaluate).out).unwrap();
        let row = json["rows"][0].clone();
        (row.clone(), row["real_tcp"].clone())
    };
    let Some(row) = trusted(run) else { return };
    let there = &row["real_tcp"];
    assert_eq!(
        (&row["answer"], &there["answer"], &there["agreement"]),
        (&"passes".into(), &"passes".into(), &"agrees".into()),
        "{row}"
    );
    assert_eq!(there["asked"].as_array().unwrap().len(), 2, "{row}");
    assert_eq!(there["seeds"], serde_json::json!([1]));
    let again = place.succeed(evaluate);
    assert!(!again.err.contains("over real TCP"), "{}", again.err);
}

#[test]
fn what_an_engine_cannot_do_is_refused() {
    let _turn = alone();
    let place = Place::new();
    place.write("s.toml", &scenario("4s", RENO));
    let finished = place.tandem("run s.toml");
    assert_eq!(finished.status, Some(2), "{}", finished.err);
    assert!(finished.err.contains("--engine kernel"), "{}", finished.err);
    place.write("fast.toml", &scenario("4s", RENO).replace("20mbit", "100gbit"));
    let finished = place.tandem("run fast.toml --engine kernel");
    assert_eq!(finished.status, Some(2), "{}", finished.err);
    assert!(finished.err.contains("--force"), "{}", finished.err);
    if can_emulate() {
        place.write("odd.toml", &scenario("4s", RENO).replace("kernel:reno", "kernel:nonesuch"));
        let finished = place.tandem("run odd.toml --engine kernel");
        assert_eq!(finished.status, Some(1), "{}", finished.err);
        assert!(finished.err.contains("kernel:nonesuch"), "{}", finished.err);
    }
}

#[test]
fn two_runs_at_once_do_not_collide() {
    if !can_emulate() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    place.write("s.toml", &scenario("3s", "[[flows]]\ncontroller = \"compound\"\n"));
    for running in ["a", "b"].map(|out| place.start(&format!("run s.toml --engine kernel --out {out}"))) {
        let output = running.output();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// States as /proc/net/tcp has them.
const ESTABLISHED: &str = "01";
const LISTEN: &str = "0A";

/// The namespaces that a process holds by descriptors: two, once its path stands.
fn held_namespaces(running: &Running) -> Vec<fs::File> {
    let Ok(entries) = fs::read_dir(format!("/proc/{}/fd", running.id())) else { return Vec::new() };
    let is_namespace =
        |path: &str| fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("net:["));
    let opened = |path: String| is_namespace(&path).then(|| fs::File::open(path).ok()).flatten();
    // Meanwhile the process may have closed it, and opened something else under its number.
    let is_still_one =
        |file: &fs::File| is_namespace(&format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)));
    let paths = entries.flatten().map(|entry| entry.path().display().to_string());
    paths.filter_map(opened).filter(is_still_one).collect()
}

/// What a thread inside sees: devices, and TCP connections and listeners that a program has. What the kernel itself still closes,
/// for a minute or two, goes with the namespace, which here only the test holds.
struct Inside {
    devices: Vec<String>,
    connections: usize,
    /// Has one of the connections data that is to be sent, or to be acknowledged?
    has_data: bool,
}

fn look_inside(namespace: &fs::File) -> Inside {
    thread::scope(|scope| {
        let inside = scope.spawn(|| {
            let kind = Some(rustix::thread::LinkNameSpaceType::Network);
            rustix::thread::move_into_link_name_space(std::os::fd::AsFd::as_fd(namespace), kind).unwrap();
            let devices = fs::read_to_string("/proc/thread-self/net/dev").unwrap();
            let devices = devices.lines().skip(2).map(|l| l.split(':').next().unwrap().trim().to_owned()).collect();
            let table = fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
            // The fourth column is the state, the fifth what is to be sent and what is to be read.
            let sockets = table.lines().skip(1).filter_map(|line| {
                let mut columns = line.split_whitespace().skip(3);
                Some((columns.next()?, columns.next()?))
            });
            let held: Vec<_> = sockets.filter(|(state, _)| matches!(*state, ESTABLISHED | LISTEN)).collect();
            let has_queue = |(state, queues): &(&str, &str)| *state == ESTABLISHED && !queues.starts_with("00000000");
            Inside { devices, connections: held.len(), has_data: held.iter().any(has_queue) }
        });
        inside.join().unwrap()
    })
}

/// Waits until both ends have this many connections or listeners, and data is under way; the namespaces.
fn wait_for_data(running: &mut Running, connections: usize) -> Vec<fs::File> {
    let mut namespaces = Vec::new();
    wait_until("the run carries data", || {
        assert!(!running.has_ended(), "the run ended before it was seen");
        namespaces = held_namespaces(running);
        let inside: Vec<Inside> = namespaces.iter().map(look_inside).collect();
        inside.len() == 2 && inside.iter().all(|i| i.connections >= connections) && inside.iter().any(|i| i.has_data)
    });
    namespaces
}

#[test]
fn a_killed_run_leaves_nothing_behind() {
    if !can_emulate() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    place.write("s.toml", &scenario("600s", "[[flows]]\ncontroller = \"compound\"\ncount = 3\n"));
    let mut running = place.start("run s.toml --engine kernel");
    let ours = format!("t{:x}_", running.id());
    let is_registered = || fs::read_to_string(AVAILABLE).unwrap().split_whitespace().any(|n| n.starts_with(&ours));
    // Three connections and three listeners, or their like at the senders' end.
    let namespaces = wait_for_data(&mut running, 3);
    assert!(is_registered());
    for namespace in &namespaces {
        assert!(look_inside(namespace).devices.contains(&"path".to_owned()));
    }
    running.kill();
    // Before Linux 6.4 it takes this, or the next run, for the registration to go.
    let cleaned = place.tandem("kernel cleanup --json");
    assert_eq!(cleaned.status, Some(0), "{}", cleaned.err);
    let removed: Vec<String> = serde_json::from_str(&cleaned.out).unwrap();
    assert!(removed.is_empty() || removed.iter().any(|name| name.starts_with(&ours)), "{removed:?}");
    wait_until("the registration is gone", || !is_registered());
    for namespace in &namespaces {
        wait_until("devices and connections are gone", || {
            let Inside { devices, connections, .. } = look_inside(namespace);
            (devices, connections) == (vec!["lo".into()], 0)
        });
    }
}

/// A stop may come while the emulator sleeps, or while no packet is due: it is doubted all the same. Three runs at once, because each is
/// much longer than it takes on a busy machine to find out that it has begun.
#[test]
fn a_run_that_stood_still_is_doubted() {
    if !can_emulate() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    place.write("s.toml", &scenario("20s", RENO));
    let start = |stop_ms| (stop_ms, place.start(&format!("run s.toml --engine kernel --json --out {stop_ms}")));
    let mut runs = [100, 300, 1000].map(start);
    for (stop_ms, running) in &mut runs {
        wait_for_data(running, 1);
        running.signal("STOP");
        thread::sleep(Duration::from_millis(*stop_ms));
        running.signal("CONT");
    }
    for (stop_ms, running) in runs {
        let output = running.output();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let results: Value = serde_json::from_slice(&output.stdout).unwrap();
        let emulation = &results["runs"][0]["emulation"];
        let stood_still = |doubt: &Value| doubt.as_str().unwrap().contains("stood still");
        assert!(emulation["doubts"].as_array().unwrap().iter().any(stood_still), "{stop_ms} ms: {emulation}");
    }
}

/// Two runs of three seconds, which are kept: the second time there is nothing to run.
#[test]
fn a_papers_experiment_runs_over_real_tcp_and_is_kept() {
    if !can_emulate() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    let small = include_str!("../../../experiments/tests/small.toml");
    let small = small.replace("kind = \"stolen\"", "kind = \"goodput\"").replace("below = 10", "above = 0");
    let kernel = "[kernel]\nvalues = [20]\nseeds = 2\nset = { duration = \"3s\" }\n";
    place.write("small.toml", &format!("machines = true\n{small}\n{kernel}"));
    let run = "papers run small.toml --engine kernel --json";
    let first = place.succeed(run);
    assert!(first.err.contains("Runs over real TCP: 2,"), "{}", first.err);
    let results: Value = serde_json::from_str(&first.out).unwrap();
    let found = &results["experiments"][0];
    assert_eq!(found["engine"], "kernel", "{found}");
    let beside = &found["kernel"];
    let measured_mbps = beside["measured"]["curves"][0]["points"][0]["by_seed"].as_array().unwrap();
    assert_eq!(measured_mbps.len(), 2);
    // How much a busy machine lets through is not asked.
    assert!(measured_mbps.iter().all(|mbps| (0.0..20.0).contains(&mbps.as_f64().unwrap())), "{measured_mbps:?}");
    assert_eq!(beside["simulated"]["curves"][0]["points"][0]["by_seed"].as_array().unwrap().len(), 10);
    assert_eq!(place.read("tandem-out/papers/kernel.jsonl").lines().count(), 2);
    // Runs that were doubted are made again, and no others.
    let is_trusted = beside["doubts"].as_array().unwrap().is_empty();
    assert_eq!(place.succeed(run).err.contains("Runs over real TCP: "), !is_trusted);
    // Beside the simulation, without a right to anything.
    let shown = place.succeed("papers run small.toml --quick --kernel-runs tandem-out/papers/kernel.jsonl").out;
    assert!(shown.contains("Over real TCP: "), "{shown}");
}
