// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans a comparison of controllers on one path: which scenarios have to be run, for how long, with how many seeds, and what the neighbours
//! lose in them.
//!
//! ```
//! use tandem_compare::Flows;
//!
//! let flows: Flows = "compound@gamma=20:4".parse()?;
//! assert_eq!((flows.name.as_str(), flows.count), ("compound@gamma=20", 4));
//! assert!("compound:0".parse::<Flows>().unwrap_err().to_string().contains("write CONTROLLER:FLOWS"));
//! # Ok::<(), tandem_compare::FlowsError>(())
//! ```
//!
//! Around it: [`tandem_batch`] runs what is planned here, [tandem-report](../tandem_report/index.html) shows it,
//! [tandem-advise](../tandem_advise/index.html) chooses by it.

mod comparison;
mod flows;
mod length;
mod questions;
mod seeds;

pub use comparison::{CompareError, Comparison, Plan};
pub use flows::{CountError, Flows, FlowsError, name_and_count, same_number_of_flows};
pub use length::{BOUNDS, Bounds, Length, Reason, USUAL};
pub use questions::{Decided, Open, decide, open_shares};
pub use seeds::{Budget, Seeds, SeedsError};
