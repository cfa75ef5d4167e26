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
    }
}
