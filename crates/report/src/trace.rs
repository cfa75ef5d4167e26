// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples of windows and queues as Parquet, which pandas, polars, DuckDB and R read as they are.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};
use tandem_controllers::INFINITE_SSTHRESH;
use tandem_scenario::result::{FlowSample, FlowTrace, Trace};

use crate::{Section, files::atomically};

/// File with the samples of flows: windows, RTTs and goodput.
pub const FLOWS_FILE: &str = "flows.parquet";
/// File with the samples of links: queues.
pub const LINKS_FILE: &str = "links.parquet";

/// Why a file of samples could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: the samples cannot be written: {cause}", path = path.display())]
pub struct TraceError {
    /// The file.
    pub path: PathBuf,
    /// What Parquet or the operating system said.
    pub cause: ParquetError,
}

/// What keeps a file from being written, until the path is put to it.
struct Cause(ParquetError);

impl From<ParquetError> for Cause {
    fn from(e: ParquetError) -> Self {
        Self(e)
    }
}

impl From<io::Error> for Cause {
    fn from(e: io::Error) -> Self {
        Self(e.into())
    }
}

/// One row a sample of a flow. Optional are figures that not every controller has, and those that are unknown at first.
const FLOW_COLUMNS: &str = "message flows {
    required binary run (STRING);
    required int64 seed (INTEGER(64, false));
    required int32 flow (INTEGER(32, false));
    required binary group (STRING);
    required binary controller (STRING);
    required double time_s;
    required int32 cwnd_packets (INTEGER(32, false));
    required int32 loss_window_packets (INTEGER(32, false));
    optional int32 delay_window_packets (INTEGER(32, false));
    optional int32 ssthresh_packets (INTEGER(32, false));
    optional float gamma_packets;
    optional float diff_packets;
    optional float srtt_ms;
    optional float base_rtt_ms;
    required int32 in_flight_packets (INTEGER(32, false));
    required float goodput_mbps;
}";

/// One row a sample of a link.
const LINK_COLUMNS: &str = "message links {
    required binary run (STRING);
    required int64 seed (INTEGER(64, false));
    required binary link (STRING);
    required double time_s;
    required float queue_packets;
}";

/// Writes `flows.parquet` and `links.parquet` into a folder that exists, with the samples of every section that has any.
pub fn write_trace(folder: &Path, sections: &[Section]) -> Result<(), TraceError> {
    let traced: Vec<(&Section, &Trace)> =
        sections.iter().filter_map(|s| s.run.trace.as_ref().map(|t| (s, t))).collect();
    write_file(&folder.join(FLOWS_FILE), FLOW_COLUMNS, &traced, write_flows)?;
    write_file(&folder.join(LINKS_FILE), LINK_COLUMNS, &traced, write_links)
}

type Rows<'a, 'f> = SerializedRowGroupWriter<'a, &'f mut File>;
type WriteSection = fn(&mut Rows, &Section, &Trace) -> Result<(), ParquetError>;

/// A row group for each section, so that readers can skip the runs they do not want.
fn write_file(
    path: &Path,
    columns: &str,
    traced: &[(&Section, &Trace)],
    write_section: WriteSection,
) -> Result<(), TraceError> {
    let write = |file: &mut File| -> Result<(), Cause> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = Arc::new(parse_message_type(columns)?);
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        for (section, trace) in traced {
            let mut rows = writer.next_row_group()?;
            write_section(&mut rows, section, trace)?;
            rows.close()?;
        }
        writer.close()?;
        Ok(())
    };
    atomically(path, write).map_err(|Cause(cause)| TraceError { path: path.to_owned(), cause })
}

fn write_flows(rows: &mut Rows, section: &Section, trace: &Trace) -> Result<(), ParquetError> {
    let groups = &section.scenario.groups;
    let flows = trace.flows.as_slice();
    let run = text(&section.run.name);
    column::<ByteArrayType, _>(rows, flows, |f| vec![run.clone(); f.samples.len()])?;
    column::<Int64Type, _>(rows, flows, |f| vec![trace.seed as i64; f.samples.len()])?;
    column::<Int32Type, _>(rows, flows, |f| vec![f.flow as i32; f.samples.len()])?;
    column::<ByteArrayType, _>(rows, flows, |f| vec![text(&groups[f.group].name); f.samples.len()])?;
    column::<ByteArrayType, _>(rows, flows, |f| vec![text(&groups[f.group].source.controller()); f.samples.len()])?;
    column::<DoubleType, _>(rows, flows, |f| trace.time_s[..f.samples.len()].to_vec())?;
    // Unsigned numbers travel as the signed ones with the same bits; the schema says which they are.
    let windows: [fn(&FlowSample) -> u32; 2] = [|s| s.cwnd_packets, |s| s.loss_window_packets];
    for count in windows {
        column::<Int32Type, _>(rows, flows, |f| sampled(f, |s| count(s) as i32))?;
    }
    let delay_window = |s: &FlowSample| s.delay_window_packets as i32;
    column_with_gaps::<Int32Type, _>(rows, flows, |f| sampled_if(f, has_delay_part(f), delay_window))?;
    let ssthresh = |s: &FlowSample| (s.ssthresh_packets < INFINITE_SSTHRESH).then_some(s.ssthresh_packets as i32);
    column_with_gaps::<Int32Type, _>(rows, flows, |f| sampled(f, ssthresh))?;
    let backlogs: [fn(&FlowSample) -> f32; 2] = [|s| s.gamma_packets, |s| s.diff_packets];
    for measure in backlogs {
        column_with_gaps::<FloatType, _>(rows, flows, |f| sampled_if(f, has_delay_part(f), measure))?;
    }
    let rtts_ms: [fn(&FlowSample) -> f32; 2] = [|s| s.srtt_ms, |s| s.base_rtt_ms];
    for rtt_ms in rtts_ms {
        column_with_gaps::<FloatType, _>(rows, flows, |f| sampled(f, |s| Some(rtt_ms(s)).filter(|&ms| ms > 0.0)))?;
    }
    column::<Int32Type, _>(rows, flows, |f| sampled(f, |s| s.in_flight_packets as i32))?;
    column::<FloatType, _>(rows, flows, |f| sampled(f, |s| s.goodput_mbps))
}

fn write_links(rows: &mut Rows, section: &Section, trace: &Trace) -> Result<(), ParquetError> {
    let links = trace.links.as_slice();
    let run = text(&section.run.name);
    column::<ByteArrayType, _>(rows, links, |l| vec![run.clone(); l.queue_packets.len()])?;
    column::<Int64Type, _>(rows, links, |l| vec![trace.seed as i64; l.queue_packets.len()])?;
    column::<ByteArrayType, _>(rows, links, |l| vec![text(&l.name); l.queue_packets.len()])?;
    column::<DoubleType, _>(rows, links, |l| trace.time_s[..l.queue_packets.len()].to_vec())?;
    column::<FloatType, _>(rows, links, |l| l.queue_packets.clone())
}

fn text(text: &str) -> ByteArray {
    ByteArray::from(text.as_bytes().to_vec())
}

/// Has its controller a backlog, or a window that depends on the delay? The figures of one that has not are 0 all the time.
fn has_delay_part(flow: &FlowTrace) -> bool {
    let is_used = |s: &FlowSample| s.delay_window_packets > 0 || s.gamma_packets > 0.0 || s.diff_packets > 0.0;
    flow.samples.iter().any(is_used)
}

fn sampled_if<T>(flow: &FlowTrace, is_there: bool, of: impl Fn(&FlowSample) -> T) -> Vec<Option<T>> {
    sampled(flow, |s| is_there.then(|| of(s)))
}

fn sampled<T>(flow: &FlowTrace, of: impl Fn(&FlowSample) -> T) -> Vec<T> {
    flow.samples.iter().map(of).collect()
}

/// The next column of the schema, one series after the other.
fn column<T: DataType, S>(rows: &mut Rows, series: &[S], values: impl Fn(&S) -> Vec<T::T>) -> Result<(), ParquetError> {
    write_column(rows, series, |column, one| column.typed::<T>().write_batch(&values(one), None, None))
}

/// The same of a column that has values missing: null, never 0.
fn column_with_gaps<T: DataType, S>(
    rows: &mut Rows,
    series: &[S],
    values: impl Fn(&S) -> Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    write_column(rows, series, |column, one| {
        let values = values(one);
        let is_there: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
        let values: Vec<T::T> = values.into_iter().flatten().collect();
        column.typed::<T>().write_batch(&values, Some(&is_there), None)
    })
}

fn write_column<S>(
    rows: &mut Rows,
    series: &[S],
    write: impl Fn(&mut SerializedColumnWriter, &S) -> Result<usize, ParquetError>,
) -> Result<(), ParquetError> {
    let mut column =
        rows.next_column()?.ok_or_else(|| ParquetError::General("the schema has no more columns".into()))?;
    for one in series {
        write(&mut column, one)?;
    }
    column.close()
}
