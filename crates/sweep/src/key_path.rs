// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys of scenarios as sweeps name them: `dumbbell.rate`, `flows[0].controller`.

use std::{fmt, str::FromStr};

use tandem_controllers::own::is_header;
use toml::{Table, Value};

/// The way to a value of a scenario: names of keys, and places in arrays, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath(Vec<String>);

/// What names no key of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a key: write one such as `dumbbell.rate`, `flows[0].controller` or `set.compound.gamma`")]
pub struct KeyPathError(pub String);

impl FromStr for KeyPath {
    type Err = KeyPathError;

    /// `flows[0].controller`; `flows.0.controller` is the same.
    fn from_str(text: &str) -> Result<Self, KeyPathError> {
        if let Some(parts) = of_header(text) {
            return Ok(Self(parts));
        }
        let plain = text.replace('[', ".").replace("].", ".");
        let plain = plain.strip_suffix(']').unwrap_or(&plain);
        let parts: Vec<String> = plain.split('.').map(|part| part.trim().to_owned()).collect();
        let is_paired = text.matches('[').count() == text.matches(']').count();
        if !is_paired || parts.iter().any(|part| part.is_empty() || part.contains(']')) {
            return Err(KeyPathError(text.to_owned()));
        }
        Ok(Self(parts))
    }
}

/// `set./path/mine.h.step`: the header's path is one part, whatever dots it has.
fn of_header(text: &str) -> Option<Vec<String>> {
    let rest = text.strip_prefix("set.").filter(|rest| rest.contains('/'))?;
    let (path, parameter) = rest.rsplit_once('.').filter(|(path, _)| is_header(path))?;
    Some(["set", path, parameter].map(str::to_owned).to_vec())
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            match part.parse::<usize>() {
                Ok(place) => write!(f, "[{place}]")?,
                Err(_) if i == 0 => f.write_str(part)?,
                Err(_) => write!(f, ".{part}")?,
            }
        }
        Ok(())
    }
}

impl KeyPath {
    /// Its parts; places in arrays are numbers.
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    /// Does one lead to the other, or to a value inside it?
    pub(crate) fn meets(&self, parts: &[String]) -> bool {
        !parts.is_empty() && self.0.iter().zip(parts).all(|(a, b)| a == b)
    }

    /// Puts a value there. Tables on the way that are missing are made; places in arrays must exist.
    pub(crate) fn set(&self, scenario: &mut Table, value: Value) -> Result<(), String> {
        let (last, way) = self.0.split_last().expect("a path has a part");
        let mut at = scenario;
        let mut way = way.iter().peekable();
        while let Some(part) = way.next() {
            let inner = at.entry(part.clone()).or_insert_with(|| Value::Table(Table::new()));
            at = match inner {
                Value::Table(table) => table,
                Value::Array(array) => {
                    let count = array.len();
                    let place = way.next().unwrap_or(last);
                    let element = place.parse().ok().and_then(|i: usize| array.get_mut(i));
                    element.and_then(Value::as_table_mut).ok_or_else(|| {
                        format!(
                            "`{self}`: there is no `{part}[{place}]`; the scenario has {count} of them, counted from 0"
                        )
                    })?
                }
                _ => return Err(format!("`{self}`: `{part}` is a value, which has no keys")),
            };
        }
        at.insert(last.clone(), value);
        Ok(())
    }

    pub(crate) fn remove(&self, scenario: &mut Table) {
        let Some((last, way)) = self.0.split_last() else { return };
        let mut at = Some(scenario);
        for part in way {
            at = at.and_then(|table| table.get_mut(part)).and_then(Value::as_table_mut);
        }
        at.and_then(|table| table.remove(last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_two_spellings() {
        for text in ["flows[0].controller", "flows.0.controller"] {
            assert_eq!(text.parse::<KeyPath>().unwrap().to_string(), "flows[0].controller");
        }
        let of_header = "set.../a.b/mine.h.step".parse::<KeyPath>().unwrap();
        assert_eq!(of_header.parts(), ["set", "../a.b/mine.h", "step"]);
        for text in ["", "a..b", "a[0", "a[0]]", ".a"] {
            assert!(text.parse::<KeyPath>().is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_put_where_tables_were_missing() {
        let mut table: Table = "a = 1\n[[flows]]\ncount = 1\n".parse().unwrap();
        let mut set = |key: &str| key.parse::<KeyPath>().unwrap().set(&mut table, Value::Integer(7));
        set("set.compound.gamma").unwrap();
        set("flows[0].count").unwrap();
        assert!(set("flows[1].count").unwrap_err().contains("has 1 of them"));
        assert!(set("a.b").unwrap_err().contains("`a` is a value"));
        let expected = "a = 1\n[[flows]]\ncount = 7\n[set.compound]\ngamma = 7\n".parse::<Table>().unwrap();
        assert_eq!(table, expected);
        "set.compound.gamma".parse::<KeyPath>().unwrap().remove(&mut table);
        assert!(table["set"]["compound"].as_table().unwrap().is_empty());
    }
}
