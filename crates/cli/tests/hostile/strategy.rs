// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random command lines, and good files with random damage.

use std::{fs, path::Path, process::Command};

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};
use serde::{Deserialize, Serialize};
use tandem_testing::damage::{Step, step};

const RATES: &[&str] = &["10mbit", "1mbit", "1bit", "1.25MB/s", "100gbit", "18446744073709551615bit", "9e99gbit"];
const TIMES: &[&str] = &["20ms", "1s", "0s", "1ns", "100us", "16s", "20s", "1000h", "584y", "9e99s"];
const QUEUES: &[&str] = &["20p", "1bdp", "15ms", "2MB", "1p", "1e9bdp", "18446744073709551615p", "0.0001bdp"];
const SHARES: &[&str] = &["0", "1e-6", "0.1%", "99.99%", "1e-300", "0.99999999999999999"];
const BYTES: &[&str] = &["10kB", "1B", "1GB", "18446744073709551615B", "9e99GB"];
const NUMBERS: &[&str] = &["1", "2", "1000", "100000", "4294967295", "18446744073709551615", "0.5", "1e300"];
const FLOWS: &[&str] =
    &["reno", "compound:2", "cubic:4", "compound@gamma=20", "bbr", "vegas:100000", "prague", "reno@beta=0.5"];
const PAIRS: &[&str] = &["1%:5ms", "1%:3p", "10mbit:100kB", "100%:1000h", "1e-9:1p", "1bit:1B"];
const SETTINGS: &[&str] = &["compound.gamma=20", "reno.beta=0.5", "compound.gamma=1e-300", "cubic.c=1e300"];
const ENGINES: &[&str] = &["sim", "model", "quic", "sim,model"];
const AQMS: &[&str] = &["droptail", "red", "codel", "fq_codel", "pie", "dualpi2"];
const RANGES: &[&str] = &["1mbit..1gbit", "10ms..100ms", "1p..1000p", "1e-6..1e-2", "1bit..9e99gbit", "1ns..1000h"];
const FILES: &[&str] =
    &["s.toml", "sweep.toml", "t.trace", "sizes.txt", "log.jsonl", "iperf3.json", "pipe", "large", "."];
/// Below the test's folder, whatever they look like.
const FOLDERS: &[&str] = &["o", "o/p/q", "large", "large/x", "pipe", ".", "\n", "\u{202e}o", "-o"];
const HOSTILE: &[&str] = &[
    "",
    " ",
    "-",
    "--",
    "NaN",
    "nan",
    "inf",
    "-1",
    "0",
    "0x10",
    "1e999",
    "-1e-999",
    "x",
    "1,2",
    "..",
    "@",
    ":",
    "%",
    "=",
    "\u{0130}",
    "99999999999999999999",
    "10mbit10mbit",
    "-0s",
    "0bit",
    "infs",
    "nanbdp",
    "1..2",
    "'",
    "\"",
    "\\",
    "\u{1b}[31m",
    "\u{fffd}",
];

/// Options with their values; of those without one there are none.
type Options = &'static [(&'static str, &'static [&'static str])];

const PATH: Options = &[("--rate", RATES), ("--rtt", TIMES), ("--queue", QUEUES), ("--loss", SHARES)];
const RUNS: Options = &[("--seeds", NUMBERS), ("--seed", NUMBERS), ("--engine", ENGINES), ("--trace", &[])];
const OUTPUT: Options = &[("--out", FOLDERS), ("--json", &[])];
const COMPARE: Options = &[
    ("--aqm", AQMS),
    ("--reverse-rate", RATES),
    ("--jitter", TIMES),
    ("--reorder", PAIRS),
    ("--policer", PAIRS),
    ("--rate-trace", FILES),
    ("--against", FLOWS),
    ("--transfer", BYTES),
    ("--start-spread", TIMES),
    ("--rtt-spread", TIMES),
    ("--send-jitter", TIMES),
    ("--matrix", &[]),
    ("--ecn", &[]),
    ("--warmup", TIMES),
    ("--set", SETTINGS),
];
const RUN: Options = &[("--set", SETTINGS), ("--replace", &[])];
const SWEEP: Options = &[
    ("--workers", NUMBERS),
    ("--max-runs", NUMBERS),
    ("--chart", &["seed", "seed,jain", "dumbbell.rate_bps,controller", "x,y,z"]),
    ("--measure", &["jain", "controller", "goodput_mbps,jain"]),
];
const MODEL: Options = &[
    ("--rate", RANGES),
    ("--rtt", RANGES),
    ("--queue", RANGES),
    ("--steps", NUMBERS),
    ("--loss", RANGES),
    ("--find", &["queue", "rate", "gamma"]),
    ("--utilisation", NUMBERS),
    ("--controller", FLOWS),
];
const ADVISE: Options = &[
    ("--from", FILES),
    ("--neighbours", FLOWS),
    ("--flows", NUMBERS),
    ("--transfer", BYTES),
    ("--default", FLOWS),
    ("--max-stolen", SHARES),
    ("--min-gain", SHARES),
    ("--seeds", NUMBERS),
    ("--time", TIMES),
];
const TRACE: Options = &[("--rate", RATES), ("--duration", TIMES), ("--delay", TIMES), ("--seed", NUMBERS)];
const PAPERS: Options =
    &[("--quick", &[]), ("--kept", &[]), ("--set", SETTINGS), ("--kernel-runs", FILES), ("--json", &[])];

/// A command that is good as it stands, and what can be put behind it.
const COMMANDS: &[(&str, &[Options])] = &[
    ("compare reno --duration 2s --rate 10mbit --rtt 20ms", &[PATH, COMPARE, RUNS, OUTPUT]),
    ("compare compound:2 --duration 2s --rate 10mbit --rtt 20ms --seeds 1", &[PATH, COMPARE, RUNS, OUTPUT]),
    ("compare compound --duration 100s --rate 10mbit", &[PATH, COMPARE, RUNS, OUTPUT]),
    ("run s.toml", &[RUN, RUNS, OUTPUT]),
    ("sweep sweep.toml", &[SWEEP, RUNS, OUTPUT]),
    ("model", &[PATH, MODEL, OUTPUT]),
    ("model --rate 10mbit --rtt 20ms", &[PATH, MODEL, OUTPUT]),
    ("advise --rate 1mbit --rtt 20ms reno cubic", &[PATH, ADVISE, OUTPUT]),
    ("trace cellular --out made.trace", &[TRACE]),
    ("trace satellite --out made.trace", &[TRACE]),
    ("conform log.jsonl", &[&[("--controller", FLOWS)]]),
    ("papers run s0/fig3 --out p", &[PAPERS]),
    ("list controllers", &[&[("--json", &[])]]),
];

fn value(good: &'static [&'static str]) -> BoxedStrategy<String> {
    let good = if good.is_empty() { HOSTILE } else { good };
    let text = |texts| select(texts).prop_map(|text: &str| text.to_owned());
    prop_oneof![6 => text(good), 2 => text(HOSTILE), 1 => "[^/\\p{C}]{0,12}"].boxed()
}

fn option(options: &[Options]) -> impl Strategy<Value = Vec<String>> {
    let with_value = |(name, values): (&'static str, &'static [&'static str])| match values {
        [] => Just(vec![name.to_owned()]).boxed(),
        values => value(values).prop_map(move |value| vec![format!("{name}={value}")]).boxed(),
    };
    let any_word = value(&[]).prop_map(|word| vec![word]);
    prop_oneof![12 => select(options.concat()).prop_flat_map(with_value), 1 => any_word]
}

/// The words after the program's name.
pub fn command_line() -> impl Strategy<Value = Vec<String>> {
    select(COMMANDS).prop_flat_map(|(command, options)| {
        vec(option(options), 0..6).prop_map(move |more| {
            let words = command.split(' ').map(str::to_owned);
            words.chain(more.concat()).collect()
        })
    })
}

/// Files that the program takes as they are, by name.
pub fn good_files() -> Vec<(String, Vec<u8>)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read(crates.join(path)).unwrap();
    let scenario = "duration = \"2s\"\nwarmup = \"500ms\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\nqueue = \"20p\"\n\
        [effects.bottleneck]\nrate_trace = \"t.trace\"\njitter = { time = \"1ms\" }\n\
        [[flows]]\ncontroller = \"compound@gamma=20\"\ncount = 2\nstart = \"100ms\"\n\
        [[flows]]\ncontroller = \"reno\"\ncount = 3\nshort = { load = \"10%\", size = { kind = \"file\", path = \"sizes.txt\" } }\n";
    let inner = scenario.replace("[dumbbell]", "[scenario.dumbbell]").replace("[effects", "[scenario.effects");
    let inner = inner.replace("[[flows]]", "[[scenario.flows]]");
    let sweep = format!(
        "[scenario]\n{inner}[grid]\n\"dumbbell.rtt\" = [\"10ms\", \"20ms\"]\n\
         [random]\npoints = 2\n[random.values]\n\"dumbbell.rate\" = {{ from = \"5mbit\", to = \"10mbit\", scale = \"log\" }}\n"
    );
    let acks = "{\"event\":\"ack\",\"packets\":1,\"rtt_us\":20000,\"now_us\":20000}\n".repeat(9);
    let mut files = vec![
        ("s.toml".to_owned(), scenario.into()),
        ("sweep.toml".to_owned(), sweep.into()),
        ("t.trace".to_owned(), (0..200).map(|ms| format!("{}\n", ms + 1)).collect::<String>().into_bytes()),
        ("sizes.txt".to_owned(), b"15kB\n# large\n1.5MB\n".to_vec()),
        ("log.jsonl".to_owned(), format!("{{\"event\":\"init\",\"cwnd\":10,\"mss\":1200}}\n{acks}").into()),
    ];
    for name in ["iperf3.json", "ping-idle.txt", "ss.txt"] {
        files.push((name.to_owned(), read(&format!("advise/tests/fixtures/{name}"))));
    }
    files.extend(data_set(&files));
    files
}

/// Those of a finished sweep, and results of another command.
fn data_set(files: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, content)| fs::write(folder.path().join(name), content).unwrap());
    let run = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        let done = command.args(arguments.split(' ')).current_dir(&folder).env("TANDEM_STORE", "off").output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    run("sweep sweep.toml --out set --no-report");
    run("run s.toml --out results --no-report");
    let part = fs::read_dir(folder.path().join("set/groups")).unwrap().next().unwrap().unwrap().file_name();
    let part = format!("set/groups/{}", part.to_str().unwrap());
    [part, "results/results.json".to_owned()]
        .map(|name| (name.clone(), fs::read(folder.path().join(name)).unwrap()))
        .into()
}

/// How one of the good files is changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Damage {
    /// Its place among [`TARGETS`].
    target: usize,
    steps: Vec<Step>,
}

/// What reads which file: the beginning of its name.
const TARGETS: &[(&str, &str)] = &[
    ("run s.toml", "s.toml"),
    ("run s.toml", "t.trace"),
    ("run s.toml", "sizes.txt"),
    ("sweep sweep.toml --no-report", "sweep.toml"),
    ("sweep sweep.toml --out set", "set/groups/"),
    ("run s.toml --out results", "results/results.json"),
    ("conform log.jsonl --controller reno", "log.jsonl"),
    ("advise --time 1s reno cubic --from iperf3.json", "iperf3.json"),
    ("advise --time 1s reno cubic --rate 1mbit --from ping-idle.txt", "ping-idle.txt"),
    ("advise --time 1s reno cubic --from ss.txt", "ss.txt"),
];

pub fn damage() -> impl Strategy<Value = Damage> {
    let all = [RATES, TIMES, QUEUES, SHARES, BYTES, NUMBERS, FLOWS, FILES, HOSTILE].concat();
    let values = all.iter().flat_map(|value| [(*value).to_owned(), format!("\"{value}\"")]).collect();
    let steps = vec(step(values, [1, 4]), 1..4);
    (any::<Index>(), steps).prop_map(|(target, steps)| Damage { target: target.index(TARGETS.len()), steps })
}

impl Damage {
    /// Changes the file, and returns what reads it.
    pub fn apply(&self, files: &mut [(String, Vec<u8>)]) -> Vec<String> {
        let (command, name) = TARGETS[self.target % TARGETS.len()];
        let (_, content) = files.iter_mut().find(|(known, _)| known.starts_with(name)).expect("it is among the files");
        self.steps.iter().for_each(|step| step.apply(content));
        command.split(' ').map(str::to_owned).collect()
    }
}
