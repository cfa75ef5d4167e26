// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples of windows and queues as Parquet.

use std::path::Path;

use tandem_results::Trace;
use tandem_scenario::Scenario;
use tandem_tables::{FileError, ack_schema, acks, flow_schema, flows, link_schema, links, write_parquet};

use crate::Section;

/// File with the samples of flows: windows, RTTs and goodput.
pub const FLOWS_FILE: &str = "flows.parquet";
/// File with the samples of links: queues.
pub const LINKS_FILE: &str = "links.parquet";

/// File with what ACKs and timers did to senders.
pub const ACKS_FILE: &str = "acks.parquet";

/// Writes `acks.parquet` into a folder that exists: what happened to each sender of a run of `scenario`, one trace a flow.
///
/// # Errors
/// If the file cannot be written.
pub fn write_acks(folder: &Path, scenario: &Scenario, traces: &[Trace]) -> Result<(), FileError> {
    let flows: Vec<_> = traces.iter().map(|trace| acks(scenario, &scenario.name, trace)).collect();
    write_parquet(&folder.join(ACKS_FILE), ack_schema(), &flows)
}

/// Writes `flows.parquet` and `links.parquet` into a folder that exists, with the samples of every section that has any.
///
/// # Errors
/// If a file cannot be written.
pub fn write_trace(folder: &Path, sections: &[Section]) -> Result<(), FileError> {
    let traced = || sections.iter().filter(|section| section.run.trace.is_some());
    let flows: Vec<_> = traced().map(|section| flows(section.scenario, section.run)).collect();
    write_parquet(&folder.join(FLOWS_FILE), flow_schema(), &flows)?;
    let links: Vec<_> = traced().map(|section| links(section.run)).collect();
    write_parquet(&folder.join(LINKS_FILE), link_schema(), &links)
}
