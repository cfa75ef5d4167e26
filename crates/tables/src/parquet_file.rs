// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables as Parquet files, which pandas, Polars, DuckDB and R read as they are.

use std::{
    error::Error,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use parquet::{
    arrow::{ArrowWriter, ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::Compression,
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties},
};
use tandem_scenario::bounded::{self, RESULTS_BYTES};

use crate::{atomically, seal};

/// Why a file of tables could not be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: the table cannot be {action}: {cause}", path = path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    action: &'static str,
    /// What Parquet or the operating system said, or what is wrong with the file.
    pub cause: Cause,
}

type Cause = Box<dyn Error + Send + Sync>;

/// Writes batches of one schema to a file in a folder that exists: a row group for each, so that readers can skip those that they do not
/// want. The file is whole or not there.
///
/// # Errors
/// If the file cannot be written, or a batch has another schema.
pub fn write_parquet(path: &Path, schema: SchemaRef, batches: &[RecordBatch]) -> Result<(), FileError> {
    let write = || atomically(path, |file| write_to(file, schema, batches, None).map(drop));
    write().map_err(|cause| FileError { path: path.to_owned(), action: "written", cause })
}

/// As [`write_parquet`], with a checksum that [`read_sealed`] asks for.
///
/// # Errors
/// As [`write_parquet`].
pub fn write_sealed(path: &Path, schema: SchemaRef, batches: &[RecordBatch]) -> Result<(), FileError> {
    let write = || -> Result<(), Cause> {
        let line = KeyValue::new(seal::KEY.to_owned(), seal::blank());
        let mut bytes = write_to(Vec::new(), schema, batches, Some(vec![line]))?;
        seal::seal(path.file_name().unwrap_or_default(), &mut bytes);
        atomically(path, |file| Ok(file.write_all(&bytes)?))
    };
    write().map_err(|cause| FileError { path: path.to_owned(), action: "written", cause })
}

fn write_to<W: Write + Send>(
    to: W,
    schema: SchemaRef,
    batches: &[RecordBatch],
    metadata: Option<Vec<KeyValue>>,
) -> Result<W, Cause> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).set_key_value_metadata(metadata);
    let mut writer = ArrowWriter::try_new(to, schema, Some(properties.build()))?;
    for batch in batches {
        writer.write(batch)?;
        writer.flush()?;
    }
    Ok(writer.into_inner()?)
}

/// The schema and the batches of a file.
///
/// # Errors
/// If the file cannot be read, or is none of Parquet's.
pub fn read_parquet(path: &Path) -> Result<(SchemaRef, Vec<RecordBatch>), FileError> {
    let read = || -> Result<_, Cause> { Ok(batches(bounded::read(path, RESULTS_BYTES)?, None)?) };
    read().map_err(|cause| FileError { path: path.to_owned(), action: "read", cause })
}

/// As [`read_parquet`], of a file of [`write_sealed`]. With `names` the batches have those columns alone that have one of these; the schema
/// has all.
///
/// # Errors
/// As [`read_parquet`], and if the file is not as it was written, or was called otherwise then.
pub fn read_sealed(path: &Path, names: Option<&[&str]>) -> Result<(SchemaRef, Vec<RecordBatch>), FileError> {
    let read = || -> Result<_, Cause> {
        let bytes = bounded::read(path, RESULTS_BYTES)?;
        seal::check(path.file_name().unwrap_or_default(), &bytes)?;
        Ok(batches(bytes, names)?)
    };
    read().map_err(|cause| FileError { path: path.to_owned(), action: "read", cause })
}

fn batches(bytes: Vec<u8>, names: Option<&[&str]>) -> Result<(SchemaRef, Vec<RecordBatch>), ParquetError> {
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))?;
    // Without the file's metadata: two files with the same columns have the same schema.
    let schema = Arc::new(Schema::new(builder.schema().fields().clone()));
    if let Some(names) = names {
        let wanted = (0..schema.fields().len()).filter(|&i| names.contains(&schema.field(i).name().as_str()));
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
        builder = builder.with_projection(mask);
    }
    let mut batches = builder.build()?.collect::<Result<Vec<_>, _>>()?;
    batches.iter_mut().for_each(|batch| batch.schema_metadata_mut().clear());
    Ok((schema, batches))
}
