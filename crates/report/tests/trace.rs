// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Parquet files of samples, read back.

use std::{collections::BTreeSet, fs::File, path::Path, sync::Arc};

use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::{Field, Row, RowAccessor},
};
use tandem_controllers::CONTROLLERS;
use tandem_report::{FLOWS_FILE, LINKS_FILE, Section, write_trace};

mod synthetic;

fn read(path: &Path) -> (Vec<String>, Vec<Row>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let columns = reader.metadata().file_metadata().schema().get_fields().iter().map(|f| f.name().to_owned()).collect();
    (columns, reader.get_row_iter(None).unwrap().map(Result::unwrap).collect())
}

#[test]
fn samples_come_back_as_they_went() {
    let folder = tempfile::tempdir().unwrap();
    let alone = synthetic::scenario("alone", &[("reno", "reno", 1)]);
    let mixed = synthetic::scenario("mixed", &[("newcomers", "compound", 2), ("reno", "reno", 1)]);
    let (alone_run, mixed_run) = (synthetic::run(&alone, 1), synthetic::run(&mixed, 2));
    let sections = [Section { scenario: &alone, run: &alone_run }, Section { scenario: &mixed, run: &mixed_run }];
    write_trace(folder.path(), &sections).unwrap();

    let (columns, rows) = read(&folder.path().join(FLOWS_FILE));
    assert_eq!(
        columns[..16].join(" "),
        "run seed flow group controller time_s cwnd_packets loss_window_packets delay_window_packets ssthresh_packets \
         gamma_packets diff_packets srtt_ms base_rtt_ms in_flight_packets goodput_mbps"
    );
    let mut rows = rows.into_iter();
    for section in &sections {
        let trace = section.run.trace.as_ref().unwrap();
        for flow in &trace.flows {
            let group = &section.scenario.groups[flow.group];
            for (sample, time_s) in flow.samples.iter().zip(&trace.time_s) {
                let row = rows.next().unwrap();
                assert_eq!(row.get_string(0).unwrap(), &section.run.name);
                assert_eq!(row.get_ulong(1).unwrap(), trace.seed);
                assert_eq!(row.get_uint(2).unwrap() as usize, flow.flow);
                assert_eq!(row.get_string(3).unwrap(), &group.name);
                assert_eq!(*row.get_string(4).unwrap(), group.source.controller());
                assert_eq!(row.get_double(5).unwrap(), *time_s);
                assert_eq!(row.get_uint(6).unwrap(), sample.cwnd_packets);
                assert_eq!(row.get_uint(7).unwrap(), sample.loss_window_packets);
                assert_eq!(row.get_uint(14).unwrap(), sample.in_flight_packets);
                assert_eq!(row.get_float(15).unwrap(), sample.goodput_mbps);
                let is_compound = group.source.controller() == "compound";
                assert_eq!(row.get_uint(8).ok(), is_compound.then_some(sample.delay_window_packets));
                assert_eq!(row.get_uint(9).ok(), Some(sample.ssthresh_packets).filter(|&s| s < 1 << 31));
                assert_eq!(row.get_float(10).ok(), is_compound.then_some(sample.gamma_packets));
                assert_eq!(row.get_float(11).ok(), is_compound.then_some(sample.diff_packets));
                assert_eq!(row.get_float(12).ok(), Some(sample.srtt_ms).filter(|&ms| ms > 0.0));
                assert_eq!(row.get_float(13).ok(), Some(sample.base_rtt_ms).filter(|&ms| ms > 0.0));
            }
        }
    }
    assert!(rows.next().is_none());
}

/// Each probe of the list has a column; a flow has what its controller names, in its unit, unless there is no such value.
#[test]
fn probes_have_columns() {
    let folder = tempfile::tempdir().unwrap();
    let scenario =
        synthetic::scenario("mixed", &[("three", "bbr3", 1), ("reno", "reno", 1), ("kernel", "kernel:dctcp", 1)]);
    let mut run = synthetic::run(&scenario, 1);
    let flows = &mut Arc::make_mut(run.trace.as_mut().unwrap()).flows;
    // state, bw, max_bw, the two bounds, pacing_gain ...
    let three = [3, 95_500_000, 96_000_000, u64::MAX, 400, 125, 0, 2, 0, 1];
    flows[0].samples[0].probes = Some(three);
    flows[1].samples[0].probes = Some([0; 10]);
    write_trace(folder.path(), &[Section { scenario: &scenario, run: &run }]).unwrap();

    let (columns, rows) = read(&folder.path().join(FLOWS_FILE));
    let distinct: BTreeSet<_> = CONTROLLERS.iter().flat_map(|c| c.probes()).map(|p| p.name).collect();
    assert_eq!(columns[16..].iter().map(String::as_str).collect::<BTreeSet<_>>(), distinct);
    assert_eq!(columns.len(), 16 + distinct.len(), "two columns of one name");
    let place = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let first = |group: &str| rows.iter().find(|row| row.get_string(3).unwrap() == group).unwrap();
    assert_eq!(first("three").get_string(place("state")).unwrap(), "CRUISE");
    let number = |group: &str, name: &str| first(group).get_double(place(name)).ok();
    let names = ["bw_mbps", "inflight_shortterm_packets", "inflight_longterm_packets", "pacing_gain", "alpha"];
    assert_eq!(names.map(|name| number("three", name)), [Some(95.5), None, Some(400.0), Some(1.25), None]);
    for group in ["reno", "kernel"] {
        assert!(
            (16..columns.len())
                .all(|column| matches!(first(group).get_column_iter().nth(column), Some((_, Field::Null))))
        );
    }
}

#[test]
fn queues_come_back_as_they_went() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = synthetic::scenario("alone", &[("reno", "reno", 1)]);
    let run = synthetic::run(&scenario, 1);
    write_trace(folder.path(), &[Section { scenario: &scenario, run: &run }]).unwrap();

    let (columns, rows) = read(&folder.path().join(LINKS_FILE));
    assert_eq!(columns, ["run", "seed", "link", "time_s", "queue_packets"]);
    let trace = run.trace.as_ref().unwrap();
    let expected = trace.links.iter().flat_map(|link| {
        link.queue_packets.iter().zip(&trace.time_s).map(|(queue, time)| (link.name.clone(), *time, *queue))
    });
    let found = rows
        .iter()
        .map(|row| (row.get_string(2).unwrap().clone(), row.get_double(3).unwrap(), row.get_float(4).unwrap()));
    assert!(found.eq(expected));
}

#[test]
fn runs_without_samples_make_files_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = synthetic::scenario("alone", &[("reno", "reno", 1)]);
    let mut run = synthetic::run(&scenario, 1);
    run.trace = None;
    write_trace(folder.path(), &[Section { scenario: &scenario, run: &run }]).unwrap();
    assert!(read(&folder.path().join(FLOWS_FILE)).1.is_empty());
}

#[test]
fn an_error_names_the_file() {
    let error = write_trace(Path::new("/no/such/folder"), &[]).unwrap_err().to_string();
    assert!(error.starts_with("/no/such/folder/flows.parquet: "), "{error}");
}
