// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes values of a scenario in its text. The rest stays where it was, so that errors name the right line.

use std::{collections::BTreeMap, fmt, ops::Range};

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// New values by key: `"dumbbell.rate"`, `"flows.0.controller"`. In a string, `{}` stands for the point of the sweep.
pub type Changes = BTreeMap<Spanned<String>, toml::Value>;

/// What is on an x axis: a number, or a name where the paper has a table or bars.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum X {
    /// A number in the unit of the axis.
    Number(f64),
    /// A name, such as that of a controller.
    Name(String),
}

impl fmt::Display for X {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            X::Number(n) if *n != 0.0 && n.abs() < 1e-3 => write!(f, "{n:e}"),
            X::Number(n) => write!(f, "{n}"),
            X::Name(name) => f.write_str(name),
        }
    }
}

impl X {
    /// The number; `None` for a name.
    pub fn number(&self) -> Option<f64> {
        match self {
            X::Number(n) => Some(*n),
            X::Name(_) => None,
        }
    }
}

/// What is wrong, and the bytes of the file that it is about.
pub type Problem = (Range<usize>, String);

/// The text with changes made in its table `[scenario]`; of several for one key the last counts.
pub fn changed(text: &str, document: &DeTable, changes: &[&Changes], x: &X) -> Result<String, Problem> {
    let mut places: BTreeMap<usize, (usize, String)> = BTreeMap::new();
    for (key, value) in changes.iter().flat_map(|changes| changes.iter()) {
        let path = std::iter::once("scenario").chain(key.get_ref().split('.'));
        let place = find(document, path).ok_or_else(|| {
            let key = key.get_ref();
            (
                key_span(changes, key),
                format!("there is no `{key}` in [scenario] to change: write it there with its usual value"),
            )
        })?;
        places.insert(place.start, (place.end, new_text(value, x)));
    }
    let mut text = text.to_owned();
    for (start, (end, new)) in places.into_iter().rev() {
        text.replace_range(start..end, &new);
    }
    Ok(text)
}

fn key_span(changes: &[&Changes], key: &str) -> Range<usize> {
    let mut keys = changes.iter().flat_map(|changes| changes.keys());
    keys.rfind(|k| k.get_ref() == key).map_or(0..0, Spanned::span)
}

fn find<'a>(table: &DeTable, mut path: impl Iterator<Item = &'a str>) -> Option<Range<usize>> {
    let first = path.next()?;
    let (_, mut value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    for part in path {
        value = match value.get_ref() {
            DeValue::Table(table) => table.iter().find(|(key, _)| key.get_ref() == part)?.1,
            DeValue::Array(array) => array.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    // A table has no one place in the text.
    (!value.get_ref().is_table()).then(|| value.span())
}

fn new_text(value: &toml::Value, x: &X) -> String {
    match (value, x) {
        (toml::Value::String(template), X::Number(n)) if template == "{}" => n.to_string(),
        (toml::Value::String(template), x) => {
            let number = x.number().map_or_else(|| x.to_string(), |n| n.to_string());
            toml::Value::String(template.replace("{}", &number)).to_string()
        }
        (other, _) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "title = 'x'\n[scenario.dumbbell]\nrate = \"1gbit\" # the rate\nloss = 0\n[[scenario.flows]]\ncount = 1\n[[scenario.flows]]\ncount = 2\n";

    #[derive(Deserialize)]
    struct Wrapper {
        set: Changes,
    }

    fn change(changes: &str, x: X) -> Result<String, Problem> {
        let set = toml::from_str::<Wrapper>(changes).unwrap().set;
        changed(TEXT, DeTable::parse(TEXT).unwrap().get_ref(), &[&set], &x)
    }

    #[test]
    fn only_the_value_changes() {
        let text = change("set = { 'dumbbell.rate' = '{}mbit', 'flows.1.count' = '{}' }", X::Number(20.0)).unwrap();
        assert_eq!(text, TEXT.replace("\"1gbit\"", "\"20mbit\"").replace("count = 2", "count = 20"));
        assert_eq!(
            change("set = { 'dumbbell.loss' = '{}' }", X::Number(1e-6)).unwrap(),
            TEXT.replace("loss = 0", "loss = 0.000001")
        );
    }

    #[test]
    fn what_is_not_there_cannot_change() {
        let (span, message) = change("set = { 'dumbbell.rtt' = '1ms' }", X::Number(1.0)).unwrap_err();
        assert_eq!(span.start, 8);
        assert!(message.contains("`dumbbell.rtt`"), "{message}");
        assert!(change("set = { 'flows.2.count' = 1 }", X::Number(1.0)).is_err());
        assert!(change("set = { 'dumbbell' = 1 }", X::Number(1.0)).is_err());
    }
}
