// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loading and unloading take turns across processes.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::{Error, trusted};

/// Where only root can make files, so that nobody else can take the lock or keep root from it.
const FOLDER: &str = "/run";
const FILE: &str = "tandem.lock";
/// Many times as long as a load takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The turn of the process that has it; the kernel ends it with the process, however that ends.
pub struct Turn {
    _file: File,
}

/// `what` the turn is for, as in "not permitted to `what`".
pub fn take_turn(what: &'static str) -> Result<Turn, Error> {
    take(Path::new(FOLDER), PATIENCE).map_err(|e| match e {
        Error::Io { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => Error::NoRights { what },
        e => e,
    })
}

fn take(folder: &Path, patience: Duration) -> Result<Turn, Error> {
    trusted::check_folder(folder, false)?;
    let path = folder.join(FILE);
    let mut file = trusted::open_private(&path)?;
    let deadline = Instant::now() + patience;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => sleep(Duration::from_millis(20)),
            Err(Errno::WOULDBLOCK) => return Err(Error::Busy { holder: holder(&mut file) }),
            Err(e) => return Err(Error::io("lock", path, e.into())),
        }
    }
    // For the message of one that waits in vain.
    let noted = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
    noted.map_err(|e| Error::io("write", path, e))?;
    Ok(Turn { _file: file })
}

/// The process that has the turn, as it noted itself.
fn holder(file: &mut File) -> String {
    let mut pid = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut pid));
    if read.is_err() || pid.is_empty() {
        return "a process that has just begun".into();
    }
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    format!("process {pid} ({})", words.join(" ").trim())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn one_at_a_time_and_a_wait_in_vain_names_the_holder() {
        if !rustix::process::geteuid().is_root() {
            return tandem_testing::skip("it takes root to own what root owns");
        }
        let folder = tempfile::tempdir().unwrap();
        let first = take(folder.path(), Duration::ZERO).unwrap();
        let waited = take(folder.path(), Duration::from_millis(50)).err().unwrap().to_string();
        assert!(waited.contains(&format!("process {} (", std::process::id())), "{waited}");
        drop(first);
        drop(take(folder.path(), Duration::ZERO).unwrap());
        // Where others could take the lock, or put another file in its place, nobody takes it.
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o1777)).unwrap();
        assert!(take(folder.path(), Duration::ZERO).is_err());
    }
}
