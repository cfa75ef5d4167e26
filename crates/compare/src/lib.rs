// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans a comparison of controllers on one path: which scenarios have to be run, for how long, with how many seeds, and what the neighbours
//! lose in them.

mod comparison;
mod flows;
mod length;
mod questions;
mod seeds;

pub use comparison::{CompareError, Comparison, Plan};
pub use flows::{Flows, name_and_count, same_number_of_flows};
pub use length::{Bounds, Length, OF_COMPARE, Reason, USUAL};
pub use questions::{Decided, Open, decide, open_shares};
pub use seeds::{Budget, Seeds};
