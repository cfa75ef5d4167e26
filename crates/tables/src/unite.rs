// SPDX-License-Identifier: MIT OR Apache-2.0
//! Batches whose columns differ, as one table.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;

/// The columns of all schemas, each where it stands first. One that some schema lacks may have nulls.
///
/// # Errors
/// If a column has two types.
pub fn common_schema(schemas: &[SchemaRef]) -> Result<SchemaRef, ArrowError> {
    let mut fields: Vec<Field> = Vec::new();
    for field in schemas.iter().flat_map(|schema| schema.fields()) {
        match fields.iter_mut().find(|known| known.name() == field.name()) {
            None => fields.push(field.as_ref().clone()),
            Some(known) if known.data_type() == field.data_type() => {
                let nullable = known.is_nullable() || field.is_nullable();
                known.set_nullable(nullable);
            }
            Some(known) => {
                let (name, [one, other]) = (field.name(), [known.data_type(), field.data_type()]);
                let message = format!("the column `{name}` is {one} in one table and {other} in another");
                return Err(ArrowError::SchemaError(message));
            }
        }
    }
    for field in &mut fields {
        if schemas.iter().any(|schema| schema.field_with_name(field.name()).is_err()) {
            field.set_nullable(true);
        }
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// The batch with exactly these columns: what it lacks is null, and what it has beside them is left out.
///
/// # Errors
/// If a column has another type, or has nulls where none are allowed.
pub fn conformed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let rows = batch.num_rows();
    let column = |field: &Arc<Field>| match batch.column_by_name(field.name()) {
        Some(column) => column.clone(),
        None => new_null_array(field.data_type(), rows),
    };
    let columns = schema.fields().iter().map(column).collect();
    RecordBatch::try_new_with_options(schema.clone(), columns, &RecordBatchOptions::new().with_row_count(Some(rows)))
}

/// One table of batches whose columns may differ: all columns, and the batches with these. A value that a batch has no column for is null.
/// Without batches the table has no columns.
///
/// # Errors
/// If a column has two types.
pub fn united(batches: &[RecordBatch]) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let schemas: Vec<SchemaRef> = batches.iter().map(RecordBatch::schema).collect();
    let schema = common_schema(&schemas)?;
    let batches = batches.iter().map(|batch| conformed(batch, &schema)).collect::<Result<_, _>>()?;
    Ok((schema, batches))
}

/// Batches of one schema as one batch.
///
/// # Errors
/// If a batch has another schema.
pub fn concatenated(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
    concat_batches(schema, batches)
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, Float64Array, StringArray};

    use super::*;
    use crate::Columns;

    fn table(name: &str, values: &[f64]) -> RecordBatch {
        let mut columns = Columns::default();
        columns.push(name, Float64Array::from(values.to_vec()));
        columns.batch(values.len()).unwrap()
    }

    #[test]
    fn a_column_that_one_lacks_is_null_there() {
        let (schema, batches) = united(&[table("a", &[1.0, 2.0]), table("b", &[3.0])]).unwrap();
        let names: Vec<_> = schema.fields().iter().map(|field| (field.name().as_str(), field.is_nullable())).collect();
        assert_eq!(names, [("a", true), ("b", true)]);
        let nulls: Vec<[usize; 2]> = batches.iter().map(|b| [0, 1].map(|i| b.column(i).null_count())).collect();
        assert_eq!(nulls, [[0, 2], [1, 0]]);
    }

    #[test]
    fn one_column_has_one_type() {
        let mut columns = Columns::default();
        columns.push("a", StringArray::from(vec!["x"]));
        let text = columns.batch(1).unwrap();
        let error = united(&[table("a", &[1.0]), text]).unwrap_err().to_string();
        assert!(error.contains("`a` is Float64 in one table and Utf8 in another"), "{error}");
    }
}
