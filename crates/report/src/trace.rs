// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples of windows and queues as Parquet.

use std::path::Path;

use tandem_tables::{FileError, flow_schema, flows, link_schema, links, write_parquet};

use crate::Section;

/// File with the samples of flows: windows, RTTs and goodput.
pub const FLOWS_FILE: &str = "flows.parquet";
/// File with the samples of links: queues.
pub const LINKS_FILE: &str = "links.parquet";

/// Writes `flows.parquet` and `links.parquet` into a folder that exists, with the samples of every section that has any.
pub fn write_trace(folder: &Path, sections: &[Section]) -> Result<(), FileError> {
    let traced = || sections.iter().filter(|section| section.run.trace.is_some());
    let flows: Vec<_> = traced().map(|section| flows(section.scenario, section.run)).collect();
    write_parquet(&folder.join(FLOWS_FILE), flow_schema(), &flows)?;
    let links: Vec<_> = traced().map(|section| links(section.run)).collect();
    write_parquet(&folder.join(LINKS_FILE), link_schema(), &links)
}
