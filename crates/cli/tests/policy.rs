// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem policy` as a user sees it: messages and exit status. What it does to connections is tested in kernel/.
#![cfg(target_os = "linux")]

mod common;

use std::{fs, path::PathBuf, process::Command};

use common::{Finished, Place};
use serde_json::Value;
use tandem_kernel::sockops::{Cgroup, remove_policy};
use tandem_testing::{output, take_controllers};

/// A cgroup that nothing is in.
struct Group(PathBuf);

impl Group {
    fn new() -> Self {
        let path = Cgroup::root().unwrap().path.join(format!("tandem-cli-test-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = remove_policy();
        fs::remove_dir(&self.0).unwrap();
    }
}

fn lacks_sockops() -> bool {
    let lack = tandem_kernel::features().into_iter().find(|f| (f.required || f.name == "policy") && !f.present);
    if let Some(lack) = &lack {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
    }
    take_controllers();
    lack.is_some()
}

#[test]
fn a_bad_file_is_refused_with_its_line() {
    let place = Place::new();
    for (text, status, parts) in [
        ("192.0.2.7/24 -> cubic\n", 2, &["`p.conf`, line 1", "did you mean 192.0.2.0/24?"][..]),
        ("# a\n\nport x -> cubic\n", 2, &["line 3", "`x` is not a port"]),
        ("", 2, &["there is no rule in it"]),
    ] {
        place.write("p.conf", text);
        let refused = place.tandem("policy load p.conf");
        assert_eq!(refused.status, Some(status), "{}", refused.err);
        parts.iter().for_each(|part| assert!(refused.err.contains(part), "{part}: {}", refused.err));
    }
    let missing = place.tandem("policy load nowhere.conf");
    assert_eq!(missing.status, Some(1));
    assert!(missing.err.contains("cannot read `nowhere.conf`"), "{}", missing.err);
    // A pipe has no end, and a folder no text.
    assert_eq!(place.tandem("policy load .").status, Some(1));
    for peer in ["192.0.2.7", "example.com:80", "192.0.2.7:99999", "2001:db8::1:80"] {
        assert_eq!(place.tandem(&format!("policy test {peer}")).status, Some(2), "{peer}");
    }
}

#[test]
fn from_load_to_remove() {
    if lacks_sockops() {
        return;
    }
    let (place, group) = (Place::new(), Group::new());
    let path = group.0.display().to_string();
    place.write("p.conf", &format!("192.0.2.0/24 -> reno\nport 873 -> cubic\ncgroup {path} -> reno\n"));
    place.write("q.conf", "default -> cubic\n");
    let json = |arguments: &str| serde_json::from_str::<Value>(&place.succeed(arguments).out).unwrap();

    assert!(place.succeed("policy show").out.contains("No policy is loaded"));
    assert_eq!(json("policy show --json"), Value::Null);
    let none = place.tandem("policy remove");
    assert_eq!(none.status, Some(1));
    assert!(none.err.contains("`tandem policy load FILE`"), "{}", none.err);

    let loaded = place.succeed(&format!("policy load p.conf --cgroup {path}")).out;
    assert!(loaded.contains("is in force: 3 rules") && loaded.contains(&path), "{loaded}");
    assert!(place.succeed("policy test 192.0.2.7:443").out.contains("reno, by the rule `192.0.2.0/24`"));
    assert!(place.succeed("policy test [::ffff:192.0.2.7]:443").out.contains("by the rule `192.0.2.0/24`"));
    assert!(place.succeed("policy test [2001:db8::1]:873").out.contains("cubic, by the rule `port 873`"));
    assert!(place.succeed("policy test 198.51.100.1:80").out.contains("no rule matches"));
    let within = json(&format!("policy test 198.51.100.1:80 --cgroup {path} --json"));
    assert_eq!(within["rule"]["what"], format!("cgroup {path}"), "{within}");
    let shown = place.succeed("policy show").out;
    assert!(shown.contains("port 873") && shown.contains("refused"), "{shown}");

    let elsewhere = place.tandem("policy load q.conf");
    assert_eq!(elsewhere.status, Some(1));
    assert!(elsewhere.err.contains(&format!("give --cgroup {path}")), "{}", elsewhere.err);
    place.write("bad.conf", "default -> no_such_thing\n");
    let refused = place.tandem(&format!("policy load bad.conf --cgroup {path}"));
    assert_eq!(refused.status, Some(1));
    for part in ["`bad.conf` is not loaded", "line 1", "modprobe tcp_no_such_thing", "reno"] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    assert_eq!(json("policy show --json")["rules"].as_array().unwrap().len(), 3, "what was refused changed nothing");
    let replaced = json(&format!("policy load q.conf --cgroup {path} --json"));
    assert_eq!((&replaced["replaced"], &replaced["rules"][0]["what"]), (&true.into(), &"default".into()));
    assert!(place.succeed("policy remove").out.contains("has ended. It decided on 0 connections"));
    assert_eq!(json("policy show --json"), Value::Null);
}

#[test]
fn without_rights_it_says_what_it_takes() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    if !rustix::process::geteuid().is_root() {
        return tandem_testing::skip("it takes root to give up its rights");
    }
    take_controllers();
    let place = Place::new();
    place.write("p.conf", "192.0.2.0/24 -> reno\n");
    // Another user may not enter the folder of the build.
    tandem_testing::copy_program(env!("CARGO_BIN_EXE_tandem"), place.path("tandem"));
    fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o777)).unwrap();
    for arguments in ["policy load p.conf", "policy remove", "trial reno --against reno --for 1ms"] {
        let mut command = Command::new(place.path("tandem"));
        command.args(arguments.split_whitespace()).current_dir(place.path("")).uid(65534).gid(65534);
        let refused: Finished = output(&mut command).into();
        assert_eq!(refused.status, Some(1), "tandem {arguments}: {}", refused.err);
        for part in ["not permitted to", "run it as root", "CAP_BPF"] {
            assert!(refused.err.contains(part), "tandem {arguments}: {}", refused.err);
        }
    }
}
