// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files in experiments/papers/: TOML in, a checked [`Experiment`] out, every error with its line. experiments/README.md
//! describes them.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tandem_controllers::{Params, Setting};
use tandem_scenario::{ControllerSpec, FileError, Settings, file::MAX_COUNT};
use toml::{Deserializer, Spanned, de::DeTable};

use crate::{
    judge::Claim,
    measure::Measure,
    patch::{Changes, X},
    plan::{self, Form},
    sources::{Source, Sources, figures, id_of},
};

/// A figure or table of a paper, as something that can be run and judged.
#[derive(Debug)]
pub struct Experiment {
    /// `s0/fig3`.
    pub id: String,
    sources: Sources,
    /// Which figure of its file, where that has several.
    figure: Option<String>,
    pub(crate) file: File,
    /// Parameters that go before the file's own.
    pub(crate) settings: Settings,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub title: String,
    /// The paper's statement about it, in words.
    pub claim: String,
    /// Set in a file of an assessment rather than of a paper.
    pub criterion: Option<Criterion>,
    /// Points that the paper leaves open, and the choices made here.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// A cause that is known for claims that do not hold, in a few sentences; shown only where there are such.
    pub why: Option<String>,
    /// How the cause was found, with its numbers; shown with all numbers, not on the figure's page.
    pub more: Option<String>,
    /// A finding besides the verdict; always shown.
    pub note: Option<String>,
    /// The paper ran it on real machines.
    #[serde(default)]
    pub machines: bool,
    /// Read by [`tandem_scenario::file::parse_value`], after the changes.
    #[serde(rename = "scenario")]
    pub _scenario: Spanned<toml::Table>,
    pub sweep: Sweep,
    pub y: Axis,
    /// The curves that are its rows are drawn as a map.
    pub map: Option<MapAxis>,
    pub measure: Option<Spanned<Measure>>,
    /// Changes that make the run that bandwidth stolen is measured against.
    pub baseline: Option<Changes>,
    pub curves: Vec<Spanned<Curve>>,
    pub claims: Vec<Spanned<Claim>>,
    /// Other readings of what the paper leaves open, to see whether the verdict depends on them. Not in reduced forms.
    #[serde(default)]
    pub variants: Vec<Variant>,
    #[serde(default)]
    pub quick: Reduction,
    #[serde(default)]
    pub smoke: Reduction,
    /// The form for real TCP, if the paper used real machines: it runs in real time.
    pub kernel: Option<Spanned<Reduction>>,
}

/// What a document asks of a congestion controller.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Section of the document, such as `5.1.3`.
    pub section: String,
    /// Only controllers with this property are asked; all if not given.
    pub applies_to: Option<Property>,
    /// Controllers that fail it according to the literature.
    #[serde(default)]
    pub known: Vec<Known>,
}

/// What a controller declares of itself, where a question has no meaning for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// It needs the number of packets with an ECN mark (RFC 9768).
    CountsMarks,
    /// Its packets carry ECT(1) (RFC 9331).
    SendsEct1,
    /// It also sets the window in recovery, and a pacing rate.
    OwnsWindow,
}

impl Property {
    /// Whether a controller has it. Of those of the kernel and of QUIC stacks nothing is known.
    fn is_of(self, contender: &ControllerSpec) -> bool {
        let ControllerSpec::Tandem { controller, .. } = contender else { return false };
        match self {
            Self::CountsMarks => controller.counts_marks(),
            Self::SendsEct1 => controller.sends_ect1(),
            Self::OwnsWindow => controller.owns_window(),
        }
    }

    /// Of controllers: `that count ECN marks`.
    fn words(self) -> &'static str {
        match self {
            Self::CountsMarks => "that count ECN marks (RFC 9768)",
            Self::SendsEct1 => "that send ECT(1) (RFC 9331)",
            Self::OwnsWindow => "that set the window in recovery, too, and a pacing rate",
        }
    }
}

impl Criterion {
    /// Why it asks nothing of a controller; `None` if it does ask.
    pub fn why_not(&self, contender: &ControllerSpec) -> Option<String> {
        let lacked = self.applies_to.filter(|property| !property.is_of(contender))?;
        Some(format!("this is asked of controllers {} alone", lacked.words()))
    }
}

/// A controller of which the literature says that it fails a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Its name, without parameters.
    pub controller: String,
    /// The known reason, in words.
    pub why: String,
    /// Where it says so.
    pub source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    pub label: String,
    #[serde(default)]
    pub log: bool,
}

/// The other axis of a map.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapAxis {
    pub label: String,
    #[serde(default)]
    pub log: bool,
    /// Values are whole numbers from 1 to this, each with a colour of its own.
    pub kinds: u8,
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
    /// Its place on the other axis of the figure's map.
    pub row: Option<f64>,
    /// Points that the paper prints: x and y.
    #[serde(default)]
    pub published: Vec<(X, f64)>,
}

/// What calculates a curve.
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
    /// Only these; all if not given.
    pub values: Option<Spanned<Vec<X>>>,
    pub curves: Option<Spanned<Vec<String>>>,
    pub seeds: Option<Spanned<u32>>,
}

/// How a form of the experiment that takes less time differs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reduction {
    pub values: Option<Spanned<Vec<X>>>,
    /// Only these; all if not given.
    pub curves: Option<Spanned<Vec<String>>>,
    pub seeds: Option<Spanned<u32>>,
    #[serde(default)]
    pub set: Changes,
    /// In words, where it is a different path from the paper's.
    pub scale: Option<String>,
}

impl Reduction {
    pub fn part(&self) -> Part<'_> {
        Part { values: self.values.as_ref(), curves: self.curves.as_ref() }
    }
}

impl Variant {
    pub fn part(&self) -> Part<'_> {
        Part { values: self.values.as_ref(), curves: self.curves.as_ref() }
    }
}

/// Which points of a figure.
#[derive(Clone, Copy, Default)]
pub(crate) struct Part<'a> {
    values: Option<&'a Spanned<Vec<X>>>,
    curves: Option<&'a Spanned<Vec<String>>>,
}

impl Part<'_> {
    pub fn has_curve(&self, name: &str) -> bool {
        self.curves.is_none_or(|curves| curves.get_ref().iter().any(|c| c == name))
    }

    pub fn has_value(&self, x: &X) -> bool {
        self.values.is_none_or(|values| values.get_ref().contains(x))
    }

    /// Are its curves and values there, and are there any?
    fn check(&self, file: &File) -> Result<(), (Range<usize>, String)> {
        let empty = [
            self.curves.filter(|c| c.get_ref().is_empty()).map(Spanned::span),
            self.values.filter(|v| v.get_ref().is_empty()).map(Spanned::span),
        ];
        if let Some(span) = empty.into_iter().flatten().next() {
            return Err((span, "nothing is left to run: name one at least, or leave this out for all".into()));
        }
        if let Some(curves) = self.curves {
            let has = |name: &String| file.curves.iter().any(|c| c.get_ref().name == *name);
            if let Some(unknown) = curves.get_ref().iter().find(|name| !has(name)) {
                return Err((curves.span(), format!("there is no curve `{unknown}`")));
            }
        }
        if let Some(values) = self.values
            && let Some(unknown) = values.get_ref().iter().find(|x| !file.sweep.values.get_ref().contains(x))
        {
            return Err((values.span(), format!("{unknown} is not among the sweep's values")));
        }
        Ok(())
    }
}

impl Experiment {
    /// The claim that has these words.
    pub(crate) fn claim_of(&self, text: &str) -> Option<&Claim> {
        self.file.claims.iter().map(toml::Spanned::get_ref).find(|claim| claim.text == text)
    }

    /// From the text of a file with one figure, without a paper's; `path` is for messages. Every scenario that it makes, in every form, is checked.
    ///
    /// # Errors
    /// If something is wrong with it, or it has several figures.
    pub fn parse(id: &str, path: &str, text: &str) -> Result<Self, FileError> {
        let sources = Sources::new(Source { path, text }, None);
        match figures(text) {
            Ok(None) => Self::of_figure(id.to_owned(), sources, None),
            Ok(Some(_)) => Err(sources.error(0..0, "it has several figures, and one is asked for".into())),
            Err((span, message)) => Err(sources.error(span, message)),
        }
    }

    /// All figures of a file, with what it takes from its paper's file. The one figure of a file has the file's id; of several each has its name
    /// in place of the file's.
    ///
    /// # Errors
    /// If something is wrong with either file.
    pub fn read(id: &str, own: Source, paper: Option<Source>) -> Result<Vec<Self>, FileError> {
        let sources = Sources::new(own, paper);
        let figures = figures(own.text).map_err(|(span, message)| sources.error(span, message))?;
        let Some(figures) = figures else { return Ok(vec![Self::of_figure(id.to_owned(), sources, None)?]) };
        let figure = |name: String| Self::of_figure(id_of(id, &name), sources.clone(), Some(name));
        figures.into_iter().map(figure).collect()
    }

    fn of_figure(id: String, sources: Sources, figure: Option<String>) -> Result<Self, FileError> {
        let read = |document: Spanned<DeTable>| {
            File::deserialize(Deserializer::from(document))
                .map_err(|e| (e.span().unwrap_or_default(), e.message().to_owned()))
        };
        let file = sources.document(figure.as_deref()).and_then(read);
        let file = file.map_err(|(span, message)| sources.error(span, message))?;
        let experiment = Self { id, sources, figure, file, settings: Settings::default() };
        experiment.check().map_err(|(span, message)| experiment.error(span, message))?;
        for form in experiment.forms() {
            plan::plan(&experiment, form)?;
        }
        Ok(experiment)
    }

    /// The path of its file, as errors name it.
    pub fn path(&self) -> &str {
        self.sources.path()
    }

    /// The whole of it as TOML, with what its paper's file adds.
    pub(crate) fn document(&self) -> Result<Spanned<DeTable<'_>>, FileError> {
        self.sources.document(self.figure.as_deref()).map_err(|(span, message)| self.error(span, message))
    }

    /// The whole of it as a table, with what its paper's file adds.
    pub fn table(&self) -> toml::Table {
        let table = self.document().ok().map(|document| toml::Table::deserialize(Deserializer::from(document)));
        table.and_then(Result::ok).unwrap_or_default()
    }

    /// The experiment with these parameters in place of the file's own, and without its variants.
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self.file.variants.clear();
        self
    }

    /// The experiment with this many seeds over real TCP, in place of what its file says.
    pub fn with_kernel_seeds(mut self, seeds: u32) -> Self {
        if let Some(kernel) = &mut self.file.kernel {
            let span = kernel.span();
            kernel.get_mut().seeds = Some(Spanned::new(span, seeds));
        }
        self
    }

    /// Whether a run of its full form has flows with this parameter.
    ///
    /// # Errors
    /// If a scenario of the form is wrong.
    pub fn has_parameter(&self, setting: &Setting) -> Result<bool, FileError> {
        let plan = plan::plan(self, Form::Full)?;
        let points = plan.readings.iter().flat_map(|reading| reading.curves.iter().flatten().flatten());
        let mut groups = points.flat_map(|point| &point.own.scenario.groups);
        let has = |params: &Params| std::ptr::eq(params.controller(), setting.controller());
        Ok(groups.any(|group| group.source.params().is_some_and(|params| has(params))))
    }

    fn forms(&self) -> impl Iterator<Item = Form> {
        let kernel = self.file.kernel.as_ref().map(|_| Form::Kernel);
        [Form::Full, Form::Quick, Form::Smoke].into_iter().chain(kernel)
    }

    pub(crate) fn error(&self, span: Range<usize>, message: String) -> FileError {
        self.sources.error(span, message)
    }

    fn check(&self) -> Result<(), (Range<usize>, String)> {
        let file = &self.file;
        for curve in &file.curves {
            if curve.get_ref().row.is_some() && file.map.is_none() {
                return Err((curve.span(), "a curve with a `row` needs [map], the axis that it is on".into()));
            }
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
                        format!("{x} has a published value, but is not among the sweep's values"),
                    ));
                }
            }
        }
        if let Some(kernel) = &file.kernel {
            self.check_kernel(kernel)?;
        }
        let reductions = [&file.quick, &file.smoke].into_iter().chain(file.kernel.as_ref().map(Spanned::get_ref));
        let parts = reductions.map(Reduction::part).chain(file.variants.iter().map(Variant::part));
        for part in parts {
            part.check(file)?;
        }
        let reductions = [&file.quick, &file.smoke].into_iter().chain(file.kernel.as_ref().map(Spanned::get_ref));
        let seeds = reductions.map(|r| &r.seeds).chain(file.variants.iter().map(|v| &v.seeds));
        if let Some(wrong) = seeds.flatten().find(|n| !(1..=MAX_COUNT).contains(n.get_ref())) {
            return Err((wrong.span(), format!("seeds must be at least 1, at most {MAX_COUNT}")));
        }
        if file.sweep.values.get_ref().is_empty() {
            return Err((file.sweep.values.span(), "the sweep has no values".into()));
        }
        if file.claims.is_empty() {
            return Err((0..0, "there is nothing to judge: add [[claims]]".into()));
        }
        if !file.claims.iter().any(|claim| claim.get_ref().headline) {
            let message =
                "no claim is a headline: add `headline = true` to those that the paper makes about this figure";
            return Err((file.claims[0].span(), message.into()));
        }
        let names: Vec<&str> = file.curves.iter().map(|c| c.get_ref().name.as_str()).collect();
        let values = file.sweep.values.get_ref();
        for claim in &file.claims {
            claim.get_ref().check(&names, values).map_err(|message| (claim.span(), message))?;
            let of_curve = file.curves.iter().filter(|c| c.get_ref().name == claim.get_ref().curve);
            let mut published = of_curve.flat_map(|c| &c.get_ref().published);
            let asks_nothing = !published.any(|(x, _)| claim.get_ref().is_about(x));
            if claim.get_ref().published_within.is_some() && asks_nothing {
                let message = "published_within needs points of this curve in `published`, and this claim must be about one of them";
                return Err((claim.span(), message.into()));
            }
        }
        Ok(())
    }

    /// Real machines or a criterion, and only what can be read off their runs.
    fn check_kernel(&self, kernel: &Spanned<Reduction>) -> Result<(), (Range<usize>, String)> {
        let is_criterion = self.file.criterion.is_some();
        if !self.file.machines && !is_criterion {
            let message = "[kernel] is for experiments that the paper ran on real machines: add `machines = true`";
            return Err((kernel.span(), message.into()));
        }
        let curves = self.file.curves.iter().filter(|c| kernel.get_ref().part().has_curve(&c.get_ref().name));
        for curve in curves {
            // Of a criterion's runs, everything except windows over time is kept.
            let is_kept = self.measure(curve.get_ref()).is_some_and(|measure| match is_criterion {
                true => !measure.get_ref().needs_windows(),
                false => measure.get_ref().is_of_kept_runs(),
            });
            if !is_kept || curve.get_ref().engine != CurveEngine::Sim {
                let message =
                    "what this curve shows is not kept of runs over real TCP: leave it out of [kernel]'s `curves`";
                return Err((curve.span(), message.into()));
            }
        }
        Ok(())
    }

    /// The measure of a curve.
    pub(crate) fn measure<'a>(&'a self, curve: &'a Curve) -> Option<&'a Spanned<Measure>> {
        curve.measure.as_ref().or(self.file.measure.as_ref())
    }

    /// How many flows of each group a curve needs traced.
    pub(crate) fn traced_flows_per_group(&self, curve: &Curve) -> usize {
        self.measure(curve).map_or(0, |measure| measure.get_ref().traced_flows_per_group())
    }

    /// The file's `title`: the figure or table and what it shows.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The file's `claim`: what the paper says of it.
    pub fn claim(&self) -> &str {
        &self.file.claim
    }

    /// The scenario of a curve's point, as a file that `tandem run` takes; `at` as a [`Decider`](crate::Decider) says it.
    pub fn scenario_file(&self, form: Form, curve: &str, at: &str) -> Option<String> {
        plan::scenario_file(self, form, curve, at)
    }

    /// The scenarios of its first curve in full, a table for each point of the axis.
    ///
    /// # Errors
    /// None in an experiment that was read.
    pub fn scenarios(&self) -> Result<Vec<toml::Table>, FileError> {
        let mut readings = plan::plan(self, Form::Full)?.readings;
        let points = readings.swap_remove(0).curves.swap_remove(0);
        Ok(points.into_iter().flatten().map(|point| point.own.table).collect())
    }

    /// The criterion of the file.
    pub fn criterion(&self) -> Option<&Criterion> {
        self.file.criterion.as_ref()
    }

    /// The engines that can run it.
    pub fn engines(&self) -> Vec<&'static str> {
        let mut engines = vec!["sim"];
        if self.file.kernel.is_some() {
            engines.push("kernel");
        }
        if self.file.curves.iter().any(|c| c.get_ref().engine == CurveEngine::Model) {
            engines.push("model");
        }
        engines
    }
}
