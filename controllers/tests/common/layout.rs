// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the C compiler lays out types, by what a program that includes `layout.h` prints; and the same of Rust types.

use std::{collections::BTreeMap, mem::size_of};

/// By name, either offset and size, or value and 0.
pub type Layout = BTreeMap<String, (usize, usize)>;

/// Of the program `tests/<source>`.
pub fn c_layout(source: &str) -> Layout {
    let text = String::from_utf8(super::run_c(source)).unwrap();
    text.lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].to_owned(), (words[1].parse().unwrap(), words[2].parse().unwrap()))
        })
        .collect()
}

pub fn field_size<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Adds a Rust type and its fields under their C names.
#[macro_export]
macro_rules! describe {
    ($layout:ident, $c_name:literal, $type:ty, $($field:ident)*) => {
        $layout.insert($c_name.into(), (0, size_of::<$type>()));
        $($layout.insert(
            concat!($c_name, ".", stringify!($field)).into(),
            (std::mem::offset_of!($type, $field), $crate::common::layout::field_size(|t: &$type| &t.$field)),
        );)*
    };
}
