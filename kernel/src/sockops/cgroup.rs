// SPDX-License-Identifier: MIT OR Apache-2.0
//! Control groups (v2), to which programs are attached and by which connections are told apart.

use std::{
    fs::{self, File},
    io,
    os::{fd::AsFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use rustix::fs::statfs;

use crate::Error;

const CGROUP2_MAGIC: u64 = 0x6367_7270;

/// A control group of version 2.
#[derive(Debug)]
pub struct Cgroup {
    /// Its folder.
    pub path: PathBuf,
    folder: File,
    /// Its id in the kernel.
    pub(crate) id: u64,
}

impl Cgroup {
    /// The one that all others are in, as far as this process sees.
    ///
    /// # Errors
    /// [`Error::NoCgroups`] without a file system of cgroup v2; [`Error::BadCgroup`] if it cannot be opened.
    pub fn root() -> Result<Self, Error> {
        Self::open(&root_path()?)
    }

    /// One by its path: absolute, or from [`Cgroup::root`] on, as `system.slice/backup.service`.
    ///
    /// # Errors
    /// As [`Cgroup::root`], and [`Error::BadCgroup`] if there is none of this path, or it is no cgroup of version 2.
    pub fn find(path: impl AsRef<Path>) -> Result<Self, Error> {
        let root = root_path()?;
        let path = path.as_ref();
        // /proc/PID/cgroup has a slash before such a path.
        let relative = path.strip_prefix("/").unwrap_or(path);
        let inside = root.join(relative);
        Self::open(if path.starts_with(&root) || (path.is_absolute() && !inside.exists()) { path } else { &inside })
    }

    fn open(path: &Path) -> Result<Self, Error> {
        let bad = |why: String| Error::BadCgroup { path: path.to_owned(), why };
        let open = || -> io::Result<(File, u64)> {
            let folder = File::open(path)?;
            let metadata = folder.metadata()?;
            Ok((folder, metadata.ino()))
        };
        let (folder, id) = open().map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => bad("does not exist".into()),
            _ => bad(format!("cannot be opened: {e}")),
        })?;
        if !statfs(path).is_ok_and(|s| s.f_type as u64 == CGROUP2_MAGIC) || !folder.metadata().is_ok_and(|m| m.is_dir())
        {
            return Err(bad("is not a cgroup of version 2".into()));
        }
        Ok(Self { path: path.to_owned(), folder, id })
    }

    /// The numbers of this one and those around it, from the inside out.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let Ok(root) = root_path() else { return vec![self.id] };
        let around = self.path.ancestors().take_while(|path| path.starts_with(&root));
        around.filter_map(|path| fs::metadata(path).ok().map(|m| m.ino())).collect()
    }

    pub(crate) fn fd(&self) -> i32 {
        std::os::fd::AsRawFd::as_raw_fd(&self.folder.as_fd())
    }

    /// The path of the one with this number; `None` if it is gone, or not to be seen from here.
    pub(crate) fn path_of(id: u64) -> Option<PathBuf> {
        let mut left = vec![root_path().ok()?];
        while let Some(path) = left.pop() {
            if fs::metadata(&path).is_ok_and(|m| m.ino() == id) {
                return Some(path);
            }
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            left.extend(entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()));
        }
        None
    }
}

/// Where it is mounted: /sys/fs/cgroup, or beside version 1 /sys/fs/cgroup/unified.
fn root_path() -> Result<PathBuf, Error> {
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(|e| Error::io("read", "/proc/self/mounts", e))?;
    mount_in(&mounts).ok_or(Error::NoCgroups)
}

fn mount_in(mounts: &str) -> Option<PathBuf> {
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mut of_v2 = fields.filter(|f| f.get(2) == Some(&"cgroup2"));
    // The kernel writes a space in a path as \040.
    of_v2.next().map(|f| f[1].replace("\\040", " ").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_of_version_2_is_found_beside_version_1() {
        let hybrid = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(mount_in(hybrid), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(mount_in("none /my\\040groups cgroup2 rw 0 0\n"), Some("/my groups".into()));
        assert_eq!(mount_in("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"), None);
    }

    #[test]
    fn a_folder_elsewhere_is_no_cgroup() {
        if root_path().is_err() {
            return tandem_testing::skip("there is no cgroup v2");
        }
        let elsewhere = tempfile::tempdir().unwrap();
        for path in [elsewhere.path(), Path::new("no/such/group")] {
            assert!(matches!(Cgroup::find(path), Err(Error::BadCgroup { .. })), "{path:?}");
        }
        let root = Cgroup::root().unwrap();
        assert_eq!(root.ids(), [root.id]);
        assert_eq!(Cgroup::path_of(root.id), Some(root.path));
    }
}
