// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs cases.

use std::{
    cell::RefCell,
    rc::Rc,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use serde::Serialize;
use tandem_batch::{work, workers};
use tandem_controllers::find;
use tandem_engine::Options;
use tandem_sim::{Look, Sim, run_watched};

use super::{
    Case, CaseError,
    claim::{Claim, Outcome},
    file::{PACKET_BYTES, Path, Trigger},
    row::{Reader, Row},
};
use crate::verdict::Verdict;

/// Whose verdict it is, and who runs beside it for information.
pub const CONTROLLERS: [&str; 2] = ["bbr3", "bbr"];

/// A case on one path.
#[derive(Debug, Clone, Serialize)]
pub struct CaseRun {
    /// Rate and RTT.
    pub path: String,
    /// Who ran.
    pub controller: &'static str,
    /// When the test began, seconds; `None`: the trigger never came, and nothing was judged.
    pub began_s: Option<f64>,
    /// Of each claim.
    pub outcomes: Vec<Outcome>,
    /// How long it took to run, seconds. No result: it differs each time.
    #[serde(skip)]
    pub took_s: f64,
}

/// A case on all its paths.
#[derive(Debug, Serialize)]
pub struct Found {
    /// The case.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Claims in words, and whether a limit is ours.
    pub claims: Vec<(String, bool)>,
    /// Of each path and controller.
    pub runs: Vec<CaseRun>,
    /// The cause of a miss.
    pub why: Option<String>,
    /// What of the set-up is ours.
    pub setup: Option<String>,
}

impl Found {
    /// Of a claim.
    pub fn claim_verdict(&self, controller: &str, claim: usize) -> Verdict {
        let of = |run: &CaseRun| match run.outcomes.get(claim).is_some_and(Outcome::holds) {
            true => Verdict::Holds,
            false => Verdict::DoesNotHold,
        };
        Verdict::of_points(self.runs.iter().filter(|run| run.controller == controller).map(of))
    }

    /// Of the whole.
    pub fn verdict(&self, controller: &str) -> Verdict {
        Verdict::of_headlines((0..self.claims.len()).map(|claim| self.claim_verdict(controller, claim)))
    }
}

/// Runs the cases, on a few paths each if `quick`; `done` hears of each that has ended. `None` if `cancelled`: a part of them judges nothing.
///
/// # Errors
/// If a scenario cannot be made.
pub fn run(
    cases: &[Case],
    quick: bool,
    cancelled: &'static AtomicBool,
    done: &(dyn Fn(&str) + Sync),
) -> Result<Option<Vec<Found>>, CaseError> {
    let tasks: Vec<(usize, Path, &'static str)> = cases
        .iter()
        .enumerate()
        .flat_map(|(i, case)| {
            let paths =
                if quick && !case.file.quick.is_empty() { case.file.quick.clone() } else { case.file.all_paths() };
            paths.into_iter().flat_map(move |path| CONTROLLERS.map(|controller| (i, path, controller)))
        })
        .collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    work(workers(&Sim, None).min(tasks.len()), Some(cancelled), || {
        let task = next.fetch_add(1, Relaxed);
        let Some((i, path, controller)) = tasks.get(task) else { return Ok::<_, String>(false) };
        let run = run_one(&cases[*i], path, controller, cancelled)?;
        done(&format!("{}, {}, {path}: {:.1} s", cases[*i].id, run.controller, run.took_s));
        results.lock().unwrap_or_else(PoisonError::into_inner).push((task, run));
        Ok(true)
    })?;
    if cancelled.load(Relaxed) {
        return Ok(None);
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(task, _)| *task);
    let mut found: Vec<Found> = cases.iter().map(found).collect();
    for (task, run) in results {
        found[tasks[task].0].runs.push(run);
    }
    Ok(Some(found))
}

fn found(case: &Case) -> Found {
    let claims = case.file.claims.iter().map(|claim| (claim.get_ref().text.clone(), claim.get_ref().ours)).collect();
    let (why, setup) = (case.file.why.clone(), case.file.setup.clone());
    Found { id: case.id.clone(), title: case.file.title.clone(), claims, runs: Vec::new(), why, setup }
}

fn run_one(
    case: &Case,
    path: &Path,
    controller: &'static str,
    cancelled: &'static AtomicBool,
) -> Result<CaseRun, String> {
    let start = Instant::now();
    let began_s = match &case.file.trigger {
        None => Some(0.0),
        Some(trigger) => entered(case, trigger, path, controller, cancelled)?
            .map(|t| Ok::<_, String>(t + case.file.delay(path)?))
            .transpose()?,
    };
    let outcomes = match began_s {
        Some(t) => judged(case, path, controller, t, cancelled)?,
        None => Vec::new(),
    };
    Ok(CaseRun { path: path.to_string(), controller, began_s, outcomes, took_s: start.elapsed().as_secs_f64() })
}

/// When the flow enters the trigger's state; `None` if it does not in time.
fn entered(
    case: &Case,
    trigger: &Trigger,
    path: &Path,
    controller: &str,
    cancelled: &'static AtomicBool,
) -> Result<Option<f64>, String> {
    let ends = case.file.search_ends(path)?;
    let found = Rc::new(RefCell::new(None));
    let ((state, from), mut left) = (trigger.states(), trigger.nth);
    let kept = Rc::clone(&found);
    look_on(case, path, controller, ends, cancelled, move |reader, row, before| {
        let came_from = before.and_then(|before| reader.state(before));
        if reader.state(row) == state && came_from != state && (from.is_none() || came_from == from) {
            left = left.saturating_sub(1);
            if left == 0 && kept.borrow().is_none() {
                *kept.borrow_mut() = Some(row.time());
            }
        }
        kept.borrow().is_none() && row.time() < ends
    })?;
    let found = found.borrow();
    Ok(found.filter(|t| *t < ends))
}

/// The claims, with the trigger at `t` seconds.
fn judged(
    case: &Case,
    path: &Path,
    controller: &str,
    t: f64,
    cancelled: &'static AtomicBool,
) -> Result<Vec<Outcome>, String> {
    let claims = case.file.claims.iter().map(|claim| claim.get_ref().start()).collect::<Result<Vec<Claim>, _>>()?;
    let of_path = path.values(PACKET_BYTES, t);
    let judge = Rc::new(RefCell::new((claims, None)));
    let kept = Rc::clone(&judge);
    look_on(case, path, controller, t, cancelled, move |reader, row, before| {
        let (claims, last) = &mut *kept.borrow_mut();
        let (before, state) = (before.unwrap_or(row), reader.state(row));
        claims.iter_mut().for_each(|claim| claim.see(row, state, before, t, &of_path));
        *last = Some(row.clone());
        true
    })?;
    let (claims, last) = judge.take();
    Ok(last.map_or(Vec::new(), |last: Row| claims.into_iter().map(|claim| claim.end(&last, &of_path)).collect()))
}

/// Runs the scenario until its end, or until `goes_on`, which sees each moment and the one before, says no.
fn look_on(
    case: &Case,
    path: &Path,
    controller: &str,
    t: f64,
    cancelled: &'static AtomicBool,
    mut goes_on: impl FnMut(&Reader, &Row, Option<&Row>) -> bool + 'static,
) -> Result<(), String> {
    let scenario = case.file.scenario(path, controller, t)?;
    let ends = Arc::new(AtomicBool::new(false));
    let (flag, mut before) = (Arc::clone(&ends), None::<Row>);
    let mut reader = Reader::new(find(controller).map_err(|e| e.to_string())?);
    let watch = move |look: Look| {
        let row = reader.row(&look, before.as_ref());
        if !goes_on(&reader, &row, before.as_ref()) || cancelled.load(Relaxed) {
            flag.store(true, Relaxed);
        }
        before = Some(row);
    };
    let options = Options { cancelled: Some(&ends), ..Options::default() };
    run_watched(&scenario, scenario.seeds[0], options, &|flow| flow == 0, Rc::new(RefCell::new(watch)))
        .map_err(|e| e.to_string())?;
    Ok(())
}
