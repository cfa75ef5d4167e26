// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bad inputs: command lines and files. What is refused, and a part of what must be said.

/// Something that must be refused.
pub struct Bad {
    pub arguments: Vec<String>,
    /// Files that are there, by name.
    pub files: Vec<(&'static str, Vec<u8>)>,
    /// What the message must have in it.
    pub parts: Vec<String>,
}

/// Words and units that are no quantity of any kind.
const NO_QUANTITY: [&str; 12] =
    ["", " ", "NaN", "x", "10", "-", "0x10s", "1e999mbit", "10 parsec", "1,5ms", "\u{663}mbit", "10mbitmbit"];
const NO_RATE: [&str; 8] = ["0bit", "-1mbit", "nanmbit", "infmbit", "mbit", "10ms", "1.2.3mbit", "--1mbit"];
const NO_TIME: [&str; 7] = ["-1s", "nans", "infs", "s", "10mbit", "1e999s", "1.2.3s"];
const NO_QUEUE: [&str; 9] = ["0p", "-1p", "nanp", "infp", "p", "-1bdp", "nanbdp", "0bdp", "1.2.3p"];
const NO_SHARE: [&str; 8] = ["-0.1", "1", "inf", "2", "200%", "1e999", "-1%", "%"];
const NO_BYTES: [&str; 6] = ["-1B", "nanB", "1e999GB", "B", "10ms", "0B"];
const NO_COUNT: [&str; 9] = ["", "0", "-1", "1.5", "NaN", "1e3", "99999999999", "x", "0x1"];
const NO_NUMBER: [&str; 6] = ["", "-1", "1.5", "x", "NaN", "99999999999999999999999"];
const NO_FLOWS: [&str; 15] = [
    "",
    ":",
    "reno:",
    "reno:0",
    "reno:-1",
    "reno:x",
    "reno:999999999999",
    ":4",
    "nobody:1",
    "reno@:1",
    "reno@nothing=1:1",
    "reno@beta=NaN",
    "reno@beta=1e999",
    "reno@beta=-1",
    "reno@beta",
];
const NO_PAIR: [&str; 6] = ["", ":", "1%", "1%:", ":5ms", "1:2:3"];
const NO_NAME: [&str; 4] = ["", ",", "nobody", "RENO;"];
const NO_SETTING: [&str; 9] = [
    "",
    "=",
    "compound",
    "compound.gamma",
    "compound.gamma=",
    "compound.gamma=NaN",
    "compound.gamma=inf",
    "nobody.gamma=1",
    "compound.nothing=1",
];

/// A command that would be good with one option more, and the values that this option does not take.
type Refusing = (&'static str, &'static str, Vec<&'static str>);

fn options() -> Vec<Refusing> {
    let of = |values: &[&'static str]| [&NO_QUANTITY[..], values].concat();
    let (compare, model) = ("compare reno --rate 10mbit --rtt 20ms", "model --rate 10mbit --rtt 20ms");
    let (trace, advise) = ("trace cellular --out t", "advise --rate 10mbit --rtt 20ms");
    vec![
        ("compare reno --rtt 20ms", "--rate", of(&NO_RATE)),
        ("compare reno --rate 10mbit", "--rtt", of(&NO_TIME)),
        (compare, "--queue", of(&NO_QUEUE)),
        (compare, "--reverse-rate", of(&NO_RATE)),
        (compare, "--duration", of(&NO_TIME)),
        (compare, "--jitter", of(&NO_TIME)),
        (compare, "--transfer", of(&NO_BYTES)),
        (compare, "--loss", NO_SHARE.to_vec()),
        (compare, "--reorder", NO_PAIR.to_vec()),
        (compare, "--policer", NO_PAIR.to_vec()),
        (compare, "--seeds", NO_COUNT.to_vec()),
        (compare, "--seed", NO_NUMBER.to_vec()),
        (compare, "--against", NO_FLOWS.to_vec()),
        (compare, "--engine", NO_NAME.to_vec()),
        (compare, "--aqm", NO_NAME.to_vec()),
        (compare, "--family", NO_NAME.to_vec()),
        (compare, "--set", NO_SETTING.to_vec()),
        ("model --rtt 20ms", "--rate", of(&NO_RATE)),
        ("model --rate 10mbit", "--rtt", of(&NO_TIME)),
        (model, "--queue", of(&["1p..", "..1p", "0p..1p", "1p..2p..3p"])),
        (model, "--steps", NO_COUNT.to_vec()),
        (model, "--loss", NO_SHARE.to_vec()),
        (model, "--find", NO_NAME.to_vec()),
        (model, "--controller", NO_NAME.to_vec()),
        (trace, "--rate", of(&NO_RATE)),
        (trace, "--duration", of(&NO_TIME)),
        (trace, "--seed", NO_NUMBER.to_vec()),
        (advise, "--queue", of(&NO_QUEUE)),
        (advise, "--neighbours", NO_FLOWS[1..].to_vec()),
        (advise, "--flows", NO_COUNT.to_vec()),
        (advise, "--default", NO_NAME.to_vec()),
    ]
}

fn bad_options() -> Vec<Bad> {
    let bad = |(command, option, values): Refusing| {
        let of_value = move |value: &str| {
            let mut arguments: Vec<String> = command.split(' ').map(str::to_owned).collect();
            arguments.push(format!("{option}={value}"));
            Bad { arguments, files: Vec::new(), parts: vec![option.to_owned()] }
        };
        values.into_iter().map(of_value)
    };
    let contender = |flows: &&str| Bad {
        arguments: ["compare", "--rate=10mbit", "--rtt=20ms", "--", flows].map(str::to_owned).to_vec(),
        files: Vec::new(),
        parts: vec![flows.split(['@', ':']).next().unwrap_or_default().to_owned()],
    };
    options().into_iter().flat_map(bad).chain(NO_FLOWS.iter().map(contender)).collect()
}

const SCENARIO: &str = "
duration = \"1s\"
warmup = \"200ms\"
[dumbbell]
rate = \"10mbit\"
rtt = \"20ms\"
queue = \"20p\"
[[flows]]
controller = \"reno\"
";
const GRID: &str = "[grid]\n\"dumbbell.rate\" = [\"5mbit\", \"10mbit\"]\n";

/// Values in TOML that no key takes that stands for one quantity or one word.
const NO_VALUE: [&str; 12] =
    ["true", "[]", "{}", "nan", "inf", "-1", "1979-05-27", "''", "'x'", "['10mbit']", "{ a = 1 }", "'\u{0}'"];

/// A line of the scenario, and values that its key does not take beside [`NO_VALUE`].
fn keys() -> Vec<(&'static str, &'static str, Vec<String>)> {
    let texts = |values: &[&str]| values.iter().map(|value| format!("'{value}'")).collect::<Vec<_>>();
    let counts = || ["0", "1.5", "99999999999", "'1'"].map(str::to_owned).to_vec();
    vec![
        ("duration = \"1s\"", "duration", texts(&NO_TIME)),
        ("warmup = \"200ms\"", "warmup", texts(&NO_TIME)),
        ("rate = \"10mbit\"", "rate", texts(&NO_RATE)),
        ("rtt = \"20ms\"", "rtt", texts(&NO_TIME)),
        ("queue = \"20p\"", "queue", texts(&NO_QUEUE)),
        ("controller = \"reno\"", "controller", texts(&NO_FLOWS[8..])),
        ("duration = \"1s\"", "duration = \"1s\"\nseeds", counts()),
        ("controller = \"reno\"", "controller = \"reno\"\ncount", counts()),
        ("controller = \"reno\"", "controller = \"reno\"\ntransfer", texts(&NO_BYTES)),
        ("queue = \"20p\"", "queue = \"20p\"\nloss", vec!["1.5".into(), "'200%'".into()]),
        ("queue = \"20p\"", "queue = \"20p\"\nnothing", vec!["1".into()]),
    ]
}

fn of_file(command: &str, name: &'static str, content: impl Into<Vec<u8>>) -> Bad {
    let arguments = command.split(' ').map(str::to_owned).collect();
    Bad { arguments, files: vec![(name, content.into())], parts: vec![name.to_owned()] }
}

fn bad_scenarios() -> Vec<Bad> {
    let mut bad = Vec::new();
    for (line, key, values) in keys() {
        for value in NO_VALUE.iter().map(|value| (*value).to_owned()).chain(values) {
            bad.push(of_file("run s.toml", "s.toml", SCENARIO.replace(line, &format!("{key} = {value}"))));
        }
    }
    let whole = ["", "\u{feff}", "[", "= 1", "a = ", "\0", "[flows]", "[[dumbbell]]", "\u{1f980}", "duration = '1s'"];
    bad.extend(whole.map(|text| of_file("run s.toml", "s.toml", text)));
    bad.push(of_file("run s.toml", "s.toml", [0xff, 0xfe, 0x00]));
    bad.push(of_file("run s.toml", "s.toml", "[".repeat(100_000)));
    bad.push(of_file("run s.toml", "s.toml", format!("a = {}", "[".repeat(100_000))));
    bad
}

fn bad_sweeps() -> Vec<Bad> {
    let inner = SCENARIO.replace("[dumbbell]", "[scenario.dumbbell]").replace("[[flows]]", "[[scenario.flows]]");
    let scenario = format!("[scenario]{inner}");
    let sections = [
        "",
        "[grid]",
        "grid = 1",
        "[grid]\n'dumbbell.rate' = []",
        "[grid]\n'dumbbell.rate' = '1mbit'",
        "[grid]\n'dumbbell.rate' = [0]",
        "[grid]\n'dumbbell.rate' = [nan]",
        "[grid]\n'dumbbell.rat' = ['1mbit']",
        "[grid]\n'flows[9].controller' = ['reno']",
        "[grid]\n'flows[x].controller' = ['reno']",
        "[grid]\n'flows[99999999999999999999].controller' = ['reno']",
        "[grid]\n'' = [1]",
        "[grid]\n'.' = [1]",
        "[grid]\n'seeds' = [1, 2]",
        "[grid]\n'name' = ['a']",
        "[grid]\n'dumbbell' = [1]",
        "[grid]\n'flows[0].controller' = ['nobody']",
        "[grid]\n'flows[0].count' = [0]",
        "[grid]\n'flows[0].count' = [1e300]",
        "[[list]]",
        "list = 1",
        "list = [1]",
        "[random]",
        "[random]\npoints = 0",
        "[random]\npoints = -1",
        "[random]\npoints = 1.5",
        "[random]\npoints = 2\n[random.values]",
        "[random]\npoints = 2\nseed = -1\n[random.values]\n'dumbbell.rate' = ['1mbit']",
        "[random]\npoints = 2\n[random.values]\n'dumbbell.rate' = { from = '1mbit' }",
        "[random]\npoints = 2\n[random.values]\n'dumbbell.rate' = { from = '1mbit', to = '1ms' }",
        "[random]\npoints = 2\n[random.values]\n'dumbbell.rate' = { from = 'nan', to = 'inf' }",
        "[random]\npoints = 2\n[random.values]\n'dumbbell.rate' = { from = '0bit', to = '1mbit', scale = 'log' }",
        "[random]\npoints = 9223372036854775807\n[random.values]\n'dumbbell.rate' = ['1mbit']",
        "[nothing]",
    ];
    let mut bad: Vec<Bad> =
        sections.iter().map(|section| of_file("sweep s.toml", "s.toml", format!("{scenario}{section}"))).collect();
    bad.push(of_file("sweep s.toml", "s.toml", GRID));
    bad.push(of_file("sweep s.toml", "s.toml", format!("scenario = 'none.toml'\n{GRID}")));
    bad.push(of_file("sweep s.toml", "s.toml", format!("scenario = '/dev/zero'\n{GRID}")));
    bad.push(of_file("sweep s.toml", "s.toml", format!("scenario = 1\n{GRID}")));
    // Ten keys of ten values: 10^10 points.
    let values = (1..=10).map(|i| format!("'{i}ms'")).collect::<Vec<_>>().join(", ");
    let times = ["dumbbell.rtt", "flows[0].start"].iter().map(|key| (*key).to_owned());
    let keys = times.chain((0..8).map(|i| format!("flows[0].key{i}")));
    let grid = keys.map(|key| format!("'{key}' = [{values}]\n")).collect::<String>();
    let mut endless = of_file("sweep s.toml", "s.toml", format!("{scenario}[grid]\n{grid}"));
    endless.parts.push("10000000000 points".into());
    bad.push(endless);
    bad
}

fn bad_traces() -> Vec<Bad> {
    let texts =
        ["", "\n", "x\n", "-1\n", "1.5\n", "nan\n", "2\n1\n", "0\n", "0\n0\n", "86400001\n", "99999999999\n", "1 2\n"];
    let command = "compare reno --rate 10mbit --rtt 20ms --rate-trace t.trace";
    let mut bad: Vec<Bad> = texts.iter().map(|text| of_file(command, "t.trace", *text)).collect();
    bad.push(of_file(command, "t.trace", [b'1', b'\n', 0xff]));
    bad
}

fn bad_sizes() -> Vec<Bad> {
    let texts =
        ["", "# nothing\n", "x\n", "-1B\n", "10\n", "1e999GB\n", "nanB\n", "15kB 15kB\n", "2000000GB\n", "\u{0}\n"];
    let of_text = |text: &&str| {
        let mut bad = of_file("run s.toml", "sizes.txt", *text);
        let short = "short = { load = '10%', size = { kind = 'file', path = 'sizes.txt' } }\n";
        bad.files.push(("s.toml", format!("{SCENARIO}{short}").into_bytes()));
        bad
    };
    texts.iter().map(of_text).collect()
}

fn bad_logs() -> Vec<Bad> {
    const INIT: &str = "{\"event\":\"init\",\"cwnd\":10,\"mss\":1200}\n";
    let alone = ["", "\n", "x", "{", "{}", "[]", "null", "1", "{\"event\":\"ack\"}", "{\"event\":\"init\"}", "\u{0}"];
    let after = [
        "x",
        "{}",
        "{\"event\":\"nothing\"}",
        "{\"event\":\"ack\",\"packets\":-1}",
        "{\"event\":\"ack\",\"packets\":1.5}",
        "{\"event\":\"ack\",\"packets\":99999999999}",
        "{\"event\":\"ack\",\"packets\":\"1\"}",
        "{\"event\":1}",
    ];
    let first = ["{\"event\":\"init\",\"cwnd\":0,\"mss\":1200}", "{\"event\":\"init\",\"cwnd\":10,\"mss\":0}"];
    let texts = alone.iter().chain(&first).map(|text| (*text).to_owned());
    let texts = texts.chain(after.iter().map(|text| format!("{INIT}{text}\n")));
    let command = "conform log.jsonl --controller reno";
    let mut bad: Vec<Bad> = texts.map(|text| of_file(command, "log.jsonl", text)).collect();
    bad.push(of_file(command, "log.jsonl", [0xff, 0xfe]));
    bad.push(of_file(command, "log.jsonl", vec![b' '; 2_000_000]));
    bad.push(of_file(command, "log.jsonl", "[".repeat(100_000)));
    bad
}

fn bad_measurements() -> Vec<Bad> {
    let texts = [
        "",
        "hello",
        "{",
        "{}",
        "{\"end\": 1}",
        "{\"end\": {}}",
        "{\"error\": \"no route\"}",
        "[]",
        "\u{0}",
        "5 packets transmitted, 0 received, 100% packet loss",
        "rtt min/avg/max/mdev = nan/nan/nan/nan ms",
    ];
    let mut bad: Vec<Bad> = texts.iter().map(|text| of_file("advise --from m.txt", "m.txt", *text)).collect();
    bad.push(of_file("advise --from m.txt", "m.txt", [0xff; 100]));
    bad.push(of_file("advise --from m.txt", "m.txt", "{".repeat(100_000)));
    bad
}

/// Whatever reads a file, given what is none; see `prepare` for the names.
fn no_files() -> Vec<Bad> {
    let commands = [
        "run FILE",
        "sweep FILE",
        "search reno --over FILE",
        "advise --from FILE",
        "conform FILE --controller reno",
        "compare reno --rate 10mbit --rtt 20ms --rate-trace FILE",
        "papers run s0/fig3 --kept --kernel-runs FILE",
    ];
    let names = ["none", ".", "/dev/zero", "pipe", "socket", "large"];
    let of_name = |name: &&str| {
        let bad = |command: &&str| {
            let arguments = command.split(' ').map(|word| if word == "FILE" { *name } else { word }.to_owned());
            Bad { arguments: arguments.collect(), files: Vec::new(), parts: vec![(*name).to_owned()] }
        };
        commands.iter().map(bad).collect::<Vec<_>>()
    };
    names.iter().flat_map(of_name).collect()
}

pub fn all() -> Vec<Bad> {
    let mut all = bad_options();
    all.extend([bad_scenarios(), bad_sweeps(), bad_traces(), bad_logs(), bad_measurements()].into_iter().flatten());
    all.extend(bad_sizes());
    all.extend(no_files());
    all
}
