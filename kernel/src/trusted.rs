// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folders and files that nobody but root can change. Commands that run as root follow and believe no others.

use std::{
    fs::{File, Metadata, OpenOptions, symlink_metadata},
    io,
    os::{
        fd::AsFd,
        unix::fs::{MetadataExt, OpenOptionsExt},
    },
    path::Path,
};

use rustix::{
    fs::{Gid, OFlags, Uid, fchown},
    process::geteuid,
};

use crate::Error;

const GROUP_AND_OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Checks a folder whose own name nobody but root can give to another file.
///
/// `false` if there is none. `may_be_shared`: others may create files in it if they cannot remove or rename root's.
pub fn check_folder(path: &Path, may_be_shared: bool) -> Result<bool, Error> {
    match symlink_metadata(path) {
        Ok(metadata) => match reason_against_folder(&metadata, may_be_shared) {
            None => Ok(true),
            Some(why) => Err(Error::Untrusted { path: path.to_owned(), why }),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(Error::io("examine", path, e)),
    }
}

fn reason_against_folder(metadata: &Metadata, may_be_shared: bool) -> Option<String> {
    if metadata.is_symlink() {
        return Some("is a symbolic link".into());
    }
    if !metadata.is_dir() {
        return Some("is no folder".into());
    }
    reason_against_owner(metadata).or_else(|| {
        let (mode, is_shared) = (metadata.mode() & 0o7777, metadata.mode() & GROUP_AND_OTHERS_WRITE != 0);
        let is_fit = !is_shared || (may_be_shared && mode & STICKY != 0);
        (!is_fit).then(|| format!("can be written by others (mode {mode:04o})"))
    })
}

fn reason_against_owner(metadata: &Metadata) -> Option<String> {
    (metadata.uid() != 0).then(|| format!("belongs to user {}", metadata.uid()))
}

/// Opens, or makes, a file of root's own that nobody else can open. The folder must have passed [`check_folder`].
pub fn open_private(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = match options.custom_flags(OFlags::NOFOLLOW.bits() as i32).open(path) {
        Ok(file) => file,
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(Error::Untrusted { path: path.to_owned(), why: "is a symbolic link".into() });
        }
        Err(e) => return Err(Error::io("open", path, e)),
    };
    give_to_root(&file).map_err(|e| Error::io("change the owner of", path, e))?;
    let metadata = file.metadata().map_err(|e| Error::io("examine", path, e))?;
    let mode = metadata.mode() & 0o7777;
    let why = if !metadata.is_file() {
        Some("is not a regular file".into())
    } else if mode & 0o077 != 0 {
        Some(format!("can be opened by others (mode {mode:04o})"))
    } else {
        reason_against_owner(&metadata)
    };
    why.map_or(Ok(file), |why| Err(Error::Untrusted { path: path.to_owned(), why }))
}

/// A process that is not root but has its capabilities makes files of its own user: others of that user could change them.
pub fn give_to_root(file: impl AsFd) -> io::Result<()> {
    if geteuid().is_root() {
        return Ok(());
    }
    Ok(fchown(file, Some(Uid::ROOT), Some(Gid::ROOT))?)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{create_dir, set_permissions, write},
        os::unix::fs::{PermissionsExt, chown, symlink},
    };

    use super::*;

    fn refusal<T>(outcome: Result<T, Error>) -> String {
        outcome.err().expect("it is refused").to_string()
    }

    #[test]
    fn only_folders_of_root_s_own_are_trusted() {
        if !geteuid().is_root() {
            return tandem_testing::skip("it takes root to own what root owns");
        }
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        assert!(!check_folder(&folder, false).unwrap());
        create_dir(&folder).unwrap();
        let set_mode = |mode| set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
        for (mode, unshared, shared) in [
            (0o700, true, true),
            (0o755, true, true),
            (0o777, false, false),
            (0o1777, false, true),
            (0o720, false, false),
        ] {
            set_mode(mode);
            assert_eq!(
                (check_folder(&folder, false).is_ok(), check_folder(&folder, true).is_ok()),
                (unshared, shared),
                "{mode:o}"
            );
        }
        set_mode(0o700);
        chown(&folder, Some(65534), None).unwrap();
        assert!(refusal(check_folder(&folder, true)).contains("belongs to user 65534"));
        chown(&folder, Some(0), None).unwrap();
        let (link, file) = (place.path().join("link"), place.path().join("file"));
        symlink(&folder, &link).unwrap();
        assert!(refusal(check_folder(&link, true)).contains("is a symbolic link"));
        write(&file, "").unwrap();
        assert!(refusal(check_folder(&file, true)).contains("is no folder"));
    }

    #[test]
    fn only_files_that_root_alone_can_open_are_trusted() {
        if !geteuid().is_root() {
            return tandem_testing::skip("it takes root to own what root owns");
        }
        let place = tempfile::tempdir().unwrap();
        let [made, open, others, link] = ["made", "open", "others", "link"].map(|name| place.path().join(name));
        drop(open_private(&made).unwrap());
        assert_eq!(symlink_metadata(&made).unwrap().mode() & 0o777, 0o600);
        write(&open, "kept").unwrap();
        set_permissions(&open, PermissionsExt::from_mode(0o644)).unwrap();
        assert!(refusal(open_private(&open)).contains("mode 0644"));
        write(&others, "kept").unwrap();
        set_permissions(&others, PermissionsExt::from_mode(0o600)).unwrap();
        chown(&others, Some(65534), None).unwrap();
        assert!(refusal(open_private(&others)).contains("belongs to user 65534"));
        symlink(&made, &link).unwrap();
        assert!(refusal(open_private(&link)).contains("is a symbolic link"));
    }
}
