// SPDX-License-Identifier: MIT OR Apache-2.0
//! The line that shows how far a transfer is.

use std::{
    collections::VecDeque,
    io::{IsTerminal, Write, stderr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tandem_transfer::Progress;

const INTERVAL: Duration = Duration::from_millis(500);
/// Rates are those of the last this many intervals.
const MEMORY: usize = 6;

/// Shows a transfer's progress on a terminal until it is dropped; nothing where there is none.
pub struct Shown {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Shown {
    pub fn new(progress: &Arc<Progress>) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let thread = stderr().is_terminal().then(|| {
            let (progress, ended) = (progress.clone(), ended.clone());
            thread::spawn(move || show(&progress, &ended))
        });
        Self { ended, thread }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.ended.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// A number of bytes that grows: how far it is, and how fast.
struct Count {
    total: u64,
    /// When, and how many there were.
    marks: VecDeque<(Instant, u64)>,
}

impl Count {
    fn new() -> Self {
        Self { total: 0, marks: VecDeque::new() }
    }

    fn mark(&mut self, done: u64, total: u64) {
        self.total = total;
        self.marks.push_back((Instant::now(), done));
        if self.marks.len() > MEMORY {
            self.marks.pop_front();
        }
    }

    fn done(&self) -> u64 {
        self.marks.back().map_or(0, |mark| mark.1)
    }

    fn bytes_per_s(&self) -> f64 {
        let (Some(first), Some(last)) = (self.marks.front(), self.marks.back()) else { return 0.0 };
        let seconds = (last.0 - first.0).as_secs_f64();
        if seconds > 0.0 { last.1.saturating_sub(first.1) as f64 / seconds } else { 0.0 }
    }
}

fn show(progress: &Progress, ended: &AtomicBool) {
    let (mut sent, mut hashed) = (Count::new(), Count::new());
    while !ended.load(Relaxed) {
        thread::park_timeout(INTERVAL);
        let Some((window, rtt)) = progress.path() else { continue };
        sent.mark(progress.done(), progress.total());
        hashed.mark(progress.hashed(), progress.to_hash());
        let checks = hashed.done() < hashed.total && (hashed.bytes_per_s() > 0.0 || sent.bytes_per_s() == 0.0);
        let line = match checks {
            true => checking(hashed.done(), hashed.total, hashed.bytes_per_s()),
            false => line(sent.done(), sent.total, sent.bytes_per_s(), window, rtt),
        };
        // The terminal's own code: to the start of the line, and clear it.
        eprint!("\r\x1b[K{line}");
        let _ = stderr().flush();
    }
    eprint!("\r\x1b[K");
}

fn line(done: u64, total: u64, bytes_per_s: f64, window: u64, rtt: Duration) -> String {
    let share = if total == 0 { format!("{:.1} MB", mb(done)) } else { share(done, total) };
    let rtt_ms = rtt.as_secs_f64() * 1e3;
    format!(
        "{share}, {:.1} Mb/s, window {:.0} kB, RTT {rtt_ms:.1} ms{}",
        bytes_per_s * 8.0 / 1e6,
        window as f64 / 1e3,
        left(done, total, bytes_per_s)
    )
}

/// Reading what is there again to compare it.
fn checking(done: u64, total: u64, bytes_per_s: f64) -> String {
    let left = left(done, total, bytes_per_s);
    format!("checking what is there: {}, {:.0} MB/s{left}", share(done, total), bytes_per_s / 1e6)
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn share(done: u64, total: u64) -> String {
    format!("{:3.0} % of {:.1} MB", done.min(total) as f64 / total as f64 * 100.0, mb(total))
}

fn left(done: u64, total: u64, bytes_per_s: f64) -> String {
    match total.saturating_sub(done) as f64 / bytes_per_s {
        left if total > 0 && left.is_finite() => format!(", {} left", duration(left)),
        _ => String::new(),
    }
}

fn duration(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m}:{s:02} min"),
        (h, m, _) => format!("{h}:{m:02} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 25 of 100 MB at 5 MB/s, which are 40 Mb/s: 15 s are left.
    #[test]
    fn a_line() {
        let rtt = Duration::from_micros(50_500);
        let text = line(25_000_000, 100_000_000, 5e6, 250_000, rtt);
        assert_eq!(text, " 25 % of 100.0 MB, 40.0 Mb/s, window 250 kB, RTT 50.5 ms, 15 s left");
        assert_eq!(line(5_000_000, 0, 1e6, 12_000, rtt), "5.0 MB, 8.0 Mb/s, window 12 kB, RTT 50.5 ms");
        let text = checking(21_000_000_000, 70_000_000_000, 700e6);
        assert_eq!(text, "checking what is there:  30 % of 70000.0 MB, 700 MB/s, 1:10 min left");
        assert_eq!((duration(59.6), duration(7380.0)), ("1:00 min".into(), "2:03 h".into()));
    }
}
