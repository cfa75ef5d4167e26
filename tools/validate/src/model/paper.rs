// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model beside what S2 prints: Table I, Figures 3, 8 and 9.

use tandem_model::{
    Arithmetic, Law, Path, Prediction, followed,
    oscillation::{Cycle, CycleType, flow_chart},
    published, published_oscillation,
    rule::Linux13,
};
use tandem_scenario::{
    DEFAULT_MTU,
    units::{Rate, Span},
};

use crate::table::{Cell, Table};

const GAMMA_PACKETS: f64 = 30.0;
const SMALL_GAMMA_PACKETS: f64 = 5.0;
/// Where S2's tables and figures end; its `[1342, inf)` goes on.
const LARGEST_BDP: u32 = 3000;

/// S2's set-up: 50 ms, 100 packets of 1500 bytes.
pub fn path(rate_mbps: f64) -> Path {
    Path {
        rate: Rate { bps: (rate_mbps * 1e6).round() as u64 },
        rtt: Span::from_ms(50),
        buffer_packets: 100.0,
        packet_bytes: DEFAULT_MTU,
        access_rate: None,
    }
}

pub fn tables() -> anyhow::Result<Vec<Table>> {
    Ok(vec![table_1(), figure_3(), figure_8()?, figure_9()?])
}

/// Stretches of neighbouring numbers for which something holds.
fn stretches(range: impl Iterator<Item = u32>, holds: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for n in range.filter(|&n| holds(n)) {
        match found.last_mut() {
            Some(last) if last.1 + 1 == n => last.1 = n,
            _ => found.push((n, n)),
        }
    }
    found
}

fn text_of(found: &[(u32, u32)], end: u32) -> String {
    let one = |&(from, to): &(u32, u32)| if to >= end { format!("{from}-") } else { format!("{from}-{to}") };
    found.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn table_1() -> Table {
    const PRINTED: [(CycleType, u32, Option<u32>); 5] = [
        (CycleType::new(2, 1), 545, Some(558)),
        (CycleType::new(3, 1), 312, Some(545)),
        (CycleType::new(5, 2), 546, Some(573)),
        (CycleType::new(4, 2), 559, Some(1411)),
        (CycleType::new(3, 2), 1342, None),
    ];
    let row = |(kind, from, to): (CycleType, u32, Option<u32>)| {
        let rule = Linux13 { gamma_packets: GAMMA_PACKETS };
        let is_feasible =
            |bdp: u32| Cycle::forced(&rule, f64::from(bdp), kind).is_some_and(|c| c.is_feasible(GAMMA_PACKETS));
        let found = stretches(100..LARGEST_BDP, is_feasible);
        let (first, last) = (found.first().map_or(0, |f| f.0), found.last().map_or(0, |f| f.1));
        let open = |end: Option<u32>| end.map_or("open".into(), Cell::count);
        vec![
            kind.to_string().into(),
            Cell::count(from),
            open(to),
            Cell::count(first),
            open((last + 1 < LARGEST_BDP).then_some(last)),
        ]
    };
    Table {
        title: "S2's Table I: where each oscillation is feasible (gamma 30)".into(),
        setup: "BDP in packets. Fixed points of each forced cycle in release 1.3's integers.".into(),
        asked: String::new(),
        columns: &["type", "from, S2", "to, S2", "from, here", "to, here"],
        rows: PRINTED.map(row).into(),
    }
}

fn figure_3() -> Table {
    let kind = |gamma_packets, bdp: u32| {
        let rule = Linux13 { gamma_packets };
        flow_chart(&rule, f64::from(bdp)).map(|cycle| cycle.kind)
    };
    let all =
        |gamma, holds: &dyn Fn(Option<CycleType>) -> bool| stretches(100..LARGEST_BDP, |bdp| holds(kind(gamma, bdp)));
    let row = |(m, n, printed): (u32, u32, u32)| {
        let found = all(GAMMA_PACKETS, &|kind| kind == Some(CycleType::new(m, n)));
        let first = found.first().map_or(0, |f| f.0);
        vec![
            format!("{m}:{n}").into(),
            Cell::count(printed),
            Cell::count(first),
            text_of(&found, LARGEST_BDP - 1).into(),
        ]
    };
    let others = all(SMALL_GAMMA_PACKETS, &|kind| kind != Some(CycleType::new(3, 2)));
    let exceptions = if others.is_empty() { "none".to_owned() } else { text_of(&others, LARGEST_BDP) };
    Table {
        title: "S2's Figure 3: which oscillation takes place (gamma 30)".into(),
        setup: format!(
            "BDP in packets. S2's flow chart (Figure 2, reconstructed) over the same fixed points. With gamma 5 S2 says \"always 3:2\"; \
             exceptions of the model from a BDP of 100 to {LARGEST_BDP}: {exceptions}."
        ),
        asked: String::new(),
        columns: &["type", "from, S2", "from, here", "all of it"],
        rows: [(3, 1, 313), (5, 2, 544), (4, 2, 574), (3, 2, 1342)].map(row).into(),
    }
}

fn by_s2(rate_mbps: f64, gamma_packets: f64) -> anyhow::Result<Prediction> {
    let law = Law { gamma_packets, ..Law::default() };
    let path = path(rate_mbps);
    let swing = published_oscillation(&path, &law, Arithmetic::Linux13)?;
    Ok(published(&path, &law, swing.as_ref()))
}

/// Rates in Mb/s at which the case, of the model named, differs from that one Mb/s below; those that lie close together are one band.
fn bands(case: impl Fn(u32) -> anyhow::Result<u8>) -> anyhow::Result<Vec<(u32, u32)>> {
    let cases: Vec<(u32, u8)> = (150..600).map(|mbps| Ok((mbps, case(mbps)?))).collect::<anyhow::Result<_>>()?;
    let mut bands: Vec<(u32, u32)> = Vec::new();
    for pair in cases.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
        match bands.last_mut() {
            Some(band) if pair[1].0 - band.1 < 20 => band.1 = pair[1].0,
            _ => bands.push((pair[1].0, pair[1].0)),
        }
    }
    Ok(bands)
}

fn figure_8() -> anyhow::Result<Table> {
    let followed_at = |gamma_packets| {
        bands(move |mbps| {
            let law = Law { gamma_packets, ..Law::default() };
            Ok(followed(&path(f64::from(mbps)), &law, Arithmetic::Linux13)?.case)
        })
    };
    let band = |&(from, to): &(u32, u32)| format!("{from}-{to}");
    let mut rows = Vec::new();
    for (gamma, printed) in [(GAMMA_PACKETS, &[273u32, 320, 400][..]), (SMALL_GAMMA_PACKETS, &[410])] {
        let fluid = bands(|mbps| Ok(by_s2(f64::from(mbps), gamma)?.case))?;
        let follow: Vec<String> = followed_at(gamma)?.iter().map(band).collect();
        for (i, at) in printed.iter().enumerate() {
            let follow = if i == 0 { follow.join(", ").into() } else { Cell::Empty };
            let here = fluid.get(i).map_or(Cell::Empty, |found| band(found).into());
            rows.push(vec![format!("gamma {gamma}, change {}", i + 1).into(), Cell::count(*at), here, follow]);
        }
    }
    let share = |utilisation| Cell::Number(utilisation, 3);
    let gigabit = by_s2(1000.0, GAMMA_PACKETS)?.utilisation;
    let followed = followed(&path(1000.0), &Law::default(), Arithmetic::Linux13)?.utilisation;
    rows.push(vec!["utilisation at 1 Gb/s".into(), share(0.75), share(gigabit), share(followed)]);
    Ok(Table {
        title: "S2's Figure 8: where the case changes (50 ms, 100 packets)".into(),
        setup: "Mb/s; release 1.3's integers. A border is a band in which the case changes to and fro. \"Followed\" is Tandem's model: \
                there the buffer may overflow on the way into an oscillation that would fit; all its bands stand in the first row."
            .into(),
        asked: String::new(),
        columns: &["what", "S2 prints", "S2's model here", "followed"],
        rows,
    })
}

fn figure_9() -> anyhow::Result<Table> {
    let row = |mbps: u32| {
        let fluid = by_s2(f64::from(mbps), GAMMA_PACKETS)?;
        let follow = followed(&path(f64::from(mbps)), &Law::default(), Arithmetic::Linux13)?;
        let name = |p: &Prediction| p.oscillation.as_deref().map_or(Cell::Empty, Cell::from);
        let packets = |p: &Prediction| Cell::Number(p.backlog_packets, 1);
        Ok(vec![Cell::count(mbps), name(&fluid), packets(&fluid), name(&follow), packets(&follow)])
    };
    let is_3_1 = |mbps: f64| by_s2(mbps, GAMMA_PACKETS).is_ok_and(|p| p.oscillation.as_deref() == Some("3:1"));
    let last = (1100..1400).rev().map(|tenths| f64::from(tenths) / 10.0).find(|&mbps| is_3_1(mbps));
    let fall =
        last.map_or("nowhere from 110 to 140".into(), |at| format!("after {at:.1} Mb/s, the last rate with 3:1"));
    Ok(Table {
        title: "S2's Figure 9: mean queue (50 ms, 100 packets, gamma 30)".into(),
        setup: format!(
            "S2 prints a fall at 131 Mb/s, where 3:1 becomes 5:2, and a rise from 138 to 273 Mb/s with 4:2. Release 1.3's integers. The \
             fall of S2's model here lies {fall}."
        ),
        asked: String::new(),
        columns: &[
            "rate, Mb/s",
            "oscillation, S2's model",
            "queue, S2's model, packets",
            "oscillation, followed",
            "queue, followed, packets",
        ],
        rows: [125, 127, 129, 131, 133, 135, 138, 142, 160, 200, 240, 270]
            .map(row)
            .into_iter()
            .collect::<anyhow::Result<_>>()?,
    })
}
