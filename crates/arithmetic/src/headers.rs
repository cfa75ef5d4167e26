// SPDX-License-Identifier: MIT OR Apache-2.0
//! A C header with all that it includes.

use std::{collections::BTreeMap, fs, path::Path};

/// A hash of headers, of all that they include with `#include "..."` from the same folder, and of some more words: 32 hexadecimal digits.
pub fn headers_hash(include: &Path, headers: &[&str], words: &[&str]) -> String {
    let (mut found, mut waiting) = (BTreeMap::new(), headers.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    while let Some(name) = waiting.pop() {
        if found.contains_key(&name) {
            continue;
        }
        // A system's header of that name, or none at all, which the compiler will tell.
        let Ok(text) = fs::read_to_string(include.join(&name)) else { continue };
        waiting.extend(text.lines().filter_map(included).map(str::to_owned));
        found.insert(name, text);
    }
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        hasher.update(format!("{} ", part.len()).as_bytes()).update(part.as_bytes());
    };
    found.iter().for_each(|(name, text)| [name, text].into_iter().for_each(|part| add(part)));
    words.iter().for_each(|word| add(word));
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The header that a line includes.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}
