// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables as Parquet files, which pandas, Polars, DuckDB and R read as they are.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::{
    arrow::{ArrowWriter, ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::Compression,
    errors::ParquetError,
    file::properties::WriterProperties,
};

use crate::atomically;

/// Why a file of tables could not be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: the table cannot be {action}: {cause}", path = path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    action: &'static str,
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

/// Writes batches of one schema to a file in a folder that exists: a row group for each, so that readers can skip those that they do not
/// want. The file is whole or not there.
///
/// # Errors
/// If the file cannot be written, or a batch has another schema.
pub fn write_parquet(path: &Path, schema: SchemaRef, batches: &[RecordBatch]) -> Result<(), FileError> {
    let write = |file: &mut File| -> Result<(), Cause> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = ArrowWriter::try_new(file, schema, Some(properties))?;
        for batch in batches {
            writer.write(batch)?;
            writer.flush()?;
        }
        writer.close()?;
        Ok(())
    };
    atomically(path, write).map_err(|Cause(cause)| FileError { path: path.to_owned(), action: "written", cause })
}

/// The schema and the batches of a file.
///
/// # Errors
/// If the file cannot be read, or is none of Parquet's.
pub fn read_parquet(path: &Path) -> Result<(SchemaRef, Vec<RecordBatch>), FileError> {
    read(path, None)
}

/// As [`read_parquet`], of a file's columns with these names only: the batches have those that are there, the schema has all.
///
/// # Errors
/// As [`read_parquet`].
pub fn read_columns(path: &Path, names: &[&str]) -> Result<(SchemaRef, Vec<RecordBatch>), FileError> {
    read(path, Some(names))
}

fn read(path: &Path, names: Option<&[&str]>) -> Result<(SchemaRef, Vec<RecordBatch>), FileError> {
    let read = || -> Result<_, ParquetError> {
        let mut builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
        let schema = builder.schema().clone();
        if let Some(names) = names {
            let wanted = (0..schema.fields().len()).filter(|&i| names.contains(&schema.field(i).name().as_str()));
            let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
            builder = builder.with_projection(mask);
        }
        let batches = builder.build()?.collect::<Result<Vec<_>, _>>()?;
        Ok((schema, batches))
    };
    read().map_err(|cause| FileError { path: path.to_owned(), action: "read", cause })
}
