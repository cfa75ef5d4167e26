// SPDX-License-Identifier: MIT OR Apache-2.0
//! What some tasks gave, as bytes: so it goes from a worker elsewhere to the program that keeps the data set.
//!
//! The bytes are streams of Arrow's IPC format: the rows of all groups, then, if there are samples, those of flows and those of links, with a
//! batch for each task. Nothing in them depends on the processor, and every number arrives with the same bits.

use arrow_array::RecordBatch;
use arrow_ipc::{
    MetadataVersion,
    reader::StreamReader,
    writer::{IpcWriteOptions, StreamWriter},
};
use tandem_tables::{concatenated, united};

use crate::{
    error::BundleError,
    part::by_key,
    task::{Key, Tables},
};

/// Bytes to which columns are padded: no more than numbers need, because most columns have few of them.
const ALIGNMENT: usize = 8;

/// What tasks gave, as bytes. Either all have samples, or none has.
///
/// # Errors
/// If the columns of two tasks do not go together.
pub fn to_bytes(tables: &[Tables]) -> Result<Vec<u8>, BundleError> {
    let mut bytes = Vec::new();
    // One batch: the names and places of columns take more than the few rows of a task.
    let (schema, groups) = united(&tables.iter().map(|tables| tables.groups.clone()).collect::<Vec<_>>())?;
    write(&[concatenated(&schema, &groups)?], &mut bytes)?;
    let samples: Vec<_> = tables.iter().filter_map(|tables| tables.samples.clone()).collect();
    if !samples.is_empty() && samples.len() != tables.len() {
        return Err(BundleError::Mixed);
    }
    if !samples.is_empty() {
        let (flows, links): (Vec<_>, Vec<_>) = samples.into_iter().unzip();
        write(&flows, &mut bytes)?;
        write(&links, &mut bytes)?;
    }
    Ok(bytes)
}

/// What [`to_bytes`] made bytes of, with the key of each task.
///
/// # Errors
/// If the bytes are none of these.
pub fn from_bytes(mut bytes: &[u8]) -> Result<Vec<(Key, Tables)>, BundleError> {
    let groups = read(&mut bytes)?.iter().map(by_key).collect::<Result<Vec<_>, _>>()?.concat();
    let mut samples = vec![None; groups.len()];
    if !bytes.is_empty() {
        let (flows, links) = (read(&mut bytes)?, read(&mut bytes)?);
        if [flows.len(), links.len()] != [groups.len(); 2] {
            return Err(BundleError::LacksSamples);
        }
        samples = flows.into_iter().zip(links).map(Some).collect();
    }
    let both = groups.into_iter().zip(samples);
    Ok(both.map(|((key, groups), samples)| (key, Tables { groups, samples })).collect())
}

fn write(batches: &[RecordBatch], bytes: &mut Vec<u8>) -> Result<(), BundleError> {
    let Some(first) = batches.first() else { return Ok(()) };
    let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?;
    let mut writer = StreamWriter::try_new_with_options(bytes, &first.schema(), options)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    Ok(writer.finish()?)
}

/// One stream, which is taken off the bytes.
fn read(bytes: &mut &[u8]) -> Result<Vec<RecordBatch>, BundleError> {
    Ok(StreamReader::try_new(bytes, None)?.collect::<Result<_, _>>()?)
}
