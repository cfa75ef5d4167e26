// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of a scenario, whichever engine ran it.
//!
//! An engine returns a [`SeedResult`] for each seed; [`Run::from_seeds`] sums those up, with intervals. A [`Trace`] has samples over time,
//! a [`Matrix`] every controller against every other. docs/reference/result-keys.md has the keys of all of them as JSON.
//!
//! What is measured of a link and of a group of flows are tables, [`LINK_MEASURES`] and [`GROUP_MEASURES`]: a new measure is a row.
//! A reader goes over them:
//!
//! ```
//! use tandem_results::{Figure, LINK_MEASURES, LinkSummary};
//!
//! let link = LinkSummary { drops: 12.5, ..LinkSummary::default() };
//! let drops = LINK_MEASURES.iter().find(|measure| measure.key == "drops").unwrap();
//! assert_eq!((drops.value)(&link).unwrap().figure(Figure::Mean), 12.5);
//! ```
//!
//! Around it: [`tandem_scenario`] has what was run, [`tandem_statistics`] the estimates; [tandem-tables](../tandem_tables/index.html) and
//! [tandem-report](../tandem_report/index.html) show the results.

mod cautions;
mod cell;
mod delivery;
mod distribution;
mod emulation;
mod fairness;
mod group;
mod link;
mod matrix;
mod measure;
mod run;
mod seed;
mod short_flows;
mod trace;

pub use cautions::cautions;
pub use cell::CellSummary;
pub use delivery::Delivery;
pub use distribution::Distribution;
pub use emulation::Emulation;
pub use fairness::RttFairness;
pub use group::{GROUP_MEASURES, GroupSummary};
pub use link::{LINK_MEASURES, LinkSummary};
pub use matrix::{Matrix, MatrixCell};
pub use measure::{Column, FIGURES, Figure, Measure, OfRun, Shown, SummaryColumn, Unit, Value};
pub use run::Run;
pub use seed::{CellResult, FlowResult, LinkResult, SeedResult, ShortTransfer};
pub use short_flows::{ShortFlow, ShortFlowsSummary, SizeClass};
pub use trace::{FlowSample, FlowTrace, LinkTrace, Trace};
