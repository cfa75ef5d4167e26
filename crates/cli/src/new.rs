// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem new`: a controller of the user's own to begin with.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use tandem_controllers::{
    find,
    own::{EXTENSION, name_of, templates},
};

use crate::{failure::Failure, terminal::print};

/// Write a starting point for your own controller
///
/// Writes NAME.h, a C header that works: additive increase, multiplicative decrease. Name it by its path wherever a controller is named; it is
/// compiled each time. It is native code, and runs with your rights. NAME.trace has events and the windows that must result, worked out by
/// hand; NAME.md is a page to fill in.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem new mine
  tandem conform mine.trace
  tandem compare --rate 100mbit --rtt 40ms --queue 1bdp ./mine.h ./mine.h@step=4 reno
  tandem new ideas/gentle")]
pub struct Args {
    /// The controller's name, 1 to 15 letters, digits or `_`; a folder may precede it
    name: PathBuf,
}

pub fn new(args: &Args) -> Result<(), Failure> {
    let shown = args.name.to_string_lossy();
    let path = PathBuf::from(format!("{}{EXTENSION}", shown.strip_suffix(EXTENSION).unwrap_or(&shown)));
    let name = name_of(&path).map_err(Failure::usage)?;
    if find(&name).is_ok() {
        return Err(Failure::usage(format!("Tandem has a controller `{name}`: give yours another name")));
    }
    let files = templates(&name).map(|(extension, text)| (path.with_extension(&extension[1..]), text));
    // All or none.
    if let Some((there, _)) = files.iter().find(|(file, _)| file.exists()) {
        return Err(is_there(there));
    }
    for (file, text) in &files {
        write(file, text)?;
    }
    // Where a controller is named, a path has a slash.
    let path = if path.components().count() == 1 { Path::new(".").join(path) } else { path };
    let (trace, page) = (path.with_extension("trace"), path.with_extension("md"));
    let (path, trace, page) = (path.display(), trace.display(), page.display());
    print(&format!(
        "{path}, {trace} and {page} are written. Change the header, and see what it does:\n  \
         tandem conform {trace}\n  tandem compare --rate 100mbit --rtt 40ms --queue 1bdp {path} reno\n"
    ))
}

fn is_there(path: &Path) -> Failure {
    Failure::usage(format!("`{}` is there already: remove it, or give another name", path.display()))
}

/// A file that was not there.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let mut file = File::create_new(path).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => is_there(path),
        _ => Failure::Failed(anyhow::Error::new(e).context(format!("cannot write `{}`", path.display()))),
    })?;
    Ok(file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?)
}
