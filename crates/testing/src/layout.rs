// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the C compiler lays out types, as a program that includes `c/layout.h` prints it; and how Rust does.

use std::{collections::BTreeMap, mem::size_of};

/// By name: offset and size of a type or field, or the value of a constant and 0.
pub type Layout = BTreeMap<String, (usize, usize)>;

/// The layout that a C program prints.
pub fn c_layout(program: &[u8]) -> Layout {
    let text = str::from_utf8(program).unwrap();
    text.lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].to_owned(), (words[1].parse().unwrap(), words[2].parse().unwrap()))
        })
        .collect()
}

/// Bytes of a field.
pub fn field_size<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Adds a Rust type and its fields under their C names.
#[macro_export]
macro_rules! describe {
    ($layout:ident, $c_name:literal, $type:ty, $($field:ident)*) => {
        $layout.insert($c_name.into(), (0, std::mem::size_of::<$type>()));
        $($layout.insert(
            concat!($c_name, ".", stringify!($field)).into(),
            (std::mem::offset_of!($type, $field), $crate::layout::field_size(|t: &$type| &t.$field)),
        );)*
    };
}
