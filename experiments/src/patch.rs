// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes values of a scenario.

use std::{collections::BTreeMap, fmt, ops::Range};

use serde::Deserialize;
use toml::{Spanned, de::DeValue};

/// New values by key: `"dumbbell.rate"`, `"flows.0.controller"`, `"flows.*.recovery"` of all. In a string, `{}` stands for the point of the sweep.
pub type Changes = BTreeMap<Spanned<String>, toml::Value>;

/// A value on an x axis: a number, or a name if the paper has a table or bars.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum X {
    /// A number in the unit of the axis.
    Number(f64),
    /// A name, such as a controller's.
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

/// A problem, and the bytes of the text that it concerns.
pub type Problem = (Range<usize>, String);

/// Gives `read` the table `[scenario]` with changes made; of several for one key the last counts. A changed value keeps its place in the text, so
/// that errors name the right line.
pub fn changed<T>(
    scenario: &Spanned<DeValue>,
    changes: &[&Changes],
    x: &X,
    read: impl FnOnce(&Spanned<DeValue>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let all = changes.iter().flat_map(|changes| changes.iter());
    let new: Vec<(&Spanned<String>, String)> = all.map(|(key, value)| (key, new_text(value, x))).collect();
    let mut scenario = scenario.clone();
    for (key, text) in &new {
        let value = DeValue::parse(text).map_err(|e| (key.span(), e.message().to_owned()))?;
        let path: Vec<&str> = key.get_ref().split('.').collect();
        let places = places(&mut scenario, &path);
        if places.is_empty() {
            let key = key.get_ref();
            let message = format!("there is no `{key}` in [scenario] to change: write it there with its usual value");
            return Err((new_span(&new, key), message));
        }
        for place in places {
            *place = placed(value.clone(), &place.span());
        }
    }
    read(&scenario)
}

/// Where the last change of a key stands.
fn new_span(new: &[(&Spanned<String>, String)], key: &str) -> Range<usize> {
    new.iter().rfind(|(k, _)| k.get_ref() == key).map_or(0..0, |(k, _)| k.span())
}

/// The values at a path of keys; `*` stands for each item of an array. A table has no one place.
fn places<'v, 'i>(value: &'v mut Spanned<DeValue<'i>>, path: &[&str]) -> Vec<&'v mut Spanned<DeValue<'i>>> {
    let Some((first, rest)) = path.split_first() else {
        return if value.get_ref().is_table() { Vec::new() } else { vec![value] };
    };
    let inner = match (value.get_mut(), *first) {
        (DeValue::Array(array), "*") => return array.iter_mut().flat_map(|item| places(item, rest)).collect(),
        (DeValue::Array(array), place) => place.parse().ok().and_then(|place: usize| array.get_mut(place)),
        (DeValue::Table(table), key) => table.get_mut(key),
        _ => None,
    };
    inner.map_or_else(Vec::new, |value| places(value, rest))
}

/// The value as if it, with all that is in it, stood there.
fn placed<'i>(value: Spanned<DeValue<'i>>, place: &Range<usize>) -> Spanned<DeValue<'i>> {
    let value = match value.into_inner() {
        DeValue::Array(array) => DeValue::Array(array.into_iter().map(|item| placed(item, place)).collect()),
        DeValue::Table(table) => {
            let key = |key: Spanned<_>| Spanned::new(place.clone(), key.into_inner());
            DeValue::Table(table.into_iter().map(|(name, value)| (key(name), placed(value, place))).collect())
        }
        other => other,
    };
    Spanned::new(place.clone(), value)
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
    use toml::de::{DeTable, ValueDeserializer};

    use super::*;

    const TEXT: &str = "title = 'x'\n[scenario.dumbbell]\nrate = \"1gbit\" # the rate\nloss = 0\n\
                        [[scenario.flows]]\ncount = 1\n[[scenario.flows]]\ncount = 2\n";

    #[derive(Deserialize)]
    struct Wrapper {
        set: Changes,
    }

    fn change(changes: &str, x: X) -> Result<toml::Table, Problem> {
        let set = toml::from_str::<Wrapper>(changes).unwrap().set;
        let document = DeTable::parse(TEXT).unwrap();
        let scenario = document.get_ref().get("scenario").unwrap();
        changed(scenario, &[&set], &x, |scenario| {
            let rate = scenario.get_ref().get("dumbbell").and_then(|dumbbell| dumbbell.get_ref().get("rate")).unwrap();
            assert_eq!(&TEXT[rate.span()], "\"1gbit\"", "it keeps its place");
            Ok(toml::Table::deserialize(ValueDeserializer::from(scenario.clone())).unwrap())
        })
    }

    fn scenario(rate: &str, loss: &str, counts: [u32; 2]) -> toml::Table {
        let [one, two] = counts;
        format!("dumbbell = {{ rate = '{rate}', loss = {loss} }}\nflows = [{{ count = {one} }}, {{ count = {two} }}]")
            .parse()
            .unwrap()
    }

    #[test]
    fn only_the_value_changes() {
        let new = change("set = { 'dumbbell.rate' = '{}mbit', 'flows.1.count' = '{}' }", X::Number(20.0)).unwrap();
        assert_eq!(new, scenario("20mbit", "0", [1, 20]));
        let new = change("set = { 'dumbbell.loss' = '{}' }", X::Number(1e-6)).unwrap();
        assert_eq!(new, scenario("1gbit", "0.000001", [1, 2]));
    }

    #[test]
    fn a_star_is_each_item() {
        let new = change("set = { 'flows.*.count' = '{}' }", X::Number(7.0)).unwrap();
        assert_eq!(new, scenario("1gbit", "0", [7, 7]));
        let new = change("set = { 'flows.*.count' = 7, 'flows.1.count' = 8 }", X::Number(1.0)).unwrap();
        assert_eq!(new, scenario("1gbit", "0", [7, 8]), "the one that names its flow counts");
        assert!(change("set = { 'flows.*.controller' = 'reno' }", X::Number(1.0)).is_err());
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
