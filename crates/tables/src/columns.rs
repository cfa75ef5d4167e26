// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table that is made column by column.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema};

/// Columns of one length, in order.
#[derive(Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// Adds a column that has a value in every row.
    pub fn push(&mut self, name: &str, values: impl Array + 'static) {
        self.add(name, Arc::new(values), false);
    }

    /// Adds a column that may have nulls.
    pub fn push_nullable(&mut self, name: &str, values: impl Array + 'static) {
        self.add(name, Arc::new(values), true);
    }

    /// Adds a column; `nullable` is part of its type.
    pub fn add(&mut self, name: &str, values: ArrayRef, nullable: bool) {
        self.fields.push(Field::new(name, values.data_type().clone(), nullable));
        self.arrays.push(values);
    }

    /// The table.
    ///
    /// # Errors
    /// If columns differ in length, or one without nulls has some.
    pub fn batch(self, rows: usize) -> Result<RecordBatch, ArrowError> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(self.fields)), self.arrays, &options)
    }
}
