// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulation, real TCP and what was published, side by side.

use serde::{Deserialize, Serialize};
use tandem_report::{significant, with_interval};
use tandem_results::SeedResult;
use tandem_scenario::FileError;
use tandem_statistics::Looks;

use crate::{
    file::Experiment,
    findings::{Reading, seeds},
    judge::Claim,
    judged::Judged,
    kernel::runs::{RealTcpRun, RealTcpRuns},
    patch::X,
    plan::{self, Form, Plan, Planned, Point, SIMULATED_SEEDS},
    sample::Sample,
    verdict::Verdict,
};

/// The two engines are close if they differ by no more than this share of a value; of a percentage, in points.
const CLOSE: f64 = 0.05;

/// Runs over real TCP beside the simulation of the same.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KernelComparison {
    /// Where it is a different path from the paper's.
    pub scale: Option<String>,
    /// The seeds of the runs over real TCP.
    pub seeds: Vec<u64>,
    /// How many the simulation has.
    pub simulated_seeds: usize,
    /// Releases of the kernels that ran it.
    pub kernels: Vec<String>,
    /// Labels of the points on the x axis.
    pub x: Vec<String>,
    /// The simulator's numbers on the same path.
    pub simulated: Reading,
    /// The numbers over real TCP.
    pub measured: Reading,
    /// One entry for each point that both engines have.
    pub differences: Vec<Difference>,
    /// How many values over real TCP lie among those of the simulation's single seeds.
    pub inside_spread: usize,
    /// Runs that the emulator doubts.
    pub doubts: Vec<Doubt>,
}

/// A point in both engines.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Difference {
    /// Name of the curve.
    pub curve: String,
    /// Label of the point.
    pub x: String,
    /// Simulated less measured, of the seeds that both have, over measured; of a percentage, in points.
    pub difference: f64,
    /// Whether the value is a percentage, so that the difference is in points.
    pub is_percentage: bool,
}

/// A point whose runs over real TCP are not to be trusted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Doubt {
    /// Name of the curve.
    pub curve: String,
    pub x: String,
    pub seed: u64,
    pub doubt: String,
}

/// The kernel form of an experiment that has runs over real TCP.
pub(crate) struct KernelForm<'a> {
    kept: &'a RealTcpRuns,
    /// What is simulated beside them.
    plan: Plan,
    /// The seeds that every point has been run with over real TCP.
    seeds: Vec<u64>,
}

impl<'a> KernelForm<'a> {
    /// `None` if nothing of it has been run.
    pub fn new(experiment: &Experiment, kept: &'a RealTcpRuns) -> Result<Option<Self>, FileError> {
        if experiment.file.kernel.is_none() {
            return Ok(None);
        }
        let mut plan = plan::plan(experiment, Form::Kernel)?;
        let points = || plan.readings[0].curves.iter().flatten().flatten();
        let by_point: Vec<Vec<u64>> = points().map(|p| seeds_of(p, kept)).filter(|seeds| !seeds.is_empty()).collect();
        let mut seeds = by_point.first().cloned().unwrap_or_default();
        seeds.retain(|seed| by_point.iter().all(|seeds| seeds.contains(seed)));
        if seeds.is_empty() {
            return Ok(None);
        }
        for point in plan.readings[0].curves.iter_mut().flatten().flatten() {
            for run in std::iter::once(&mut point.own).chain(&mut point.baseline) {
                let last = u64::from(SIMULATED_SEEDS).max(run.scenario.seeds.len() as u64);
                run.scenario = run.scenario.clone().with_seeds(1..=last);
            }
        }
        Ok(Some(Self { kept, plan, seeds }))
    }

    pub fn simulated(&self) -> &plan::Reading {
        &self.plan.readings[0]
    }

    /// Takes what was simulated off the front of all results. `None` if some of it is missing.
    pub fn compare(
        self,
        experiment: &Experiment,
        results: &mut impl Iterator<Item = Option<Vec<SeedResult>>>,
    ) -> Option<KernelComparison> {
        let Self { kept, plan, seeds } = &self;
        let runs = self.simulated().curves.iter().flatten().flatten().flat_map(Point::runs).count();
        // All of them, even if one is missing: the next results are another experiment's.
        let taken: Vec<Option<Vec<SeedResult>>> = results.take(runs).collect();
        let all: Vec<Vec<SeedResult>> = taken.into_iter().collect::<Option<_>>()?;
        let reading = |results: &mut dyn FnMut(&Planned) -> Option<Vec<SeedResult>>| {
            Reading::new(experiment, &plan.xs, &plan.readings[0], results)
        };
        let mut each = all.iter();
        let simulated = reading(&mut |_| each.next().cloned());
        let mut each = all.iter();
        let of_seeds = |all: &Vec<SeedResult>| all.iter().filter(|r| seeds.contains(&r.seed)).cloned().collect();
        let same_seeds = reading(&mut |_| each.next().map(of_seeds));
        let mut measured = reading(&mut |run| {
            let rows = seeds.iter().map(|&seed| self.row(run, seed)?.result(&run.scenario));
            rows.collect()
        });
        if kept.are_whole() {
            measured.claims = claims_by_spread(experiment, &plan.xs, &simulated, &measured);
        }
        let x: Vec<String> = plan.xs.iter().map(ToString::to_string).collect();
        let values = |reading: &Reading| -> Vec<Option<Sample>> {
            reading.curves.iter().flat_map(|curve| curve.points.clone()).collect()
        };
        let (all_values, measured_values) = (values(&simulated), values(&measured));

        let pairs =
            all_values.iter().zip(&measured_values).filter_map(|(all, real)| Some((all.as_ref()?, real.as_ref()?)));
        Some(KernelComparison {
            simulated_seeds: all_values.iter().flatten().map(|v| v.by_seed.len()).max().unwrap_or_default(),
            inside_spread: pairs.filter(|(all, real)| all.spans(real.estimate.value)).count(),
            scale: experiment.file.kernel.as_ref().and_then(|kernel| kernel.get_ref().scale.clone()),
            seeds: seeds.clone(),
            kernels: self.kernels(),
            differences: differences(experiment, &x, [&same_seeds, &measured]),
            doubts: self.doubts(experiment, &x),
            x,
            simulated,
            measured,
        })
    }

    /// A run over real TCP that counts.
    fn row(&self, run: &Planned, seed: u64) -> Option<&'a RealTcpRun> {
        self.kept.get(&self.kept.key(run), seed).filter(|row| row.is_trusted() || !self.kept.are_whole())
    }

    /// A point's runs over real TCP.
    fn rows(&self, point: &Point) -> impl Iterator<Item = &'a RealTcpRun> {
        let kept = self.kept;
        let keys: Vec<String> = point.runs().map(|run| kept.key(run)).collect();
        let seeds = self.seeds.clone();
        keys.into_iter().flat_map(move |key| {
            let rows: Vec<&'a RealTcpRun> = seeds.iter().filter_map(|&seed| kept.get(&key, seed)).collect();
            rows
        })
    }

    fn kernels(&self) -> Vec<String> {
        let points = self.simulated().curves.iter().flatten().flatten();
        let mut kernels: Vec<String> =
            points.flat_map(|point| self.rows(point)).map(|row| row.kernel.clone()).collect();
        kernels.sort_unstable();
        kernels.dedup();
        kernels
    }

    fn doubts(&self, experiment: &Experiment, x: &[String]) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for (curve, points) in experiment.file.curves.iter().zip(&self.simulated().curves) {
            for (x, point) in x.iter().zip(points).filter_map(|(x, point)| Some((x, point.as_ref()?))) {
                doubts.extend(self.rows(point).filter(|row| !row.is_trusted()).map(|row| Doubt {
                    curve: curve.get_ref().name.clone(),
                    x: x.clone(),
                    seed: row.seed,
                    doubt: row.doubts.join("; "),
                }));
            }
        }
        doubts
    }
}

/// The seeds for which all runs of a point are there; on whole runs a verdict is built, so a doubted one is none.
fn seeds_of(point: &Point, kept: &RealTcpRuns) -> Vec<u64> {
    let keys: Vec<String> = point.runs().map(|run| kept.key(run)).collect();
    let counts = |run: &RealTcpRun| run.is_trusted() || !kept.are_whole();
    let seeds = point.own.scenario.seeds.iter().copied();
    seeds.filter(|&seed| keys.iter().all(|key| kept.get(key, seed).is_some_and(counts))).collect()
}

/// The claims over real TCP, where a run or two are too few to tell how much chance moves them: intervals are those that as many runs of the
/// simulation would have by the spread of all its seeds, unless their own are wider.
fn claims_by_spread(experiment: &Experiment, xs: &[X], simulated: &Reading, measured: &Reading) -> Vec<Judged> {
    let looks = Looks::default();
    let judged = |claim: &Claim| {
        let like = claim.judge(xs, &simulated.curves, &looks).points;
        let points = claim.judge(xs, &measured.curves, &looks).points;
        let widened = points.into_iter().filter_map(|point| {
            let other = like.iter().find(|other| other.at == point.at)?;
            Some(point.widened_like(&other.value.estimate))
        });
        Judged::new(claim, &claim.judgement(widened.collect()))
    };
    let mut claims: Vec<Judged> = experiment.file.claims.iter().map(|claim| judged(claim.get_ref())).collect();
    claims.sort_by_key(|claim| !claim.headline);
    claims
}

fn differences(experiment: &Experiment, x: &[String], [same_seeds, measured]: [&Reading; 2]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (c, curve) in experiment.file.curves.iter().map(toml::Spanned::get_ref).enumerate() {
        let is_percentage = experiment.measure(curve).is_some_and(|measure| measure.get_ref().is_percent());
        for (i, x) in x.iter().enumerate() {
            let value = |reading: &Reading| reading.curves[c].points[i].clone();
            let (Some(same), Some(real)) = (value(same_seeds), value(measured)) else { continue };
            let difference = match is_percentage {
                true => same.estimate.value - real.estimate.value,
                false => same.estimate.value / real.estimate.value - 1.0,
            };
            differences.push(Difference { curve: curve.name.clone(), x: x.clone(), difference, is_percentage });
        }
    }
    differences
}

impl Difference {
    /// The size of the difference as a share: points of a percentage count as hundredths.
    fn size(&self) -> f64 {
        if self.is_percentage { self.difference.abs() / 100.0 } else { self.difference.abs() }
    }

    fn text(&self) -> String {
        match self.is_percentage {
            true => format!("{:+.1} points", self.difference),
            false => format!("{:+.1} %", 100.0 * self.difference),
        }
    }
}

impl KernelComparison {
    /// The claims about points that were run over real TCP.
    pub(crate) fn claims(&self) -> impl Iterator<Item = &Judged> {
        self.measured.claims.iter().filter(|claim| claim.verdict != Verdict::NotAsked)
    }

    /// How it was run, in words.
    pub(crate) fn setting(&self) -> String {
        let scale = self.scale.as_ref().map_or("At the paper's own rates".to_owned(), Clone::clone);
        format!(
            "{scale}. Real TCP of Linux {}, {}; simulation of the same, {}.",
            self.kernels.join(", "),
            seeds(self.seeds.len()),
            seeds(self.simulated_seeds),
        )
    }

    /// Where it ran and how near the engines are, in a sentence or two.
    pub(crate) fn in_short(&self) -> String {
        let scale = self.scale.as_ref().map_or(String::new(), |scale| format!("{scale}. "));
        let sizes = self.sizes();
        let Some(middle) = sizes.get(sizes.len() / 2) else { return scale + "Nothing was run in both engines." };
        let unit = if middle.is_percentage { "points" } else { "%" };
        let close = sizes.iter().filter(|d| d.size() <= CLOSE).count();
        format!(
            "{scale}Simulation and real TCP differ by {} {unit} in the median, by {} {unit} or less in {close} of {} values.",
            significant(100.0 * middle.size(), 2),
            100.0 * CLOSE,
            sizes.len(),
        )
    }

    /// The differences, the smallest first.
    fn sizes(&self) -> Vec<&Difference> {
        let mut sizes: Vec<&Difference> = self.differences.iter().collect();
        sizes.sort_by(|a, b| a.size().total_cmp(&b.size()));
        sizes
    }

    /// How far the engines differ, in words.
    pub(crate) fn differences_text(&self) -> String {
        let sizes = self.sizes();
        let (Some(middle), Some(largest)) = (sizes.get(sizes.len() / 2), sizes.last()) else {
            return "Nothing was run in both engines.".into();
        };
        let close = sizes.iter().filter(|d| d.size() <= CLOSE).count();
        let inside = self.inside_spread;
        let unit = if largest.is_percentage { "points" } else { "%" };
        format!(
            "Of {} values the simulation and real TCP differ by {} {unit} or less in {close}; the median is {} {unit}, the largest \
             difference {} ({}, {}). {inside} of the values over real TCP lie inside the spread of the simulation's single seeds.",
            sizes.len(),
            100.0 * CLOSE,
            significant(100.0 * middle.size(), 2),
            largest.text(),
            largest.curve,
            largest.x,
        )
    }

    /// Header and rows: a row a point that was run in both engines.
    pub(crate) fn table(&self, x_label: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let header = ["curve", x_label, "simulation", "real TCP", "difference", "published"].map(String::from).to_vec();
        let mut rows = Vec::new();
        for (simulated, measured) in self.simulated.curves.iter().zip(&self.measured.curves) {
            for (i, x) in self.x.iter().enumerate() {
                let (Some(sim), Some(real)) = (&simulated.points[i], &measured.points[i]) else { continue };
                let is_here = |curve: &str, at: &str| curve == measured.name && at == x;
                let is_doubtful = self.doubts.iter().any(|d| is_here(&d.curve, &d.x));
                let difference = self.differences.iter().find(|d| is_here(&d.curve, &d.x));
                rows.push(vec![
                    measured.name.clone(),
                    x.clone(),
                    with_interval(sim.estimate.value, sim.estimate.half_width, 3),
                    with_interval(real.estimate.value, real.estimate.half_width, 3)
                        + if is_doubtful { " (doubtful)" } else { "" },
                    difference.map_or(String::new(), Difference::text),
                    measured.published[i].map_or(String::new(), |value| value.to_string()),
                ]);
            }
        }
        (header, rows)
    }

    /// The doubts, in words; a run that several curves show once.
    pub(crate) fn doubts_text(&self) -> Option<String> {
        let mut said: Vec<&Doubt> = Vec::new();
        for doubt in &self.doubts {
            if !said.iter().any(|d| (&d.x, d.seed, &d.doubt) == (&doubt.x, doubt.seed, &doubt.doubt)) {
                said.push(doubt);
            }
        }
        let text = |d: &&Doubt| format!("{}, {}, seed {}: {}", d.curve, d.x, d.seed, d.doubt);
        (!said.is_empty()).then(|| said.iter().map(text).collect::<Vec<_>>().join(". "))
    }
}
