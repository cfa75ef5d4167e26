// SPDX-License-Identifier: MIT OR Apache-2.0
//! A search in a space in which it is known what fails, because a planted region says so and not a simulation.

use std::cell::Cell;

use tandem_search::{
    Asked, Explorer, Judge, JudgeError, Judged, Measured, Mechanism, Point, Settled, Space, minimise, settle,
};

const SPACE: &str = r#"
title = "Planted"
[length]
round_trips = 100
packets_most = 1_000_000
[parameters]
rate = { from = "1mbit", to = "100mbit", scale = "log" }
rtt = { from = "10ms", to = "100ms", scale = "log" }
queue = { from = "0.01bdp", to = "8bdp", scale = "log" }
count = { from = 1, to = 20 }
kind = { one_of = ["droptail", "codel", "pie"] }
[scenario.dumbbell]
rate = "{rate}"
rtt = "{rtt}"
queue = "{queue}"
aqm = "{kind}"
[[scenario.flows]]
controller = "contender"
count = "{count}"
[features.jitter.parameters]
time = { from = "0.01rtt", to = "0.5rtt", scale = "log" }
[features.jitter.scenario.effects.bottleneck.jitter]
time = "{time}"
[features.loss.parameters]
loss = { from = 1e-5, to = 0.1, scale = "log" }
[features.loss.scenario.dumbbell]
loss = "{loss}"
[features.policer.parameters]
policed = { from = "0.2rate", to = "0.9rate" }
[features.policer.scenario.effects.bottleneck.policer]
rate = "{policed}"
burst = "30kB"
"#;

/// Fails with jitter of a fifth of the RTT or more where there are three flows or more; with losses by timeouts, above one in a hundred; and by
/// chance, with the first seed alone, in very deep queues.
struct Planted {
    space: Space,
    calls: Cell<usize>,
    /// Stops after this many calls.
    most_calls: usize,
}

impl Planted {
    fn new() -> Self {
        Self { space: Space::parse(SPACE, "planted.toml").unwrap(), calls: Cell::new(0), most_calls: usize::MAX }
    }

    /// The value of a parameter; `None` if the point lacks its feature.
    fn value(&self, point: &Point, name: &str) -> Option<f64> {
        let place = self.space.parameters.iter().position(|parameter| parameter.name == name)?;
        self.space.active(point).any(|active| active == place).then(|| point.values[place])
    }

    fn violation(&self, point: &Point, seed: u64) -> (f64, Mechanism) {
        let value = |name| self.value(point, name);
        let by_jitter = value("time").filter(|&time| time >= 0.2 && value("count") >= Some(3.0)).map(|time| 0.3 + time);
        let by_loss = value("loss").filter(|&loss| loss >= 0.01).map(|loss| 0.2 + loss);
        let by_chance = (seed == 1 && value("queue") > Some(7.0)).then_some(0.95);
        match (by_jitter, by_loss, by_chance) {
            (Some(bad), _, _) => (bad, Mechanism::Queue),
            (_, Some(bad), _) => (bad, Mechanism::Timeouts),
            (_, _, Some(bad)) => (bad, Mechanism::Losses),
            _ => (0.0, Mechanism::SmallWindow),
        }
    }
}

impl Judge for Planted {
    fn judge(&self, points: &[Point], seeds: &[u64]) -> Result<Option<Vec<Option<Judged>>>, JudgeError> {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() > self.most_calls {
            return Ok(None);
        }
        let one = |point: &Point| {
            let violations: Vec<f64> = seeds.iter().map(|&seed| self.violation(point, seed).0).collect();
            let measured = Measured { own: violations.clone(), baseline: vec![0.0; seeds.len()], violations };
            Some(Judged { measured, mechanism: self.violation(point, seeds[0]).1 })
        };
        Ok(Some(points.iter().map(one).collect()))
    }
}

const ASKED: Asked = Asked { limit: 0.1, finds: 3, knife_edge: false, seed: 1 };

fn searched(planted: &Planted, generations: usize, seed: u64) -> Settled {
    let mut explorer = Explorer::new(&planted.space, seed, ASKED.limit, false, Vec::new());
    while explorer.generations < generations {
        assert!(explorer.step(planted).unwrap());
    }
    settle(&planted.space, &explorer, planted, &ASKED, |_, _| {}).unwrap()
}

/// The smallest points of both regions: three flows with jitter of a fifth, and one flow with losses of one in a hundred.
#[test]
fn both_planted_regions_are_found_and_made_small() {
    let planted = Planted::new();
    let settled = searched(&planted, 40, 1);
    let [jitter, loss] = [Mechanism::Queue, Mechanism::Timeouts].map(|mechanism| {
        let found: Vec<_> = settled.finds.iter().filter(|find| find.judged.mechanism == mechanism).collect();
        assert_eq!(found.len(), 1, "{settled:#?}");
        assert!(found[0].is_minimal);
        &found[0].point
    });
    let features = |point| planted.space.features_of(point);
    assert_eq!((features(jitter), features(loss)), (vec!["jitter"], vec!["loss"]));
    let value = |point, name| planted.value(point, name).unwrap();
    assert!(value(jitter, "time") >= 0.2 && value(loss, "loss") >= 0.01);
    assert_eq!((value(jitter, "count"), value(loss, "count"), value(loss, "kind")), (3.0, 1.0, 0.0));
    // Round: 1, 2 or 5 times a power of ten, within the bounds.
    for (point, name) in [(jitter, "rate"), (loss, "rate"), (loss, "rtt"), (loss, "loss"), (jitter, "queue")] {
        let digits = format!("{:e}", value(point, name));
        assert!(["1", "2", "5"].contains(&digits.split('e').next().unwrap()), "{name} is {digits}");
    }
    assert_eq!(settled.finds.len(), 2);
}

/// From each of many points: no smaller one that a move leads to fails.
#[test]
fn nothing_can_go_from_what_is_minimal() {
    let planted = Planted::new();
    let fails = |point: &Point| planted.violation(point, 2).0 >= 0.1;
    let mut rng = <rand_pcg::Pcg64Mcg as rand::rand_core::SeedableRng>::seed_from_u64(3);
    let starts: Vec<Point> = (0..3000).map(|_| planted.space.draw(&mut rng)).filter(&fails).collect();
    assert!(starts.len() > 100);
    for start in starts {
        let (small, is_whole) = minimise(&planted.space, start, |point| Ok::<_, ()>(Some(fails(point)))).unwrap();
        assert!(is_whole && fails(&small));
        assert_eq!(small.has.iter().filter(|has| **has).count(), 1, "one feature is enough");
        for feature in 0..small.has.len() {
            let mut without = small.clone();
            without.has[feature] = false;
            assert!(without == small || !fails(&without));
        }
        let (again, _) = minimise(&planted.space, small.clone(), |point| Ok::<_, ()>(Some(fails(point)))).unwrap();
        assert_eq!(again, small);
    }
}

#[test]
fn the_same_seed_finds_the_same() {
    let planted = Planted::new();
    let of = |seed| format!("{:?}", searched(&planted, 12, seed));
    assert_eq!(of(5), of(5));
    assert_ne!(of(5), of(6));
}

/// A narrow peak where jitter meets one rate, one RTT and one queue.
struct Peak(Space);

impl Judge for Peak {
    fn judge(&self, points: &[Point], seeds: &[u64]) -> Result<Option<Vec<Option<Judged>>>, JudgeError> {
        let one = |point: &Point| {
            let place = |name| self.0.parameters.iter().position(|parameter| parameter.name == name).unwrap();
            let far =
                |name, at: f64| (self.0.parameters[place(name)].domain.share(point.values[place(name)]) - at).powi(2);
            let distance = far("rate", 0.7) + far("rtt", 0.2) + far("queue", 0.4) + far("time", 0.6);
            let violations = vec![if point.has[0] { (-10.0 * distance).exp() } else { 0.0 }; seeds.len()];
            let measured = Measured { own: violations.clone(), baseline: vec![0.0; seeds.len()], violations };
            Some(Judged { measured, mechanism: Mechanism::SmallWindow })
        };
        Ok(Some(points.iter().map(one).collect()))
    }
}

#[test]
fn it_comes_closer_to_a_peak_than_random_points() {
    let peak = Peak(Space::parse(SPACE, "planted.toml").unwrap());
    let worst = |seed, is_random| {
        let mut explorer = Explorer::new(&peak.0, seed, ASKED.limit, is_random, Vec::new());
        while explorer.generations < 30 {
            assert!(explorer.step(&peak).unwrap());
        }
        explorer.archive.ranked()[0].1.violation
    };
    let closer = (1..=10).filter(|&seed| worst(seed, false) > worst(seed, true)).count();
    assert!(closer >= 9, "{closer} of 10");
}

#[test]
fn what_is_stopped_counts_for_nothing() {
    let planted = Planted { most_calls: 3, ..Planted::new() };
    let mut explorer = Explorer::new(&planted.space, 1, ASKED.limit, false, Vec::new());
    while explorer.step(&planted).unwrap() {}
    // Two calls are a generation: its points, and the worst of them with more seeds.
    assert_eq!(explorer.generations, 1);
    let mut one = Explorer::new(&planted.space, 1, ASKED.limit, false, Vec::new());
    assert!(one.step(&Planted::new()).unwrap());
    assert_eq!(explorer.archive.ranked(), one.archive.ranked());
    let settled = settle(&planted.space, &explorer, &planted, &ASKED, |_, _| {}).unwrap();
    assert!(settled.finds.is_empty() && settled.left > 0);
}
