// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model beside what S2 prints: Table I, Figures 3, 8 and 9.

use std::fmt::Write;

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

pub fn page() -> anyhow::Result<String> {
    Ok(table_1() + &figure_3() + &figure_8()? + &figure_9()?)
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

fn table_1() -> String {
    const PRINTED: [(CycleType, u32, Option<u32>); 5] = [
        (CycleType::new(2, 1), 545, Some(558)),
        (CycleType::new(3, 1), 312, Some(545)),
        (CycleType::new(5, 2), 546, Some(573)),
        (CycleType::new(4, 2), 559, Some(1411)),
        (CycleType::new(3, 2), 1342, None),
    ];
    let mut text = String::from(
        "\n## Table I: where each oscillation is feasible (BDP in packets, gamma 30)\n\n\
         Fixed points of each forced cycle in release 1.3's integers. Differences are from S2's lower and upper bound.\n\n\
         | type | S2 | S2's model here | difference |\n|---|---|---|---|\n",
    );
    for (kind, from, to) in PRINTED {
        let rule = Linux13 { gamma_packets: GAMMA_PACKETS };
        let is_feasible =
            |bdp: u32| Cycle::forced(&rule, f64::from(bdp), kind).is_some_and(|c| c.is_feasible(GAMMA_PACKETS));
        let found = stretches(100..LARGEST_BDP, is_feasible);
        let (first, last) = (found.first().map_or(0, |f| f.0), found.last().map_or(0, |f| f.1));
        let difference = |found: u32, printed: u32| i64::from(found) - i64::from(printed);
        let printed_to = to.map_or(String::new(), |t| t.to_string());
        let upper = to.map_or("open".into(), |to| format!("{:+}", difference(last, to)));
        let (here, lower) = (text_of(&found, LARGEST_BDP - 1), difference(first, from));
        writeln!(text, "| {kind} | {from}-{printed_to} | {here} | {lower:+}, {upper} |").expect("writing to a String");
    }
    text
}

fn figure_3() -> String {
    let kind = |gamma_packets, bdp: u32| {
        let rule = Linux13 { gamma_packets };
        flow_chart(&rule, f64::from(bdp)).map(|cycle| cycle.kind)
    };
    let from = |kinds: &[CycleType]| {
        let found = stretches(100..LARGEST_BDP, |bdp| kind(GAMMA_PACKETS, bdp).is_some_and(|k| kinds.contains(&k)));
        (found.first().map_or(0, |f| f.0), text_of(&found, LARGEST_BDP - 1))
    };
    let mut text = String::from(
        "\n## Figure 3: which oscillation takes place (gamma 30)\n\n\
         S2's flow chart (Figure 2, reconstructed) over the same fixed points.\n\n\
         | type | from, S2 | from, model | difference | all of it |\n|---|---:|---:|---:|---|\n",
    );
    for (m, n, printed) in [(3, 1, 313u32), (5, 2, 544), (4, 2, 574), (3, 2, 1342)] {
        let (found, all) = from(&[CycleType::new(m, n)]);
        writeln!(text, "| {m}:{n} | {printed} | {found} | {:+} | {all} |", i64::from(found) - i64::from(printed))
            .expect("writing to a String");
    }
    let others: Vec<String> =
        stretches(100..LARGEST_BDP, |bdp| kind(SMALL_GAMMA_PACKETS, bdp) != Some(CycleType::new(3, 2)))
            .iter()
            .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
            .collect();
    let exceptions = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
    text + &format!(
        "\nWith gamma 5 S2 says \"always 3:2\". Exceptions of the model from a BDP of 100 to {LARGEST_BDP}: {exceptions}.\n"
    )
}

fn by_s2(rate_mbps: f64, gamma_packets: f64) -> anyhow::Result<Prediction> {
    let law = Law { gamma_packets, ..Law::default() };
    let path = path(rate_mbps);
    let swing = published_oscillation(&path, &law, Arithmetic::Linux13)?;
    Ok(published(&path, &law, swing.as_ref()))
}

/// Rates in Mb/s at which the case, of the model named, is another than one Mb/s below; those that lie close together are one band.
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

fn figure_8() -> anyhow::Result<String> {
    let mut text = String::from(
        "\n## Figure 8: where the case changes (50 ms, 100 packets)\n\n\
         Release 1.3's integers. In integers a border is a band in which the case changes to and fro; the first rate of it is compared. \
         \"Followed\" is Tandem's model: there the buffer may overflow on the way into an oscillation that would fit.\n\n\
         | | S2 prints, Mb/s | S2's model here | difference | followed |\n|---|---:|---:|---:|---:|\n",
    );
    let followed_at = |gamma_packets| {
        bands(move |mbps| {
            let law = Law { gamma_packets, ..Law::default() };
            Ok(followed(&path(f64::from(mbps)), &law, Arithmetic::Linux13)?.case)
        })
    };
    for (gamma, printed) in [(GAMMA_PACKETS, &[273u32, 320, 400][..]), (SMALL_GAMMA_PACKETS, &[410])] {
        let fluid = bands(|mbps| Ok(by_s2(f64::from(mbps), gamma)?.case))?;
        let follow: Vec<String> = followed_at(gamma)?.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        for (i, at) in printed.iter().enumerate() {
            let (found, difference) = fluid.get(i).map_or(("none".into(), String::new()), |(a, b)| {
                (format!("{a}-{b}"), format!("{:+.1} %", 100.0 * (f64::from(*a) / f64::from(*at) - 1.0)))
            });
            let follow = if i == 0 { follow.join(", ") } else { "see above".into() };
            writeln!(text, "| gamma {gamma}, change {} | {at} | {found} | {difference} | {follow} |", i + 1)?;
        }
    }
    let gigabit = by_s2(1000.0, GAMMA_PACKETS)?.utilisation;
    let followed = followed(&path(1000.0), &Law::default(), Arithmetic::Linux13)?.utilisation;
    writeln!(
        text,
        "| utilisation at 1 Gb/s | about 75 % | {:.1} % | {:+.1} points | {:.1} % |",
        100.0 * gigabit,
        100.0 * gigabit - 75.0,
        100.0 * followed
    )?;
    Ok(text)
}

fn figure_9() -> anyhow::Result<String> {
    let mut text = String::from(
        "\n## Figure 9: mean queue (50 ms, 100 packets, gamma 30)\n\n\
         S2 prints a fall at 131 Mb/s, where 3:1 becomes 5:2, and a rise from 138 to 273 Mb/s with 4:2. Release 1.3's integers.\n\n\
         | Mb/s | oscillation | S2's model here, packets | followed: oscillation | packets |\n|---:|---|---:|---|---:|\n",
    );
    for mbps in [125, 127, 129, 131, 133, 135, 138, 142, 160, 200, 240, 270] {
        let fluid = by_s2(f64::from(mbps), GAMMA_PACKETS)?;
        let follow = followed(&path(f64::from(mbps)), &Law::default(), Arithmetic::Linux13)?;
        let name = |p: &Prediction| p.oscillation.clone().unwrap_or("none".into());
        writeln!(
            text,
            "| {mbps} | {} | {:.1} | {} | {:.1} |",
            name(&fluid),
            fluid.backlog_packets,
            name(&follow),
            follow.backlog_packets
        )?;
    }
    let is_3_1 = |mbps: f64| by_s2(mbps, GAMMA_PACKETS).is_ok_and(|p| p.oscillation.as_deref() == Some("3:1"));
    let last = (1100..1400).rev().map(|tenths| f64::from(tenths) / 10.0).find(|&mbps| is_3_1(mbps));
    let fall = last.map_or("nowhere from 110 to 140".into(), |at| {
        format!("after {at:.1} Mb/s ({:+.1} %), the last rate with 3:1", 100.0 * (at / 131.0 - 1.0))
    });
    Ok(text + &format!("\nThe fall of S2's model here lies {fall}. From 138 on it rises, as printed.\n"))
}
