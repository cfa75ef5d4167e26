// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which names a receiver accepts, and how text from strangers is shown.

use std::path::{Component, Path};

use finl_unicode::categories::{CharacterCategories, MinorCategory};

use crate::{Refusal, wire::Entry};

/// Largest depth of folders.
const MAX_DEPTH: usize = 64;
/// Linux has 4096 for a path with its end; the name of a part of a file needs some of it.
const MAX_NAME_BYTES: usize = 4000;
/// The limit of Linux and most file systems.
const MAX_PART_BYTES: usize = 255;
/// Number of characters shown of a peer's text.
const SHOWN: usize = 300;
/// Prefix and suffix of the name of an incomplete file.
const OURS: (&str, &str) = (".tandem-", ".part");

/// A character that is not simply visible: it controls a terminal, or changes the direction of text (`a<U+202E>gpj.exe` looks like
/// `aexe.jpg`). Persian, Indic scripts and emoji need the two joiners.
fn is_treacherous(letter: char) -> bool {
    const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];
    if letter.is_ascii() {
        return letter.is_ascii_control();
    }
    let kind = letter.get_minor_category();
    matches!(kind, MinorCategory::Cc | MinorCategory::Cf | MinorCategory::Zl | MinorCategory::Zp)
        && !JOINERS.contains(&letter)
}

/// A peer's text, for a terminal or a log.
pub fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let mut shown: String = letters
        .by_ref()
        .take(SHOWN)
        .flat_map(|letter| match is_treacherous(letter) {
            true => letter.escape_unicode().collect::<Vec<_>>(),
            false => vec![letter],
        })
        .collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Every part of a name must be valid for one entry in a folder on this system, and must not be one of ours.
pub fn check(name: &str, takes_hidden: bool) -> Result<(), Refusal> {
    let is_one_thing = |part: &str| {
        let mut components = Path::new(part).components();
        matches!(components.next(), Some(Component::Normal(one)) if one == part) && components.next().is_none()
    };
    let is_ours = |part: &str| part.starts_with(OURS.0) && part.ends_with(OURS.1);
    let is_good = |part: &str| is_one_thing(part) && !part.contains('\\') && !is_ours(part);
    if name.len() > MAX_NAME_BYTES || name.split('/').any(|part| part.len() > MAX_PART_BYTES) {
        return Err(Refusal::TooLong(name.into()));
    }
    if name.split('/').count() > MAX_DEPTH || name.chars().any(is_treacherous) || !name.split('/').all(is_good) {
        return Err(Refusal::Name(name.into()));
    }
    if !takes_hidden && name.split('/').any(|part| part.starts_with('.')) {
        return Err(Refusal::Hidden(name.into()));
    }
    Ok(())
}

/// Sorts the entries so that a folder's contents stand together, after the folder itself.
///
/// # Errors
/// If two things have one name.
pub fn sorted(entries: &[Entry]) -> Result<Vec<usize>, Refusal> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_unstable_by(|&a, &b| entries[a].name.split('/').cmp(entries[b].name.split('/')));
    for pair in order.windows(2) {
        let (first, second) = (&entries[pair[0]], &entries[pair[1]]);
        match second.name.strip_prefix(&first.name) {
            Some("") => return Err(Refusal::Twice(first.name.clone())),
            Some(rest) if rest.starts_with('/') && first.size.is_some() => {
                return Err(Refusal::FileAndFolder(first.name.clone()));
            }
            _ => {}
        }
    }
    Ok(order)
}

/// The folder of a name, and the last part of the name.
pub fn parted(name: &str) -> (Option<&str>, &str) {
    name.rsplit_once('/').map_or((None, name), |(folder, last)| (Some(folder), last))
}

/// The last part of the name of a file while it is not complete: the same for the same file, so that another transfer goes on with it.
pub fn unfinished(entry: &Entry) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(entry.name.as_bytes()).update(&entry.size.unwrap_or(0).to_le_bytes());
    format!("{}{}{}", OURS.0, &hasher.finalize().to_hex()[..16], OURS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, size: Option<u64>) -> Entry {
        Entry { name: name.into(), size }
    }

    #[test]
    fn names_stay_in_the_folder() {
        for good in ["a", "a/b c/ü.txt", "a..", "a~", "می\u{200c}خواهم", "👩\u{200d}💻", "3.45\u{202f}PM.png"]
        {
            assert_eq!(check(good, false), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", "a/../b", "/etc", "a//b", "a/", "a\\b"] {
            assert_eq!(check(bad, true), Err(Refusal::Name(bad.into())));
        }
        let ours = unfinished(&entry("a", Some(1)));
        assert_eq!(check(&format!("b/{ours}"), true), Err(Refusal::Name(format!("b/{ours}"))));
        assert_eq!(check(&["a"; 64].join("/"), true), Ok(()));
        assert!(matches!(check(&["a"; 65].join("/"), true), Err(Refusal::Name(_))));
    }

    #[test]
    fn letters_that_deceive_are_refused_and_shown_as_numbers() {
        for letter in
            ["\n", "\0", "\u{1b}", "\u{7f}", "\u{85}", "\u{202e}", "\u{2066}", "\u{feff}", "\u{ad}", "\u{2028}"]
        {
            let refusal = check(&format!("a{letter}b"), true).unwrap_err();
            assert_eq!(refusal, Refusal::Name(format!("a{letter}b")));
            assert!(!refusal.to_string().contains(letter), "{refusal:?}");
        }
        assert_eq!(shown("a\u{202e}gpj.exe\u{1b}[2J"), "a\\u{202e}gpj.exe\\u{1b}[2J");
        assert!(shown(&"x".repeat(1 << 20)).len() < 400);
    }

    #[test]
    fn long_names_are_refused() {
        assert_eq!(check(&"x".repeat(255), false), Ok(()));
        assert!(matches!(check(&"x".repeat(256), false), Err(Refusal::TooLong(_))));
        assert!(matches!(check(&vec!["x".repeat(250); 60].join("/"), false), Err(Refusal::TooLong(_))));
    }

    #[test]
    fn hidden_names_need_leave() {
        for name in [".bashrc", ".ssh/authorized_keys", "home/.config/autostart/x"] {
            assert_eq!(check(name, false), Err(Refusal::Hidden(name.into())));
            assert_eq!(check(name, true), Ok(()));
        }
    }

    #[test]
    fn one_name_is_one_thing() {
        let sorted = |entries: &[(&str, Option<u64>)]| {
            sorted(&entries.iter().map(|&(name, size)| entry(name, size)).collect::<Vec<_>>())
        };
        assert_eq!(sorted(&[("a", Some(1)), ("b", Some(1)), ("a", Some(2))]), Err(Refusal::Twice("a".into())));
        assert_eq!(sorted(&[("a", None), ("a", Some(2))]), Err(Refusal::Twice("a".into())));
        // `q-` is between `q` and `q/r` as text, not as names.
        let both = [("q/r/s", Some(1)), ("q-", Some(1)), ("q", Some(1))];
        assert_eq!(sorted(&both), Err(Refusal::FileAndFolder("q".into())));
        let fine = [("q/r/s", Some(1)), ("q-", Some(1)), ("q", None), ("q/r/t", Some(1)), ("p", Some(1))];
        assert_eq!(sorted(&fine), Ok(vec![4, 2, 0, 3, 1]));
    }
}
