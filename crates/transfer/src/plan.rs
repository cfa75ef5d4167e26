// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a sender has to send: files and folders as named, and all that is in the folders. No link is followed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, wire::Entry};

/// A file to send, and its name for the receiver.
pub struct Planned {
    pub entry: Entry,
    pub path: PathBuf,
}

/// The files and empty folders under these paths, and the paths that are left out because they are no files: links, devices, sockets.
pub fn plan(paths: &[PathBuf]) -> Result<(Vec<Planned>, Vec<PathBuf>), Error> {
    let (mut planned, mut left_out) = (Vec::new(), Vec::new());
    for path in paths {
        // `.` and `..` get their names, and a link that the user names is what it leads to.
        let real = fs::canonicalize(path).map_err(Error::file(path))?;
        let Some(name) = real.file_name() else {
            return Err(Error::Nothing(format!("{}: this folder has no name: name what is in it", path.display())));
        };
        let name = text(name, &real)?;
        add(&real, name, &mut planned, &mut left_out)?;
    }
    if planned.is_empty() {
        return Err(Error::Nothing("there is nothing to send: no file, no folder".into()));
    }
    Ok((planned, left_out))
}

fn text(name: &std::ffi::OsStr, path: &Path) -> Result<String, Error> {
    let text = name.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::Nothing(format!("{}: the name is not UTF-8: rename it", path.display())))
}

fn add(path: &Path, name: String, planned: &mut Vec<Planned>, left_out: &mut Vec<PathBuf>) -> Result<(), Error> {
    let metadata = fs::symlink_metadata(path).map_err(Error::file(path))?;
    if metadata.is_file() {
        let entry = Entry { name, size: Some(metadata.len()) };
        planned.push(Planned { entry, path: path.to_owned() });
    } else if metadata.is_dir() {
        let entries = fs::read_dir(path).map_err(Error::file(path))?;
        let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(Error::file(path))?;
        entries.sort_by_key(|entry| entry.file_name());
        if entries.is_empty() {
            planned.push(Planned { entry: Entry { name: name.clone(), size: None }, path: path.to_owned() });
        }
        for entry in entries {
            let name = format!("{name}/{}", text(&entry.file_name(), &entry.path())?);
            add(&entry.path(), name, planned, left_out)?;
        }
    } else {
        left_out.push(path.to_owned());
    }
    Ok(())
}
