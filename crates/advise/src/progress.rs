// SPDX-License-Identifier: MIT OR Apache-2.0
//! The progress of an advice, for a caller that shows it.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use crate::Question;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doing<'a> {
    /// How much of the whole is done, from 0 to 1. It never falls.
    pub share: f64,
    /// The path that is looked at, by what differs; empty: the usual one.
    pub path: &'a str,
    /// Its number, from 1.
    pub number: usize,
    /// How many there are.
    pub paths: usize,
}

/// Receives the progress.
pub type Watch<'a> = dyn Fn(Doing) + Sync + 'a;

/// The paths of a question, and its time, which may end before them.
pub struct Whole<'a> {
    watch: Option<&'a Watch<'a>>,
    began: Instant,
    time_s: f64,
    paths: usize,
    /// The largest share that was told, in millionths.
    farthest: AtomicU64,
}

impl<'a> Whole<'a> {
    pub fn new(question: &Question<'a>, paths: usize) -> Self {
        let time_s = question.time.as_secs_f64();
        Self { watch: question.watch, began: Instant::now(), time_s, paths, farthest: AtomicU64::new(0) }
    }

    /// Reports this share of the path with this number, from 0, as done.
    pub fn tell(&self, path: usize, share: f64, differs: &str) {
        let Some(watch) = self.watch else { return };
        let of_time = self.began.elapsed().as_secs_f64() / self.time_s;
        let of_paths = (path as f64 + share) / self.paths as f64;
        let millionths = (1e6 * of_time.max(of_paths).clamp(0.0, 1.0)) as u64;
        let farthest = self.farthest.fetch_max(millionths, Relaxed).max(millionths);
        watch(Doing { share: farthest as f64 / 1e6, path: differs, number: path + 1, paths: self.paths });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn it_never_falls() {
        let told = Mutex::new(Vec::new());
        let watch = |doing: Doing| told.lock().unwrap().push((doing.share, doing.number));
        let whole =
            Whole { watch: Some(&watch), began: Instant::now(), time_s: 1e9, paths: 4, farthest: AtomicU64::new(0) };
        // Longer runs of the second path begin anew.
        for (path, share) in [(0, 1.0), (1, 1.0), (1, 0.2), (2, 0.0), (2, 0.5)] {
            whole.tell(path, share, "");
        }
        assert_eq!(*told.lock().unwrap(), [(0.25, 1), (0.5, 2), (0.5, 2), (0.5, 3), (0.625, 3)]);
    }
}
