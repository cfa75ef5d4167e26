// SPDX-License-Identifier: MIT OR Apache-2.0
//! What runs scenarios.
//!
//! An [`Engine`] runs one seed of a scenario. Four exist: the simulator, real Linux TCP over an emulated path, real QUIC in
//! virtual time, and the analytical model. This crate holds what they share:
//! - [`Recorder`]: what is measured after the warm-up, bins of a second, samples over time, and the result made of them;
//! - [`Transfers`] and [`ConstantRate`]: when a flow's application has data to send; [`nada`]: the rate of adaptive media. They have no clock
//!   and do no I/O.
//!   [`Applications`] makes those of a scenario's flows;
//! - [`on_threads`]: work that is shared out among threads.
//!
//! All times are nanoseconds since the start of the run, unless a name says otherwise.
//!
//! An engine of your own answers the same questions. This one knows nothing of time: each flow gets an equal share of the first link.
//!
//! ```
//! use tandem_engine::{Engine, EngineError, Options, Warning, refuse_quic};
//! use tandem_results::{FlowResult, SeedResult};
//! use tandem_scenario::{
//!     Scenario,
//!     file::{Overrides, parse},
//! };
//!
//! struct EqualShares;
//!
//! impl Engine for EqualShares {
//!     fn name(&self) -> &'static str {
//!         "equal-shares"
//!     }
//!     fn description(&self) -> &'static str {
//!         "An equal share of the first link for each flow"
//!     }
//!     fn arithmetic(&self) -> &'static str {
//!         "1"
//!     }
//!     fn check(&self, scenario: &Scenario, _: bool) -> Result<Vec<Warning>, EngineError> {
//!         refuse_quic(scenario).map(|()| Vec::new())
//!     }
//!     fn run(&self, scenario: &Scenario, seed: u64, _: Options) -> Result<Option<SeedResult>, EngineError> {
//!         let flows = scenario.flow_count();
//!         let goodput_mbps = scenario.network.links[0].rate.bps as f64 / 1e6 / flows as f64;
//!         let flow = FlowResult { goodput_mbps, ..FlowResult::default() };
//!         Ok(Some(SeedResult { seed, flows: vec![flow; flows], ..SeedResult::default() }))
//!     }
//! }
//!
//! let text = r#"
//!     duration = "5s"
//!     warmup = "1s"
//!     [dumbbell]
//!     rate = "10mbit"
//!     rtt = "20ms"
//!     queue = "1bdp"
//!     [[flows]]
//!     controller = "cubic"
//!     count = 4
//! "#;
//! let scenario = parse(text, "four.toml", "four", &Overrides::default())?;
//! assert!(EqualShares.check(&scenario, false)?.is_empty());
//! let result = EqualShares.run(&scenario, 1, Options::default())?.expect("nobody cancelled it");
//! assert_eq!(result.flows[3].goodput_mbps, 2.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_scenario`] has the scenarios, [`tandem_results`] the results, [`tandem_network`] the links;
//! [tandem-batch](../tandem_batch/index.html) runs many seeds, [tandem-engines](../tandem_engines/index.html) lists the engines.

mod applications;
mod constant_rate;
mod demand;
mod engine;
pub mod nada;
mod offer;
mod quality;
mod recorder;
mod threads;
mod tracer;
mod transfers;
mod writes;

pub use applications::Applications;
pub use constant_rate::ConstantRate;
pub(crate) use demand::exponential_ns;
pub use engine::{
    Engine, EngineError, Options, Warning, refuse_foreign_controllers, refuse_kernel_controllers,
    refuse_noq_controllers, refuse_quic,
};
pub use quality::Quality;
pub use recorder::{Counters, FlowEnd, Readable, Recorder, RecorderOptions};
pub use threads::on_threads;
pub use transfers::{Due, Transfers};
