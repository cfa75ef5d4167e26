// SPDX-License-Identifier: MIT OR Apache-2.0
//! The defaults that a controller leaves behind: each network namespace has its own.

use crate::{Error, sysctl};

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

/// The new default of a namespace.
pub enum NamespaceDefault {
    /// It was another all the time.
    Other,
    /// It is this one now.
    Restored(String),
    /// The namespace takes no other.
    Kept,
}

/// Makes the first candidate that it takes the default of the calling thread's namespace, if that is `name`.
pub fn restore_default(name: &str, candidates: &[String]) -> NamespaceDefault {
    // A namespace without its own /proc/sys has no default of its own to restore.
    if !sysctl::default_controller().is_ok_and(|default| default == name) {
        return NamespaceDefault::Other;
    }
    let new = candidates.iter().find(|candidate| sysctl::set_default(candidate).is_ok());
    new.map_or(NamespaceDefault::Kept, |new| NamespaceDefault::Restored(new.clone()))
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
