// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hands out the tasks that are to be run.

use std::{collections::VecDeque, sync::Arc};

use tandem_engine::Engine;
use tandem_scenario::FileError;

use crate::{
    error::{StoreError, SweepError},
    file::Sweep,
    part::PART_TASKS,
    task::Task,
};

/// The tasks that are not in the data set, in the sweep's order. Only a part of them is in memory.
pub struct Feeder<'a> {
    tasks: Box<dyn Iterator<Item = Result<Task, FileError>> + Send + 'a>,
    ready: VecDeque<Task>,
    found: usize,
}

impl<'a> Feeder<'a> {
    /// Of all tasks of a sweep.
    ///
    /// # Errors
    /// If there is no room for temporary files.
    pub fn new(sweep: &Arc<Sweep>, engine: &'a dyn Engine) -> Result<Self, FileError> {
        Ok(Self { tasks: Box::new(sweep.tasks(engine)?), ready: VecDeque::new(), found: 0 })
    }

    /// The next task that is to be run; `None` if there are no more. `begin` is [`Store::begin`](crate::Store::begin).
    ///
    /// # Errors
    /// If a scenario is not good, or `begin` fails.
    pub fn next(
        &mut self,
        mut begin: impl FnMut(Vec<Task>) -> Result<Vec<Task>, StoreError>,
    ) -> Result<Option<Task>, SweepError> {
        while self.ready.is_empty() {
            let part = self.tasks.by_ref().take(PART_TASKS).collect::<Result<Vec<_>, _>>()?;
            if part.is_empty() {
                return Ok(None);
            }
            let planned = part.len();
            self.ready = begin(part)?.into();
            self.found += planned - self.ready.len();
        }
        Ok(self.ready.pop_front())
    }

    /// Tasks so far that were in the data set.
    pub fn found(&self) -> usize {
        self.found
    }
}
