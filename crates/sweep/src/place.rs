// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a place in a text to the key that is there.

use toml::de::{DeTable, DeValue};

/// The keys that lead to a byte of a text, as far as there are any.
pub fn key_at(text: &str, byte: usize) -> Vec<String> {
    let mut path = Vec::new();
    if let Ok(document) = DeTable::parse(text) {
        in_table(document.get_ref(), byte, &mut path);
    }
    path
}

/// The key at a line and a column of a text, both from 1, with dots between its parts; empty if there is none.
pub fn key_at_place(text: &str, (line, column): (usize, usize)) -> String {
    let before: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let of_line = text[before..].chars().take(column - 1).map(char::len_utf8);
    key_at(text, before + of_line.sum::<usize>()).join(".")
}

fn in_table(table: &DeTable, byte: usize, path: &mut Vec<String>) -> bool {
    for (key, value) in table.iter() {
        path.push(key.get_ref().to_string());
        if in_value(value.get_ref(), byte, path) || key.span().contains(&byte) || value.span().contains(&byte) {
            return true;
        }
        path.pop();
    }
    false
}

fn in_value(value: &DeValue, byte: usize, path: &mut Vec<String>) -> bool {
    match value {
        DeValue::Table(table) => in_table(table, byte, path),
        DeValue::Array(array) => array.iter().enumerate().any(|(i, element)| {
            path.push(i.to_string());
            let is_there = in_value(element.get_ref(), byte, path) || element.span().contains(&byte);
            if !is_there {
                path.pop();
            }
            is_there
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_has_a_key() {
        let text = "a = 1\n[b]\nc = [1, 22]\n[[d]]\ne = 5\n[[d]]\ne = 66\n";
        let key = |part: &str| key_at(text, text.find(part).unwrap()).join(".");
        assert_eq!([key("1"), key("22"), key("66"), key("c =")], ["a", "b.c.1", "d.1.e", "b.c"]);
        assert_eq!([key_at_place(text, (3, 9)), key_at_place("'é' = 5", (1, 7))], ["b.c.1", "é"]);
    }
}
