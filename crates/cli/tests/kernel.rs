// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem kernel` as a user sees it: messages and exit status. What the kernel does with the controllers is tested in
//! kernel/.

mod common;

use std::os::unix::process::CommandExt;

use common::{Finished, Place, QUICK_FILE};
use serde_json::Value;
use tandem_testing::{output, take_controllers};

#[track_caller]
fn fails(place: &Place, arguments: &str, status: i32, parts: &[&str]) {
    let finished = place.tandem(arguments);
    assert_eq!(finished.status, Some(status), "tandem {arguments}\n{}{}", finished.out, finished.err);
    for part in parts {
        assert!(finished.err.contains(part), "`{part}` is not in what `tandem {arguments}` says:\n{}", finished.err);
    }
}

#[test]
fn bad_usage() {
    let place = Place::new();
    let load = |arguments: &str, parts: &[&str]| fails(&place, &format!("kernel load {arguments}"), 2, parts);
    load("compund", &["unknown controller `compund`", "did you mean `compound`?"]);
    load("compound@gamma=1e9", &["`compound.gamma` = 1000000000 is out of range", "to 10000"]);
    load("compound@gama=20", &["`compound` has no parameter `gama`", "`gamma`"]);
    load("compound@gamma", &["write compound@key=value"]);
    load("compound@gamma=few", &["`few` is not a number"]);
    load("compound --as a_name_of_16_char", &["`a_name_of_16_char`", "1 to 15 letters"]);
    load("compound --as a/b", &["`a/b`", "1 to 15 letters"]);
    load("prague", &["`prague` does not run in the kernel", "ECT(1)", "The simulator runs it"]);
    let dumbbell = "[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\nqueue = \"20p\"";
    place.write("l4s.toml", &format!("duration = \"1s\"\n{dumbbell}\n[[flows]]\ncontroller = \"prague\""));
    fails(&place, "run l4s.toml --engine kernel", 2, &["`prague` does not run in the kernel"]);
    fails(&place, "kernel watch", 2, &["needs a terminal", "--json"]);
    fails(&place, "kernel watch --json --interval 0s", 2, &["--interval"]);
    fails(&place, "kernel watch --json --interval 5", 2, &["--interval", "has no unit"]);
}

/// As a user without rights; `None` (and a line that counts as skipped) where this test has none itself to give up.
fn without_rights(place: &Place, arguments: &str) -> Option<Finished> {
    if !rustix::process::geteuid().is_root() {
        tandem_testing::skip("it takes root to give up its rights");
        return None;
    }
    // Another user may not enter the folder of the build.
    let program = place.path("tandem");
    tandem_testing::copy_program(env!("CARGO_BIN_EXE_tandem"), &program);
    std::fs::set_permissions(place.path(""), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = std::process::Command::new(program);
    Some(output(command.args(arguments.split_whitespace()).uid(65534).gid(65534)).into())
}

#[test]
fn without_rights_real_tcp_is_refused_before_anything_runs() {
    let place = Place::new();
    let open = place.path("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    place.write("s.toml", &QUICK_FILE.join("\n"));
    let file = place.path("s.toml").display().to_string();
    for command in ["papers run s3/fig4", &format!("run {file}")] {
        let arguments = format!("{command} --engine sim,kernel --out {}", open.join("out").display());
        let Some(finished) = without_rights(&place, &arguments) else { return };
        assert_eq!(finished.status, Some(1), "{}", finished.err);
        assert!(finished.err.contains("the kernel engine needs root"), "{}", finished.err);
        assert!(!open.join("out/results.json").exists());
    }
}

#[test]
fn without_rights_each_command_says_what_it_takes() {
    take_controllers();
    let place = Place::new();
    for arguments in ["kernel load compound --as no_rights_here", "kernel watch --json --count 1"] {
        let Some(finished) = without_rights(&place, arguments) else { return };
        // Where nothing is loaded there is nothing to watch that would need rights.
        if arguments.contains("watch") && finished.status == Some(0) {
            continue;
        }
        assert_eq!(finished.status, Some(1), "tandem {arguments}\n{}", finished.err);
        assert!(finished.err.contains("not permitted"), "{}", finished.err);
        assert!(finished.err.contains("run it as root"), "{}", finished.err);
    }
    let checked = without_rights(&place, "kernel check").unwrap();
    assert_eq!(checked.status, Some(1), "{}", checked.out);
    assert!(checked.out.contains("CAP_BPF"), "{}", checked.out);
}

/// Taken back at the end of the test, however it ends.
struct Unload<'a>(&'a Place, &'static str);

impl Drop for Unload<'_> {
    fn drop(&mut self) {
        self.0.tandem(&format!("kernel unload {}", self.1));
    }
}

/// Every kernel has a `reno` of its own; many have a `bbr`, too.
#[test]
fn where_the_kernel_has_the_name_it_is_another_and_said_so() {
    if let Some(lack) = tandem_kernel::features().into_iter().find(|f| f.required && !f.present) {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
        return;
    }
    take_controllers();
    let place = Place::new();
    let _unload = Unload(&place, "tandem_reno");
    let loaded = place.succeed("kernel load reno").out;
    assert!(loaded.starts_with("tandem_reno (reno) is loaded."), "{loaded}");
    assert!(
        loaded.contains("The kernel has a controller named `reno` already, so this one is `tandem_reno`."),
        "{loaded}"
    );
    assert!(loaded.contains("iperf3 -C tandem_reno"), "{loaded}");
    fails(&place, "kernel load reno", 1, &["`tandem_reno` is loaded already"]);
    assert!(place.succeed("kernel unload tandem_reno").out.contains("tandem_reno is unloaded"));
}

#[test]
fn check_says_what_there_is() {
    take_controllers();
    let place = Place::new();
    let finished = place.tandem("kernel check --json");
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    let controllers = json["controllers"].as_array().unwrap();
    let listed: Value = serde_json::from_str(&place.tandem("list controllers --json").out).unwrap();
    let fitting = listed.as_array().unwrap().iter().filter(|c| c["fits_kernel"] == true).count();
    assert_eq!(controllers.len(), fitting);
    assert!(controllers.iter().all(|c| c["controller"] != "prague"));
    assert!(place.tandem("kernel check").out.contains("not for the kernel: its packets must carry ECT(1)"));
    let all_load = controllers.iter().all(|c| c["obstacle"].is_null());
    assert_eq!(finished.status, Some(if all_load { 0 } else { 1 }));
    for feature in json["features"].as_array().unwrap() {
        assert!(feature["note"].as_str().is_some_and(|note| !note.is_empty()), "{feature}");
    }
}
