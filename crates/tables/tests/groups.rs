// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of groups, against results made up by hand.

use arrow_array::{
    Array, RecordBatch,
    cast::AsArray,
    types::{Float64Type, UInt32Type, UInt64Type},
};
use tandem_results::{Delivery, Distribution, FlowResult, LinkResult, SeedResult};
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tandem_tables::{groups, read_parquet, run_of_seed, united, write_parquet};

const SCENARIO: &str = r#"
name = "lab"
duration = "20s"
warmup = "5s"
[dumbbell]
rate = "10mbit"
rtt = "40ms"
queue = "30p"
[[flows]]
controller = "compound@gamma=20"
count = 2
[[flows]]
name = "noise"
udp = { rate = "1mbit" }
"#;

fn scenario() -> Scenario {
    parse(SCENARIO, "lab.toml", "lab", &Overrides::default()).unwrap()
}

fn result(seed: u64) -> SeedResult {
    let flow = |goodput_mbps, sent_packets, retransmits, times: &[f64]| FlowResult {
        goodput_mbps,
        sent_packets,
        retransmits,
        completion_times_s: times.to_vec(),
        ..FlowResult::default()
    };
    SeedResult {
        seed,
        flows: vec![flow(3.0, 60, 3, &[1.0, 3.0]), flow(6.0, 140, 1, &[]), flow(1.0, 10, 0, &[])],
        rtt_ms: vec![Distribution { mean: 50.0, p95: 60.0, ..Distribution::default() }, Distribution::default()],
        deliveries: vec![None, Some(delivery())],
        links: vec![
            LinkResult { utilisation: 0.9, offered_packets: 200, drops: 4, ..LinkResult::default() },
            LinkResult { utilisation: 0.1, ..LinkResult::default() },
        ],
        ..SeedResult::default()
    }
}

fn delivery() -> Delivery {
    let of = |mean| Distribution { mean, ..Distribution::default() };
    Delivery { delay_ms: of(25.0), jitter_ms: of(0.5), loss_rate: 0.25, loss_rate_by_second: of(0.25) }
}

fn batch() -> RecordBatch {
    let scenario = scenario();
    groups(&scenario, &run_of_seed(&scenario, "sim", result(7)))
}

fn numbers(batch: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    batch.column_by_name(name).unwrap_or_else(|| panic!("no `{name}`")).as_primitive::<Float64Type>().iter().collect()
}

fn texts<'a>(batch: &'a RecordBatch, name: &str) -> Vec<Option<&'a str>> {
    batch.column_by_name(name).unwrap().as_string::<i32>().iter().collect()
}

#[test]
fn a_group_has_a_row() {
    let batch = batch();
    assert_eq!(batch.num_rows(), 2);
    assert_eq!(texts(&batch, "run"), [Some("lab"); 2]);
    assert_eq!(texts(&batch, "group"), [Some("compound@gamma=20"), Some("noise")]);
    assert_eq!(texts(&batch, "controller"), [Some("compound"), Some("udp")]);
    assert_eq!(batch.column_by_name("seed").unwrap().as_primitive::<UInt64Type>().values(), &[7, 7]);
    assert_eq!(batch.column_by_name("flows").unwrap().as_primitive::<UInt32Type>().values(), &[2, 1]);
    assert_eq!(numbers(&batch, "goodput_mbps"), [Some(9.0), Some(1.0)]);
    assert_eq!(numbers(&batch, "base_rtt_ms"), [Some(40.0); 2]);
    // (3 + 6)^2 / (2 * (9 + 36)).
    assert_eq!(numbers(&batch, "jain"), [Some(0.9); 2]);
    assert_eq!(texts(&batch, "link"), [Some("bottleneck"); 2]);
    assert_eq!(numbers(&batch, "link_loss_rate"), [Some(0.02); 2]);
}

#[test]
fn a_missing_value_is_null() {
    let batch = batch();
    assert_eq!(numbers(&batch, "retransmit_rate"), [Some(0.02), None]);
    assert_eq!(numbers(&batch, "rtt_p95_ms"), [Some(60.0), None]);
    assert_eq!(numbers(&batch, "srtt_mean_ms"), [None, None]);
    assert_eq!(numbers(&batch, "completion_time_mean_s"), [Some(2.0), None]);
    assert_eq!(numbers(&batch, "transfers"), [Some(2.0), None]);
    assert_eq!(numbers(&batch, "unfinished_transfers"), [None, None]);
    assert_eq!(numbers(&batch, "delay_mean_ms"), [None, Some(25.0)]);
    assert_eq!(numbers(&batch, "jitter_mean_ms"), [None, Some(0.5)]);
    assert_eq!(numbers(&batch, "loss_rate"), [None, Some(0.25)]);
    assert_eq!(numbers(&batch, "stolen"), [None, None]);
    assert_eq!(batch.column_by_name("doubts").unwrap().null_count(), 2);
}

#[test]
fn parameters_are_columns() {
    let batch = batch();
    assert_eq!(numbers(&batch, "param_gamma"), [Some(20.0), None]);
    // S2, table I: alpha = 1/8.
    assert_eq!(numbers(&batch, "param_alpha"), [Some(0.125), None]);
}

#[test]
fn a_file_has_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.parquet");
    let (schema, batches) = united(&[batch(), batch()]).unwrap();
    write_parquet(&path, schema.clone(), &batches).unwrap();
    let (back, read) = read_parquet(&path).unwrap();
    assert_eq!(back.fields(), schema.fields());
    assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), 4);
    assert_eq!(numbers(&read[0], "goodput_mbps")[..2], [Some(9.0), Some(1.0)]);
    let error = read_parquet(&folder.path().join("none")).unwrap_err().to_string();
    assert!(error.contains("none: the table cannot be read"), "{error}");
}

#[test]
fn without_tcp_jains_index_is_null() {
    let text = "duration = \"20s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"30p\"\n[[flows]]\nudp = { rate = \"1mbit\" }";
    let scenario = parse(text, "udp.toml", "udp", &Overrides::default()).unwrap();
    let flow = FlowResult { goodput_mbps: 1.0, ..FlowResult::default() };
    let result = SeedResult { flows: vec![flow], links: vec![LinkResult::default(); 2], ..SeedResult::default() };
    assert_eq!(numbers(&groups(&scenario, &run_of_seed(&scenario, "sim", result)), "jain"), [None]);
}

/// docs/reference/result-keys.md has a name or a pattern, such as `rtt_..._ms`, for each column.
#[test]
fn the_page_of_result_keys_has_every_column() {
    let page = std::fs::read_to_string("../../docs/reference/result-keys.md").unwrap();
    let section = page.split("\n## ").find(|part| part.starts_with("Rows of groups")).unwrap();
    let pattern = |name: &str| {
        ["mean", "p50", "p95", "p99", "max", "..."]
            .iter()
            .fold(name.to_owned(), |name, figure| name.replace(&format!("_{figure}_"), "_*_"))
    };
    let known: Vec<String> = section.split('`').skip(1).step_by(2).map(pattern).collect();
    let scenario = scenario();
    let batch = groups(&scenario, &run_of_seed(&scenario, "sim", result(7)));
    for field in batch.schema().fields() {
        let name = if field.name().starts_with("param_") { "param_gamma" } else { field.name().as_str() };
        assert!(known.contains(&pattern(name)), "the page lacks `{name}`");
    }
}
