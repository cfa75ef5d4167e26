// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program as a child with a limit of memory, which an interrupt must end.

use std::{
    fs::{self, File},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// Address space, kB: what reads a file without end has soon used it up.
const MEMORY_KB: u32 = 4_000_000;
/// Who has not ended so long after an interrupt hangs, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Ended {
    status: ExitStatus,
    was_interrupted: bool,
    hung: bool,
    pub out: String,
    pub err: String,
}

/// Runs the program in a folder, and interrupts it after a time, because it may have been asked for hours of work. What it prints goes to files
/// beside the folder: nobody has to read it meanwhile.
pub fn run<S: AsRef<std::ffi::OsStr>>(folder: &Path, arguments: &[S], time: Duration) -> Ended {
    let [out, err] = ["out", "err"].map(|name| folder.with_extension(name));
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {MEMORY_KB}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_tandem")]).args(arguments).current_dir(folder);
    // On many cores the allocator would take address space for each.
    command.env("TANDEM_STORE", "off").env("MALLOC_ARENA_MAX", "2").env_remove("RUST_BACKTRACE").stdin(Stdio::null());
    command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let (status, was_interrupted, hung) = wait(command.spawn().unwrap(), time);
    let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    Ended { status, was_interrupted, hung, out: read(&out), err: read(&err) }
}

fn wait(mut child: Child, time: Duration) -> (ExitStatus, bool, bool) {
    let (start, mut was_interrupted) = (Instant::now(), false);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status, was_interrupted, false);
        }
        if start.elapsed() > time && !was_interrupted {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            was_interrupted = true;
        }
        if start.elapsed() > time + PATIENCE {
            child.kill().unwrap();
            return (child.wait().unwrap(), was_interrupted, true);
        }
        sleep(Duration::from_millis(3));
    }
}

impl Ended {
    /// What is wrong with how it ended, whatever it was asked for.
    pub fn fault(&self) -> Option<String> {
        let Self { status, was_interrupted, hung, err, .. } = self;
        let has_complaint = err.lines().any(|line| line.starts_with("tandem: ") || line.starts_with("error: "));
        let what = match (status.code(), status.signal()) {
            _ if *hung => "it did not end after an interrupt".to_owned(),
            _ if err.contains("out of memory") => "it took all memory".to_owned(),
            _ if err.contains("panicked at") => "it panicked".to_owned(),
            (Some(0), _) if has_complaint => "it complained, and its status is 0".to_owned(),
            (Some(1 | 2), _) if !has_complaint => "it failed without a message".to_owned(),
            (Some(0..=2), _) => return None,
            // The interrupt may come before the program is ready for it.
            (Some(130), _) | (None, Some(2)) if *was_interrupted => return None,
            (code, signal) => format!("it ended with status {code:?}, signal {signal:?}"),
        };
        Some(format!("{what}\n{err}"))
    }

    /// Refused: status 1 or 2, and one message, which has all of these in it.
    pub fn is_refused(&self, parts: &[String]) -> Result<(), String> {
        if let Some(fault) = self.fault() {
            return Err(fault);
        }
        let status = self.status.code();
        if !matches!(status, Some(1 | 2)) {
            return Err(format!("its status is {status:?}\n{}{}", self.out, self.err));
        }
        let complaints = self.err.lines().filter(|line| line.starts_with("tandem: ") || line.starts_with("error: "));
        if complaints.count() != 1 {
            return Err(format!("it has several messages\n{}", self.err));
        }
        match parts.iter().find(|part| !self.err.contains(*part)) {
            Some(part) => Err(format!("`{part}` is not in what it says:\n{}", self.err)),
            None => Ok(()),
        }
    }
}
