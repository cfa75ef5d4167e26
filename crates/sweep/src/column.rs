// SPDX-License-Identifier: MIT OR Apache-2.0
//! A swept key as a column.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow_schema::{DataType, Field};
use tandem_scenario::quantity::{self, Unit};
use toml::Value;

use crate::key_path::KeyPath;

/// The values of a swept key in the data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The key; with the unit at its end, if all its values have one.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers in a unit; `None`: bare ones.
    Number(Option<Unit>),
    /// True or false.
    Flag,
    /// Words; values of mixed kinds as the file has them.
    Text,
}

impl Kind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Integer(_) | Value::Float(_) => Kind::Number(None),
            Value::Boolean(_) => Kind::Flag,
            Value::String(text) => quantity::parse(text).map_or(Kind::Text, |(_, unit)| Kind::Number(Some(unit))),
            _ => Kind::Text,
        }
    }
}

impl Column {
    /// The column of a key with these values. They are numbers if all are, in one unit.
    pub(crate) fn new<'a>(key: &KeyPath, values: impl Iterator<Item = &'a Value>) -> Self {
        let mut kinds: Vec<Kind> = values.map(Kind::of).collect();
        kinds.dedup();
        let kind = if let [kind] = kinds[..] { kind } else { Kind::Text };
        let suffix = if let Kind::Number(Some(unit)) = kind { unit.suffix() } else { "" };
        Self { name: format!("{key}{suffix}"), kind }
    }

    pub(crate) fn field(&self) -> Field {
        let data_type = match self.kind {
            Kind::Number(_) => DataType::Float64,
            Kind::Flag => DataType::Boolean,
            Kind::Text => DataType::Utf8,
        };
        Field::new(&self.name, data_type, true)
    }

    /// The same value in this many rows; null where the key does not apply.
    pub(crate) fn array(&self, value: Option<&Value>, rows: usize) -> ArrayRef {
        match self.kind {
            Kind::Number(_) => Arc::new(Float64Array::from(vec![value.and_then(number); rows])),
            Kind::Flag => Arc::new(BooleanArray::from(vec![value.and_then(Value::as_bool); rows])),
            Kind::Text => {
                let text = value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                Arc::new(StringArray::from(vec![text.as_deref(); rows]))
            }
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        Value::String(text) => quantity::parse(text).map(|(number, _)| number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_ends_the_name_if_all_values_have_it() {
        let column = |values: &[Value]| Column::new(&"dumbbell.queue".parse().unwrap(), values.iter());
        assert_eq!(column(&["10p".into(), "20p".into()]).name, "dumbbell.queue_packets");
        assert_eq!(column(&[1.into(), 0.5.into()]).kind, Kind::Number(None));
        let mixed = column(&["10p".into(), "1bdp".into()]);
        assert_eq!((mixed.name.as_str(), mixed.kind), ("dumbbell.queue", Kind::Text));
    }
}
