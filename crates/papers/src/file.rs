// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files in papers/: TOML in, a checked [`Experiment`] out, every error with its line. papers/README.md describes them.

use std::ops::Range;

use serde::Deserialize;
use tandem_scenario::FileError;
use toml::Spanned;

use crate::{
    judge::Claim,
    measure::Measure,
    patch::{Changes, X},
    plan::{self, Form},
};

/// A figure or table of a paper, as something that can be run and judged.
#[derive(Debug)]
pub struct Experiment {
    /// `s0/fig3`.
    pub id: String,
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) file: File,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub title: String,
    /// What the paper says of it, in words.
    pub claim: String,
    /// What the paper leaves open, and what is taken for it here.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// A cause that is known for a claim that does not hold; shown only then.
    pub why: Option<String>,
    /// The paper ran it on real machines.
    #[serde(default)]
    pub machines: bool,
    /// Read by [`tandem_scenario::file::parse_inner`], after the changes.
    #[serde(rename = "scenario")]
    pub _scenario: Spanned<toml::Table>,
    pub sweep: Sweep,
    pub y: Axis,
    pub measure: Option<Spanned<Measure>>,
    /// Changes that make the run that bandwidth stolen is measured against.
    pub baseline: Option<Changes>,
    pub curves: Vec<Spanned<Curve>>,
    pub claims: Vec<Spanned<Claim>>,
    /// Other readings of what the paper leaves open, to see whether the verdict hangs on them. Not in reduced forms.
    #[serde(default)]
    pub variants: Vec<Variant>,
    #[serde(default)]
    pub quick: Reduction,
    #[serde(default)]
    pub smoke: Reduction,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    pub label: String,
    #[serde(default)]
    pub log: bool,
}

/// The figure's x axis: what varies, and where.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    pub label: String,
    #[serde(default)]
    pub log: bool,
    pub values: Spanned<Vec<X>>,
    #[serde(default)]
    pub set: Changes,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Curve {
    pub name: String,
    #[serde(default)]
    pub set: Changes,
    /// The figure's, if not given.
    pub measure: Option<Spanned<Measure>>,
    #[serde(default)]
    pub engine: CurveEngine,
    /// Points that the paper prints: x and y.
    #[serde(default)]
    pub published: Vec<(X, f64)>,
}

/// What works a curve out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CurveEngine {
    /// The engine that was asked for.
    #[default]
    Sim,
    Model,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variant {
    pub name: String,
    pub set: Changes,
}

/// How a form of the experiment that takes less time differs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reduction {
    pub values: Option<Spanned<Vec<X>>>,
    pub seeds: Option<u32>,
    #[serde(default)]
    pub set: Changes,
}

impl Experiment {
    /// From a file's text; `path` is for messages. Every scenario that it makes, in every form, is checked.
    pub fn parse(id: &str, path: &str, text: &str) -> Result<Self, FileError> {
        let file: File =
            toml::from_str(text).map_err(|e| FileError::new(path, text, e.span(), e.message().to_owned()))?;
        let experiment = Self { id: id.to_owned(), path: path.to_owned(), text: text.to_owned(), file };
        experiment.check().map_err(|(span, message)| experiment.error(span, message))?;
        for form in [Form::Full, Form::Quick, Form::Smoke] {
            plan::plan(&experiment, form)?;
        }
        Ok(experiment)
    }

    pub(crate) fn error(&self, span: Range<usize>, message: String) -> FileError {
        FileError::new(&self.path, &self.text, (!span.is_empty()).then_some(span), message)
    }

    fn check(&self) -> Result<(), (Range<usize>, String)> {
        let file = &self.file;
        for curve in &file.curves {
            if self.measure(curve.get_ref()).is_none() {
                return Err((curve.span(), "this curve has no measure: give it one, or the figure".into()));
            }
            if file.curves.iter().filter(|c| c.get_ref().name == curve.get_ref().name).count() > 1 {
                return Err((curve.span(), format!("there are two curves named `{}`", curve.get_ref().name)));
            }
            for (x, _) in &curve.get_ref().published {
                if !file.sweep.values.get_ref().contains(x) {
                    return Err((
                        curve.span(),
                        format!("{x} has a published value, but is none of the sweep's values"),
                    ));
                }
            }
        }
        for reduction in [&file.quick, &file.smoke] {
            let values = reduction.values.iter().flat_map(|values| values.get_ref().iter().map(|x| (values.span(), x)));
            for (span, x) in values {
                if !file.sweep.values.get_ref().contains(x) {
                    return Err((span, format!("{x} is none of the sweep's values")));
                }
            }
        }
        if file.sweep.values.get_ref().is_empty() {
            return Err((file.sweep.values.span(), "the sweep has no values".into()));
        }
        if file.claims.is_empty() {
            return Err((0..0, "there is nothing to judge: add [[claims]]".into()));
        }
        let names: Vec<&str> = file.curves.iter().map(|c| c.get_ref().name.as_str()).collect();
        let values = file.sweep.values.get_ref();
        for claim in &file.claims {
            claim.get_ref().check(&names, values).map_err(|message| (claim.span(), message))?;
            let curve = file.curves.iter().find(|c| c.get_ref().name == claim.get_ref().curve);
            if claim.get_ref().published_within.is_some() && curve.is_none_or(|c| c.get_ref().published.is_empty()) {
                return Err((claim.span(), "published_within needs points of this curve in `published`".into()));
            }
        }
        Ok(())
    }

    /// What a curve shows.
    pub(crate) fn measure<'a>(&'a self, curve: &'a Curve) -> Option<&'a Spanned<Measure>> {
        curve.measure.as_ref().or(self.file.measure.as_ref())
    }

    pub fn title(&self) -> &str {
        &self.file.title
    }

    pub fn claim(&self) -> &str {
        &self.file.claim
    }

    /// What can run it.
    pub fn engines(&self) -> Vec<&'static str> {
        let mut engines = vec!["sim"];
        if self.file.curves.iter().any(|c| c.get_ref().engine == CurveEngine::Model) {
            engines.push("model");
        }
        engines
    }
}
