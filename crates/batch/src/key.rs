// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a result depends on, as a key. Two runs with the same key have the same result.

use std::fmt;

use tandem_engine::Engine;
use tandem_scenario::Scenario;

/// Changes when what is hashed, or how a result is written, changes.
const FORMAT: &str = "tandem runs 1";

/// Stands for a scenario and what runs it: the engine, its arithmetic, the controllers' arithmetic and what the scenario means. The text that
/// it came from, its name, the names of its groups and its seeds are no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskKey {
    engine: &'static str,
    hash: [u8; 32],
}

/// Stands for one seed of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunKey([u8; 32]);

impl TaskKey {
    /// Of a scenario as the engine runs it ([`Engine::as_run`]).
    pub fn new(engine: &dyn Engine, scenario: &Scenario) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &str| {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        };
        [FORMAT, engine.name(), engine.arithmetic(), &scenario.meaning()].into_iter().for_each(&mut add);
        // In the order of the groups. Where two have the same controller, it counts twice, which does no harm.
        for params in scenario.groups.iter().filter_map(|group| group.source.params()) {
            add(params.controller().arithmetic);
        }
        Self { engine: engine.name(), hash: *hasher.finalize().as_bytes() }
    }

    /// The key of one seed.
    pub fn of_seed(&self, seed: u64) -> RunKey {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.hash).update(&seed.to_le_bytes());
        RunKey(*hasher.finalize().as_bytes())
    }

    pub(crate) fn engine(&self) -> &'static str {
        self.engine
    }
}

impl RunKey {
    /// Its bytes, spread evenly.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
