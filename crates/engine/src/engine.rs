// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trait of all engines.

use std::{
    borrow::Cow,
    error::Error,
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use tandem_results::SeedResult;
use tandem_scenario::{Group, Scenario, Transport};

/// Runs scenarios, one seed at a time.
pub trait Engine: Sync {
    /// The name in results and on the command line.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn description(&self) -> &'static str;

    /// What decides its results beside scenario and seed: a hash of sources and of versions, which its build script makes with
    /// `tandem-arithmetic`. Results that were kept under another one are run again.
    fn arithmetic(&self) -> &'static str;

    /// Asks before anything runs: can this engine run the scenario, here and now? The answer is a list of doubts, empty if there are
    /// none. `force`: run even what this machine is unlikely to carry in real time.
    ///
    /// # Errors
    /// [`EngineError::Refused`] if the scenario asks for something that the engine lacks, or too much of this machine;
    /// [`EngineError::Failed`] if this process may not run it, for example without root.
    fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError>;

    /// Runs one seed; `None` if it was cancelled.
    ///
    /// # Errors
    /// As [`check`](Self::check), and whatever fails on the way.
    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError>;

    /// Would other runs at the same time disturb it?
    fn needs_machine(&self) -> bool {
        false
    }

    /// The cost of a run, relative to the simulator.
    fn weight(&self) -> f64 {
        1.0
    }

    /// The scenario as this engine runs it, without whatever makes no difference to it.
    fn as_run<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        Cow::Borrowed(scenario)
    }
}

/// What a caller may want of a run besides its result.
#[derive(Debug, Default, Clone, Copy)]
pub struct Options<'a> {
    /// Samples windows and queues over time: of the first this many flows of each group. 0 = no trace.
    pub traced_flows_per_group: usize,
    /// Another thread sets it to end the run early.
    pub cancelled: Option<&'a AtomicBool>,
    /// Counts nanoseconds of the scenario as they pass.
    pub progress_ns: Option<&'a AtomicU64>,
}

impl Options<'_> {
    /// Has another thread asked for an early end?
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_some_and(|flag| flag.load(Relaxed))
    }

    /// Tells the caller that another `ns` of the scenario have passed.
    pub fn advance(&self, ns: u64) {
        if let Some(progress) = self.progress_ns {
            progress.fetch_add(ns, Relaxed);
        }
    }
}

/// A doubt about a scenario that will run nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning(pub String);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "warning: {}", self.0)
    }
}

/// Why an engine does not run a scenario, and how to fix it.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The scenario is not for this engine: change it, or choose another engine.
    #[error("{0}")]
    Refused(String),
    /// The scenario could run, but something went wrong or is not allowed.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl EngineError {
    /// A refusal in words.
    pub fn refused(why: impl fmt::Display) -> Self {
        Self::Refused(why.to_string())
    }

    /// A failure with its cause.
    pub fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

/// For engines without QUIC.
///
/// # Errors
/// [`EngineError::Refused`] if a flow of the scenario asks for it (`transport = "quic"`).
pub fn refuse_quic(scenario: &Scenario) -> Result<(), EngineError> {
    let asks = |group: &&Group| group.source.tcp().is_some_and(|tcp| tcp.transport == Some(Transport::Quic));
    match scenario.groups.iter().find(asks) {
        None => Ok(()),
        Some(group) => Err(EngineError::Refused(format!(
            "`{}` has `transport = \"quic\"`, which this engine does not carry: run it with --engine quic",
            group.name
        ))),
    }
}

/// For engines without the congestion controls that Linux itself has.
///
/// # Errors
/// [`EngineError::Refused`] if a flow of the scenario uses one (`kernel:NAME`).
pub fn refuse_kernel_controllers(scenario: &Scenario) -> Result<(), EngineError> {
    match scenario.needs_kernel() {
        None => Ok(()),
        Some(controller) => Err(EngineError::Refused(format!(
            "`{controller}` is the kernel's own, which this engine does not have: run it with --engine kernel"
        ))),
    }
}

/// For engines without the congestion controls that the QUIC stack has of its own.
///
/// # Errors
/// [`EngineError::Refused`] if a flow of the scenario uses one (`noq:NAME`).
pub fn refuse_noq_controllers(scenario: &Scenario) -> Result<(), EngineError> {
    match scenario.needs_noq() {
        None => Ok(()),
        Some(controller) => Err(EngineError::Refused(format!(
            "`{controller}` is the QUIC stack's own, which this engine does not have: run it with --engine quic"
        ))),
    }
}

/// For engines with our controllers alone.
///
/// # Errors
/// [`EngineError::Refused`] if a flow of the scenario uses another's.
pub fn refuse_foreign_controllers(scenario: &Scenario) -> Result<(), EngineError> {
    refuse_kernel_controllers(scenario).and_then(|()| refuse_noq_controllers(scenario))
}
