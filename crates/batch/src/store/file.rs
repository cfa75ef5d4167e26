// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of one task: a line for each finished run, `SEED TRACED RESULT CHECKSUM`. A result is JSON, deflated and in Base64, for samples
//! over time are long. The checksum covers the task's key too, so that a file under another's name is noticed.
//!
//! Lines are only ever added at the end, by any number of processes at once. Adding one takes the file's lock; reading needs none.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write},
    path::Path,
    time::SystemTime,
};

use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use tandem_results::SeedResult;
use tandem_scenario::bounded::{self, RESULTS_BYTES, read_line};

use crate::key::TaskKey;

/// More than a result has, with its samples.
const LINE_BYTES: u64 = 256_000_000;
/// More than a task has, with many seeds that are all sampled.
const FILE_BYTES: u64 = 4_000_000_000;
/// A file may be taken away between its opening and its lock so often, before something else must be wrong.
const TRIES: usize = 10;
/// What is read of the end of a file at a time.
const BLOCK_BYTES: u64 = 65_536;

/// What a file has, without the results.
pub struct Index {
    runs: HashMap<u64, Place>,
    /// The numbers, from 1, of lines that are not as they were written.
    pub damaged: Vec<usize>,
    /// When it was last written to or used.
    pub used: Option<SystemTime>,
}

/// Where a line is in the file, in bytes, and how many flows of each group are traced in it.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    length: usize,
    traced_flows_per_group: usize,
}

/// A line that is as it was written.
struct Line<'a> {
    seed: u64,
    traced_flows_per_group: usize,
    packed: &'a str,
}

impl<'a> Line<'a> {
    /// `None`: it is damaged, or of another task.
    fn read(task: &TaskKey, line: &'a [u8]) -> Option<Self> {
        let (line, sum) = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.rsplit_once(' ')?;
        if sum != checksum(task, line) {
            return None;
        }
        let mut words = line.splitn(3, ' ');
        let (seed, traced) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Self { seed, traced_flows_per_group: traced, packed: words.next()? })
    }
}

impl Index {
    /// Of a file that may not exist. What is not a whole line at its end is being written, or was when a program was ended: it does not count.
    pub fn read(task: &TaskKey, path: &Path) -> io::Result<Self> {
        let mut index = Self { runs: HashMap::new(), damaged: Vec::new(), used: None };
        let file = match open_itself(OpenOptions::new().read(true), path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(index),
            Err(e) => return Err(e),
        };
        index.used = file.metadata()?.modified().ok();
        let (mut lines, mut line) = (BufReader::new(file), Vec::new());
        let (mut offset, mut number) = (0, 0);
        while read_line(&mut lines, LINE_BYTES, &mut line)? && line.ends_with(b"\n") {
            number += 1;
            match Line::read(task, &line) {
                Some(found) => index.add(offset, line.len(), &found),
                None => index.damaged.push(number),
            }
            offset += line.len() as u64;
        }
        Ok(index)
    }

    /// Of two of the same seed, the one with more traces serves all that the other would.
    fn add(&mut self, offset: u64, length: usize, line: &Line) {
        let Line { seed, traced_flows_per_group, .. } = *line;
        let found = Place { offset, length, traced_flows_per_group };
        let place = self.runs.entry(seed).or_insert(found);
        if place.traced_flows_per_group < traced_flows_per_group {
            *place = found;
        }
    }

    /// A result in which at least this many flows of each group are traced.
    pub fn get(&self, task: &TaskKey, path: &Path, seed: u64, traced_flows_per_group: usize) -> Option<SeedResult> {
        let place = self.runs.get(&seed).filter(|place| place.traced_flows_per_group >= traced_flows_per_group)?;
        let mut file = open_itself(OpenOptions::new().read(true), path).ok()?;
        let mut line = vec![0; place.length];
        file.seek(SeekFrom::Start(place.offset)).and_then(|_| file.read_exact(&mut line)).ok()?;
        // The file may have become another since the index was made.
        Line::read(task, &line).filter(|line| line.seed == seed).and_then(|line| unpacked(line.packed))
    }
}

/// A result as a line.
pub fn line_of(task: &TaskKey, seed: u64, traced_flows_per_group: usize, result: &SeedResult) -> io::Result<String> {
    let line = format!("{seed} {traced_flows_per_group} {}", packed(result)?);
    Ok(format!("{line} {}\n", checksum(task, &line)))
}

/// Adds a line at the end. Other processes may do so at the same time, or take the file away.
pub fn append(path: &Path, line: &str) -> io::Result<()> {
    for _ in 0..TRIES {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = open_itself(OpenOptions::new().read(true).append(true).create(true), path)?;
        lock(&file)?;
        if is_removed(&file)? {
            continue;
        }
        cut_after_last_line(&mut file)?;
        return file.write_all(line.as_bytes());
    }
    Err(io::Error::other("it is taken away again and again"))
}

/// Waits until nobody else adds a line. Some network file systems have no locks: there, lines that two processes write at once may be damaged,
/// which is noticed.
fn lock(file: &File) -> io::Result<()> {
    match file.lock() {
        Err(e) if e.kind() == ErrorKind::Unsupported || e.raw_os_error() == no_locks() => Ok(()),
        locked => locked,
    }
}

/// What systems say where a file system has no locks.
fn no_locks() -> Option<i32> {
    #[cfg(unix)]
    return Some(rustix::io::Errno::NOLCK.raw_os_error());
    #[cfg(not(unix))]
    None
}

/// Takes a file away, unless a line is being added, or is about to be. True if it is gone.
pub fn remove(path: &Path) -> io::Result<bool> {
    let file = match open_itself(OpenOptions::new().read(true), path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        // What is no file of results, such as a link: it goes, and what it leads to stays.
        Err(_) => return fs::remove_file(path).map(|()| true),
    };
    // Who adds the first line has made the file and not locked it yet. So a writer makes it again once at most.
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Ok(()) | Err(fs::TryLockError::Error(_)) => fs::remove_file(path).map(|()| true),
    }
}

/// Notes that a file was used.
pub fn touch(path: &Path, now: SystemTime) {
    // A user who may not write to it does without.
    let _ = open_itself(OpenOptions::new().append(true), path).and_then(|file| file.set_modified(now));
}

#[cfg(unix)]
fn is_removed(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink() == 0)
}

/// Where there is no such count, a file that is open cannot be removed either.
#[cfg(not(unix))]
fn is_removed(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Cuts off what was being written when a program was ended.
fn cut_after_last_line(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(BLOCK_BYTES);
        let mut block = vec![0; (end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if end < length { file.set_len(end) } else { Ok(()) }
}

/// Of a line without its end.
fn checksum(task: &TaskKey, line: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(task.to_string().as_bytes()).update(line.as_bytes());
    hasher.finalize().to_hex()[..16].to_owned()
}

/// A result as text.
pub fn packed(result: &SeedResult) -> io::Result<String> {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    // At once: for each write the encoder clears the room that it has left, and a result as JSON is written in thousands of pieces.
    deflated.write_all(&serde_json::to_vec(result)?)?;
    Ok(BASE64_STANDARD_NO_PAD.encode(deflated.finish()?))
}

/// What [`packed`] made text of; `None` if it is damaged.
pub fn unpacked(packed: &str) -> Option<SeedResult> {
    let deflated = BASE64_STANDARD_NO_PAD.decode(packed).ok()?;
    let mut json = Vec::new();
    DeflateDecoder::new(&deflated[..]).take(RESULTS_BYTES).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}

/// Opens a plain file that is no link to another: where others may write to the folder, they could have their link followed, and its end cut
/// off, by root.
pub fn open_itself(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        let link = || io::Error::other("it is a link to another file");
        let too_many_links = rustix::io::Errno::LOOP.raw_os_error();
        // A pipe is opened at once, so that it can be refused.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let opened = options.custom_flags(flags.bits() as i32).open(path);
        let file = opened.map_err(|e| if e.raw_os_error() == Some(too_many_links) { link() } else { e })?;
        let metadata = file.metadata()?;
        bounded::check(&metadata, FILE_BYTES)?;
        if metadata.nlink() > 1 { Err(link()) } else { Ok(file) }
    }
    #[cfg(not(unix))]
    {
        let file = options.open(path)?;
        bounded::check(&file.metadata()?, FILE_BYTES)?;
        Ok(file)
    }
}

/// How many runs a file has, damaged ones included.
pub fn lines(path: &Path) -> io::Result<u64> {
    let mut file = open_itself(OpenOptions::new().read(true), path)?;
    let (mut block, mut count) = (vec![0; BLOCK_BYTES as usize], 0);
    loop {
        match file.read(&mut block)? {
            0 => return Ok(count),
            read => count += block[..read].iter().filter(|byte| **byte == b'\n').count() as u64,
        }
    }
}
