// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that a scenario names. A relative path begins at the folder of the scenario's file.

use std::path::{Path, PathBuf};

/// The keys whose text is always a path.
const KEYS: [&str; 2] = ["rate_trace", "path"];

/// Does this key name a file by this text? A controller does if it is a header, whose path has a slash in it.
pub fn names_file(key: &str, text: &str) -> bool {
    KEYS.contains(&key) || key == "controller" && text.contains('/')
}

/// The file that a key names. Every key but the controllers' is read through this, so that none is missing above.
pub(crate) fn named_file(folder: &Path, key: &str, path: &Path) -> PathBuf {
    debug_assert!(KEYS.contains(&key), "`{key}` names a file: add it to KEYS");
    folder.join(path)
}
