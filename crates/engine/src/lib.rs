// SPDX-License-Identifier: MIT OR Apache-2.0
//! What runs scenarios.
//!
//! An [`Engine`] runs one seed of a scenario. Four exist: the simulator, real Linux TCP over an emulated path, real QUIC in
//! virtual time, and the analytical model. This crate holds what they share:
//! - [`Recorder`]: what is measured after the warm-up, bins of a second, samples over time, and the result made of them;
//! - [`Transfers`] and [`ConstantRate`]: when a flow's application has data to send. They have no clock and do no I/O.
//!   [`Applications`] makes those of a scenario's flows;
//! - [`on_threads`]: work that is shared out among threads.
//!
//! All times are nanoseconds since the start of the run, unless a name says otherwise.

mod applications;
mod constant_rate;
mod demand;
mod engine;
mod offer;
mod quality;
mod recorder;
mod threads;
mod tracer;
mod transfers;

pub use applications::Applications;
pub use constant_rate::ConstantRate;
pub(crate) use demand::exponential_ns;
pub use engine::{Engine, EngineError, Options, Warning, refuse_kernel_controllers, refuse_quic};
pub use quality::Quality;
pub use recorder::{Counters, FlowEnd, Readable, Recorder, RecorderOptions};
pub use threads::on_threads;
pub use transfers::{Due, Transfers};
