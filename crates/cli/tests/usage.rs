// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bad input: exit status 2, a message that names what is wrong and the fix, and nothing run or written.

mod common;

use common::{Place, QUICK, QUICK_FILE};

#[track_caller]
fn refused(place: &Place, arguments: &str, parts: &[&str]) {
    let before = place.files("");
    let finished = place.tandem(arguments);
    assert_eq!(finished.status, Some(2), "tandem {arguments}\n{}", finished.err);
    for part in parts {
        assert!(finished.err.contains(part), "`{part}` is not in what `tandem {arguments}` says:\n{}", finished.err);
    }
    assert_eq!(finished.out, "", "tandem {arguments}");
    assert_eq!(place.files(""), before, "tandem {arguments}");
}

#[test]
fn arguments() {
    let place = Place::new();
    let compare = |arguments: &str, parts: &[&str]| refused(&place, &format!("compare {QUICK} {arguments}"), parts);
    compare("compund:4", &["unknown controller `compund`", "did you mean `compound`?", "tandem list controllers"]);
    compare("--against rneo:1 reno:1", &["unknown controller `rneo`", "did you mean `reno`?"]);
    compare("reno:0", &["`0` is not a number of flows", "CONTROLLER:FLOWS"]);
    compare("reno:x", &["`x` is not a number of flows", "CONTROLLER:FLOWS"]);
    compare("reno:4000000000", &["from 1 to 100000"]);
    compare("", &["<CONTROLLER:FLOWS>", "not provided"]);
    compare("--matrix reno:1 cubic:2", &["--matrix", "same number of flows"]);
    compare("--matrix reno cubic reno", &["`reno` is named twice", "--matrix"]);
    compare("--matrix --against reno reno", &["--matrix", "--against", "cannot be used with"]);
    compare("--family compond:2", &["unknown family `compond`", "compound"]);
    compare("--family compound:0", &["`0` is not a number of flows", "FAMILY:FLOWS"]);
    compare("--loss 1 reno", &["--loss", "loss rate `1`", "from 0 up to below 1"]);
    compare("--loss -0.1 reno", &["--loss", "loss rate `-0.1`", "from 0 up to below 1"]);
    compare("--loss x reno", &["--loss", "`x` is not a loss rate", "`1e-6`"]);
    compare("--set compound.gamma=1e9 compound", &["`compound.gamma` = 1000000000 is out of range", "to 10000"]);
    compare("--set compound.gama=5 compound", &["`compound` has no parameter `gama`", "`gamma`"]);
    compare("--set compund.gamma=5 compound", &["did you mean `compound`?"]);
    compare("--set gamma=5 compound", &["`compound.gamma=20`"]);
    compare("--set compound.gamma=few compound", &["`few` is not a number"]);
    compare("compound@gamma=1e9", &["`compound.gamma` = 1000000000 is out of range"]);
    compare("compound@gama=5", &["`compound` has no parameter `gama`"]);
    compare("compound@gamma", &["write compound@key=value"]);
    compare("compound@", &["write compound@key=value"]);
    compare("compound@gamma=5,gamma=6", &["`compound.gamma` is set twice"]);
    compare("--set compound.gamma=5 --set compound.gamma=6 compound", &["`compound.gamma` is set twice"]);
    compare(
        "--set compound.gamma=5 compound@gamma=6",
        &["`compound@gamma=6` and --set compound.gamma=5", "leave one out"],
    );
    compare("--set compound.gamma=3 reno", &["--set compound.gamma=3 does nothing", "controller `compound`"]);
    compare("reno reno", &["`reno:1` is named twice"]);
    compare("reno:2 cubic reno:2", &["`reno:2` is named twice"]);
    compare("kernel:cubic", &["`kernel:cubic` is the kernel's own", "--engine kernel"]);
    compare("kernel:cubic:x", &["`x` is not a number of flows"]);
    compare("--against reno:1 compound:1 reno:2", &["--against", "the same number of flows"]);
    compare("--seeds 0 reno", &["--seeds", "`auto`", "1 to 100000"]);
    compare("--seeds 3 --time 3s reno", &["--time", "3 seeds", "--seeds auto"]);
    compare("--most-seeds 1 reno", &["--most-seeds", "2..=1000"]);
    compare("--engine sin reno", &["unknown engine `sin`", "did you mean `sim`?", "tandem list engines"]);
    compare("--engine sim,sim reno", &["`sim` is named twice"]);
    compare("--engine sim,model reno", &["reno: the model cannot answer this scenario", "`--engine sim` can"]);
    compare("--engine sim,model --matrix reno compound", &["--matrix takes one engine"]);
    compare("--aqm fifo reno", &["unknown queue discipline `fifo`", "droptail, red, codel, fq_codel, pie or dualpi2"]);
}

#[test]
fn quantities() {
    let place = Place::new();
    let path = |arguments: &str, parts: &[&str]| refused(&place, &format!("compare {arguments} reno"), parts);
    path("--rate 10 --rtt 20ms", &["--rate", "rate `10` has no unit", "`100mbit`"]);
    path("--rate 10furlongs --rtt 20ms", &["--rate", "unknown unit `furlongs`", "`100mbit`"]);
    path("--rate 10mbps --rtt 20ms", &["`10mbit` for bits", "`10MB/s` for bytes"]);
    path("--rate 0mbit --rtt 20ms", &["--rate", "rate `0mbit` is 0", "at least 1bit"]);
    path("--rate -1mbit --rtt 20ms", &["--rate", "rate `-1mbit` is negative", "`100mbit`"]);
    path("--rate 10mbit --rtt 20", &["--rtt", "time `20` has no unit", "`100ms`"]);
    path("--rate 10mbit --rtt 20ms --queue 0p", &["--queue", "queue `0p` is 0", "`1p`"]);
    path("--rate 10mbit --rtt 20ms --queue 100", &["--queue", "queue `100` has no unit", "`1500p`"]);
    path("--rate 10mbit --rtt 20ms --queue 10B", &["queue `10B` does not hold one packet of 1500 bytes"]);
    path("--rate 10mbit --rtt 20ms --duration 5s --warmup 9s", &["--duration 5s must be longer than --warmup 9s"]);
    path("--rtt 20ms", &["--rate <RATE>", "not provided"]);
}

#[test]
fn commands() {
    let place = Place::new();
    refused(&place, "frobnicate", &["unrecognized subcommand 'frobnicate'", "--help"]);
    refused(&place, "run", &["<FILE>", "not provided"]);
    refused(&place, "run nowhere.toml", &["nowhere.toml: cannot be read: No such file"]);
    refused(&place, "run .", &["cannot be read: it is a folder, not a plain file"]);
}

/// A file with one line of [`QUICK_FILE`] replaced: the message must name the file, that line (or `at`) and the column.
#[track_caller]
fn file_refused(line: usize, text: &str, at: &str, parts: &[&str]) {
    let place = Place::new();
    let mut lines = QUICK_FILE;
    lines[line - 1] = text;
    place.write("x.toml", &lines.join("\n"));
    let where_and_what: Vec<&str> = std::iter::once(at).chain(parts.iter().copied()).collect();
    refused(&place, "run x.toml", &where_and_what);
}

#[test]
fn files() {
    file_refused(8, r#"controller = "rneo""#, "x.toml:8:14: ", &["unknown controller `rneo`", "did you mean `reno`?"]);
    file_refused(4, r#"rate = "10""#, "x.toml:4:8: ", &["rate `10` has no unit", "`100mbit`"]);
    file_refused(4, r#"rate = 10"#, "x.toml:4:8: ", &["rate `10` has no unit", "`100mbit`"]);
    file_refused(4, r#"rate = "0mbit""#, "x.toml:4:8: ", &["rate `0mbit` is 0"]);
    file_refused(5, r#"rtt = "20""#, "x.toml:5:7: ", &["time `20` has no unit"]);
    file_refused(6, r#"queue = "0p""#, "x.toml:6:9: ", &["queue `0p` is 0", "`1p`"]);
    file_refused(6, "queue = \"20p\"\nloss = -1", "x.toml:7:8: ", &["loss rate `-1`", "from 0 up to below 1"]);
    file_refused(6, "queue = \"20p\"\nloss = 1.0", "x.toml:7:8: ", &["loss rate `1`", "from 0 up to below 1"]);
    file_refused(2, r#"warmup = "5s""#, "x.toml:1:12: ", &["duration 3s must be longer than the warm-up, 5s"]);
    file_refused(1, r#"duration "3s""#, "x.toml:1:10: ", &["expected `=`"]);
    file_refused(1, r#"duration = "3s"#, "x.toml:1:15: ", &["expected `\"`"]);
    file_refused(2, r#"warmpu = "1s""#, "x.toml:2:1: ", &["unknown field `warmpu`", "`warmup`"]);
    file_refused(2, "seeds = 4000000000", "x.toml:2:9: ", &["at most 100000"]);
    file_refused(3, "", "x.toml", &[]);
    file_refused(8, "controller = \"reno@beta=9\"", "x.toml:8:14: ", &["`reno.beta` = 9 is out of range"]);
    file_refused(8, "controller = \"reno@bete=1\"", "x.toml:8:14: ", &["no parameter `bete`", "`beta`"]);
    file_refused(8, "controller = \"reno\"\ncount = 0", "x.toml:9:9: ", &["count must be at least 1"]);
    file_refused(8, "controller = \"reno\"\ncount = 4000000000", "x.toml:9:9: ", &["at most 100000"]);
    file_refused(2, "set = { vegas = { alpah = 2 } }", "x.toml:2:7: ", &["no parameter `alpah`", "`alpha`"]);
    let udp = "udp = { rate = \"1mbit\" }\ninitial_window = 2";
    file_refused(8, udp, "x.toml:8:7: ", &["`initial_window` is for flows with a controller"]);
    let swapped = "controller = \"reno\"\nfrom = \"right\"\nto = \"left\"\nreverse = true";
    file_refused(8, swapped, "x.toml:11:11: ", &["reverse does nothing", "swap these"]);
    file_refused(8, "controller = \"reno\"\nfrom = \"mars\"", "x.toml:9:8: ", &["no node `mars`", "`left`, `right`"]);
}

#[test]
fn graphs() {
    let link =
        "[[links]]\nname = \"a\"\nfrom = \"x\"\nto = \"y\"\nrate = \"10mbit\"\ndelay = \"1ms\"\nqueue = \"10p\"\n";
    let flow = "[[flows]]\ncontroller = \"reno\"\nfrom = \"x\"\nto = \"y\"\n";
    let place = Place::new();
    place.write("one-way.toml", &format!("duration = \"3s\"\n{link}{flow}"));
    // The data has a way there, its ACKs have none back.
    refused(&place, "run one-way.toml", &["one-way.toml:11:8: ", "no route from `y` to `x`", "add links"]);
    place.write("twice.toml", &format!("duration = \"3s\"\n{link}{link}{flow}"));
    refused(&place, "run twice.toml", &["twice.toml:10:8: ", "two links named `a`", "rename one"]);
}

/// Whatever privileges it has: the engines that cannot do a wireless cell say so before anything else.
#[test]
fn a_wireless_cell_is_the_simulators() {
    let place = Place::new();
    let cell = "[wlan]\nphy = \"802.11g\"\nstations = 2\nqueue = \"20p\"\nwired_rate = \"100mbit\"\nrtt = \"60ms\"\n";
    place.write("cell.toml", &format!("duration = \"3s\"\n{cell}[[flows]]\ncontroller = \"compound\"\n"));
    for (engines, parts) in [
        ("model", ["not a wireless cell", "`--engine sim` can"]),
        ("sim,kernel", ["not a wireless cell", "use --engine sim"]),
    ] {
        let finished = place.tandem(&format!("run cell.toml --engine {engines}"));
        assert_eq!((finished.status, finished.out.as_str()), (Some(2), ""), "{engines}: {}", finished.err);
        assert!(parts.iter().all(|part| finished.err.contains(part)), "{engines}: {}", finished.err);
    }
    let text = place.succeed("run cell.toml --json --out cell").out;
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    let channel = &run["runs"][0]["cell"];
    assert_eq!(channel["stations"], 2, "{channel}");
    assert!(channel["up_airtime"].as_f64().unwrap() > 0.3 && channel["station_jain"] == 1.0, "{channel}");
    assert!(place.read("cell/report.html").contains("of the channel"), "the report tells how the channel was used");
}
