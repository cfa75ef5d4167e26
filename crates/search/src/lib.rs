// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looks for the scenario in which a congestion controller does worst, compared with another on the same path, and reduces it.
//!
//! A [`Space`] is a file: parameters with bounds, and the parts of a scenario that they fill. An [`Explorer`] keeps the worst [`Point`] of each
//! region and [`Mechanism`]; [`settle`] leaves those that hold with other seeds and around them, and makes them as small as they can be.
//! [`ByRuns`] judges points by running an engine through a [`tandem_batch`] store, so that a search continues where it was.
//!
//! ```
//! use tandem_search::{Archive, Asked, Explorer, Judge, JudgeError, Judged, Measured, Mechanism, Point, Space, settle};
//!
//! /// Everything above 100 Mb/s fails.
//! struct Planted<'a>(&'a Space);
//!
//! impl Judge for Planted<'_> {
//!     fn judge(&self, points: &[Point], seeds: &[u64]) -> Result<Option<Vec<Option<Judged>>>, JudgeError> {
//!         let one = |point: &Point| {
//!             let fails = self.0.path(point)?.rate_bps > 1e8;
//!             let violations = vec![if fails { 0.5 } else { 0.0 }; seeds.len()];
//!             let measured = Measured { own: violations.clone(), baseline: vec![0.0; seeds.len()], violations };
//!             Some(Judged { measured, mechanism: Mechanism::SmallWindow })
//!         };
//!         Ok(Some(points.iter().map(one).collect()))
//!     }
//! }
//!
//! let space = Space::named("fixed-path")?;
//! let mut explorer = Explorer::new(&space, 1, 0.1, false, Vec::new());
//! while explorer.generations < 5 {
//!     explorer.step(&Planted(&space))?;
//! }
//! let asked = Asked { limit: 0.1, finds: 1, knife_edge: false, seed: 1 };
//! let settled = settle(&space, &explorer, &Planted(&space), &asked, |_, _| {})?;
//! // The roundest rate above it, and no feature.
//! assert_eq!(space.path(&settled.finds[0].point).unwrap().rate_bps, 2e8);
//! assert!(space.features_of(&settled.finds[0].point).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod criterion;
mod explore;
mod file;
mod fragment;
mod hunt;
mod judge;
mod minimise;
mod parameter;
mod point;
mod posed;
mod question;
mod results;
mod settle;
mod space;
mod start;
mod worst;

pub use archive::{Archive, Cell, Elite, Features, QUEUE_PARTS};
pub use explore::{Explorer, FIRST_SEED, GENERATION};
pub use file::Compared;
pub use hunt::{Budget, Done, Plan, Progress, hunt};
pub use judge::{ByRuns, Judge, JudgeError, Judged, Mechanism, Side};
pub use minimise::minimise;
pub use parameter::{Domain, DomainError, Parameter, Path, Unit};
pub use point::Point;
pub use posed::{Posed, PosedError, Words};
pub use question::{Measured, Question, Ran};
pub use results::{Found, Results, find_file, find_name};
pub use settle::{Asked, Find, NEIGHBOURS, SEEDS, Settled, settle};
pub use space::{CONTENDER, Feature, Length, Space};
pub use worst::{ALL, Worst};
