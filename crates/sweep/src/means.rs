// SPDX-License-Identifier: MIT OR Apache-2.0
//! A measure over one or two columns of a data set. The files are read one after the other, so that memory does not grow with them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use arrow_array::{
    Array, ArrayRef, RecordBatch,
    cast::AsArray,
    types::{Float64Type, UInt32Type, UInt64Type},
};

use crate::{
    error::{StoreError, SummaryError},
    part::{by_key, read_part},
    store::group_files,
};

/// More values of a number than these are put into bins.
const MAX_VALUES: usize = 24;
/// Number of bins.
const BINS: usize = 12;
/// More words than these are no axis.
const MAX_WORDS: usize = 60;
/// A range of bins this wide, largest over smallest, is cut on a logarithmic scale.
const LOG_RATIO: f64 = 20.0;

/// The values of a column, as places of a chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Axis {
    /// Words, sorted.
    Words(Vec<String>),
    /// Numbers, sorted.
    Values(Vec<f64>),
    /// Borders of bins, one more than there are bins.
    Bins(Vec<f64>),
}

/// Means of a measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Means {
    /// Places of the columns.
    pub x: Axis,
    /// Places of the rows; one alone if there is one column only.
    pub y: Axis,
    /// `cells[row][column]`: the mean over all rows of the data set that fall there; `None` if there are none with a value.
    pub cells: Vec<Vec<Option<f64>>>,
}

impl Axis {
    /// Number of places.
    pub fn len(&self) -> usize {
        match self {
            Axis::Words(words) => words.len(),
            Axis::Values(values) => values.len(),
            Axis::Bins(borders) => borders.len() - 1,
        }
    }

    /// Has it no places?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where each place is on an axis of numbers; bins by their middle. `None` for words.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Axis::Words(_) => None,
            Axis::Values(values) => Some(values.clone()),
            Axis::Bins(borders) => Some(borders.windows(2).map(|two| (two[0] + two[1]) / 2.0).collect()),
        }
    }

    /// Do its places span enough orders of magnitude for a logarithmic axis?
    pub fn is_log(&self) -> bool {
        let (Axis::Values(ends) | Axis::Bins(ends)) = self else { return false };
        let (Some(first), Some(last)) = (ends.first(), ends.last()) else { return false };
        *first > 0.0 && last / first >= LOG_RATIO
    }

    fn place(&self, cell: &Cell) -> Option<usize> {
        match (self, cell) {
            (Axis::Words(words), Cell::Word(word)) => words.binary_search(word).ok(),
            (Axis::Values(values), Cell::Number(x)) => values.binary_search_by(|value| value.total_cmp(x)).ok(),
            (Axis::Bins(borders), Cell::Number(x)) => {
                let above = borders.partition_point(|border| border <= x);
                Some(above.saturating_sub(1).min(borders.len() - 2))
            }
            _ => None,
        }
    }
}

enum Cell {
    Word(String),
    Number(f64),
}

fn cell(column: &ArrayRef, row: usize) -> Option<Cell> {
    if column.is_null(row) {
        return None;
    }
    if let Some(words) = column.as_string_opt::<i32>() {
        return Some(Cell::Word(words.value(row).to_owned()));
    }
    if let Some(flags) = column.as_boolean_opt() {
        return Some(Cell::Word(flags.value(row).to_string()));
    }
    number(column, row).map(Cell::Number)
}

fn number(column: &ArrayRef, row: usize) -> Option<f64> {
    if column.is_null(row) {
        return None;
    }
    let float = column.as_primitive_opt::<Float64Type>().map(|numbers| numbers.value(row));
    let short = || column.as_primitive_opt::<UInt32Type>().map(|numbers| f64::from(numbers.value(row)));
    let long = || column.as_primitive_opt::<UInt64Type>().map(|numbers| numbers.value(row) as f64);
    float.or_else(short).or_else(long)
}

/// The names of the columns of the data set in a folder; none if there is no data set.
///
/// # Errors
/// If a file cannot be read.
pub fn column_names(folder: &Path) -> Result<Vec<String>, SummaryError> {
    let Some(first) = group_files(folder).map_err(StoreError::from)?.into_iter().next() else { return Ok(Vec::new()) };
    let (schema, _) = read_part(&first, Some(&[]))?;
    Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
}

/// Calls `each` for every task's rows, with the columns of these names only, and `key`.
fn for_each_task(folder: &Path, names: &[&str], mut each: impl FnMut(&RecordBatch)) -> Result<(), SummaryError> {
    let known = column_names(folder)?;
    if let Some(unknown) = names.iter().find(|name| !known.iter().any(|known| known == *name)) {
        return Err(SummaryError::NoColumn { name: (*unknown).to_owned(), known: known.join(", ") });
    }
    let mut wanted = names.to_vec();
    wanted.push("key");
    for path in group_files(folder).map_err(StoreError::from)? {
        for batch in read_part(&path, Some(&wanted))?.1 {
            by_key(&batch).map_err(StoreError::from)?.iter().for_each(|(_, rows)| each(rows));
        }
    }
    Ok(())
}

/// The largest number of groups that a task has.
///
/// # Errors
/// If a file cannot be read.
pub fn groups_of_a_task(folder: &Path) -> Result<usize, SummaryError> {
    let mut most = 0;
    for_each_task(folder, &[], |rows| most = most.max(rows.num_rows()))?;
    Ok(most)
}

/// The places of a column.
///
/// # Errors
/// If there is no such column, or it has too many words.
pub fn axis(folder: &Path, name: &str) -> Result<Axis, SummaryError> {
    let mut words = BTreeSet::new();
    // In the order of their bits numbers above 0 are sorted; the others are put right below.
    let (mut values, mut ends) = (BTreeSet::new(), [f64::INFINITY, f64::NEG_INFINITY]);
    for_each_task(folder, &[name], |rows| {
        let column = rows.column_by_name(name).expect("the column was read");
        for row in 0..rows.num_rows() {
            match cell(column, row) {
                Some(Cell::Word(word)) if words.len() <= MAX_WORDS => drop(words.insert(word)),
                Some(Cell::Number(x)) => {
                    ends = [ends[0].min(x), ends[1].max(x)];
                    if values.len() <= MAX_VALUES {
                        values.insert(x.to_bits());
                    }
                }
                _ => {}
            }
        }
    })?;
    if words.len() > MAX_WORDS {
        return Err(SummaryError::TooManyWords { name: name.to_owned(), most: MAX_WORDS });
    }
    if !words.is_empty() {
        return Ok(Axis::Words(words.into_iter().collect()));
    }
    if values.len() <= MAX_VALUES {
        let mut values: Vec<f64> = values.into_iter().map(f64::from_bits).collect();
        values.sort_by(f64::total_cmp);
        return Ok(Axis::Values(values));
    }
    Ok(Axis::Bins(bins(ends)))
}

fn bins([low, high]: [f64; 2]) -> Vec<f64> {
    let share = |i: usize| i as f64 / BINS as f64;
    let is_log = low > 0.0 && high / low >= LOG_RATIO;
    let border = |i| if is_log { low * (high / low).powf(share(i)) } else { low + (high - low) * share(i) };
    (0..=BINS).map(border).collect()
}

/// The mean of `measure` for each place of one column, or of two. Of each task the group at place `group` counts, from 0.
///
/// # Errors
/// If a column is not there, or the measure is not a number.
pub fn means(folder: &Path, measure: &str, x: &str, y: Option<&str>, group: usize) -> Result<Means, SummaryError> {
    let x_axis = axis(folder, x)?;
    let y_axis = y.map_or(Ok(Axis::Words(vec![String::new()])), |y| axis(folder, y))?;
    let mut sums: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    let mut is_number = true;
    let names: Vec<&str> = [measure, x].into_iter().chain(y).collect();
    for_each_task(folder, &names, |rows| {
        if group >= rows.num_rows() {
            return;
        }
        let column = |name: &str| rows.column_by_name(name).expect("the column was read");
        is_number &= column(measure).as_string_opt::<i32>().is_none();
        let row = y.map_or(Some(0), |y| y_axis.place(&cell(column(y), group)?));
        let place = || Some((row?, x_axis.place(&cell(column(x), group)?)?, number(column(measure), group)?));
        if let Some((row, column, value)) = place() {
            let sum = sums.entry((row, column)).or_default();
            *sum = (sum.0 + value, sum.1 + 1.0);
        }
    })?;
    if !is_number {
        return Err(SummaryError::NoNumber(measure.to_owned()));
    }
    let mean = |row, column| sums.get(&(row, column)).map(|(sum, count)| sum / count);
    let cells = (0..y_axis.len()).map(|row| (0..x_axis.len()).map(|column| mean(row, column)).collect()).collect();
    Ok(Means { x: x_axis, y: y_axis, cells })
}
