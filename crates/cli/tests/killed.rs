// SPDX-License-Identifier: MIT OR Apache-2.0
//! SIGKILL at each system call that may change the machine: the next command mends what it leaves. `strace` injects the signals.
#![cfg(target_os = "linux")]

mod common;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::{Mutex, MutexGuard, PoisonError},
};

use common::Place;
use tandem_kernel::{
    available, default_controller,
    sockops::{Cgroup, LoadedPolicy, PolicyFile, load_policy, policy, programs, remove_policy},
};
use tandem_testbed::Namespace;
use tandem_testing::{Running, output, take_controllers, wait_until};

/// A regular expression: architectures have different ones of these.
const CALLS: &str = "/^(bpf|mkdir(at)?|rename(at2?)?|mount|umount2|unlink(at)?|rmdir)$";

fn can_inject() -> bool {
    if let Some(lack) = tandem_kernel::features().into_iter().find(|f| f.required && !f.present) {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
        return false;
    }
    // Where there is a right to load, there may still be none to trace.
    let traced = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).status();
    if !traced.is_ok_and(|status| status.success()) {
        tandem_testing::skip("strace is missing, or may trace nothing here: apt-get install strace");
        return false;
    }
    take_controllers();
    true
}

fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A network namespace, so that `--default` changes no setting of this machine, and a folder.
struct Lab {
    place: Place,
    inside: Namespace,
    /// Tandem finds the namespace by a process in it.
    _holder: Running,
}

impl Lab {
    fn new() -> Self {
        let inside = Namespace::new().unwrap();
        let holder = inside.enter(|| Ok(Running::start_echo(&mut Command::new("cat")))).unwrap();
        Self { place: Place::new(), inside, _holder: holder }
    }

    fn strace(&self, options: &[&str], arguments: &str) -> ExitStatus {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq"]).args(options).arg(env!("CARGO_BIN_EXE_tandem"));
        strace.args(arguments.split_whitespace()).current_dir(self.place.path("")).env("TANDEM_STORE", "off");
        self.inside.enter(|| Ok(output(&mut strace).status)).unwrap()
    }

    /// How often each of the calls is made by the thread that makes it most often.
    fn count(&self, arguments: &str) -> BTreeMap<String, usize> {
        let calls = self.place.path("calls");
        let status = self.strace(&["-o", calls.to_str().unwrap(), "-e", &format!("trace={CALLS}")], arguments);
        assert!(status.success(), "{arguments}: {status}");
        let mut by_thread: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let text = fs::read_to_string(calls).unwrap();
        for line in text.lines().filter(|line| !line.contains("<... ")) {
            let Some((thread, (call, _))) = line.split_once(' ').and_then(|(t, c)| Some((t, c.split_once('(')?)))
            else {
                continue;
            };
            *by_thread.entry((call.trim(), thread)).or_default() += 1;
        }
        let mut most: BTreeMap<String, usize> = BTreeMap::new();
        for ((call, _), count) in by_thread {
            let longest = most.entry(call.to_owned()).or_default();
            *longest = count.max(*longest);
        }
        most
    }

    /// Runs the command once for each call that it makes, killed there, each time after `before` and before `after`. How often it died.
    fn kill_at_each(&self, arguments: &str, before: impl Fn(), after: impl Fn(&str)) -> usize {
        before();
        let calls = self.count(arguments);
        after("not killed at all");
        let mut kills = 0;
        for (call, count) in calls {
            for n in 1..=count {
                before();
                let inject = format!("inject={call}:signal=KILL:when={n}");
                let status =
                    self.strace(&["-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject], arguments);
                kills += usize::from(status.signal() == Some(9) || status.code() == Some(137));
                after(&format!("killed at {call} {n}"));
            }
        }
        println!("{arguments}: {kills} kills, all mended");
        kills
    }

    /// Whatever was killed before: one command, and the machine is as it was.
    fn assert_mended(&self, name: &str, when: &str) {
        let default = || self.inside.enter(|| Ok(default_controller().unwrap())).unwrap();
        tandem_testbed::clean_up().unwrap_or_else(|e| panic!("{when}: {e}"));
        // It may have been killed when it was done.
        if tandem_kernel::list().unwrap().iter().any(|loaded| loaded.name == name) {
            tandem_kernel::unload(name).unwrap_or_else(|e| panic!("{when}: {e}"));
        }
        // The kernel ends a registration a moment after the process that held it.
        wait_until(when, || !available().unwrap().iter().any(|n| n == name) && default() != name);
        let folder = Path::new("/sys/fs/bpf/tandem");
        assert!(!folder.join(name).exists(), "{when}");
        // Somebody may have something loaded.
        assert!(folder.exists() || !is_mounted_by_tandem(), "{when}: an empty BPF file system is left");
    }
}

fn is_mounted_by_tandem() -> bool {
    fs::read_to_string("/proc/mounts").unwrap().lines().any(|l| l.starts_with("tandem /sys/fs/bpf "))
}

#[test]
fn a_killed_load_is_mended() {
    if !can_inject() {
        return;
    }
    let _turn = alone();
    let (lab, name) = (Lab::new(), format!("k{}", std::process::id()));
    let load = format!("kernel load reno --as {name} --default");
    let kills = lab.kill_at_each(&load, || (), |when| lab.assert_mended(&name, when));
    // Each program and each map takes a call, and so does each file.
    assert!(kills > 30, "{kills}");
}

#[test]
fn a_killed_unload_is_mended() {
    if !can_inject() {
        return;
    }
    let _turn = alone();
    let (lab, name) = (Lab::new(), format!("u{}", std::process::id()));
    let params = tandem_controllers::Params::new(tandem_controllers::find("reno").unwrap());
    let load = || {
        let loaded = lab.inside.enter(|| Ok(tandem_kernel::load(&params, &name, true)?));
        assert!(loaded.is_ok(), "{loaded:?}");
    };
    let kills = lab.kill_at_each(&format!("kernel unload {name}"), load, |when| lab.assert_mended(&name, when));
    assert!(kills > 5, "{kills}");
}

/// A run's names are its process's, in hexadecimal. Others may run meanwhile.
fn is_of_a_dead_run(name: &str) -> bool {
    let process = name.strip_prefix('t').and_then(|rest| rest.split_once('_'));
    let process = process.and_then(|(process, _)| u32::from_str_radix(process, 16).ok());
    process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
}

/// Killed before its flows are connected: what is left of a connection's controller goes with the connection.
#[test]
fn a_killed_run_is_mended() {
    if !can_inject() {
        return;
    }
    let _turn = alone();
    let lab = Lab::new();
    let path = "[dumbbell]\nrate = \"1mbit\"\nrtt = \"10ms\"\nqueue = \"9p\"";
    lab.place.write("s.toml", &format!("duration = \"100ms\"\n{path}\n[[flows]]\ncontroller = \"reno\"\n"));
    let after = |when: &str| {
        tandem_testbed::clean_up().unwrap_or_else(|e| panic!("{when}: {e}"));
        wait_until(when, || !available().unwrap().iter().any(|name| is_of_a_dead_run(name)));
    };
    let kills = lab.kill_at_each("run s.toml --engine kernel --force", || (), after);
    assert!(kills > 30, "{kills}");
}

/// A cgroup that nothing is in, and a policy for it.
struct Governed {
    lab: Lab,
    group: PathBuf,
}

impl Governed {
    fn new() -> Self {
        let group = Cgroup::root().unwrap().path.join(format!("tandem-killed-{}", std::process::id()));
        fs::create_dir(&group).unwrap();
        Self { lab: Lab::new(), group }
    }

    fn load(&self, text: &str) {
        load_policy(&PolicyFile::parse(text).unwrap(), Some(&self.group)).unwrap();
    }

    /// What the rules in force are for.
    fn in_force(&self) -> Option<Vec<String>> {
        let whats = |loaded: LoadedPolicy| loaded.rules.into_iter().map(|rule| rule.what).collect();
        policy().unwrap().map(whats)
    }

    /// Whatever was killed before: there is one whole policy, `old` or `new`; then one command, and the machine is as it was.
    fn assert_mended(&self, when: &str, old: Option<&[&str]>, new: Option<&[&str]>) {
        let found = self.in_force();
        let is = |whole: Option<&[&str]>| {
            found.as_ref().map(Vec::len) == whole.map(<[_]>::len)
                && found.iter().flatten().eq(whole.iter().copied().flatten())
        };
        assert!(is(old) || is(new), "{when}: {found:?}");
        tandem_testbed::clean_up().unwrap_or_else(|e| panic!("{when}: {e}"));
        assert_eq!(self.in_force(), found, "{when}: what is whole stays");
        if found.is_some() {
            remove_policy().unwrap_or_else(|e| panic!("{when}: {e}"));
        }
        assert!(!Path::new("/sys/fs/bpf/tandem/-policy").exists(), "{when}");
        assert!(Path::new("/sys/fs/bpf/tandem").exists() || !is_mounted_by_tandem(), "{when}");
    }
}

impl Drop for Governed {
    fn drop(&mut self) {
        let _ = remove_policy();
        fs::remove_dir(&self.group).unwrap();
    }
}

#[test]
fn a_killed_policy_is_whole_or_not_there() {
    if !can_inject() {
        return;
    }
    let _turn = alone();
    let governed = Governed::new();
    governed.lab.place.write("new.conf", "192.0.2.0/24 -> reno\nport 873 -> reno\n");
    let (old, new) = (&["default"][..], &["192.0.2.0/24", "port 873"][..]);
    let load = format!("policy load new.conf --cgroup {}", governed.group.display());
    let (before, kill) = (
        || governed.load("default -> reno\n"),
        |command: &str, before: &dyn Fn(), old, new| {
            governed.lab.kill_at_each(command, before, |when| governed.assert_mended(when, old, new))
        },
    );
    let kills = kill(&load, &|| (), None, Some(new));
    assert!(kills > 10, "{kills}");
    let kills = kill(&load, &before, Some(old), Some(new));
    assert!(kills > 10, "{kills}");
    let kills = kill("policy remove", &before, Some(old), None);
    assert!(kills > 3, "{kills}");
}

/// The program goes with the process: nothing needs fixing.
#[test]
fn a_killed_trial_leaves_nothing() {
    if !can_inject() {
        return;
    }
    let _turn = alone();
    let governed = Governed::new();
    let out = governed.lab.place.path("out");
    let trial =
        format!("trial reno --against reno --for 1ms --no-report --out out --cgroup {}", governed.group.display());
    let before = || drop(fs::remove_dir_all(&out));
    let after = |when: &str| {
        wait_until(&format!("{when}: no program is left"), || programs("trial") == 0);
        assert!(tandem_testbed::clean_up().unwrap().is_empty(), "{when}");
    };
    let kills = governed.lab.kill_at_each(&trial, before, after);
    assert!(kills > 10, "{kills}");
}
