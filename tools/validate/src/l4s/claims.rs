// SPDX-License-Identifier: MIT OR Apache-2.0
//! DualPI2 against RFC 9332's own claims: a scalable and a CUBIC flow share a link.

use anyhow::Context;
use tandem_results::Run;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

use super::seeds;
use crate::{
    Validation,
    compare::{Agreement, Check},
    table::{Cell, Table},
};

/// The columns that are asked.
pub(crate) const EQUAL: &str = "equal goodputs";
pub(crate) const SHORT: &str = "short L4S wait";

const RATES_MBPS: [u32; 5] = [4, 12, 40, 120, 200];
const RTTS_MS: [u32; 5] = [5, 10, 20, 50, 100];

/// Rate and RTT.
#[derive(Clone, Copy)]
struct Point(u32, u32);

impl Point {
    fn all() -> Vec<Self> {
        RATES_MBPS.iter().flat_map(|&rate| RTTS_MS.map(|rtt| Self(rate, rtt))).collect()
    }

    fn scenario(self, seeds: u64) -> anyhow::Result<Scenario> {
        let Self(rate, rtt) = self;
        let text = format!(
            "duration = \"60s\"\nwarmup = \"20s\"\nseeds = {seeds}\n[dumbbell]\nrate = \"{rate}mbit\"\nrtt = \"{rtt}ms\"\nqueue = \"250ms\"\n\
             aqm = \"dualpi2\"\n[[flows]]\ncontroller = \"prague\"\nstart_spread = \"100ms\"\n[[flows]]\ncontroller = \"cubic\"\n\
             start_spread = \"100ms\"\n"
        );
        parse(&text, "a point of the grid", "l4s", &Overrides::default()).context("the grid as scenarios")
    }

    /// Time of a packet of the MTU on the link, ms.
    fn packet_ms(self) -> f64 {
        12.0 / f64::from(self.0)
    }

    /// Mean and 99th percentile of a group's wait, ms.
    fn wait_ms(self, run: &Run, group: usize) -> anyhow::Result<(f64, f64)> {
        let rtt = run.groups[group].rtt_ms.as_ref().context("the simulator knows the RTTs")?;
        let wait = |rtt: f64| rtt - f64::from(self.1) - self.packet_ms();
        Ok((wait(rtt.mean), wait(rtt.p99)))
    }
}

/// RFC 9332 says "approximately equal" and no number: a factor of two is ours.
fn is_equal(ratio: f64) -> Check {
    let doublings = ratio.log2();
    Check { agreement: Agreement::of(doublings.abs() <= 1.0), distance: Some((doublings, 0.0)) }
}

fn row(point: Point, run: &Run) -> anyhow::Result<Vec<Cell>> {
    let [prague, cubic] = [0, 1].map(|group: usize| run.groups[group].goodput_mbps);
    let (l4s, classic) = (point.wait_ms(run, 0)?, point.wait_ms(run, 1)?);
    let number = |value| Cell::Number(value, 2);
    Ok(vec![
        Cell::count(point.0),
        Cell::count(point.1),
        number(prague),
        number(cubic),
        number(prague / cubic),
        is_equal(prague / cubic).into(),
        number(l4s.0),
        number(l4s.1),
        // RFC 9332: about a millisecond, without a number for slow links. Ours.
        Check::of(l4s.0 <= f64::max(1.2, point.packet_ms() / 2.0)).into(),
        number(classic.0),
        number(classic.1),
        Cell::Number(run.links[0].utilisation, 4),
    ])
}

pub(crate) fn part(validation: &Validation) -> anyhow::Result<Table> {
    let points = Point::all();
    let seeds = seeds(validation);
    let scenarios = points.iter().map(|point| point.scenario(seeds)).collect::<anyhow::Result<Vec<_>>>()?;
    let runs = validation.run(&scenarios)?;
    let rows = points.iter().zip(&runs).map(|(point, run)| row(*point, run)).collect::<anyhow::Result<_>>()?;
    Ok(Table {
        title: "L4S (RFC 9332's claims)".into(),
        setup: format!(
            "One `prague` flow and one `cubic` flow share a link with `dualpi2`; both have the RTT of the row, without the queue. \
             {seeds} seeds of 60 s, the first 20 s cut. The wait is the time in the queue beyond the packet's own transmission."
        ),
        asked: "ratio of goodputs from 1/2 to 2; mean L4S wait of 1.2 ms or half a packet's time at most".into(),
        columns: &[
            "rate, Mb/s",
            "RTT, ms",
            "Prague, Mb/s",
            "CUBIC, Mb/s",
            "ratio",
            EQUAL,
            "L4S wait, mean, ms",
            "L4S wait, 99 %, ms",
            SHORT,
            "Classic wait, mean, ms",
            "Classic wait, 99 %, ms",
            "utilisation",
        ],
        rows,
    })
}
