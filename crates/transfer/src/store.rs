// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiver's folder. Nothing outside it can be reached, whatever names are offered (cap-std); no link is followed; a file gets its name
//! when it is complete and its hash is right.

use std::{
    io::{self, Seek, Write},
    path::{Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, File, Metadata, OpenOptions},
};

use crate::{Error, Refusal, names, wire::Entry};

/// The folder.
pub struct Store {
    dir: Dir,
    path: PathBuf,
    /// Files of the same name are replaced.
    force: bool,
    /// Hidden names are taken.
    hidden: bool,
}

impl Store {
    /// Opens the folder, creating it if needed, and checks that it can be written.
    pub fn open(path: &Path, force: bool, hidden: bool) -> Result<Self, Error> {
        let here = Error::file(path);
        let open = || {
            std::fs::create_dir_all(path)?;
            // A file without a name: receivers that begin at the same time cannot take away each other's.
            tempfile::tempfile_in(path)?;
            Dir::open_ambient_dir(path, ambient_authority())
        };
        Ok(Self { dir: open().map_err(here)?, path: path.to_owned(), force, hidden })
    }

    /// Examines an offer, and returns how many bytes of each entry are there already. Writes nothing.
    pub fn plan(&self, entries: &[Entry]) -> Result<Vec<u64>, Refusal> {
        entries.iter().try_for_each(|entry| names::check(&entry.name, self.hidden))?;
        let mut walk = Walk { root: &self.dir, open: Vec::new() };
        let (mut needed, mut offsets) = (0u128, vec![0; entries.len()]);
        for index in names::sorted(entries)? {
            let entry = &entries[index];
            let offset = match walk.folder_of(&entry.name)? {
                Some(folder) => self.there(folder, entry)?,
                None => 0,
            };
            needed += u128::from(entry.size.unwrap_or(0) - offset);
            offsets[index] = offset;
        }
        match self.free_bytes() {
            Some(free) if needed > free => Err(Refusal::NoRoom { needed, free }),
            _ => Ok(offsets),
        }
    }

    /// Bytes of an entry of this folder that need not come.
    fn there(&self, folder: &Dir, entry: &Entry) -> Result<u64, Refusal> {
        let name = || entry.name.clone();
        let is_there = look(folder, names::parted(&entry.name).1, name)?;
        let Some(size) = entry.size else {
            return if is_there.is_some_and(|m| !m.is_dir()) { Err(Refusal::NoFolder(name())) } else { Ok(0) };
        };
        if let Some(metadata) = is_there {
            match () {
                () if !metadata.is_file() => return Err(Refusal::NoFile(name())),
                // Perhaps it is the same; the hash will tell.
                () if !self.force && metadata.len() == size => return Ok(size),
                () if !self.force => return Err(Refusal::Exists(name())),
                () => {}
            }
        }
        let part = look(folder, &names::unfinished(entry), name)?;
        Ok(part.filter(|m| m.is_file()).map_or(0, |m| m.len()).min(size))
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

    /// Begins an entry of which `offset` bytes are there already; `hash` reads them. `None` for a folder, which is created.
    pub fn begin(
        &self,
        entry: &Entry,
        offset: u64,
        hash: impl FnOnce(&mut File) -> io::Result<blake3::Hasher>,
    ) -> Result<Option<Incoming<'_>>, Error> {
        let path = self.path.join(&entry.name);
        let Some(size) = entry.size else {
            self.dir.create_dir_all(&entry.name).map_err(Error::file(path))?;
            return Ok(None);
        };
        let open = || {
            let is_kept = !self.force && self.dir.symlink_metadata(&entry.name).is_ok_and(|m| m.is_file());
            let mut file = if is_kept { self.dir.open(&entry.name)? } else { self.open_part(entry, offset)? };
            let hasher = hash(&mut file)?;
            Ok(Incoming { store: self, entry: entry.clone(), file, hasher, left: size - offset, is_kept })
        };
        open().map(Some).map_err(Error::file(path))
    }

    /// The file that is not complete, and its folder.
    fn open_part(&self, entry: &Entry, offset: u64) -> io::Result<File> {
        if let (Some(folder), _) = names::parted(&entry.name) {
            self.dir.create_dir_all(folder)?;
        }
        let part = part_path(entry);
        if offset == 0 && self.dir.symlink_metadata(&part).is_ok() {
            self.dir.remove_file(&part)?;
        }
        let mut file = self.dir.open_with(&part, OpenOptions::new().read(true).write(true).create_new(offset == 0))?;
        // A part may have more bytes than the file is to have, or than were there when it was looked at.
        file.set_len(offset)?;
        file.rewind()?;
        Ok(file)
    }
}

/// Goes from folder to folder as they are sorted, and opens each once.
struct Walk<'a> {
    root: &'a Dir,
    /// From the outermost on; `None`: it is not there.
    open: Vec<(&'a str, Option<Dir>)>,
}

impl<'a> Walk<'a> {
    /// The folder that an entry is to be in. `None`: it is not there.
    fn folder_of(&mut self, name: &'a str) -> Result<Option<&Dir>, Refusal> {
        let Some(folder) = names::parted(name).0 else {
            self.open.clear();
            return Ok(Some(self.root));
        };
        let kept = folder.split('/').zip(&self.open).take_while(|(part, (open, _))| part == open).count();
        self.open.truncate(kept);
        for part in folder.split('/').skip(kept) {
            let inside = match self.innermost() {
                Some(dir) => {
                    let so_far = || folder.split('/').take(self.open.len() + 1).collect::<Vec<_>>().join("/");
                    open_folder(dir, part, so_far)?
                }
                None => None,
            };
            self.open.push((part, inside));
        }
        Ok(self.innermost())
    }

    fn innermost(&self) -> Option<&Dir> {
        self.open.last().map_or(Some(self.root), |(_, dir)| dir.as_ref())
    }
}

fn open_folder(dir: &Dir, part: &str, name: impl Fn() -> String) -> Result<Option<Dir>, Refusal> {
    match look(dir, part, &name)? {
        None => Ok(None),
        Some(metadata) if metadata.is_dir() => dir.open_dir(part).map(Some).map_err(|e| unreadable(name(), &e)),
        Some(_) => Err(Refusal::NoFolder(name())),
    }
}

/// What is there under the name `last`; `name` is the whole of it.
fn look(dir: &Dir, last: &str, name: impl Fn() -> String) -> Result<Option<Metadata>, Refusal> {
    match dir.symlink_metadata(last) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(unreadable(name(), &e)),
    }
}

fn unreadable(name: String, cause: &io::Error) -> Refusal {
    Refusal::Unreadable { name, why: cause.to_string() }
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
        self.store.path.join(&self.entry.name)
    }

    /// The next bytes; no more than are left.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.hasher.update(bytes);
        self.left -= bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::file(self.path()))
    }

    /// All bytes are there, and the sender's hash: gives the file its name if it is right.
    pub fn finish(self, hash: [u8; 32]) -> Result<(), Error> {
        let (name, part) = (self.entry.name.clone(), part_path(&self.entry));
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

fn part_path(entry: &Entry) -> String {
    let part = names::unfinished(entry);
    names::parted(&entry.name).0.map_or_else(|| part.clone(), |folder| format!("{folder}/{part}"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn receivers_that_begin_at_the_same_time_find_the_folder_writable() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("new/below");
        std::thread::scope(|scope| {
            let receivers = [(); 4]
                .map(|()| scope.spawn(|| (0..200).try_for_each(|_| Store::open(&folder, false, false).map(drop))));
            for receiver in receivers {
                receiver.join().unwrap().unwrap();
            }
        });
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }

    /// What an earlier transfer left is longer than the file: the rest is not taken for a part of it.
    #[test]
    fn a_part_that_is_too_long_is_cut() {
        let place = tempfile::tempdir().unwrap();
        let entry = Entry { name: "folder/a".into(), size: Some(4) };
        std::fs::create_dir(place.path().join("folder")).unwrap();
        std::fs::write(place.path().join("folder").join(names::unfinished(&entry)), b"four and more").unwrap();
        let store = Store::open(place.path(), false, false).unwrap();
        let offsets = store.plan(std::slice::from_ref(&entry)).unwrap();
        assert_eq!(offsets, [4]);
        let hash = |file: &mut File| {
            let mut there = String::new();
            file.read_to_string(&mut there)?;
            Ok(blake3::Hasher::new().update(there.as_bytes()).clone())
        };
        let file = store.begin(&entry, offsets[0], hash).unwrap().unwrap();
        assert_eq!(file.left(), 0);
        file.finish(blake3::hash(b"four").into()).unwrap();
        assert_eq!(std::fs::read(place.path().join("folder/a")).unwrap(), b"four");
    }

    /// Each entry's own amount, in the order of the offer, though the folders are gone through in theirs.
    #[test]
    fn what_is_there_is_found_in_any_order() {
        let place = tempfile::tempdir().unwrap();
        let sizes = [("b/c/d/e", 7), ("a", 1), ("b/c/d", 0), ("b/x/e", 5), ("b/c/a", 3)];
        for (name, size) in sizes.into_iter().filter(|(name, _)| *name != "b/c/d") {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, vec![0; size as usize]).unwrap();
        }
        let store = Store::open(place.path(), false, false).unwrap();
        let entry = |(name, size): (&str, u64)| Entry { name: name.into(), size: (size > 0).then_some(size) };
        assert_eq!(store.plan(&sizes.map(entry)), Ok(sizes.map(|(_, size)| size).to_vec()));
    }
}
