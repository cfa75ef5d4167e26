// SPDX-License-Identifier: MIT OR Apache-2.0
//! Turns results into what people and programs read: a table for the terminal, one HTML page, Parquet files of samples.
//!
//! ```
//! use tandem_report::{Report, Section, html, table};
//! use tandem_results::{FlowResult, LinkResult, Run, SeedResult};
//! use tandem_scenario::file::{Overrides, parse};
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
//! "#;
//! let scenario = parse(text, "one.toml", "one", &Overrides::default())?;
//! // What an engine returns.
//! let flow = FlowResult { goodput_mbps: 9.5, ..FlowResult::default() };
//! let links = vec![LinkResult::default(); scenario.network.links.len()];
//! let result = SeedResult { seed: 1, flows: vec![flow], links, ..SeedResult::default() };
//! let run = Run::from_seeds(&scenario, "by hand", 1, vec![result]);
//!
//! let report = Report {
//!     title: "One flow".into(),
//!     command: "by hand".into(),
//!     version: "1".into(),
//!     sections: vec![Section { scenario: &scenario, run: &run }],
//!     baselines: Vec::new(),
//!     why_these_seeds: None,
//! };
//! assert!(table(&report).contains("9.5"));
//! assert!(html(&report).contains("One flow"));
//! # Ok::<(), tandem_scenario::FileError>(())
//! ```
//!
//! Around it: [`tandem_results`] has the results, [`tandem_tables`] the same as tables for programs.

mod answer;
mod cdf;
mod chart;
mod colours;
mod comparison;
mod curves;
mod delivery;
mod figures_page;
mod matrix_maps;
mod number;
mod pack;
mod page;
mod rows;
mod sections;
mod short_flows_table;
mod svg;
#[cfg(test)]
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;
mod table;
mod thin;
mod trace;
mod words;

pub use answer::{AnswerPage, Details, Other, answer_html};
pub use figures_page::{Colouring, Curve, Figure, FiguresPage, Map, Point, Style, figures_html};
pub use matrix_maps::{matrix_figures, matrix_text};
pub use number::{significant, with_interval};
pub use page::{charts_json, html, summary_html};
pub use sections::{Mark, Note, Section as FigureSection, SectionsPage, Table, sections_html};
pub use svg::figure_svg;
pub use table::table;
pub use tandem_tables::write_atomically;
pub use thin::thin;
pub use trace::{ACKS_FILE, FLOWS_FILE, LINKS_FILE, write_acks, write_trace};
pub use words::{common_setup, setup};

use tandem_results::Run;
use tandem_scenario::Scenario;

/// One thing that was run, with what it was run on.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    /// The scenario, for the set-up in words and the charts.
    pub scenario: &'a Scenario,
    /// Its results.
    pub run: &'a Run,
}

/// A page about runs.
pub struct Report<'a> {
    /// Title of the page.
    pub title: String,
    /// The command that makes the page again.
    pub command: String,
    /// Tandem's version.
    pub version: String,
    /// Each has a row in the table and charts of its own.
    pub sections: Vec<Section<'a>>,
    /// What bandwidth stolen is measured against. Listed first, without charts of its own.
    pub baselines: Vec<&'a Run>,
    /// Why there are as many seeds as there are, in sentences, if that was left to the results.
    pub why_these_seeds: Option<String>,
}
