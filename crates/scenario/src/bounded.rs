// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files from elsewhere. A scenario from a stranger may name any file, and a folder may hold anything. So a file is read only if it is a
//! plain one and no larger than its kind may be: a device without end, a pipe that nobody writes to and a file with a hole of a
//! terabyte are refused before a byte of them is read.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, BufRead, Read},
    iter,
    path::Path,
};

/// The most bytes of a scenario, a sweep or an experiment.
pub const SCENARIO_BYTES: u64 = 16_000_000;
/// The most bytes of a rate trace or a list of sizes.
pub const TRACE_BYTES: u64 = 1_000_000_000;
/// The most bytes of a measurement: what `iperf3`, `ping` or `ss` printed, or runs over real TCP.
pub const MEASUREMENT_BYTES: u64 = 64_000_000;
/// The most bytes of results: a part of a data set, a `results.json`, a line of those that are kept.
pub const RESULTS_BYTES: u64 = 1_000_000_000;

/// Opens a plain file for reading, if it has at most `most_bytes`. It may grow afterwards.
///
/// # Errors
/// If it is not a regular file, is larger, or cannot be opened.
pub fn open(path: &Path, most_bytes: u64) -> io::Result<File> {
    // Before it is opened, because some devices act upon that.
    check(&fs::metadata(path)?, most_bytes)?;
    let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
    check(&file.metadata()?, most_bytes)?;
    Ok(file)
}

/// Options that open a pipe at once, whether or not somebody is at its other end.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    options
}

/// The bytes of a plain file, at most `most_bytes`.
///
/// # Errors
/// As [`open`], and if the file grows above that while it is read.
pub fn read(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, most_bytes)?.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes { Err(too_large(most_bytes)) } else { Ok(bytes) }
}

/// As [`read()`], of a file with text.
///
/// # Errors
/// As [`read()`], and if it is no text in UTF-8.
pub fn read_text(path: &Path, most_bytes: u64) -> io::Result<String> {
    String::from_utf8(read(path, most_bytes)?).map_err(|e| no_text(e.utf8_error()))
}

/// Reads a line with its end into `line`, in place of what is there. Returns whether there was one.
///
/// # Errors
/// If the line is longer, or reading fails.
pub fn read_line(from: &mut impl BufRead, most_bytes: u64, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = from.take(most_bytes + 1).read_until(b'\n', line)?;
    if read as u64 > most_bytes {
        return Err(io::Error::other(format!("a line is longer than {most_bytes} bytes")));
    }
    Ok(read > 0)
}

/// The lines of a text without their ends, each of at most `most_bytes`.
pub fn lines(mut from: impl BufRead, most_bytes: u64) -> impl Iterator<Item = io::Result<String>> {
    iter::from_fn(move || {
        let mut line = Vec::new();
        match read_line(&mut from, most_bytes, &mut line) {
            Ok(false) => None,
            Ok(true) => {
                let text = line.strip_suffix(b"\n").map_or(&line[..], |line| line.strip_suffix(b"\r").unwrap_or(line));
                Some(std::str::from_utf8(text).map(str::to_owned).map_err(no_text))
            }
            Err(e) => Some(Err(e)),
        }
    })
}

/// Is it a plain file of at most `most_bytes`?
///
/// # Errors
/// If not.
pub fn check(metadata: &Metadata, most_bytes: u64) -> io::Result<()> {
    if !metadata.is_file() {
        return Err(io::Error::other(format!("it is {}, not a plain file", kind(metadata))));
    }
    if metadata.len() > most_bytes { Err(too_large(most_bytes)) } else { Ok(()) }
}

fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a folder" } else { "something else" }
}

fn too_large(most_bytes: u64) -> io::Error {
    let shown = match most_bytes {
        gigabytes if gigabytes >= 1_000_000_000 => format!("{} GB", gigabytes / 1_000_000_000),
        megabytes => format!("{} MB", megabytes / 1_000_000),
    };
    io::Error::other(format!("it is larger than {shown}, the most that is read of such a file"))
}

fn no_text(e: std::str::Utf8Error) -> io::Error {
    io::Error::other(format!("it is not text: byte {} is not UTF-8", e.valid_up_to() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        File::create(&path).unwrap().set_len(1 << 42).unwrap();
        let error = read(&path, 2_000_000).unwrap_err().to_string();
        assert!(error.contains("larger than 2 MB") && error.contains("the most that is read"), "{error}");
        fs::write(&path, [b'x'; 10]).unwrap();
        assert_eq!(read(&path, 10).unwrap().len(), 10);
        assert!(read(&path, 9).is_err());
    }

    /// A file that says it is empty, and is not: so are those that grow.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_grows_is_read_no_further() {
        let status = Path::new("/proc/self/status");
        assert_eq!(fs::metadata(status).unwrap().len(), 0);
        assert!(read(status, 100).is_err() && read(status, 100_000).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_no_plain_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, socket] = ["pipe", "socket"].map(|name| folder.path().join(name));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, kind) in [
            (&*pipe, "a pipe"),
            (&*socket, "a socket"),
            (folder.path(), "a folder"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            let error = read_text(path, 1000).unwrap_err().to_string();
            assert_eq!(error, format!("it is {kind}, not a plain file"));
        }
    }

    #[test]
    fn lines_are_bounded() {
        let read = |text: &'static [u8]| lines(text, 5).collect::<io::Result<Vec<_>>>().map_err(|e| e.to_string());
        assert_eq!(read(b"one\r\n\ntwo\nsix").unwrap(), ["one", "", "two", "six"]);
        assert_eq!(read(b"12345").unwrap(), ["12345"]);
        assert_eq!(read(b"a\n12345\n").unwrap_err(), "a line is longer than 5 bytes");
        assert_eq!(read(b"a\xff\n").unwrap_err(), "it is not text: byte 2 is not UTF-8");
    }
}
