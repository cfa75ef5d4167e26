// SPDX-License-Identifier: MIT OR Apache-2.0
//! The headers that are loaded.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    EXTENSION, HEADERS, LOOKS, OwnError,
    compiler::{Compiled, Workshop},
    load::{Functions, load},
};
use crate::Controller;

/// The most bytes of a header.
const HEADER_BYTES: u64 = 1_000_000;
/// TCP_CA_NAME_MAX, without the zero at the end.
const NAME_LETTERS: usize = 15;

/// A header where it is.
pub(super) struct Header {
    /// As the user wrote it.
    pub shown: String,
    /// Absolute; the last part may be a link, whose name counts.
    pub path: PathBuf,
    pub folder: PathBuf,
    pub name: String,
}

/// The controller that a header is for, by its file's name.
///
/// # Errors
/// [`OwnError::BadName`] or [`OwnError::NameIsOurs`] if it can be none.
pub fn name_of(path: &Path) -> Result<String, OwnError> {
    let shown = path.display().to_string();
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = file.strip_suffix(EXTENSION).unwrap_or(&file).to_owned();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fits = (1..=NAME_LETTERS).contains(&name.len()) && name.chars().all(is_letter);
    if !fits || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(OwnError::BadName { path: shown });
    }
    if HEADERS.iter().any(|(ours, _)| ours.strip_suffix(EXTENSION) == Some(&name)) {
        return Err(OwnError::NameIsOurs { path: shown, name });
    }
    Ok(name)
}

impl Header {
    fn at(path: &Path) -> Result<Self, OwnError> {
        let (shown, name) = (path.display().to_string(), name_of(path)?);
        let unreadable = |e: io::Error| match e.kind() {
            io::ErrorKind::NotFound => OwnError::NotThere { path: shown.clone(), name: name.clone() },
            _ => OwnError::Unreadable { path: shown.clone(), cause: e.to_string() },
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(parent).map_err(unreadable)?;
        let path = folder.join(path.file_name().unwrap_or_default());
        let metadata = fs::metadata(&path).map_err(unreadable)?;
        if !metadata.is_file() || metadata.len() > HEADER_BYTES {
            let cause = format!("it is not a regular file of at most {HEADER_BYTES} bytes");
            return Err(OwnError::Unreadable { path: shown, cause });
        }
        fs::File::open(&path).map_err(unreadable)?;
        Ok(Self { shown, path, folder, name })
    }

    /// How the compiler's names of files in the header's folder begin.
    pub fn folder_prefix(&self) -> String {
        format!("{}/", self.folder.display())
    }

    /// How the user's do.
    pub fn shown_prefix(&self) -> &str {
        self.shown.rfind('/').map_or("", |slash| &self.shown[..=slash])
    }
}

/// A header that is loaded, as it was then.
struct Loaded {
    controller: &'static Controller,
    shown: String,
    path: PathBuf,
    /// The user's files in it, with a hash of each.
    files: Vec<(PathBuf, Option<blake3::Hash>)>,
}

static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<Loaded>> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash(file: &Path) -> Option<blake3::Hash> {
    fs::read(file).ok().map(|bytes| blake3::hash(&bytes))
}

impl Loaded {
    fn new(controller: &'static Controller, header: &Header, files: Vec<(PathBuf, Option<blake3::Hash>)>) -> Self {
        Self { controller, shown: header.shown.clone(), path: header.path.clone(), files }
    }

    /// Are the files as they were?
    fn is_current(&self) -> bool {
        self.files.iter().all(|(file, then)| hash(file) == *then)
    }
}

/// The controller of this name that was loaded last.
pub(crate) fn loaded(name: &str) -> Option<&'static Controller> {
    all().iter().rev().map(|loaded| loaded.controller).find(|controller| controller.name == name)
}

/// The controller of a header, compiled with the C compiler at hand and loaded. The same header gives the same controller, until it, or a header
/// of the user's that it includes, changes.
///
/// # Errors
/// [`OwnError`], with the line where the header is to blame.
pub fn open(path: &Path) -> Result<&'static Controller, OwnError> {
    let header = Header::at(path)?;
    let mut all = all();
    let known = all.iter().rev().find(|loaded| loaded.path == header.path);
    if let Some(known) = known.filter(|known| known.is_current()) {
        return Ok(known.controller);
    }
    let workshop = Workshop::new(&header)?;
    let compiled = workshop.compile()?;
    let files = compiled.files.iter().map(|file| (file.clone(), hash(file))).collect();
    // The same text, with other comments or at another place.
    let of_name = || all.iter().rev().filter(|loaded| loaded.controller.name == header.name);
    let same = of_name().find(|loaded| loaded.controller.arithmetic == compiled.arithmetic);
    let controller = match same.map(|loaded| loaded.controller) {
        Some(controller) => controller,
        None => {
            if let Some(other) = of_name().find(|other| other.path != header.path) {
                return Err(OwnError::SameName { first: other.shown.clone(), second: header.shown });
            }
            leaked(&header, &compiled, load(&header, &compiled)?, all.len())
        }
    };
    all.push(Loaded::new(controller, &header, files));
    Ok(controller)
}

/// For as long as the process lives, as those of the list do.
fn leaked(header: &Header, compiled: &Compiled, functions: Functions, place: usize) -> &'static Controller {
    let text = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    Box::leak(Box::new(Controller {
        name: text(&header.name),
        family: "own",
        signal: functions.signal,
        look: LOOKS[place % LOOKS.len()],
        source: text(&header.shown),
        arithmetic: text(&compiled.arithmetic),
        header: Some(Box::leak(header.path.clone().into_boxed_path())),
        raw: functions.raw,
    }))
}
