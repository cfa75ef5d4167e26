// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON as programs leave it behind: with messages around it, several documents in a row, cut off, with `-nan`, a key twice. One pass,
//! which reads each byte once. What is whole is kept.

use serde_json::{Map, Number, Value};

use super::reading::is_countable;

/// The second value of a key that an object has twice is kept under the key with this behind it.
pub const AGAIN: &str = "#2";
/// No tool that measures a path nests deeper, and a file must not exhaust the stack.
const DEEPEST: usize = 32;

/// The contents of a file.
#[derive(Debug, Default)]
pub struct Documents {
    /// The outermost objects, also those in an array.
    pub documents: Vec<Value>,
    /// The first line with a word in it that is not JSON.
    pub remark: Option<String>,
    /// The last document ends too early, or one is damaged.
    pub is_cut: bool,
    /// How many numbers are not numbers, such as `-nan`.
    pub no_numbers: usize,
}

/// All that is JSON in a text.
pub fn documents(text: &str) -> Documents {
    let mut found = Documents::default();
    let mut scanner = Scanner { text, at: 0, is_cut: false, no_numbers: 0 };
    while let Some(offset) = text[scanner.at..].find('{') {
        // Behind damage come shreds of JSON.
        if !scanner.is_cut {
            found.note(&text[scanner.at..scanner.at + offset]);
        }
        scanner.at += offset;
        scanner.is_cut = false;
        if let Some(document @ Value::Object(_)) = scanner.object(0) {
            found.is_cut |= scanner.is_cut;
            if document.as_object().is_some_and(|fields| !fields.is_empty()) {
                found.documents.push(document);
            }
        }
    }
    if !scanner.is_cut {
        found.note(&text[scanner.at..]);
    }
    found.no_numbers = scanner.no_numbers;
    found
}

impl Documents {
    fn note(&mut self, outside: &str) {
        if self.remark.is_none() {
            let mut lines = outside.lines().map(str::trim);
            self.remark = lines.find(|line| line.contains(char::is_alphabetic)).map(str::to_owned);
        }
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The rest of the document is unusable.
    is_cut: bool,
    no_numbers: usize,
}

impl Scanner<'_> {
    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let spaces = rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
        self.at += spaces;
        rest.get(spaces).copied()
    }

    fn cut(&mut self) -> Option<Value> {
        self.is_cut = true;
        None
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.peek() {
            Some(b'{' | b'[') if depth == DEEPEST => self.cut(),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(_) => self.scalar(),
            None => self.cut(),
        }
    }

    /// From its `{`. An object that is cut off has the fields that were whole.
    fn object(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut fields = Map::new();
        while !self.is_cut {
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => self.at += 1,
                Some(b'"') => self.field(&mut fields, depth),
                _ => self.is_cut = true,
            }
        }
        Some(Value::Object(fields))
    }

    fn field(&mut self, fields: &mut Map<String, Value>, depth: usize) {
        let Some(mut key) = self.string() else { return };
        if self.peek() != Some(b':') {
            self.is_cut = true;
            return;
        }
        self.at += 1;
        if let Some(value) = self.value(depth + 1) {
            if fields.contains_key(&key) {
                key += AGAIN;
            }
            fields.entry(key).or_insert(value);
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.is_cut {
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => self.at += 1,
                Some(_) => items.extend(self.value(depth + 1)),
                None => self.is_cut = true,
            }
        }
        Some(Value::Array(items))
    }

    /// From its `"`.
    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end >= bytes.len() {
            self.at = bytes.len();
            self.is_cut = true;
            return None;
        }
        self.at = end + 1;
        let quoted = &self.text[start..self.at];
        let unescaped = serde_json::from_str(quoted);
        Some(unescaped.unwrap_or_else(|_| self.text[start + 1..end].to_owned()))
    }

    /// A number, `true`, `false`, `null`; or `-nan` and the like, which become `null`.
    fn scalar(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let ends = |c: char| c.is_whitespace() || ",:[]{}\"".contains(c);
        // At the end of the file a number may lack digits.
        let Some(length) = rest.find(ends).filter(|length| *length > 0) else { return self.cut() };
        self.at += length;
        let word = &rest[..length];
        let whole = word.parse::<i64>().ok().map(Number::from);
        let number = whole.or_else(|| word.parse().ok().filter(|&n| is_countable(n)).and_then(Number::from_f64));
        Some(match (word, number) {
            ("null", _) => Value::Null,
            ("true", _) => Value::Bool(true),
            ("false", _) => Value::Bool(false),
            (_, Some(number)) => Value::Number(number),
            (_, None) => {
                self.no_numbers += 1;
                Value::Null
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_whole_is_kept() {
        let cut = documents(r#"{"a": [{"b": 1, "c": 2}, {"b": 3, "c": 4"#);
        assert_eq!(cut.documents, [json!({"a": [{"b": 1, "c": 2}, {"b": 3}]})]);
        assert!(cut.is_cut);
        for text in [r#"{"a": 1, "b"#, r#"{"a": 1, "b":"#, r#"{"a": 1, "b": "x"#, r#"{"a": 1, "b": tru"#] {
            assert_eq!(documents(text).documents, [json!({"a": 1})], "{text}");
        }
    }

    #[test]
    fn messages_arrays_and_rows_of_documents_are_taken_apart() {
        let found = documents("warning: old\n[{\"a\": \"x\\\"}\"},\n{\"a\": -2.5e3}]\n{\"b\": true}\niperf3: error\n");
        assert_eq!(found.documents, [json!({"a": "x\"}"}), json!({"a": -2500.0}), json!({"b": true})]);
        assert_eq!(found.remark.as_deref(), Some("warning: old"));
        assert!(!found.is_cut);
        assert!(documents("[{\"a\": 1}]\n").remark.is_none());
    }

    #[test]
    fn what_is_no_number_is_null_and_a_second_key_has_another_name() {
        let found = documents(r#"{"a": -nan, "b": inf, "c": -1.#IND, "d": 1, "d": 2, "d": 3}"#);
        assert_eq!(found.documents, [json!({"a": null, "b": null, "c": null, "d": 1, "d#2": 2})]);
        assert_eq!(found.no_numbers, 3);
    }

    #[test]
    fn nothing_panics_or_overflows() {
        for text in ["", "{", "}", "{{{", "{\"", "{\"\\", "{\"a\"}", "{a}", "[[[", "{\"a\":ü}", "{\"é\":\"ü"] {
            documents(text);
        }
        let deep = "{\"a\":".repeat(100_000);
        assert!(documents(&deep).is_cut);
        assert!(documents(&"[{\"a\":[".repeat(100_000)).is_cut);
    }
}
