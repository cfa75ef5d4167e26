// SPDX-License-Identifier: MIT OR Apache-2.0
//! Standard output and standard error, with what `--quiet` and `--color` ask for.

use std::{
    io::{ErrorKind, Write},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::failure::Failure;

/// Asked for with `--quiet`.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets what `--quiet` and `--color` ask for. To be called once, before anything is printed.
pub fn set_up(quiet: bool, color: clap::ColorChoice) {
    QUIET.store(quiet, Relaxed);
    let choice = match color {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    #[cfg(all(feature = "linux", target_os = "linux"))]
    if color != clap::ColorChoice::Auto {
        crossterm::style::force_color_output(color == clap::ColorChoice::Always);
    }
}

/// Whether `--quiet` was given.
pub fn is_quiet() -> bool {
    QUIET.load(Relaxed)
}

/// To standard error, unless `--quiet` was given.
pub fn note(line: &str) {
    if !is_quiet() {
        warn(line);
    }
}

/// To standard error. Unlike `eprintln!` it does not panic if nobody reads there any more (`2>&1 | head`).
pub fn warn(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// An error, to standard error.
pub fn complain(error: &str) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{red}tandem:{red:#} {error}");
}

/// Prints results whose files have been written, or have not: a full disk takes no files, and standard output may be one on another disk, or
/// go to nobody. What the one does not take the other still gets.
pub fn print_kept(text: &str, kept: Result<(), Failure>) -> Result<(), Failure> {
    match (kept, print(text)) {
        (Err(Failure::Failed(kept)), Err(Failure::Failed(printed))) => {
            Err(Failure::Failed(anyhow::anyhow!("{kept:#}; {printed:#}")))
        }
        (kept, printed) => kept.and(printed),
    }
}

/// To standard output; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_to_reader(text).map(drop)
}

/// Like [`print()`], but returns whether there is still a reader.
pub fn print_to_reader(text: &str) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Failure::Failed(anyhow::Error::new(e).context("cannot write to standard output"))),
    }
}
