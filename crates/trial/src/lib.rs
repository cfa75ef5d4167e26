// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the connections of a trial show about two congestion controllers, at any time.
//!
//! A [`Record`] is what is known of a connection that has ended; [`batch`] makes a table of many. [`Evidence`] takes them one by one, and has an
//! [`Answer`] after each: the difference of the arms with intervals that hold however often one looks, and whether a guard rail ends the trial.
//! `docs/howto/trial.md` describes both for users.
//!
//! ```
//! use tandem_trial::{Assignment, Evidence, Limits, Plan, Record, Verdict};
//!
//! let mut evidence = Evidence::new(Plan {
//!     arms: ["compound".into(), "cubic".into()],
//!     assignment: Assignment { share: 0.5, by_peer: false },
//!     limits: Limits { rtt: 0.25, retransmissions: 0.02, failures: 0.02 },
//! });
//! for n in 0..400 {
//!     // Connections of 2 MB: the first arm needs one second, the second needs two.
//!     let arm = n % 2;
//!     let busy_s = if arm == 0 { 1.0 } else { 2.0 };
//!     evidence.add(&Record {
//!         time_s: n as f64,
//!         arm,
//!         peer: "192.0.2.7".parse()?,
//!         port: 443,
//!         is_accepted: false,
//!         is_established: true,
//!         bytes: 2_000_000,
//!         bytes_received: 0,
//!         duration_s: busy_s,
//!         busy_s,
//!         rwnd_limited_s: 0.0,
//!         sndbuf_limited_s: 0.0,
//!         srtt_us: Some(20_000),
//!         min_rtt_us: Some(20_000),
//!         segments: 1_400,
//!         retransmitted: 0,
//!         cwnd_packets: 100,
//!     });
//! }
//! let answer = evidence.answer();
//! assert_eq!(answer.verdict, Verdict::Better);
//! # Ok::<(), std::net::AddrParseError>(())
//! ```
//!
//! Around it: [`tandem_statistics`] has the intervals, [`tandem_tables`] the columns of tables; `tandem trial` and
//! [tandem-kernel](../tandem_kernel/index.html) assign and record the connections.

mod answer;
mod effect;
mod evidence;
mod record;
mod size;
mod ss;
mod text;

pub use answer::{Answer, Guard, Limits, Row, Verdict};
pub use effect::{Assignment, Effect};
pub use evidence::{Evidence, Plan, Totals};
pub use record::{PeerNames, Record, batch, schema};
pub use size::SizeClass;
pub use ss::as_ss;
pub use text::answer_text;
