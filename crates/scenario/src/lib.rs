// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is run, whichever engine runs it.
//!
//! A [`ScenarioSpec`] is a scenario as written. It comes from a TOML file ([`file::load`]) or from a command's arguments.
//! [`ScenarioSpec::check`] makes a [`Scenario`] of it, which is complete and checked: routes are found, buffers are in packets or
//! bytes, parameters are in range.
//! [tandem-results](../tandem_results/index.html) describes the results, [tandem-engine](../tandem_engine/index.html) what runs it.
//!
//! ```
//! use tandem_scenario::file::{Overrides, parse};
//!
//! let text = r#"
//!     duration = "30s"
//!     [dumbbell]
//!     rate = "100mbit"
//!     rtt = "40ms"
//!     queue = "1bdp"
//!     [[flows]]
//!     controller = "compound"
//!     count = 2
//! "#;
//! let scenario = parse(text, "two-flows.toml", "two-flows", &Overrides::default())?;
//! assert_eq!(scenario.flow_count(), 2);
//!
//! // An error names the line and the fix.
//! let error = parse(&text.replace("compound", "compond"), "two-flows.toml", "two-flows", &Overrides::default());
//! assert!(error.unwrap_err().to_string().contains("did you mean `compound`?"));
//! # Ok::<(), tandem_scenario::FileError>(())
//! ```
//!
//! `tandem-sim` and the other engines run it.

pub mod aqm;
pub mod bounded;
mod check;
pub mod controller;
mod dumbbell;
pub mod effects;
pub mod file;
pub mod log_normal;
mod loss;
mod named_file;
mod offered;
pub mod quantity;
mod route;
mod scenario;
pub mod short_flows;
mod slow_start;
pub mod spec;
mod traffic;
mod udp;
pub mod units;
pub mod wlan;

pub use aqm::Aqm;
pub use check::SpecError;
pub use controller::{ControllerSpec, KERNEL_PREFIX, NOQ_PREFIX, Settings};
pub use dumbbell::{DumbbellSpec, FORWARD_LINK, REVERSE_LINK};
pub use effects::{Effects, EffectsSpec};
pub use file::FileError;
pub use loss::Loss;
pub use named_file::names_file;
pub use offered::{FrameSizes, Process, ProcessSpec};
pub use route::RouteError;
pub use scenario::{DEFAULT_MTU, Group, HEADER_BYTES, Limit, LinkConfig, Parts, Scenario, Topology, Written};
pub use short_flows::ShortFlows;
pub use slow_start::{bulk_groups, last_slow_start_end_s, slow_start_end_s};
pub use spec::{FlowsSpec, ScenarioSpec};
pub use traffic::{
    CongestionControl, Ecn, Honesty, Noq, OfferChange, Recovery, TcpSource, Traffic, Transfer, Transport,
    USUAL_ACK_EVERY,
};
pub use udp::{UdpSource, UdpSpec};
