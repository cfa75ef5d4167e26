// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are whole or not there.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use tempfile::Builder;

/// Names of files that are being written begin so. What has such a name when nobody writes was left behind by a kill.
pub const TEMPORARY_PREFIX: &str = ".tandem-";

/// Writes `bytes` so that a reader, or a crash, never meets half a file: opening `path` gives the old file or the new one.
///
/// # Errors
/// If the file cannot be written; then the old one stays.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    atomically(path, |file| file.write_all(bytes))
}

/// As [`write_atomically`], for what is written bit by bit. On an error the old file stays and nothing is left behind.
///
/// # Errors
/// The error of `write`, or the file system's.
pub fn atomically<E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut File) -> Result<(), E>) -> Result<(), E> {
    // The same folder, since a rename does not cross file systems.
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(TEMPORARY_PREFIX);
    // Temporary files are private by default; the umask decides who may read a result.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn replaces_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        write_atomically(&path, b"old").unwrap();
        let failed = atomically(&path, |file| {
            file.write_all(b"half of the n")?;
            Err(io::Error::other("disk full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "disk full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_atomically(&folder.path().join("no/report.html"), b"x").is_err());
    }
}
