// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that tests start: none outlives its test, and none is waited for for ever.

use std::{
    io::{Read, Write},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use crate::wait::{PATIENCE, comes_within};

/// A program that ends with the test, however the test ends.
pub struct Running {
    child: Child,
    /// Its command line.
    what: String,
}

impl Running {
    /// Starts it.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let what = format!("{command:?}");
        let child = command.spawn().unwrap_or_else(|e| panic!("{what}: {e}"));
        Self { child, what }
    }

    /// As [`start`](Self::start), without input; what it writes is kept for [`output`](Self::output).
    #[track_caller]
    pub fn start_piped(command: &mut Command) -> Self {
        Self::start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// A process that is there and does nothing, such as `unshare --net cat`: it ends with the test even if that is killed, because only the
    /// test holds its input. Returns when it echoes, so that it is where it should be.
    #[track_caller]
    pub fn start_echo(command: &mut Command) -> Self {
        let mut echo = Self::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let (Some(stdin), Some(stdout)) = (&mut echo.child.stdin, &mut echo.child.stdout) else { unreachable!() };
        let answer = stdin.write_all(b"?").and_then(|()| stdout.read_exact(&mut [0]));
        answer.unwrap_or_else(|e| panic!("{}: {e}", echo.what));
        echo
    }

    /// What it reads from and writes to.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Has it ended by itself?
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Ends it with SIGKILL, and waits for that.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends it a signal, by the name that `kill` knows.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let sent = output(Command::new("sh").args(["-c", &format!("kill -{name} {}", self.id())]));
        assert!(sent.status.success(), "cannot send {name} to {}", self.what);
    }

    /// Waits until it has ended. Panics if it does not.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        self.wait_within(PATIENCE)
            .unwrap_or_else(|| panic!("{} did not end within {} s", self.what, PATIENCE.as_secs()))
    }

    fn wait_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let mut status = None;
        comes_within(patience, &mut || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status
    }

    /// Waits until it has ended; what it wrote to pipes meanwhile. Panics, and says what it wrote, if it does not end.
    #[track_caller]
    pub fn output(self) -> Output {
        let what = self.what.clone();
        self.output_within(PATIENCE).unwrap_or_else(|said| panic!("{what} did not end within {PATIENCE:?}:\n{said}"))
    }

    /// An error: what it wrote before it was killed.
    fn output_within(mut self, patience: Duration) -> Result<Output, String> {
        let stdout = Drain::of(self.child.stdout.take());
        let stderr = Drain::of(self.child.stderr.take());
        let status = self.wait_within(patience);
        self.kill();
        // What it started itself may live on and hold the pipes open.
        let is_read = [&stdout, &stderr].iter().all(|drain| drain.is_done_within(PATIENCE));
        match status {
            Some(status) if is_read => Ok(Output { status, stdout: stdout.taken(), stderr: stderr.taken() }),
            _ => {
                let text = |drain: Drain| String::from_utf8_lossy(&drain.taken()).into_owned();
                Err(text(stdout) + &text(stderr))
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Copies a program that is then started. Another process does it: had this one the copy open for writing, a child that another thread starts
/// meanwhile would have it open, too, and the copy would be busy (ETXTBSY).
#[track_caller]
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let copied = output(Command::new("cp").arg(from.as_ref()).arg(to.as_ref()));
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
}

/// Runs a program without input to its end; what it wrote. Panics if it does not end.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    Running::start_piped(command).output()
}

/// Reads a pipe on a thread that nobody waits for.
struct Drain {
    read: Arc<Mutex<Vec<u8>>>,
    is_done: mpsc::Receiver<()>,
}

impl Drain {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let read = Arc::<Mutex<Vec<u8>>>::default();
        let (done, is_done) = mpsc::channel();
        let shared = Arc::clone(&read);
        thread::spawn(move || {
            let mut block = [0; 1 << 16];
            if let Some(mut pipe) = pipe {
                while let Ok(bytes @ 1..) = pipe.read(&mut block) {
                    shared.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&block[..bytes]);
                }
            }
            // Nobody may wait for it any more.
            let _ = done.send(());
        });
        Self { read, is_done }
    }

    fn is_done_within(&self, patience: Duration) -> bool {
        self.is_done.recv_timeout(patience).is_ok()
    }

    fn taken(&self) -> Vec<u8> {
        std::mem::take(&mut self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn all_that_it_wrote_and_how_it_ended() {
        // More than a pipe holds, in both.
        let script = "head -c 200000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3";
        let output = output(&mut sh(script));
        assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(3), 200_000, 300_000));
    }

    #[test]
    fn what_hangs_is_ended_and_its_last_words_are_told() {
        let hangs = Running::start_piped(&mut sh("echo last words; exec sleep 3600"));
        let process = format!("/proc/{}", hangs.id());
        crate::wait_until("it sleeps", || {
            std::fs::read_to_string(format!("{process}/comm")).is_ok_and(|name| name.trim() == "sleep")
        });
        assert_eq!(hangs.output_within(Duration::ZERO).unwrap_err(), "last words\n");
        assert!(!std::fs::exists(process).unwrap());
    }

    #[test]
    fn it_ends_with_the_test() {
        let process = {
            let echo = Running::start_echo(&mut Command::new("cat"));
            format!("/proc/{}", echo.id())
        };
        assert!(!std::fs::exists(process).unwrap());
    }
}
