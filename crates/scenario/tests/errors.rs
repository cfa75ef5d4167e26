// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a scenario file can get wrong: each message has its place and the fix.

use tandem_scenario::{
    controller::parse_setting,
    file::{Overrides, parse, parse_inner},
};

/// A good file, with the given line of it replaced.
const GOOD: [&str; 13] = [
    r#"duration = "60s""#,
    r#"warmup = "10s""#,
    r#""#,
    r#"[dumbbell]"#,
    r#"rate = "100mbit""#,
    r#"rtt = "100ms""#,
    r#"queue = "100p""#,
    r#"loss = 1e-6"#,
    r#""#,
    r#"[[flows]]"#,
    r#"controller = "reno""#,
    r#"count = 4"#,
    r#""#,
];

fn message(text: &str) -> String {
    parse(text, "x.toml", "x", &Overrides::default()).expect_err(text).to_string()
}

#[track_caller]
fn with_line(number: usize, line: &str, column: usize, parts: &[&str]) {
    let mut lines = GOOD;
    lines[number - 1] = line;
    let message = message(&lines.join("\n"));
    let place = format!("x.toml:{number}:{column}: ");
    assert!(message.starts_with(&place), "`{line}`: expected {place} {message}");
    for part in parts {
        assert!(message.contains(part), "`{line}`: {message}");
    }
}

#[test]
fn the_good_file_is_good() {
    parse(&GOOD.join("\n"), "x.toml", "x", &Overrides::default()).unwrap();
}

#[test]
fn mistakes_on_a_line() {
    // Where the closing quote is missed.
    with_line(6, r#"rtt = "100ms"#, 13, &["string", "expected"]);
    with_line(3, "wramup = 3", 1, &["unknown field `wramup`", "`warmup`"]);
    with_line(5, "rate = 10", 8, &["rate `10` has no unit", "mbit"]);
    with_line(5, r#"rate = "0mbit""#, 8, &["is 0"]);
    with_line(5, r#"rate = "10mbps""#, 8, &["`10mbit`", "`10MB/s`"]);
    with_line(6, r#"rtt = "-1ms""#, 7, &["negative"]);
    with_line(7, r#"queue = "0p""#, 9, &["is 0", "`1p`"]);
    with_line(7, r#"queue = "100B""#, 9, &["does not hold one packet"]);
    with_line(8, "aqm = { kind = \"droptail\", min = 100 }", 7, &["unknown field `min`"]);
    with_line(8, "loss = 1", 8, &["below 1"]);
    with_line(8, "loss = 1.0", 8, &["below 1"]);
    with_line(8, "loss = -0.1", 8, &["from 0"]);
    with_line(8, "loss = { good_to_bad = 0.1, bad_to_good = 0.0 }", 8, &["bad_to_good above 0"]);
    with_line(8, "loss = { good_to_bad = 2.0, bad_to_good = 0.1 }", 8, &["from 0 to 1"]);
    with_line(11, r#"controller = "compuond""#, 14, &["unknown controller `compuond`", "did you mean `compound`?"]);
    with_line(12, "count = 0", 9, &["at least 1"]);
    with_line(1, r#"duration = "10s""#, 12, &["duration 10s must be longer than the warm-up, 10s"]);
    with_line(3, "seeds = 0", 9, &["at least 1"]);
    with_line(3, "mtu = 20", 7, &["116 to 65535"]);
    with_line(3, r#"sample_interval = "1ns""#, 19, &["at least 1us"]);
    with_line(3, r#"sample_interval = "1us""#, 19, &["at most 1000000 samples"]);
    with_line(13, "initial_window = 0", 18, &["1 to 1000"]);
    with_line(13, r#"recovery = "newreno""#, 12, &["unknown variant `newreno`", "`prr` or `rate-halving`"]);
    with_line(13, r#"pause = "1s""#, 9, &["transfer"]);
    with_line(13, "ack_every = 0", 13, &["1 to 1000 segments"]);
    with_line(13, "ack_every = 4\ndelayed_acks = false", 13, &["not delayed here", "leave out `ack_every`"]);
    with_line(13, r#"receiver = "liar""#, 12, &["unknown variant `liar`", "`honest`, `early-acks`, `hides-marks`"]);
    with_line(13, r#"receiver = "hides-marks""#, 12, &["no packet of these flows is marked", "`ecn = \"rfc3168\"`"]);
    with_line(13, r#"ecn = "yes""#, 7, &["unknown variant `yes`", "`off`, `rfc3168`, `rfc8511`, `accurate`"]);
    with_line(8, r#"aqm = { kind = "droptail", ecn = true }"#, 7, &["unknown field `ecn`"]);
    with_line(13, r#"stop = "0s""#, 8, &["later than start"]);
    // There and back and there again: 150 ms of links in 100 ms.
    with_line(13, r#"route = ["bottleneck", "reverse", "bottleneck"]"#, 9, &["longer than its rtt, 100ms"]);
    with_line(13, r#"from = "middle""#, 8, &["no node `middle`", "`left`, `right`"]);
}

#[test]
fn controllers_and_their_parameters() {
    let controller = |written: &str, parts: &[&str]| with_line(11, &format!("controller = \"{written}\""), 14, parts);
    controller("reno@gama=1", &["no parameter `gama`", "`beta`"]);
    controller("reno@beta=2", &["`reno.beta` = 2 is out of range"]);
    controller("reno@beta=half", &["`half` is not a number", "`reno.beta`"]);
    controller("reno@beta=0.5,beta=0.4", &["`reno.beta` is set twice"]);
    controller("reno@", &["write reno@key=value"]);
    controller("reno@beta", &["write reno@key=value"]);
    controller("kernel:", &["1 to 15 letters"]);
    controller("kernel:a_name_that_is_too_long", &["1 to 15 letters"]);
    controller("kernel:cubic@beta=0.5", &["have no parameters", "`kernel:cubic`"]);
    controller("noq:bbr", &["`noq:reno`, `noq:cubic`, `noq:bbr3`", "no `noq:bbr`"]);
    controller("noq:cubic@beta=0.5", &["without parameters"]);
    with_line(13, "set = { beta = 0.5 }", 1, &["unknown field `set`"]);
    let mut lines = GOOD;
    lines[12] = r#"udp = { rate = "1mbit" }"#;
    let message = message(&lines.join("\n"));
    assert!(message.starts_with("x.toml:11:14: ") && message.contains("either a controller or udp"), "{message}");
}

/// `bbr` sets the window in recovery, so that nothing is left to halve.
#[test]
fn rate_halving_of_a_controller_that_owns_the_window() {
    let mut lines = GOOD;
    (lines[10], lines[12]) = (r#"controller = "bbr""#, r#"recovery = "rate-halving""#);
    let message = message(&lines.join("\n"));
    assert!(message.starts_with("x.toml:13:12: ") && message.contains("`bbr` sets the window"), "{message}");
}

/// Either a transfer ends or the data comes at a rate.
#[test]
fn an_offered_rate_of_a_transfer() {
    let mut lines = GOOD;
    lines[12] = "transfer = \"1MB\"\noffered_rate = \"1mbit\"";
    let message = message(&lines.join("\n"));
    assert!(message.starts_with("x.toml:14:16: ") && message.contains("leave out `transfer`"), "{message}");
}

#[test]
fn offers_that_change() {
    let offers = |keys: &str| {
        let mut lines = GOOD;
        lines[12] = keys;
        message(&lines.join("\n"))
    };
    let late = offers("offered_changes = [{ at = \"2s\", rate = 0 }, { at = \"2s\", rate = \"unlimited\" }]");
    assert!(late.starts_with("x.toml:13:52: ") && late.contains("later than the change before it, 2s"), "{late}");
    let early = offers("start = \"3s\"\noffered_changes = [{ at = \"2s\", rate = \"1mbit\" }]");
    assert!(early.contains("later than the start of the flow, 3s"), "{early}");
    let unit = offers("offered_changes = [{ at = \"2s\", rate = \"some\" }]");
    assert!(unit.starts_with("x.toml:13:40: ") && unit.contains("rate"), "{unit}");
    let transfer = offers("transfer = \"1MB\"\noffered_changes = [{ at = \"2s\", rate = 0 }]");
    assert!(transfer.starts_with("x.toml:14:19: ") && transfer.contains("leave out `transfer`"), "{transfer}");
}

#[test]
fn random_writes() {
    with_line(13, "offered_process = { kind = \"poisson\" }", 19, &["needs `offered_rate`"]);
    let process_at = |column, written: &str, parts: &[&str]| {
        let keys = format!("offered_process = {written}\noffered_rate = \"1mbit\"");
        with_line(13, &keys, column, parts);
    };
    let process = |written: &str, parts: &[&str]| process_at(19, written, parts);
    process_at(28, "{ kind = \"pareto\" }", &["unknown variant `pareto`", "`poisson`, `on-off`, `frames`"]);
    process("{ kind = \"poisson\", on = \"1s\" }", &["unknown field `on`"]);
    process("{ kind = \"poisson\", size = \"2GB\" }", &["at most 1GB"]);
    process("{ kind = \"on-off\", on = \"1s\" }", &["missing field `off`"]);
    process("{ kind = \"on-off\", on = \"0s\", off = \"1s\" }", &["above 0"]);
    // 1448 bytes at 1 Mb/s are 11.6 ms.
    process("{ kind = \"on-off\", on = \"5ms\", off = \"6ms\" }", &["at 1mbit", "one write of 1448 bytes"]);
    process("{ kind = \"frames\", per_second = 0 }", &["per_second must be above 0"]);
    process("{ kind = \"frames\", per_second = 30, sigma = 3 }", &["sigma must be 0 to 2"]);
    process("{ kind = \"frames\", per_second = 30, sigma = 1, path = \"x\" }", &["leave one out"]);
    process("{ kind = \"frames\", per_second = 30, path = \"none.txt\" }", &["none.txt` cannot be read"]);
    // 125 000 bytes a second.
    process("{ kind = \"frames\", per_second = 100 }", &["at 1mbit a frame has 1250 bytes", "1448 (a segment)"]);
}

#[test]
fn parameters_of_disciplines() {
    let with_aqm = |aqm: &str| {
        let mut lines = GOOD;
        lines[7] = aqm;
        message(&lines.join("\n"))
    };
    let pie = with_aqm(r#"aqm = { kind = "pie", target = "0ms" }"#);
    assert!(pie.contains("pie needs a target above 0"), "{pie}");
    let fq_codel = with_aqm(r#"aqm = { kind = "fq_codel", flows = 0 }"#);
    assert!(fq_codel.contains("flows from 1 to 65536"), "{fq_codel}");
    let dualpi2 = with_aqm(r#"aqm = { kind = "dualpi2", k = 0 }"#);
    assert!(dualpi2.contains("k 0.1 to 100, not 0.16, 3.2 and 0"), "{dualpi2}");
}

/// What counts marks needs to be told how many there are.
#[test]
fn rfc_3168_of_a_controller_that_counts_marks() {
    for controller in ["dctcp", "prague"] {
        let mut lines = GOOD;
        let named = format!("controller = \"{controller}\"");
        (lines[10], lines[12]) = (&named, r#"ecn = "rfc3168""#);
        let message = message(&lines.join("\n"));
        assert!(message.starts_with("x.toml:13:7: ") && message.contains("write `ecn = \"accurate\"`"), "{message}");
    }
}

/// RFC 8511 names a factor for two.
#[test]
fn rfc_8511_of_another_controller() {
    let mut lines = GOOD;
    (lines[10], lines[12]) = (r#"controller = "vegas""#, r#"ecn = "rfc8511""#);
    let message = message(&lines.join("\n"));
    assert!(message.starts_with("x.toml:13:7: ") && message.contains("`reno` and `cubic`"), "{message}");
}

/// What would do nothing is refused, in a file and on the command line.
#[test]
fn settings_without_a_flow() {
    with_line(3, "set = { compound = { gamma = 3 } }", 30, &["does nothing", "controller `compound`"]);
    let mut overrides = Overrides::default();
    overrides.settings.push(parse_setting("compound.gamma=3").unwrap()).unwrap();
    assert!(overrides.settings.push(parse_setting("compound.gamma=4").unwrap()).is_err());
    let error = parse(&GOOD.join("\n"), "x.toml", "x", &overrides).unwrap_err().to_string();
    assert!(error.starts_with("x.toml: --set compound.gamma=3 does nothing"), "{error}");
}

/// A file that is one of several, with a `[set]` for all of them.
#[test]
fn settings_of_an_experiment() {
    let text = GOOD.join("\n").replace("[dumbbell]", "[scenario.dumbbell]").replace("[[flows]]", "[[scenario.flows]]");
    let inner = |text: &str| parse_inner(&format!("[scenario]\n{text}"), "x.toml", "x", &Overrides::default());
    inner(&format!("{text}\n[scenario.set.compound]\ngamma = 3")).unwrap();
    let error = inner(&format!("{text}\n[scenario.set.compound]\ngama = 3")).unwrap_err();
    assert!(error.message.contains("no parameter `gama`"), "{error}");
    let error = inner(&text.replace("count = 4", "count = 0")).unwrap_err();
    assert_eq!(error.place, Some((13, 9)), "{error}");
}

#[test]
fn names() {
    with_line(3, "name = \"\"", 8, &["must not be empty"]);
    with_line(3, r#"name = "a\u001b[31mb""#, 8, &["control character", r"a\u{1b}[31mb"]);
    with_line(13, r#"name = " ""#, 8, &["must not be empty"]);
}

#[test]
fn an_rtt_that_does_not_fit() {
    for (line, place) in [(6, "x.toml:6:7: "), (13, "x.toml:13:7: ")] {
        let mut lines = GOOD;
        (lines[0], lines[line - 1]) = (r#"duration = "12s""#, r#"rtt = "12s""#);
        let message = message(&lines.join("\n"));
        assert!(message.starts_with(place), "{message}");
        assert!(message.contains("RTT of 12s, which does not fit the duration, 12s"), "{message}");
    }
}

#[test]
fn files_without_a_place() {
    let without = |line: usize| {
        let mut lines = GOOD;
        lines[line - 1] = "";
        message(&lines.join("\n"))
    };
    // The flow without a controller: the place is that of the flows.
    assert!(without(11).contains("a flow needs `controller"), "{}", without(11));
    assert!(without(1).contains("missing field `duration`"), "{}", without(1));
    assert!(message("duration = \"1s\"\nflows = []").contains("give one network"));
    let both = GOOD.join("\n") + "\n[parking_lot]\nhops = 2\nrate = \"1mbit\"\nhop_delay = \"1ms\"\nqueue = \"9p\"";
    assert!(message(&both).contains("give one network"));
}

const GRAPH: &str = r#"duration = "60s"
[[links]]
name = "a"
from = "n1"
to = "n2"
rate = "1mbit"
delay = "1ms"
queue = "10p"
[[links]]
name = "b"
from = "n2"
to = "n1"
rate = "1mbit"
delay = "1ms"
queue = "10p"
[[flows]]
controller = "reno"
from = "n1"
to = "n2"
"#;

#[track_caller]
fn in_a_graph(old: &str, new: &str, place: (usize, usize), parts: &[&str]) {
    let text = GRAPH.replacen(old, new, 1);
    assert_ne!(text, GRAPH);
    let error = parse(&text, "x.toml", "x", &Overrides::default()).expect_err(&text);
    assert_eq!(error.place, Some(place), "{error}");
    for part in parts {
        assert!(error.message.contains(part), "{error}");
    }
}

#[test]
fn mistakes_in_a_graph() {
    parse(GRAPH, "x.toml", "x", &Overrides::default()).unwrap();
    in_a_graph(r#"name = "b""#, r#"name = "a""#, (10, 8), &["two links named `a`"]);
    in_a_graph(r#"queue = "10p""#, r#"queue = "1bdp""#, (8, 9), &["bdp is defined for [dumbbell] and [parking_lot]"]);
    in_a_graph(r#"to = "n2""#, r#"to = "n1""#, (3, 8), &["`a` leads from a node to itself"]);
    // Without the way back there is none for ACKs.
    in_a_graph("from = \"n2\"\nto = \"n1\"", "from = \"n2\"\nto = \"n3\"", (18, 8), &["no route from `n2` to `n1`"]);
    in_a_graph(
        "controller = \"reno\"\nfrom = \"n1\"",
        "controller = \"reno\"\nfrom = \"n9\"",
        (18, 8),
        &["no node `n9`"],
    );
    in_a_graph("reno\"\nfrom = \"n1\"\n", "reno\"\nfrom = \"n2\"\n", (18, 8), &["from `n2` to itself"]);
    in_a_graph("reno\"\n", "reno\"\nrtt = \"1ms\"\n", (18, 7), &["rtt is for [dumbbell] only"]);
    in_a_graph("reno\"\n", "reno\"\nroute = [\"z\"]\n", (18, 9), &["no link `z`"]);
    in_a_graph("reno\"\n", "reno\"\nroute = [\"b\"]\n", (18, 9), &["breaks at link `b`", "data is at `n1`"]);
    in_a_graph("reno\"\n", "reno\"\nroute = [\"a\", \"b\"]\n", (18, 9), &["ends at `n1`, not at `n2`"]);
}
