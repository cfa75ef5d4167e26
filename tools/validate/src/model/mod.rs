// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/model.md: the analytical model beside S2's numbers, ns-2 and the simulator.

mod modules;
mod paper;
mod simulator;

use super::{Validation, evidence::Evidence};

/// Random paths of the page, and the seed that they are drawn with.
const PATHS: usize = 200;
const SEED: u64 = 1;

/// What docs/model.md rests on.
pub(super) fn evidence(validation: &Validation) -> anyhow::Result<Evidence> {
    let points = simulator::compare(&simulator::random_paths(PATHS, SEED), &validation.batch)?;
    let mut tables = paper::tables()?;
    tables.extend(modules::tables(validation.reference)?);
    tables.push(simulator::table(&points));
    Ok(Evidence { name: "model", runs: simulator::closeness(&points), tables })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::compare::Agreement;
    use tandem_batch::Batch;

    /// S2's module in ns-2, without the border: all that the page asks. Behind access links of 10 and of 100 Gb/s, which is
    /// 0.59 and 0.75 of the link at 900 Mb/s (reasons.md).
    #[test]
    fn the_model_agrees_with_ns2() {
        let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/reference");
        for (label, access_gbps) in [("la30np", 10), ("la30np_100g", 100)] {
            let points = modules::points(&reference, label, tandem_model::Arithmetic::Linux13, access_gbps)
                .expect("the results are there");
            let asked: Vec<_> = points.iter().filter(|p| p.is_asked()).collect();
            assert_eq!(asked.len(), 19, "{label}");
            for p in asked {
                let place = format!("{label}, {} Mb/s", p.rate_mbps);
                assert!(
                    p.throughput().agreement == Agreement::Agrees,
                    "{place}: {} here, {} in ns-2",
                    p.model.utilisation,
                    p.utilisation
                );
                let queues = (p.model.backlog_packets, p.backlog_packets);
                assert!(
                    p.backlog().agreement == Agreement::Agrees,
                    "{place}: {} packets here, {} in ns-2",
                    queues.0,
                    queues.1
                );
                let cycles = (&p.model.oscillation, &p.cycle);
                assert!(p.cycle_check().agreement != Agreement::Differs, "{place}: {cycles:?}");
            }
        }
    }

    /// The first of the random paths; `make validate` does them all. Where a window hardly exceeds W_low, a packet decides about the
    /// case: at 24.7 Mb/s, 12 ms and 21 packets it is 2, 3, 2, 3 for a W_low of 40, 41, 42, 43.
    #[test]
    fn the_model_agrees_with_the_simulator() {
        let paths = simulator::random_paths(PATHS, SEED);
        let is_quick = |p: &tandem_model::Path| (100.0..1000.0).contains(&(p.bdp_packets() + p.buffer_packets));
        let quick = paths.into_iter().filter(is_quick).take(12).collect::<Vec<_>>();
        for point in simulator::compare(&quick, &Batch::default()).expect("the law is the default") {
            let text = format!("{:?}: case {} and {}", point.path, point.model.case, point.simulated.case);
            assert!(point.case_agrees(), "{text}");
            assert!(point.throughput().agreement == Agreement::Agrees, "{text}, {:+.3}", point.difference());
        }
    }
}
