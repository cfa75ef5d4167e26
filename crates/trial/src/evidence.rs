// SPDX-License-Identifier: MIT OR Apache-2.0
//! The evidence of all connections so far.

use std::{collections::HashMap, net::IpAddr};

use serde::Serialize;
use tandem_statistics::AsymmetricEstimate;

use crate::{Answer, Assignment, Effect, Guard, Limits, Record, Row, SizeClass, Verdict};

/// The question of a trial.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The controllers of the arms.
    pub arms: [String; 2],
    /// How connections get their arms.
    pub assignment: Assignment,
    /// The limits for the first arm.
    pub limits: Limits,
}

/// The probability of being wrong about all connections together, and about any of the classes: together 5 %.
const ALPHA_ALL: f64 = 0.025;
const ALPHA_CLASSES: f64 = 0.025;
/// The probability, for each guard rail, of ending a trial in which the arms are alike.
const ALPHA_GUARD: f64 = 0.01;
/// The difference that [`Answer::connections_to_show`] is about.
const TO_SHOW: f64 = 0.05;

/// Takes connections one by one.
#[derive(Clone, Debug)]
pub struct Evidence {
    plan: Plan,
    goodput: Effect,
    by_class: Vec<Effect>,
    guards: [Effect; 3],
    peers: HashMap<IpAddr, u64>,
    totals: [Totals; 2],
}

/// Sums of one arm.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Totals {
    /// Connections that have ended, also those that failed or sent nothing.
    pub connections: u64,
    /// Of those, connections whose handshake was not completed.
    pub failed: u64,
    /// Bytes that were sent and acknowledged.
    pub bytes: u64,
    /// Segments with data.
    pub segments: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Seconds: busy, and of those limited by the receiver's window and by the send buffer.
    pub busy_s: f64,
    /// See `busy_s`.
    pub rwnd_limited_s: f64,
    /// See `busy_s`.
    pub sndbuf_limited_s: f64,
}

impl Totals {
    fn add(&mut self, record: &Record) {
        self.connections += 1;
        self.failed += u64::from(!record.is_established);
        self.bytes += record.bytes;
        self.segments += u64::from(record.segments);
        self.retransmitted += u64::from(record.retransmitted);
        self.busy_s += record.busy_s;
        self.rwnd_limited_s += record.rwnd_limited_s;
        self.sndbuf_limited_s += record.sndbuf_limited_s;
    }
}

impl Evidence {
    /// Without any connection yet.
    pub fn new(plan: Plan) -> Self {
        let effect = || Effect::new(plan.assignment);
        let by_class = SizeClass::ALL.map(|_| effect()).into();
        let (goodput, guards) = (effect(), [effect(), effect(), effect()]);
        Self { plan, goodput, by_class, guards, peers: HashMap::new(), totals: Default::default() }
    }

    /// The next connection that has ended.
    pub fn add(&mut self, record: &Record) {
        let next = self.peers.len() as u64;
        let peer = *self.peers.entry(record.peer).or_insert(next);
        let (arm, class) = (record.arm.min(1), SizeClass::of(record.bytes));
        self.totals[arm].add(record);
        if let Some(goodput) = record.goodput_bps() {
            self.goodput.add(peer, arm, class, goodput.ln());
            self.by_class[class as usize].add(peer, arm, class, goodput.ln());
        }
        let rtt = record.srtt_us.filter(|us| *us > 0 && record.is_established).map(|us| f64::from(us).ln());
        // Of connections that the other end opens, the kernel reports only those that succeed.
        let failure = (!record.is_accepted).then(|| f64::from(u8::from(!record.is_established)));
        for (guard, measure) in self.guards.iter_mut().zip([rtt, record.retransmitted_share(), failure]) {
            if let Some(measure) = measure {
                guard.add(peer, arm, class, measure);
            }
        }
    }

    /// What they say so far.
    pub fn answer(&self) -> Answer {
        let row = |name: &str, effect: &Effect, alpha: f64| Row {
            name: name.to_owned(),
            connections: effect.connections(),
            goodput_change: change(effect, alpha, true),
        };
        let all = row("all", &self.goodput, ALPHA_ALL);
        let each = ALPHA_CLASSES / SizeClass::ALL.len() as f64;
        let classes = SizeClass::ALL.into_iter().zip(&self.by_class).map(|(c, effect)| row(c.words(), effect, each));
        let rows: Vec<Row> = std::iter::once(all).chain(classes).collect();
        Answer {
            arms: self.plan.arms.clone(),
            share: self.plan.assignment.share,
            by_peer: self.plan.assignment.by_peer,
            totals: self.totals,
            peers: self.peers.len(),
            verdict: Verdict::of(&rows, self.goodput.is_enough()),
            rows,
            guards: self.guards(),
            connections_to_show: self.goodput.connections_to_show(TO_SHOW.ln_1p(), ALPHA_ALL),
            counted: self.goodput.connections().iter().sum(),
        }
    }

    fn guards(&self) -> Vec<Guard> {
        let Limits { rtt, retransmissions, failures } = self.plan.limits;
        let measures = [("rtt", rtt, true), ("retransmissions", retransmissions, false), ("failures", failures, false)];
        let guard = |((what, limit, is_log), effect): ((&'static str, f64, bool), &Effect)| {
            let change = change(effect, ALPHA_GUARD, is_log);
            Guard { what, limit, change, is_broken: change.is_some_and(|change| change.low > limit) }
        };
        measures.into_iter().zip(&self.guards).map(guard).collect()
    }
}

/// The difference that the first arm makes, by how much the ratio is more than 1 where the measure is a logarithm.
fn change(effect: &Effect, alpha: f64, is_log: bool) -> Option<AsymmetricEstimate> {
    AsymmetricEstimate::on_scale(effect.difference(alpha)?, |y| if is_log { y.exp_m1() } else { y })
}
