// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers that are not in the list: headers of users' own, compiled when they are named by their path.
//!
//! A header is native code: it runs in this process, with its rights. So nothing is compiled but what [`is_header`] takes for a path, and
//! [`find`](crate::find), which reads names out of results and records, never compiles.
//!
//! What is loaded stays loaded until the process ends: its functions may be anywhere.

#[cfg(feature = "own")]
mod compiler;
#[cfg(feature = "own")]
mod complaints;
mod error;
#[cfg(feature = "own")]
mod load;
#[cfg(feature = "own")]
mod missing;
#[cfg(feature = "own")]
mod registry;

use std::path::Path;

use crate::Controller;

#[cfg(feature = "own")]
pub use compiler::{HEADERS, write_list};
pub use error::OwnError;
#[cfg(feature = "own")]
pub(crate) use registry::loaded;
#[cfg(feature = "own")]
pub use registry::{name_of, open};

/// How a header's name ends.
pub const EXTENSION: &str = ".h";

/// The places of the palette (crates/report/src/colours.rs) that the list leaves to them.
pub const LOOKS: [usize; 7] = [33, 32, 31, 30, 29, 28, 27];

/// Does a text name a header by its path, rather than a controller of the list? It has a `/` and ends in `.h`.
pub fn is_header(text: &str) -> bool {
    text.contains('/') && text.ends_with(EXTENSION)
}

/// Files to begin a controller of that name with, each with how its name ends: a header that works (additive increase, multiplicative
/// decrease), golden traces of it, and a page.
pub fn templates(name: &str) -> [(&'static str, String); 3] {
    let texts = [
        (EXTENSION, include_str!("../../own/mine.h")),
        (".trace", include_str!("../../own/mine.trace")),
        (".md", include_str!("../../own/mine.md")),
    ];
    texts.map(|(extension, text)| (extension, text.replace("mine", name).replace("MINE", &name.to_uppercase())))
}

/// The controller of a header, compiled with the C compiler at hand and loaded. The same header gives the same controller, until it, or a header
/// of the user's that it includes, changes.
///
/// # Errors
/// [`OwnError`], with the line where the header is to blame.
#[cfg(not(feature = "own"))]
pub fn open(path: &Path) -> Result<&'static Controller, OwnError> {
    Err(OwnError::NotInThisBuild { path: path.display().to_string() })
}

/// A controller by its name, or of a header by its path, which is relative to a folder.
///
/// # Errors
/// [`NamedError`](crate::NamedError): no controller has the name, or the header gives none.
pub fn named(text: &str, folder: &Path) -> Result<&'static Controller, crate::NamedError> {
    if is_header(text) { Ok(open(&beside(folder, text))?) } else { Ok(crate::find(text)?) }
}

/// A path as written, in a folder; short, because it stands in messages.
fn beside(folder: &Path, text: &str) -> std::path::PathBuf {
    if folder.as_os_str().is_empty() { text.into() } else { folder.join(text.strip_prefix("./").unwrap_or(text)) }
}
