// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem trial` as a user sees it: messages, files, what ends it, and that nothing is left, also after SIGKILL.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use common::{Finished, Place};
use rustix::net::sockopt::tcp_congestion;
use serde_json::Value;
use tandem_controllers::{Params, find};
use tandem_kernel::{
    Attached, attach,
    sockops::{Cgroup, programs},
};
use tandem_testing::{Running, take_controllers, wait_until};

fn lacks_sockops() -> bool {
    let wanted = |name| ["cgroups", "trial"].contains(&name);
    let lack = tandem_kernel::features().into_iter().find(|f| (f.required || wanted(f.name)) && !f.present);
    if let Some(lack) = &lack {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
    }
    take_controllers();
    lack.is_some()
}

/// The whole test program in a cgroup of its own, and two controllers that nobody else has.
struct Lab {
    place: Place,
    group: PathBuf,
    before: PathBuf,
    arms: [Option<Attached>; 2],
    _turn: MutexGuard<'static, ()>,
}

fn name(arm: usize) -> String {
    format!("t{:x}_{}", std::process::id(), ["new", "old"][arm])
}

impl Lab {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let root = Cgroup::root().unwrap().path;
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let before = root.join(own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap());
        let group = root.join(format!("tandem-cli-trial-{}", std::process::id()));
        fs::create_dir(&group).unwrap();
        fs::write(group.join("cgroup.procs"), "0").unwrap();
        let params = Params::new(find("reno").unwrap());
        let arms = [0, 1].map(|arm| Some(attach(&params, &name(arm)).unwrap()));
        Self { place: Place::new(), group, before, arms, _turn: turn }
    }

    fn command(&self, more: &str) -> String {
        format!("trial {} --against {} --cgroup {} {more}", name(0), name(1), self.group.display())
    }

    fn start(&self, more: &str) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        command.args(self.command(more).split_whitespace()).current_dir(self.place.path(""));
        let running = Running::start_piped(&mut command);
        wait_until("connections take part", || is_in(&exchange(1)));
        running
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = fs::write(self.before.join("cgroup.procs"), "0");
        wait_until("the cgroup is empty", || fs::remove_dir(&self.group).is_ok());
        if !thread::panicking() {
            // The kernel frees it a moment after its link.
            wait_until("no program is left", || programs("trial") == 0);
        }
    }
}

fn is_in(controllers: &[String; 2]) -> bool {
    controllers.iter().all(|controller| [name(0), name(1)].contains(controller))
}

/// Sends this many bytes over a connection on the loopback device; what both ends have.
fn exchange(bytes: usize) -> [String; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut far = listener.accept().unwrap().0;
    let reader = thread::spawn(move || {
        let read = far.read_to_end(&mut Vec::new()).unwrap();
        (read, tcp_congestion(&far).unwrap())
    });
    near.write_all(&vec![1; bytes]).unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    let (read, far) = reader.join().unwrap();
    assert_eq!(read, bytes);
    [tcp_congestion(&near).unwrap(), far]
}

#[test]
fn bad_usage_is_refused() {
    let place = Place::new();
    for (arguments, status, part) in [
        ("trial reno", 2, "--against"),
        ("trial reno --against cubic --share 0%", 2, "0.1% to 99.9%"),
        ("trial reno --against cubic --share 99.99%", 2, "needs a share, too"),
        ("trial reno --against cubic --share 2", 2, "--share"),
        ("trial reno --against cubic --to 192.0.2.7/24", 2, "did you mean 192.0.2.0/24?"),
        ("trial reno --against cubic --port 0", 2, "--port"),
        ("trial reno --against cubic --for 0s", 2, "--for"),
        ("trial reno --against cubic --for 5", 2, "--for"),
    ] {
        let refused = place.tandem(arguments);
        assert_eq!(refused.status, Some(status), "{arguments}: {}", refused.err);
        assert!(refused.err.contains(part), "{arguments}: {}", refused.err);
    }
    if lacks_sockops() {
        return;
    }
    let refused = place.tandem("trial no_such_thing --against cubic");
    assert_eq!(refused.status, Some(1), "{}", refused.err);
    assert!(refused.err.contains("modprobe tcp_no_such_thing"), "{}", refused.err);
    let refused = place.tandem("trial reno --against reno --cgroup no/such/group");
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains("/no/such/group does not exist"), "{}", refused.err);
}

#[test]
fn connections_become_rows_and_an_answer() {
    if lacks_sockops() {
        return;
    }
    let lab = Lab::new();
    let mut running = lab.start("--json --out first");
    // Enough of each arm for an interval: the chance of fewer than 30 of 300 is below 1 in 10^40.
    (0..150).for_each(|number| assert!(is_in(&exchange(if number % 3 == 0 { 200_000 } else { 20_000 }))));
    running.signal("INT");
    assert!(running.wait().success());
    let finished: Finished = running.output().into();
    let answer: Value =
        serde_json::from_str(&finished.out).unwrap_or_else(|e| panic!("{e}: {}{}", finished.out, finished.err));
    assert_eq!(answer["ended_by"], "interrupt");
    let total =
        |key: &str| -> u64 { answer["totals"].as_array().unwrap().iter().map(|t| t[key].as_u64().unwrap()).sum() };
    assert!(total("connections") >= 300 && total("failed") == 0, "{answer}");
    assert!(total("bytes") >= 50 * 200_000 + 100 * 20_000, "{answer}");
    assert_eq!(answer["peers"], 1);
    assert!(answer["rows"][0]["connections"].as_array().unwrap().iter().all(|n| n.as_u64().unwrap() >= 30), "{answer}");
    assert!(
        answer["rows"][0]["goodput_change"]["low"].is_number() && answer["connections_to_show"].is_number(),
        "{answer}"
    );

    let (schema, batches) = tandem_tables::read_parquet(&lab.place.path("first/connections-1.parquet")).unwrap();
    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    assert_eq!(rows as u64, total("connections"));
    assert!(schema.field_with_name("goodput_bps").is_ok());
    // The peer is hashed, in each file.
    for file in lab.place.files("first") {
        let bytes = fs::read(lab.place.path("first").join(&file)).unwrap();
        assert!(!bytes.windows(9).any(|part| part == b"127.0.0.1"), "{file}");
    }
    assert_eq!(lab.place.json("first/results.json")["totals"], answer["totals"]);
    let measured = tandem_advise::measured::read(&[lab.place.path("first/path.txt")]).unwrap();
    assert_eq!((measured.controller, measured.rtt.is_some()), (Some(name(1)), true), "advise reads the connection");
    let report = lab.place.read("first/report.html");
    assert!(report.contains(&format!("Trial: {} against {}", name(0), name(1))), "no title");
    // Another trial does not go where one was.
    let again = lab.place.tandem(&lab.command("--for 1s --out first"));
    assert_eq!(again.status, Some(2));
    assert!(again.err.contains("`first` holds a trial"), "{}", again.err);
}

#[test]
fn a_killed_trial_leaves_nothing_and_connections_live_on() {
    if lacks_sockops() {
        return;
    }
    let lab = Lab::new();
    let mut running = lab.start("--out killed");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut far = listener.accept().unwrap().0;
    let controller = tcp_congestion(&near).unwrap();
    running.kill();
    wait_until("no program is left", || programs("trial") == 0);
    assert!(!is_in(&exchange(10)), "new connections have the default");
    near.write_all(&[7; 1000]).unwrap();
    far.read_exact(&mut [0; 1000]).unwrap();
    assert_eq!(tcp_congestion(&near).unwrap(), controller);
}

#[test]
fn it_ends_by_its_time_and_with_its_controller() {
    if lacks_sockops() {
        return;
    }
    let mut lab = Lab::new();
    let finished = lab.place.succeed(&lab.command("--for 300ms"));
    assert!(finished.out.contains("Too few connections"), "{}", finished.out);
    assert!(lab.place.path("tandem-out/trial/report.html").exists());
    let running = lab.start("--no-report");
    lab.arms[0] = None;
    let finished: Finished = running.output().into();
    assert_eq!(finished.status, Some(1), "{}", finished.err);
    assert!(finished.err.contains(&format!("no longer has the controller `{}`", name(0))), "{}", finished.err);
    assert_eq!(lab.place.json("tandem-out/trial-2/results.json")["ended_by"], format!("controller gone: {}", name(0)));
}
