// SPDX-License-Identifier: MIT OR Apache-2.0
//! The folder for a command's results. The command owns it while it runs, and another command's results there are kept, unless the
//! user says otherwise.

use std::{
    fs::{self, File},
    io::{self, BufReader},
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::Deserialize;
use tandem_scenario::bounded::{self, RESULTS_BYTES};

use crate::{failure::Failure, origin::command_line, settings::Common};

pub const REPORT_FILE: &str = "report.html";
pub const RESULTS_FILE: &str = "results.json";

/// A folder that can be written to and that no other Tandem command writes to at the same time.
pub struct Folder {
    path: PathBuf,
    /// Locked; `None` where folders cannot be.
    _lock: Option<File>,
}

/// Why a folder is not for this command.
enum Refusal {
    /// Detected only where folders can be locked.
    #[cfg_attr(not(unix), allow(dead_code))]
    InUse,
    /// The command whose results are there.
    Taken(String),
    /// There are results, but their command cannot be read.
    Unreadable(io::Error),
    Unwritable(io::Error),
}

impl Folder {
    /// The folder of `--out`, otherwise `default_name` in `tandem-out`, with a number after it where another command's results are. It is made
    /// before anything runs, so that an hour's run does not end with "permission denied".
    ///
    /// # Errors
    ///
    /// The folder of `--out` cannot be written to, is in use, or holds another command's results, which only `--replace` gives up.
    pub fn prepare(common: &Common, default_name: &str) -> Result<Self, Failure> {
        let default = named(default_name);
        let named = common.out.as_ref().or(common.replace.then_some(&default));
        if let Some(path) = named {
            return claim(path, common.replace).map_err(|refusal| refusal.of(path));
        }
        let numbered = (2..).map(|n| default.with_file_name(format!("{}-{n}", file_name(default_name))));
        for path in std::iter::once(default.clone()).chain(numbered) {
            match claim(&path, false) {
                Err(Refusal::InUse | Refusal::Taken(_)) => {}
                claimed => return claimed.map_err(|refusal| refusal.of(&path)),
            }
        }
        unreachable!("there are more numbers than folders")
    }

    /// A folder that no other command writes to meanwhile, and that has no results of another command.
    ///
    /// # Errors
    ///
    /// As [`Folder::prepare`].
    #[cfg(all(feature = "linux", target_os = "linux"))]
    pub fn at(path: &Path) -> Result<Self, Failure> {
        claim(path, false).map_err(|refusal| refusal.of(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Are results of this command there from an earlier time?
    pub fn has_results(&self) -> bool {
        self.path.join(RESULTS_FILE).exists()
    }
}

impl Refusal {
    fn of(self, folder: &Path) -> Failure {
        let folder = folder.display();
        match self {
            Refusal::InUse => Failure::Failed(anyhow::anyhow!(
                "another command is writing to `{folder}`; wait for it, or choose another folder with --out"
            )),
            Refusal::Taken(command) => Failure::usage(format!(
                "`{folder}` holds the results of `{command}`; choose another folder with --out, or replace them with --replace"
            )),
            Refusal::Unreadable(e) => {
                let e = anyhow::Error::new(e);
                Failure::Failed(e.context(format!(
                    "cannot read `{folder}/{RESULTS_FILE}`: remove it, or choose another folder with --out"
                )))
            }
            Refusal::Unwritable(e) => Failure::Failed(anyhow::Error::new(e).context(unwritable(folder))),
        }
    }
}

fn claim(path: &Path, replace: bool) -> Result<Folder, Refusal> {
    make(path).map_err(Refusal::Unwritable)?;
    let lock = lock(path)?;
    match command_of(path).map_err(Refusal::Unreadable)? {
        Some(command) if !replace && command != command_line() => Err(Refusal::Taken(command)),
        _ => Ok(Folder { path: path.to_owned(), _lock: lock }),
    }
}

/// The command whose results are in a folder. Files without a command belong to nobody.
fn command_of(folder: &Path) -> io::Result<Option<String>> {
    #[derive(Deserialize)]
    struct Results {
        command: String,
    }
    let file = match bounded::open(&folder.join(RESULTS_FILE), RESULTS_BYTES) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    // Not into memory as a whole: there may be years of results.
    let results = serde_json::from_reader::<_, Results>(BufReader::new(file));
    Ok(results.ok().map(|results| results.command))
}

/// The folder itself is locked, so that no file tells of it.
#[cfg(unix)]
fn lock(path: &Path) -> Result<Option<File>, Refusal> {
    let folder = File::open(path).map_err(Refusal::Unwritable)?;
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(fs::TryLockError::WouldBlock) => Err(Refusal::InUse),
        // Some network file systems have no locks.
        Err(fs::TryLockError::Error(_)) => Ok(None),
    }
}

#[cfg(not(unix))]
fn lock(_: &Path) -> Result<Option<File>, Refusal> {
    Ok(None)
}

/// Makes a folder that is known, and finds out whether it can be written to.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    Ok(make(folder).with_context(|| unwritable(folder.display()))?)
}

fn unwritable(folder: impl std::fmt::Display) -> String {
    format!("cannot write to the output folder `{folder}`; choose another with --out")
}

fn make(folder: &Path) -> io::Result<()> {
    refuse_planted_links(folder)?;
    fs::create_dir_all(folder)?;
    // A file without a name: commands that begin at the same time cannot take away each other's.
    tempfile::tempfile_in(folder).map(drop)
}

/// As root, results are not written through a symbolic link that another user has put into a shared folder: it could lead
/// anywhere.
fn refuse_planted_links(folder: &Path) -> io::Result<()> {
    #[cfg(not(unix))]
    let _ = folder;
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        use std::os::unix::fs::MetadataExt;
        for part in folder.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            let Ok(link) = part.symlink_metadata() else { continue };
            let parent = part.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if link.is_symlink() && link.uid() != 0 && parent.metadata()?.mode() & 0o022 != 0 {
                let why =
                    format!("`{}` is a link that user {} put there, and this is root", part.display(), link.uid());
                return Err(io::Error::other(why));
            }
        }
    }
    Ok(())
}

/// The folder in `tandem-out` for results of this name.
pub fn named(name: &str) -> PathBuf {
    Path::new("tandem-out").join(file_name(name))
}

fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn commands_that_begin_at_the_same_time_find_the_folder_writable() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("new/below");
        thread::scope(|scope| {
            let commands = [(); 4].map(|()| scope.spawn(|| (0..200).try_for_each(|_| make(&folder))));
            for command in commands {
                command.join().unwrap().unwrap();
            }
        });
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
}
