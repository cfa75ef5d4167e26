// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of scenarios: they are put together, and their placeholders filled in.

use toml::{Table, Value};

/// Adds a part to a scenario: tables are united, the items of an array come after those that are there, a table whose keys are places goes
/// into the items of an array, and of two values the part's counts.
pub fn merge(into: &mut Table, part: &Table) {
    for (key, value) in part {
        match (into.get_mut(key), value) {
            (Some(Value::Table(there)), Value::Table(part)) => merge(there, part),
            (Some(Value::Array(there)), Value::Array(part)) => there.extend(part.iter().cloned()),
            (Some(Value::Array(there)), Value::Table(part)) => {
                for (place, part) in part {
                    let item = place.parse().ok().and_then(|place: usize| there.get_mut(place));
                    if let (Some(Value::Table(item)), Value::Table(part)) = (item, part) {
                        merge(item, part);
                    }
                }
            }
            _ => drop(into.insert(key.clone(), value.clone())),
        }
    }
}

/// The keys of a part that replace what another part may have set: all but those in arrays, which are appended.
pub fn keys(part: &Table) -> Vec<String> {
    let below = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => keys(inner).into_iter().map(|rest| format!("{key}.{rest}")).collect(),
        Value::Array(_) => Vec::new(),
        _ => vec![key.clone()],
    };
    part.iter().flat_map(below).collect()
}

/// The names in a text that consists of placeholders, `{a}` or `{a}+{b}`; `None` if it has other parts.
pub fn placeholders(text: &str) -> Option<Vec<&str>> {
    text.split('+').map(|term| term.trim().strip_prefix('{')?.strip_suffix('}')).collect()
}

/// Puts what `fill` returns in the place of each text for which it returns something. `way` leads to the value.
///
/// # Errors
/// The first that `fill` returns.
pub fn fill<E>(
    value: &mut Value,
    way: &mut Vec<String>,
    fill_one: &mut impl FnMut(&str, &[String]) -> Result<Option<Value>, E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => {
            if let Some(new) = fill_one(text, way)? {
                *value = new;
            }
            Ok(())
        }
        Value::Table(table) => table.iter_mut().try_for_each(|(key, value)| {
            way.push(key.clone());
            fill(value, way, fill_one)?;
            way.pop();
            Ok(())
        }),
        Value::Array(array) => array.iter_mut().enumerate().try_for_each(|(i, value)| {
            way.push(i.to_string());
            fill(value, way, fill_one)?;
            way.pop();
            Ok(())
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn parts_are_united() {
        let mut scenario = table("a.x = 1\n[[flows]]\nn = 1");
        merge(&mut scenario, &table("a.y = 2\na.x = 3\n[[flows]]\nn = 2"));
        assert_eq!(scenario, table("a = { x = 3, y = 2 }\nflows = [{ n = 1 }, { n = 2 }]"));
        assert_eq!(keys(&scenario), ["a.x", "a.y"]);
        merge(&mut scenario, &table("flows.1.n = 3\nflows.7.n = 4"));
        assert_eq!(scenario["flows"], Value::Array(vec![table("n = 1").into(), table("n = 3").into()]));
    }

    #[test]
    fn placeholders_stand_alone_or_are_added() {
        assert_eq!(placeholders("{rate}"), Some(vec!["rate"]));
        assert_eq!(placeholders("{when}+{long}"), Some(vec!["when", "long"]));
        assert_eq!(placeholders("reno"), None);
        assert_eq!(placeholders("{rate}mbit"), None);
    }

    #[test]
    fn texts_are_replaced_where_they_stand() {
        let mut value = Value::Table(table("a.x = \"{v}\"\n[[flows]]\nn = \"{v}\""));
        let mut ways = Vec::new();
        let mut replace = |_: &str, way: &[String]| {
            ways.push(way.join("."));
            Ok::<_, ()>(Some(Value::Integer(7)))
        };
        fill(&mut value, &mut Vec::new(), &mut replace).unwrap();
        assert_eq!(value, Value::Table(table("a.x = 7\n[[flows]]\nn = 7")));
        assert_eq!(ways, ["a.x", "flows.0.n"]);
    }
}
