// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every controller that ns-2's TCP-Linux has too, and its FAST agent, alone and beside Reno, on the paths of experiments/reference/ns2/controllers.csv.

use tandem_results::{GroupSummary, Run};
use tandem_scenario::Scenario;
use tandem_statistics::Estimate;

use super::{
    Validation,
    compare::Bound,
    dumbbell::{GIGABIT, Ns2Setup},
    table::{Cell, Table},
};
use crate::reference::ns2::{self, Ns2Run};

/// A larger difference is explained on the page.
const BOUND: Bound = Bound::Relative(0.10);

/// At 1 Gb/s, at most. All of them would take longer than the rest of the page.
const MOST_GIGABIT_SEEDS: u64 = 5;

/// A path and a controller: ns-2's runs of one flow alone, and of several beside Reno flows.
struct Case<'a> {
    alone: Vec<&'a Ns2Run>,
    beside_reno: Vec<&'a Ns2Run>,
}

impl<'a> Case<'a> {
    /// In the order in which the runs name them first.
    fn all(rows: &'a [Ns2Run]) -> anyhow::Result<Vec<Self>> {
        let mut cases: Vec<Self> = Vec::new();
        for row in rows {
            let is_same = |c: &&mut Self| {
                c.alone.iter().chain(&c.beside_reno).any(|r| r.label == row.label && setup(r) == setup(row))
            };
            let case = match cases.iter_mut().find(is_same) {
                Some(case) => case,
                None => {
                    cases.push(Self { alone: Vec::new(), beside_reno: Vec::new() });
                    cases.last_mut().expect("just pushed")
                }
            };
            let runs = if row.flows_b == 0 { &mut case.alone } else { &mut case.beside_reno };
            runs.push(row);
        }
        for case in &cases {
            let row = case.alone.first().or(case.beside_reno.first()).expect("it was made for a row");
            anyhow::ensure!(
                !case.alone.is_empty() && !case.beside_reno.is_empty(),
                "{} on {} has not been run in ns-2 both alone and beside Reno",
                row.label,
                path_text(row)
            );
        }
        Ok(cases)
    }

    fn row_of(&self) -> &Ns2Run {
        self.alone[0]
    }

    /// The two runs in Tandem.
    fn scenarios(&self, seeds: u64) -> [Scenario; 2] {
        let (row, beside) = (self.row_of(), self.beside_reno[0]);
        let seeds = if row.rate_mbps < 1000.0 { seeds } else { seeds.min(MOST_GIGABIT_SEEDS) };
        // Linux 2.6.22 has no HyStart yet.
        let controller = if row.label == "cubic" { "cubic@hystart=0" } else { row.label.as_str() };
        [
            setup(row).scenario(&[(controller, row.flows_a)], seeds),
            setup(row).scenario(&[(controller, beside.flows_a), ("reno", beside.flows_b)], seeds),
        ]
    }

    /// Goodput of the flow alone, of those beside Reno, and of the Reno flows: ours, ns-2's, whether they agree.
    fn row(&self, runs: &[Run]) -> Vec<Cell> {
        let [alone, beside_reno] = runs else { panic!("a case has two runs") };
        let there = |rows: &[&Ns2Run], mbps: fn(&Ns2Run) -> f64| rows.iter().map(|r| mbps(r)).collect::<Vec<_>>();
        let compare = |here: &GroupSummary, there: Vec<f64>| {
            let (ours, reference) = (Estimate::of_mean(&here.goodput_by_seed_mbps), Estimate::of_mean(&there));
            [Cell::Estimate(ours, 1), Cell::Estimate(reference, 1), BOUND.check(&ours, &reference).into()]
        };
        let mut row = vec![path_text(self.row_of()).into(), self.row_of().label.clone().into()];
        row.extend(compare(&alone.groups[0], there(&self.alone, |r| r.goodput_a_mbps)));
        row.extend(compare(&beside_reno.groups[0], there(&self.beside_reno, |r| r.goodput_a_mbps)));
        row.extend(compare(&beside_reno.groups[1], there(&self.beside_reno, |r| r.goodput_b_mbps)));
        row
    }
}

/// The path of a run.
fn setup(row: &Ns2Run) -> Ns2Setup {
    Ns2Setup {
        rate_mbps: row.rate_mbps,
        rtt_ms: row.rtt_ms,
        queue_packets: row.queue_packets,
        loss: row.loss,
        duration_s: row.duration_s,
        warmup_s: row.warmup_s,
        send_jitter: true,
        ..GIGABIT
    }
}

fn path_text(row: &Ns2Run) -> String {
    let mut text = format!("{} Mb/s, {} ms, {} packets", row.rate_mbps, row.rtt_ms, row.queue_packets);
    if row.loss > 0.0 {
        text += &format!(", loss {:e}", row.loss);
    }
    text
}

pub(super) fn part(validation: &Validation) -> anyhow::Result<Table> {
    let there = ns2::runs(validation.reference, "controllers")?;
    let cases = Case::all(&there)?;
    anyhow::ensure!(!cases.is_empty(), "there are no runs in {}/ns2/controllers.csv", validation.reference.display());
    let scenarios: Vec<_> = cases.iter().flat_map(|c| c.scenarios(validation.seeds)).collect();
    let runs = validation.run(&scenarios)?;
    let Ns2Run { duration_s, warmup_s, .. } = &there[0];
    Ok(Table {
        title: "Every controller that ns-2 has too".into(),
        setup: format!(
            "The modules of ns-2's TCP-Linux (Linux 2.6.22) and its agent TCP/Fast beside Tandem's controllers of the same name: one \
             flow alone, and four against four Reno flows. {duration_s} s of which {warmup_s} s warm-up, random send delay up to one \
             packet time. At 1 Gb/s Tandem has {MOST_GIGABIT_SEEDS} seeds at most."
        ),
        asked: "goodputs within 10 %".into(),
        columns: &[
            "path",
            "controller",
            "alone, Tandem, Mb/s",
            "alone, ns-2, Mb/s",
            "alone",
            "four, Tandem, Mb/s",
            "four, ns-2, Mb/s",
            "four",
            "Reno beside them, Tandem, Mb/s",
            "Reno beside them, ns-2, Mb/s",
            "Reno beside them",
        ],
        rows: cases.iter().zip(runs.chunks(2)).map(|(case, runs)| case.row(runs)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// As many runs of each controller on each path, so that no line of the table rests on less than the others.
    #[test]
    fn every_case_has_been_run_in_ns2_as_often() {
        let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/reference");
        let rows = ns2::runs(&reference, "controllers").expect("the results are in the repository");
        let cases = Case::all(&rows).expect("each was run both ways");
        let mut paths: Vec<Ns2Setup> = Vec::new();
        for case in &cases {
            let of = |c: &Case| (c.alone.len(), c.beside_reno.len());
            let on_path: Vec<&Case> = cases.iter().filter(|c| setup(c.row_of()) == setup(case.row_of())).collect();
            // Eleven modules of TCP-Linux, and FAST.
            assert_eq!(on_path.len(), 12, "controllers on {}", path_text(case.row_of()));
            assert_eq!(of(case), of(on_path[0]), "runs of {} on {}", case.row_of().label, path_text(case.row_of()));
            if !paths.contains(&setup(case.row_of())) {
                paths.push(setup(case.row_of()));
            }
        }
        assert_eq!(paths.len(), 3);
    }
}
