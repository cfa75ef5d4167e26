// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results that were finished, on disk, so that an interrupted batch goes on where it was.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    bounded::{self, RESULTS_BYTES, read_line},
};

use crate::{BatchError, StoreError, lock};

/// What a result depends on: engine, scenario and seed, not what is traced of it. Two that differ in their names only are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

/// What the keys of a task's seeds have in common, worked out once: a scenario may have many seeds.
pub(crate) struct TaskKey(blake3::Hasher);

impl TaskKey {
    pub(crate) fn new(engine: &str, scenario: &Scenario) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{engine} {}", scenario.identity()).as_bytes());
        Self(hasher)
    }

    pub(crate) fn of_seed(&self, seed: u64) -> Key {
        let mut hasher = self.0.clone();
        hasher.update(format!(" {seed}").as_bytes());
        Key(*hasher.finalize().as_bytes())
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A file of results: a line each, `KEY TRACED RESULT CHECKSUM`, where a later line of the same key counts. A result is JSON, deflated and in
/// Base64, for samples over time are long. The first line names the program, because another may work out others.
pub struct Store {
    file: Mutex<File>,
    entries: HashMap<String, Entry>,
}

/// Where a result is in the file, in bytes, and how many flows of each group are traced in it.
struct Entry {
    offset: u64,
    length: usize,
    traced_flows_per_group: usize,
}

impl Entry {
    /// The key and the entry of a line at `line_offset` of the file, if it is as it was written.
    fn of_line(line: &[u8], line_offset: u64) -> Option<(String, Self)> {
        let (line, sum) = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.rsplit_once(' ')?;
        if sum != checksum(line) {
            return None;
        }
        let (key, rest) = line.split_once(' ')?;
        let (traced, result) = rest.split_once(' ')?;
        let offset = line_offset + (line.len() - result.len()) as u64;
        let entry = Self { offset, length: result.len(), traced_flows_per_group: traced.parse().ok()? };
        Some((key.to_owned(), entry))
    }
}

impl Store {
    /// Opens `path`, or makes it. What another build of this program left there is put aside, beside it with `.old` after its name.
    ///
    /// # Errors
    /// [`BatchError::Keep`]: it is in use, damaged, or cannot be written to.
    pub fn open(path: &Path) -> Result<Self, BatchError> {
        let store = program().map_err(Into::into).and_then(|program| Self::open_of(path, &program));
        store.map_err(|cause| BatchError::Keep { path: path.display().to_string(), cause })
    }

    /// Opens `path` for what it holds. What another build of this program left there is an error.
    ///
    /// # Errors
    /// [`BatchError::Use`], with the same causes.
    pub fn open_kept(path: &Path) -> Result<Self, BatchError> {
        let store = program().map_err(Into::into).and_then(|program| Self::open_kept_of(path, &program));
        store.map_err(|cause| BatchError::Use { path: path.display().to_string(), cause })
    }

    fn open_of(path: &Path, program: &str) -> Result<Self, StoreError> {
        if is_anothers(path, program)? {
            fs::rename(path, aside(path))?;
        }
        Self::open_own(path, program)
    }

    fn open_kept_of(path: &Path, program: &str) -> Result<Self, StoreError> {
        if is_anothers(path, program)? {
            return Err(StoreError::OtherBuild);
        }
        Self::open_own(path, program)
    }

    fn open_own(path: &Path, program: &str) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = open_itself(OpenOptions::new().read(true).append(true).create(true), path)?;
        file.try_lock().map_err(StoreError::InUse)?;
        let (mut entries, mut whole) = (HashMap::new(), 0);
        let mut lines = BufReader::new(&file);
        let (mut line, mut number) = (Vec::new(), 0);
        let damaged = |number, cause| StoreError::Damaged { number, path: path.display().to_string(), cause };
        while read_line(&mut lines, LINE_BYTES, &mut line).map_err(|e| damaged(number + 1, Some(e)))?
            && line.ends_with(b"\n")
        {
            number += 1;
            let is_header = whole == 0;
            if !is_header {
                let (key, result) = Entry::of_line(&line, whole).ok_or_else(|| damaged(number, None))?;
                entries.insert(key, result);
            }
            whole += line.len() as u64;
        }
        // What is not a whole line was being written when the program ended.
        file.set_len(whole)?;
        if whole == 0 {
            writeln!(file, "{}", header(program))?;
        }
        Ok(Self { file: Mutex::new(file), entries })
    }

    /// A result in which at least so many flows of each group are traced.
    pub(crate) fn get(&self, key: Key, traced_flows_per_group: usize) -> Option<SeedResult> {
        let entry = self.entries.get(&key.to_string())?;
        if entry.traced_flows_per_group < traced_flows_per_group {
            return None;
        }
        let mut packed = vec![0; entry.length];
        let mut file = lock(&self.file);
        // What is written goes to the end all the same.
        file.seek(SeekFrom::Start(entry.offset)).and_then(|_| file.read_exact(&mut packed)).ok()?;
        drop(file);
        unpacked(&packed)
    }

    pub(crate) fn put(&self, key: Key, traced_flows_per_group: usize, result: &SeedResult) -> Result<(), BatchError> {
        let line = format!("{key} {traced_flows_per_group} {}", packed(result).map_err(BatchError::Write)?);
        let line = format!("{line} {}\n", checksum(&line));
        lock(&self.file).write_all(line.as_bytes()).map_err(BatchError::Write)
    }
}

/// Of a line without its end.
fn checksum(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex()[..16].to_owned()
}

fn packed(result: &SeedResult) -> io::Result<String> {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut deflated, result)?;
    Ok(BASE64_STANDARD_NO_PAD.encode(deflated.finish()?))
}

fn unpacked(packed: &[u8]) -> Option<SeedResult> {
    let deflated = BASE64_STANDARD_NO_PAD.decode(packed).ok()?;
    let mut json = Vec::new();
    DeflateDecoder::new(&deflated[..]).take(RESULTS_BYTES).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}

/// What a file of results begins with.
const WORD: &str = "tandem-results";
/// More than a first line has.
const HEADER_BYTES: u64 = 500;
/// More than a result has, with its samples.
const LINE_BYTES: u64 = 256_000_000;

fn header(program: &str) -> String {
    let line = format!("{WORD} {program}");
    format!("{line} {}", checksum(&line))
}

/// Where the results of another build go that are at `path`: it may be wanted again, and they may have taken hours.
fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".old");
    name.into()
}

/// Did another build of this program write the file? Not if its first line is not whole, because it was being written when the program ended.
fn is_anothers(path: &Path, program: &str) -> Result<bool, StoreError> {
    let mut first = Vec::new();
    match open_itself(OpenOptions::new().read(true), path) {
        Ok(file) => BufReader::new(file.take(HEADER_BYTES)).read_until(b'\n', &mut first)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e.into()),
    };
    if header(program).as_bytes().starts_with(&first) {
        return Ok(false);
    }
    let line = first.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
    match line.split(' ').collect::<Vec<_>>()[..] {
        // Earlier builds had no checksums.
        [WORD, other] if other.len() == 64 => Ok(true),
        [WORD, other, sum] if sum == checksum(&format!("{WORD} {other}")) => Ok(other != program),
        _ => Err(StoreError::NoStore),
    }
}

/// Opens a plain file that is no link to another: where others may write to the folder, they could have their link followed, and its end cut
/// off, by root.
fn open_itself(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        let link = || io::Error::other("it is a link to another file: remove it, or choose another folder with --out");
        let too_many_links = rustix::io::Errno::LOOP.raw_os_error();
        // A pipe is opened at once, so that it can be refused.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let opened = options.custom_flags(flags.bits() as i32).open(path);
        let file = opened.map_err(|e| if e.raw_os_error() == Some(too_many_links) { link() } else { e })?;
        let metadata = file.metadata()?;
        bounded::check(&metadata, u64::MAX)?;
        if metadata.nlink() > 1 { Err(link()) } else { Ok(file) }
    }
    #[cfg(not(unix))]
    {
        let file = options.open(path)?;
        bounded::check(&file.metadata()?, u64::MAX)?;
        Ok(file)
    }
}

/// The program that runs, by its content: whatever was built otherwise may work out other results.
fn program() -> io::Result<String> {
    let bytes = fs::read(std::env::current_exe()?)?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use tandem_results::Trace;

    use super::*;

    fn key(n: u8) -> Key {
        Key([n; 32])
    }

    fn result(seed: u64) -> SeedResult {
        // A number that has no short decimal form.
        SeedResult { seed, cpu_s: 0.1 + 0.2, ..SeedResult::default() }
    }

    #[test]
    fn what_was_put_is_there_after_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/results");
        Store::open_of(&path, "one").unwrap().put(key(1), 0, &result(7)).unwrap();
        let store = Store::open_of(&path, "one").unwrap();
        let back = store.get(key(1), 0).unwrap();
        assert_eq!((back.seed, back.cpu_s), (7, 0.1 + 0.2));
        assert!(store.get(key(2), 0).is_none());
    }

    /// Ten thousand samples over time.
    #[test]
    fn long_traces_come_back_and_take_less_room_than_their_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let time_s: Vec<f64> = (0..10_000).map(|i| f64::from(i) / 100.0).collect();
        let traced = SeedResult { trace: Some(Trace { time_s, ..Trace::default() }), ..result(7) };
        Store::open_of(&path, "one").unwrap().put(key(1), 1, &traced).unwrap();
        let back = Store::open_of(&path, "one").unwrap().get(key(1), 1).unwrap();
        assert_eq!(back.trace.unwrap().time_s, traced.trace.as_ref().unwrap().time_s);
        let text = serde_json::to_string(&traced).unwrap().len() as u64;
        assert!(fs::metadata(&path).unwrap().len() * 3 < text * 2, "{text}");
    }

    #[test]
    fn a_traced_result_serves_whoever_wants_no_more_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let traced_and_known = |traced: usize, wanted: usize| {
            Store::open_of(&path, "one").unwrap().put(key(1), traced, &result(7)).unwrap();
            Store::open_of(&path, "one").unwrap().get(key(1), wanted).is_some()
        };
        assert!(!traced_and_known(0, 2));
        assert!(traced_and_known(2, 2) && traced_and_known(2, 0));
        assert!(!traced_and_known(2, usize::MAX));
        assert!(traced_and_known(usize::MAX, 2));
    }

    #[test]
    fn another_programs_results_are_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        Store::open_of(&path, "one").unwrap().put(key(1), 0, &result(7)).unwrap();
        assert!(Store::open_kept_of(&path, "two").is_err());
        assert!(Store::open_kept_of(&path, "one").unwrap().get(key(1), 0).is_some());
        assert!(Store::open_of(&path, "two").unwrap().get(key(1), 0).is_none());
        assert!(Store::open_kept_of(&path, "one").is_err());
        assert!(Store::open_kept_of(&aside(&path), "one").unwrap().get(key(1), 0).is_some());
    }

    #[test]
    fn a_line_cut_short_costs_that_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let store = Store::open_of(&path, "one").unwrap();
        store.put(key(1), 0, &result(1)).unwrap();
        store.put(key(2), 0, &result(2)).unwrap();
        drop(store);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let store = Store::open_of(&path, "one").unwrap();
        assert!(store.get(key(1), 0).is_some() && store.get(key(2), 0).is_none());
        store.put(key(2), 0, &result(2)).unwrap();
        drop(store);
        let store = Store::open_of(&path, "one").unwrap();
        assert!(store.get(key(1), 0).is_some() && store.get(key(2), 0).is_some());
    }

    /// Each bit of the file: the line is named, or it is the last and counts as cut short.
    #[test]
    fn a_damaged_line_is_named_and_can_be_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let store = Store::open_of(&path, "one").unwrap();
        store.put(key(1), 0, &result(1)).unwrap();
        store.put(key(2), 0, &result(2)).unwrap();
        drop(store);
        let whole = fs::read(&path).unwrap();
        let first_result = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for bit in 0..8 * (whole.len() - 1) {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &flipped).unwrap();
            let told = Store::open_of(&path, "one").err().map(|e| format!("{e:#}")).unwrap_or_default();
            let mend = if bit / 8 < first_result { "Move it elsewhere: its runs are made again" } else { "sed -i" };
            assert!(told.contains(mend), "bit {bit}: {told}");
            assert_eq!(fs::read(&path).unwrap(), flipped, "nothing is lost");
        }
        let without = [&whole[..first_result], b"\x00\xff\n", &whole[first_result..]].concat();
        fs::write(&path, without).unwrap();
        let told = format!("{:#}", Store::open_of(&path, "one").err().unwrap());
        assert!(told.contains("its line 2 is damaged") && told.contains("sed -i 2d"), "{told}");
        fs::write(&path, &whole).unwrap();
        let store = Store::open_of(&path, "one").unwrap();
        assert!(store.get(key(1), 0).is_some() && store.get(key(2), 0).is_some());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_no_file_is_named() {
        use rustix::fs::{CWD, FileType, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        mknodat(CWD, &path, FileType::Fifo, 0o600.into(), 0).unwrap();
        let told = format!("{:#}", Store::open_of(&path, "one").err().unwrap());
        assert_eq!(told, "it is a pipe, not a plain file");
    }

    /// A file of another's, with no whole line, and one that does not exist.
    #[cfg(unix)]
    #[test]
    fn links_to_other_files_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [path, victim, dangling] = ["results", "victim", "dangling"].map(|name| folder.path().join(name));
        fs::write(&victim, "precious").unwrap();
        type Link = fn(&Path, &Path) -> io::Result<()>;
        let symlink: Link = |to, at| std::os::unix::fs::symlink(to, at);
        let hard_link: Link = |to, at| fs::hard_link(to, at);
        for (link, to) in [(symlink, &victim), (hard_link, &victim), (symlink, &dangling)] {
            link(to, &path).unwrap();
            let error = Store::open_of(&path, "one").err().unwrap().to_string();
            assert!(error.contains("link to another file") && error.contains("--out"), "{error}");
            assert!(Store::open_kept_of(&path, "one").is_err());
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(!dangling.exists());
    }

    #[test]
    fn two_runs_do_not_write_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let first = Store::open_of(&path, "one").unwrap();
        assert!(Store::open_of(&path, "one").is_err());
        drop(first);
        assert!(Store::open_of(&path, "one").is_ok());
    }
}
