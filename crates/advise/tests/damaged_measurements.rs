// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of measurements that were cut, joined, translated badly or written by another version: whatever stands in them, they are refused in words, or
//! what is inferred is a path that can be simulated.

use std::{fs, path::Path};

use proptest::{collection::vec, prelude::*};
use serde::{Deserialize, Serialize};
use tandem_advise::{
    Candidate, Given, Question, Stepwise,
    measured::{Measured, read},
};
use tandem_compare::Flows;
use tandem_scenario::units::{Rate, Span};
use tandem_sim::Sim;
use tandem_testing::{
    damage::{Step, step},
    random_test,
};

/// In the folder of fixtures.
const FILES: [&str; 8] = [
    "iperf3.json",
    "iperf3-bursts.json",
    "iperf3-policed.json",
    "iperf3-port.json",
    "iperf3-processor.json",
    "ping-idle.txt",
    "ping-loaded.txt",
    "ss.txt",
];
/// Of the other tools.
const TEXTS: [&str; 7] = [
    "HOST: a        Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- 192.0.2.1   0.0%    50    0.4   0.5   0.3   1.9   0.2\n  \
     2.|-- 192.0.2.9   2.0%    50   42.1  42.5  41.9  44.0   0.6\n",
    "{\"report\": {\"hubs\": [{\"Best\": 0.3}, {\"Best\": 41.7, \"Avg\": 42.5, \"Wrst\": 44.0, \"Snt\": 10, \"Loss%\": 10.0}]}}",
    "#kernel\nTcpOutSegs       9000     0.0\nTcpRetransSegs   30       0.0\n",
    "{\"kernel\": {\"TcpOutSegs\": 9000, \"TcpRetransSegs\": 30}}",
    "Tcp:\n    9000 segments sent out\n    30 segments retransmitted\n",
    "qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p\n Sent 500 bytes 5 pkt (dropped 2, overlimits 0 requeues 0)\n",
    "192.0.2.9 : xmt/rcv/%loss = 20/19/5%, min/avg/max = 41.9/42.5/44.0\n",
];
/// In the place of a number, or anywhere.
const VALUES: [&str; 20] = [
    "0",
    "-0.0",
    "-1",
    "1e308",
    "-1e308",
    "1e-308",
    "nan",
    "inf",
    "18446744073709551616",
    "-9223372036854775808",
    "0,5",
    "1.5e",
    "",
    "null",
    "[]",
    "\"\"",
    "%",
    " ms",
    "\u{0}",
    "\u{fffd}",
];

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Damaged {
    file: usize,
    steps: Vec<Step>,
}

fn damaged() -> impl Strategy<Value = Damaged> {
    let step = step(VALUES.map(str::to_owned).into(), [6, 1]);
    (0..FILES.len() + TEXTS.len(), vec(step, 1..8)).prop_map(|(file, steps)| Damaged { file, steps })
}

impl Damaged {
    fn bytes(&self) -> Vec<u8> {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let mut bytes = match FILES.get(self.file) {
            Some(name) => fs::read(fixtures.join(name)).unwrap(),
            None => TEXTS[self.file - FILES.len()].into(),
        };
        self.steps.iter().for_each(|step| step.apply(&mut bytes));
        bytes
    }
}

fn check(path: &Measured) -> Result<(), TestCaseError> {
    prop_assert!(path.rate.is_none_or(|rate| rate.bps > 0), "{:?}", path.rate);
    prop_assert!(path.rtt.is_none_or(|rtt| rtt.ns > 0), "{:?}", path.rtt);
    prop_assert!(path.loss.is_none_or(|loss| (0.0..=1.0).contains(&loss.0)), "{:?}", path.loss);
    prop_assert!(path.flows != Some(0) && path.mtu != Some(0));
    prop_assert!(path.policer.as_ref().is_none_or(|policer| policer.rate.bps > 0 && policer.burst.0 > 0));
    let goodput_mbps = path.transferred.as_ref().map(|transferred| transferred.goodput_mbps);
    prop_assert!(goodput_mbps.is_none_or(|mbps| mbps.is_finite() && mbps > 0.0), "{goodput_mbps:?}");
    let values = path.inferred.iter().flat_map(|inferred| [&inferred.value, &inferred.surety]);
    for words in values.chain(&path.cautions) {
        let is_number = |word: &str| !matches!(word, "NaN" | "inf" | "-inf");
        // Between backticks the file itself is quoted.
        let mut own = words.split('`').step_by(2).flat_map(|own| own.split(|c: char| !c.is_alphanumeric() && c != '-'));
        let has_numbers = own.all(is_number);
        prop_assert!(has_numbers && !words.is_empty(), "{words}");
    }
    Ok(())
}

/// Asks for advice on it, with the simplest values for what it lacks: the first path to be tried has runs, or is refused in words.
fn ask(mut path: Measured) -> Result<(), TestCaseError> {
    let known = Given {
        rate: path.rate.or(Some(Rate { bps: 10_000_000 })),
        rtt: path.rtt.or(Some(Span::from_ms(20))),
        ..Given::default()
    };
    let known = known.with(&mut path).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let reno = Candidate { flows: Flows::new("reno".parse().unwrap(), known.flows()), effort: 0, is_untried: false };
    let (candidates, default) = ([reno], "reno".to_owned());
    let question = Question::usual(&known, &path, &candidates, &default, &Sim);
    let usual = &known.cases()[0];
    match Stepwise::new(&question, usual, &[]) {
        Ok(steps) => prop_assert!(steps.scenarios().all(|scenario| scenario.duration.ns > 0)),
        Err(refused) => prop_assert!(refused.is_usage() && refused.to_string().lines().count() == 1, "{refused}"),
    }
    Ok(())
}

#[test]
fn random_damage_is_refused_or_leaves_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("measured");
    random_test!(random_damage_is_refused_or_leaves_a_path, 1000).run(damaged(), |case| {
        fs::write(&file, case.bytes()).unwrap();
        match read(std::slice::from_ref(&file)) {
            Ok(path) => check(&path).and_then(|()| ask(path)),
            Err(refused) => {
                let words = refused.to_string();
                prop_assert!(words.contains("measured") && words.lines().count() == 1, "{words}");
                Ok(())
            }
        }
    });
}
