// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/model.md: the analytical model beside S2's numbers, ns-2 and the simulator.

mod modules;
mod paper;
mod simulator;

use std::path::Path;

const INTRODUCTION: &str = include_str!("introduction.md");
const REASONS: &str = include_str!("reasons.md");

/// Random paths of the page, and the seed that they are drawn with.
const PATHS: usize = 200;
const SEED: u64 = 1;

/// The page.
pub fn page(data: &Path) -> anyhow::Result<String> {
    let points = simulator::compare(&simulator::random_paths(PATHS, SEED))?;
    let parts =
        [INTRODUCTION.to_owned(), paper::page()?, modules::page(data)?, simulator::page(&points), REASONS.to_owned()];
    Ok(parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S2's module in ns-2, without the border: all that the page asks. At 900 Mb/s access links of 10 Gb/s, which the model does
    /// not have, decide (reasons.md); without them it agrees there too.
    #[test]
    fn the_model_agrees_with_ns2() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/ns2");
        for (label, below_mbps) in [("la30np", 900.0), ("la30np_100g", f64::INFINITY)] {
            let points =
                modules::points(&data, label, tandem_model::Arithmetic::Linux13).expect("the results are there");
            let asked: Vec<_> = points.iter().filter(|p| p.is_asked() && p.rate_mbps < below_mbps).collect();
            assert!(asked.len() >= 18, "{label}");
            for p in asked {
                assert!(
                    p.throughput_agrees(),
                    "{label}, {} Mb/s: {} here, {} in ns-2",
                    p.rate_mbps,
                    p.model.utilisation,
                    p.utilisation
                );
                let cycles = (&p.model.oscillation, &p.cycle);
                assert!(p.cycle_agrees() != Some(false), "{label}, {} Mb/s: {cycles:?}", p.rate_mbps);
            }
        }
    }

    /// The first of the random paths; `make validate` does them all.
    #[test]
    fn the_model_agrees_with_the_simulator() {
        let paths = simulator::random_paths(PATHS, SEED);
        let quick =
            paths.into_iter().filter(|p| p.bdp_packets() + p.buffer_packets < 1000.0).take(12).collect::<Vec<_>>();
        for point in simulator::compare(&quick).expect("the law is the default") {
            let text = format!("{:?}: case {} and {}", point.path, point.model.case, point.simulated.case);
            assert!(point.case_agrees(), "{text}");
            assert!(point.throughput_agrees(), "{text}, {:+.3}", point.difference());
        }
    }
}
