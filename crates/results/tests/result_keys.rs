// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/reference/result-keys.md names every key that results have, and no other. Its tables of measures are written from their rows.

use std::{collections::BTreeSet, env, fs};

use serde_json::Value;
use tandem_results::{
    Delivery, Distribution, Emulation, FlowResult, GROUP_MEASURES, LINK_MEASURES, LinkResult, Matrix, Measure, Run,
    SeedResult, ShortTransfer,
};
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

const PAGE: &str = "../../docs/reference/result-keys.md";
/// Set: the tables of measures are written instead of compared.
const UPDATE: &str = "UPDATE_DOCS";

/// Keys of the first column, and all that a part of the page writes as code.
struct Part {
    keys: BTreeSet<String>,
    code: BTreeSet<String>,
}

fn code_in(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What stands under this heading, up to the next.
fn part(heading: &str) -> Part {
    let page = fs::read_to_string(PAGE).unwrap();
    let lines = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with('#'));
    let (mut keys, mut code) = (BTreeSet::new(), BTreeSet::new());
    for line in lines {
        code.extend(code_in(line));
        if let Some(row) = line.strip_prefix("| `") {
            let of_row = code_in(&format!("`{}", row.split(" | ").next().unwrap()));
            // Of a key within another, such as `delivery.delay_ms`, both.
            code.extend(of_row.iter().flat_map(|key| key.split('.')).map(str::to_owned));
            keys.extend(of_row.iter().filter_map(|key| key.split('.').next()).map(str::to_owned));
        }
    }
    assert!(!keys.is_empty(), "`{heading}` has a table");
    Part { keys, code }
}

/// The keys that any of these objects has.
fn keys<'a>(objects: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    objects.into_iter().filter_map(Value::as_object).flat_map(|object| object.keys().cloned()).collect()
}

/// A scenario with all that adds keys, on this network.
fn scenario(network: &str) -> Scenario {
    let flows = "[[flows]]\ncontroller = \"reno\"\ntransfer = \"1MB\"\n[[flows]]\ncontroller = \"cubic\"\n\
                 [[flows]]\ncontroller = \"reno\"\nshort = { per_second = 2, size = \"30kB\" }\n[[flows]]\nudp = { rate = \"1mbit\" }\n";
    parse(&format!("duration = \"20s\"\n{network}\n{flows}"), "x", "x", &Overrides::default()).unwrap()
}

const DUMBBELL: &str = "[dumbbell]\nrate = \"10mbit\"\nrtt = \"50ms\"\nqueue = \"99p\"";
const CELL: &str =
    "[wlan]\nphy = \"802.11b\"\nstations = 4\nqueue = \"100p\"\nwired_rate = \"100mbit\"\nrtt = \"20ms\"";

fn delivery() -> Delivery {
    let of = Distribution::default();
    Delivery { delay_ms: of, jitter_ms: of, loss_rate: 0.0, loss_rate_by_second: of }
}

fn run(network: &str) -> Run {
    let scenario = scenario(network);
    let transfer = ShortTransfer { arrived_s: 1.0, bytes: 30_000, completion_time_s: Some(0.5) };
    let flow = FlowResult {
        goodput_mbps: 1.0,
        completion_times_s: vec![2.0],
        short_flows: vec![transfer],
        ..FlowResult::default()
    };
    let result = SeedResult {
        flows: vec![flow; scenario.flow_count()],
        deliveries: vec![None, None, None, Some(delivery())],
        links: vec![LinkResult { marks: 3, ..LinkResult::default() }; scenario.network.links.len()],
        emulation: Some(Emulation::default()),
        ..SeedResult::default()
    };
    Run::from_seeds(&scenario, "sim", 1, vec![result])
}

#[test]
fn the_page_has_every_key_of_results_and_no_other() {
    let (wired, wireless) = (run(DUMBBELL), run(CELL));
    let runs = [&wired, &wireless].map(|run| serde_json::to_value(run).unwrap());
    let groups = || runs.iter().flat_map(|run| run["groups"].as_array().unwrap());
    let short: Vec<&Value> = groups().map(|group| &group["short_flows"]).collect();
    let matrix = serde_json::to_value(Matrix::from_runs(vec!["reno".into()], 1, &[Some(wired)])).unwrap();
    // Those of the run as a file has them: the command line adds the scenario.
    let mut of_run = keys(&runs);
    of_run.insert("scenario".to_owned());
    for (heading, found) in [
        ("## `runs`", of_run),
        ("### `groups`", keys(groups())),
        ("### `short_flows`", keys(short.iter().copied())),
        ("### `links`", keys(runs[0]["links"].as_array().unwrap())),
        ("### `cell`", keys([&runs[1]["cell"]])),
        ("### `emulation`", keys([&runs[0]["emulation"]])),
    ] {
        assert_eq!(part(heading).keys, found, "left: {heading} of the page, right: the results");
    }
    // Keys within keys stand beside them.
    let classes = short.iter().filter_map(|short| short["classes"].as_array()).flatten();
    let deliveries: Vec<&Value> = groups().map(|group| &group["delivery"]).collect();
    let cells = matrix["cells"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap());
    for (heading, inner) in [
        ("### `short_flows`", keys(classes)),
        ("### `groups`", keys(deliveries)),
        ("## `matrix`", keys(cells)),
        ("## `matrix`", keys([&matrix])),
    ] {
        let code = part(heading).code;
        let is_there = |key: &&String| !code.iter().any(|code| code == *key || code.starts_with(&format!("{key}[")));
        assert!(!inner.is_empty(), "{heading}");
        assert_eq!(inner.iter().find(is_there), None, "{heading} lacks it");
    }
}

fn code(keys: &[impl AsRef<str>]) -> String {
    keys.iter().map(|key| format!("`{}`", key.as_ref())).collect::<Vec<_>>().join(", ")
}

/// The rows of a table of keys.
fn rows_of_keys<S>(measures: &[Measure<S>]) -> String {
    let with_key = measures.iter().filter(|measure| !measure.key.is_empty());
    with_key.map(|m| format!("| {} | {} |\n", code(&[&[m.key], m.beside].concat()), m.meaning)).collect()
}

/// The rows of a table of columns. A measure that is a key is explained there.
fn rows_of_columns<S>(measures: &[Measure<S>], keys: &str) -> String {
    let names = |measure: &Measure<S>| -> Vec<String> {
        measure.column.iter().flat_map(|column| column.names()).map(|(name, _)| name).collect()
    };
    let (alike, others): (Vec<_>, Vec<_>) =
        measures.iter().filter(|m| m.column.is_some()).partition(|m| names(m) == [m.key]);
    let alike: Vec<&str> = alike.iter().map(|measure| measure.key).collect();
    let row = |measure: &&Measure<S>| match measure.key {
        "" => format!("| {} | {} |\n", code(&names(measure)), measure.meaning),
        key => format!("| {} | `{key}` |\n", code(&names(measure))),
    };
    let alike = if alike.is_empty() { String::new() } else { format!("| {} | as in {keys} |\n", code(&alike)) };
    alike + &others.iter().map(row).collect::<String>()
}

/// The page with these tables, each the first below its heading.
fn with_tables(page: &str) -> String {
    let head = |of: &str| format!("| {of} | contents |\n|---|---|\n");
    let groups = format!(
        "{}| `name`, `controller`, `flows` | |\n{}| `short_flows.offered_mbps`, ... | only with `short`: see [`short_flows`](#short_flows) |\n",
        head("key"),
        rows_of_keys(GROUP_MEASURES),
    );
    let links = format!("{}| `name` | |\n{}", head("key"), rows_of_keys(LINK_MEASURES));
    let columns = format!(
        "{}| `run`, `engine`, `seed`, `group`, `controller`, `flows` | `run` is the scenario's name |\n\
         | `duration_s`, `warmup_s` | as run |\n{}\
         | `jain`, `convergence_s` | of the whole run, in each of its rows |\n\
         | `doubts` | why the figures are not to be trusted (`kernel`); null if they are |\n\
         | `link` | the busiest link on the group's route; the next columns are about it |\n{}\
         | `param_gamma`, ... | one column for each parameter that a controller of the table has; null for the other controllers |\n",
        head("column"),
        rows_of_columns(GROUP_MEASURES, "[`groups`](#groups)"),
        rows_of_columns(LINK_MEASURES, "[`links`](#links)"),
    );
    let tables = [("### `groups`", groups), ("### `links`", links), ("## Rows of groups", columns)];
    tables.iter().fold(page.to_owned(), |page, (heading, table)| with_table(&page, heading, table))
}

fn with_table(page: &str, heading: &str, table: &str) -> String {
    let start = page.find(&format!("\n{heading}\n")).expect(heading);
    let start = start + page[start..].find("\n|").expect("a table") + 1;
    let is_row = |line: &&str| line.starts_with('|');
    let length: usize = page[start..].split_inclusive('\n').take_while(is_row).map(str::len).sum();
    format!("{}{table}{}", &page[..start], &page[start + length..])
}

#[test]
fn the_tables_of_measures_are_those_of_the_rows() {
    let page = fs::read_to_string(PAGE).unwrap();
    let expected = with_tables(&page);
    if env::var_os(UPDATE).is_some() {
        fs::write(PAGE, &expected).unwrap();
    }
    let found = fs::read_to_string(PAGE).unwrap();
    assert!(
        found == expected,
        "{PAGE} is old; write its tables anew: {UPDATE}=1 cargo test -p tandem-results --test result_keys"
    );
}
