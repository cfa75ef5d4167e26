// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiver's folder. Nothing outside it can be reached, whatever names are offered (cap-std); no link is followed; a file gets its name
//! when it is complete and its hash is right.

use std::{
    collections::HashSet,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Component, Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};

use crate::{Error, Refusal, wire::Entry};

/// Folders in folders.
const MAX_DEPTH: usize = 64;

/// The folder.
pub struct Store {
    dir: Dir,
    path: PathBuf,
    /// Files of the same name are replaced.
    force: bool,
}

impl Store {
    /// Opens the folder, makes it if it is not there, and tries whether it can be written.
    pub fn open(path: &Path, force: bool) -> Result<Self, Error> {
        let here = Error::file(path);
        let open = || {
            std::fs::create_dir_all(path)?;
            // A file without a name: receivers that begin at the same time cannot take away each other's.
            tempfile::tempfile_in(path)?;
            Dir::open_ambient_dir(path, ambient_authority())
        };
        Ok(Self { dir: open().map_err(here)?, path: path.to_owned(), force })
    }

    /// Looks at an offer, and says how many bytes of each entry are there. Nothing is written.
    pub fn plan(&self, entries: &[Entry]) -> Result<Vec<u64>, Refusal> {
        let (mut names, mut needed, mut offsets) = (HashSet::new(), 0u128, Vec::new());
        for entry in entries {
            let name = entry.name();
            if !is_good(&entry.path) {
                return Err(Refusal::Name(name));
            }
            if !names.insert(&entry.path) {
                return Err(Refusal::Twice(name));
            }
            for depth in 1..entry.path.len() {
                let folder = entry.path[..depth].join("/");
                if self.dir.symlink_metadata(&folder).is_ok_and(|m| !m.is_dir()) {
                    return Err(Refusal::NoFolder(folder));
                }
            }
            let offset = self.there(entry, name)?;
            needed += u128::from(entry.size.unwrap_or(0) - offset);
            offsets.push(offset);
        }
        match self.free_bytes() {
            Some(free) if needed > free => Err(Refusal::NoRoom { needed, free }),
            _ => Ok(offsets),
        }
    }

    /// Bytes of an entry that need not come.
    fn there(&self, entry: &Entry, name: String) -> Result<u64, Refusal> {
        let is_there = self.dir.symlink_metadata(&name);
        let Some(size) = entry.size else {
            return if is_there.is_ok_and(|m| !m.is_dir()) { Err(Refusal::NoFolder(name)) } else { Ok(0) };
        };
        if let Ok(metadata) = is_there {
            match () {
                () if !metadata.is_file() => return Err(Refusal::NoFile(name)),
                // Perhaps it is the same; the hash will tell.
                () if !self.force && metadata.len() == size => return Ok(size),
                () if !self.force => return Err(Refusal::Exists(name)),
                () => {}
            }
        }
        let part = self.dir.symlink_metadata(part_path(entry));
        Ok(part.ok().filter(|m| m.is_file()).map_or(0, |m| m.len()).min(size))
    }

    #[cfg(unix)]
    fn free_bytes(&self) -> Option<u128> {
        let stats = rustix::fs::fstatvfs(&self.dir).ok()?;
        Some(u128::from(stats.f_bavail) * u128::from(stats.f_frsize))
    }

    #[cfg(not(unix))]
    fn free_bytes(&self) -> Option<u128> {
        None
    }

    /// Begins an entry of which `offset` bytes are there. `None` for a folder, which is made.
    pub fn begin(&self, entry: &Entry, offset: u64) -> Result<Option<Incoming<'_>>, Error> {
        let name = entry.name();
        let here = Error::file(self.path.join(&name));
        let Some(size) = entry.size else {
            self.dir.create_dir_all(&name).map_err(here)?;
            return Ok(None);
        };
        let open = || {
            let is_kept = !self.force && self.dir.symlink_metadata(&name).is_ok_and(|m| m.is_file());
            if is_kept {
                return Ok((self.dir.open(&name)?, true));
            }
            if let [folders @ .., _] = &entry.path[..]
                && !folders.is_empty()
            {
                self.dir.create_dir_all(folders.join("/"))?;
            }
            let part = part_path(entry);
            if offset == 0 && self.dir.symlink_metadata(&part).is_ok() {
                self.dir.remove_file(&part)?;
            }
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(offset == 0);
            Ok((self.dir.open_with(&part, &options)?, false))
        };
        let (mut file, is_kept) = open().map_err(here)?;
        let mut hasher = blake3::Hasher::new();
        let mut prefix = (&mut file).take(offset);
        let read = io::copy(&mut prefix, &mut hasher).and_then(|_| file.seek(SeekFrom::Start(offset)));
        read.map_err(Error::file(self.path.join(&name)))?;
        Ok(Some(Incoming { store: self, entry: entry.clone(), file, hasher, left: size - offset, is_kept }))
    }
}

/// A file that is being received.
pub struct Incoming<'a> {
    store: &'a Store,
    entry: Entry,
    file: File,
    hasher: blake3::Hasher,
    left: u64,
    /// It is there already, and is compared only.
    pub is_kept: bool,
}

impl Incoming<'_> {
    /// Bytes to come.
    pub fn left(&self) -> u64 {
        self.left
    }

    fn path(&self) -> PathBuf {
        self.store.path.join(self.entry.name())
    }

    /// The next bytes; no more than are left.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.hasher.update(bytes);
        self.left -= bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::file(self.path()))
    }

    /// All bytes are there, and the sender's hash: gives the file its name if it is right.
    pub fn finish(self, hash: [u8; 32]) -> Result<(), Error> {
        let (name, part) = (self.entry.name(), part_path(&self.entry));
        let is_same = self.hasher.finalize() == blake3::Hash::from(hash);
        let here = Error::file(self.path());
        let dir = &self.store.dir;
        if self.is_kept {
            return if is_same { Ok(()) } else { Err(Error::Refused(Refusal::Exists(name).to_string())) };
        }
        if !is_same {
            let _ = dir.remove_file(part);
            return Err(Error::Peer(format!("`{name}` is not what the sender had: it changed; send it again")));
        }
        let publish = || {
            self.file.sync_data()?;
            if self.store.force {
                return dir.rename(&part, dir, &name);
            }
            // Unlike a rename, a link replaces nothing. Some file systems have none.
            match dir.hard_link(&part, dir, &name) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(e),
                Err(_) if dir.symlink_metadata(&name).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => dir.rename(&part, dir, &name),
                Ok(()) => dir.remove_file(&part),
            }
        };
        publish().map_err(here)
    }
}

/// Every part of a name must be the name of one thing in one folder, on this system, and none of ours.
fn is_good(path: &[String]) -> bool {
    let is_plain = |part: &String| {
        let mut components = Path::new(part).components();
        let is_one = matches!(components.next(), Some(Component::Normal(one)) if one == part.as_str());
        is_one && components.next().is_none() && part.len() <= 255 && !part.chars().any(|c| c == '\\' || c.is_control())
    };
    let is_ours = |part: &String| part.starts_with(".tandem-") && part.ends_with(".part");
    (1..=MAX_DEPTH).contains(&path.len()) && path.iter().all(is_plain) && !path.iter().any(is_ours)
}

/// The name of a file while it is not complete: the same for the same file, so that another transfer goes on with it.
fn part_name(name: &str, size: u64) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes()).update(&size.to_le_bytes());
    format!(".tandem-{}.part", &hasher.finalize().to_hex()[..16])
}

fn part_path(entry: &Entry) -> String {
    let part = part_name(&entry.name(), entry.size.unwrap_or(0));
    match &entry.path[..] {
        [folders @ .., _] if !folders.is_empty() => format!("{}/{part}", folders.join("/")),
        _ => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_that_begin_at_the_same_time_find_the_folder_writable() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("new/below");
        std::thread::scope(|scope| {
            let receivers =
                [(); 4].map(|()| scope.spawn(|| (0..200).try_for_each(|_| Store::open(&folder, false).map(drop))));
            for receiver in receivers {
                receiver.join().unwrap().unwrap();
            }
        });
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn names_stay_in_the_folder() {
        let good = |path: &[&str]| is_good(&path.iter().map(|&p| p.to_owned()).collect::<Vec<_>>());
        assert!(good(&["a"]) && good(&["a", "b c", "ü.txt"]) && good(&["..a"]));
        for bad in
            [&[][..], &[""], &["."], &[".."], &["a", "..", "b"], &["/etc"], &["a/b"], &["a\\b"], &["a\nb"], &["a\0"]]
        {
            assert!(!good(bad), "{bad:?}");
        }
        assert!(!good(&["a"; 65]) && !good(&[&"x".repeat(256)]) && !good(&[&part_name("a", 1)]));
    }
}
