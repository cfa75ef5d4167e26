// SPDX-License-Identifier: MIT OR Apache-2.0
//! The defaults that a controller leaves behind: each network namespace has its own.

use std::collections::BTreeMap;

use crate::{Error, netns, sysctl};

/// What became of the namespaces whose default a controller was.
#[derive(Default)]
pub struct Restored {
    /// The number of namespaces, by their new default.
    pub by_name: BTreeMap<String, usize>,
    /// The namespaces that took none.
    pub still_default_in: Vec<String>,
}

/// The defaults to try in place of `name`, the best first. `before` is the one that it had replaced, or empty.
///
/// Of the others, those come first that every namespace may use. To make another the default of the machine's first namespace would
/// allow it to all.
pub fn candidates(name: &str, before: &str, loaded: &[String]) -> Result<Vec<String>, Error> {
    Ok(in_order(name, before, loaded, sysctl::allowed()?, &sysctl::available()?))
}

fn in_order(
    name: &str,
    before: &str,
    loaded: &[String],
    mut allowed: Vec<String>,
    available: &[String],
) -> Vec<String> {
    let usual = ["cubic", "reno"];
    allowed.retain(|a| !loaded.contains(a));
    allowed.sort_by_key(|a| usual.iter().position(|u| u == a).unwrap_or(usual.len()));
    let all = [before.to_owned()].into_iter().chain(allowed).chain(usual.map(String::from));
    let mut candidates: Vec<String> = Vec::new();
    for candidate in all {
        if candidate != name && available.contains(&candidate) && !candidates.contains(&candidate) {
            candidates.push(candidate);
        }
    }
    candidates
}

/// Makes the first candidate that it takes the default of each namespace whose default is `name`.
pub fn restore_default(name: &str, candidates: &[String]) -> Result<Restored, Error> {
    let mut restored = Restored::default();
    for namespace in netns::all()? {
        let inside = namespace.enter(|| {
            // A namespace without its own /proc/sys has no default of its own to restore.
            let is_default = sysctl::default_controller().is_ok_and(|default| default == name);
            is_default.then(|| candidates.iter().find(|c| sysctl::set_default(c).is_ok()))
        })?;
        match inside.flatten() {
            Some(Some(new)) => *restored.by_name.entry(new.clone()).or_default() += 1,
            Some(None) => restored.still_default_in.push(namespace.name),
            None => {}
        }
    }
    Ok(restored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &str) -> Vec<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_was_before_comes_first_then_what_all_may_use() {
        let order = |before, allowed, available: &str| {
            in_order("ours", before, &names("ours other"), names(allowed), &names(available)).join(" ")
        };
        let available = "reno bbr cubic ours other";
        assert_eq!(order("bbr", "reno cubic ours other", available), "bbr cubic reno");
        assert_eq!(order("", "reno bbr ours", available), "reno bbr cubic");
        assert_eq!(order("gone", "bbr", available), "bbr cubic reno");
        assert_eq!(order("other", "cubic", available), "other cubic reno");
        // No cubic at all.
        assert_eq!(order("", "reno", "reno ours"), "reno");
    }
}
