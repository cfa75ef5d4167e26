// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths and senders of today: where each feature works, what it is compared with, and how close it is.

use std::cell::OnceCell;

use super::{
    Validation, l4s, queues, real_tcp,
    table::{Cell, Table},
};

/// How close a feature is to its comparison.
enum Closeness {
    /// Tests ask for the very values.
    Exact,
    /// Of goodput over real TCP, on the set-up of docs/sim-vs-kernel.md with this name.
    RealTcp(&'static str),
    /// Of goodput, wait and share, to ns-3's queue with this name.
    Ns3(&'static str),
    /// Of DualPI2 to RFC 9332's claims.
    L4sClaims,
    /// Of Prague and CUBIC to Linux's, as published.
    L4sLinux,
    /// In words: another page has the figures.
    Words(&'static str),
}

use Closeness::{Exact, L4sClaims, L4sLinux, Ns3, RealTcp, Words};

/// A table of another part of the page, which several features quote.
struct Quoted {
    make: fn(&Validation) -> anyhow::Result<Table>,
    made: OnceCell<Table>,
}

impl Quoted {
    fn of(make: fn(&Validation) -> anyhow::Result<Table>) -> Self {
        Self { make, made: OnceCell::new() }
    }

    fn table(&self, validation: &Validation) -> anyhow::Result<&Table> {
        if let Some(table) = self.made.get() {
            return Ok(table);
        }
        let table = (self.make)(validation)?;
        Ok(self.made.get_or_init(|| table))
    }
}

impl Closeness {
    fn text(&self, validation: &Validation, queues: &Quoted) -> anyhow::Result<String> {
        Ok(match self {
            Exact => "exact".into(),
            RealTcp(setup) => format!("{} (three controllers, ten seeds)", real_tcp::closeness(validation, setup)?),
            Ns3(queue) => queues.table(validation)?.tally_where(queue).words(),
            L4sClaims => {
                let table = l4s::claims(validation)?;
                let of = |column| table.tally_of(column).words();
                format!("ratios: {}; waits: {}", of(l4s::EQUAL), of(l4s::SHORT))
            }
            L4sLinux => {
                let table = l4s::linux(validation)?;
                let of = |column| table.tally_of(column).words();
                format!("Prague: {}; CUBIC: {}", of(l4s::PRAGUE), of(l4s::CUBIC))
            }
            Words(text) => (*text).into(),
        })
    }
}

struct Feature {
    name: &'static str,
    over_real_tcp: &'static str,
    compared_with: &'static str,
    closeness: Closeness,
}

const fn both(name: &'static str, compared_with: &'static str, closeness: Closeness) -> Feature {
    Feature { name, over_real_tcp: "yes", compared_with, closeness }
}

const fn simulated(name: &'static str, compared_with: &'static str, closeness: Closeness) -> Feature {
    Feature { name, over_real_tcp: "refused", compared_with, closeness }
}

const FEATURES: [Feature; 33] = [
    both("changes of rate, delay, loss, queue; outages", "times worked out by hand", Exact),
    both("… steps of the rate", "real TCP", RealTcp("steps")),
    both("… another rate and delay after an outage", "real TCP", RealTcp("satellite")),
    both("rate traces", "times worked out by hand, mahimahi's rule for shared opportunities", Exact),
    both("… of a cellular link", "real TCP", RealTcp("cellular")),
    both("jitter", "tables of the normal distribution, moments of netem's Pareto", Exact),
    both("… of 5 ms, normal", "real TCP", RealTcp("jitter")),
    both("reordering; RACK's window, DSACK, undo", "order and recoveries worked out by hand", Exact),
    both("… of 1 % by three packets", "real TCP", RealTcp("reordering")),
    both(
        "… of 0.1, 1 and 5 % on another path",
        "real TCP",
        Words(
            "goodput within 1.5 % by three packets; within 2 % where later than a quarter of the RTT (docs/paths.md)",
        ),
    ),
    both("copies, bunches, shaper", "times worked out by hand", Exact),
    both("policer", "drops worked out by hand", Exact),
    both("… of 10 Mb/s on 100 Mb/s", "real TCP", RealTcp("policer")),
    both("RED, drops and marks", "ns-3", Ns3("red")),
    both("CoDel, drops and marks", "ns-3", Ns3("codel")),
    both("FQ-CoDel, drops and marks", "ns-3", Ns3("fq_codel")),
    both("… its own properties", "RFC 8290: sparse flows first, equal bytes, eviction from the longest queue", Exact),
    both("PIE, drops and marks", "ns-3", Ns3("pie")),
    both("DualPI2", "RFC 9332's formulas by hand", Exact),
    both("… its Classic half", "real TCP", Words("goodput within 0.3 %, three controllers, two seeds (docs/paths.md)")),
    simulated("… with `prague` beside `cubic`", "RFC 9332's claims", L4sClaims),
    simulated("… the same two flows", "Linux's, measured by others", L4sLinux),
    both("ECN, RFC 3168", "timelines worked out by hand", Exact),
    both("… by FQ-CoDel that marks", "real TCP", RealTcp("ecn")),
    simulated("ECN, RFC 8511", "the RFC's factors", Exact),
    simulated("accurate ECN", "timelines worked out by hand", Exact),
    Feature {
        name: "`dctcp`",
        over_real_tcp: "refused; it loads (docs/controllers/dctcp.md)",
        compared_with: "RFC 8257 in real numbers",
        closeness: Words("within the rounding of the integers"),
    },
    simulated("`prague`", "its draft in real numbers", Words("within the rounding of the integers")),
    both("HyStart in `cubic`", "`kernel:cubic`, five paths", Words("window within 0.5 % (docs/slow-start.md)")),
    both("HyStart, HyStart++", "paper and RFC 9406 in real numbers, 2000 connections", Exact),
    both("an application that offers less; RFC 7661", "windows and times worked out by hand", Exact),
    both(
        "short flows",
        "times worked out by hand; processor sharing, the response time law",
        Words("1 % (sharing), four deviations (the law)"),
    ),
    both("real-time traffic; delay, jitter, loss", "delays worked out by hand", Exact),
];

pub(super) fn part(validation: &Validation) -> anyhow::Result<Table> {
    let queues = Quoted::of(queues::part);
    let row = |Feature { name, over_real_tcp, compared_with, closeness }: &Feature| {
        let texts = [*name, "yes", over_real_tcp, compared_with].map(Cell::from);
        Ok(texts.into_iter().chain([closeness.text(validation, &queues)?.into()]).collect())
    };
    Ok(Table {
        title: "Paths and senders of today".into(),
        setup: "Each feature of a path is written once, in crates/network: the simulator and the emulator run the same code. A row that \
                begins with an ellipsis is a further comparison of the feature above it. \"Refused\": the command says so before it \
                runs. \"Exact\": tests ask for the very values of the column before it, most of them worked out by hand; that says \
                nothing of other paths."
            .into(),
        asked: String::new(),
        columns: &["feature", "in simulation", "over real TCP", "compared with", "how close"],
        rows: FEATURES.iter().map(row).collect::<anyhow::Result<_>>()?,
    })
}
