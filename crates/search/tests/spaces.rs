// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of spaces: those that come with the program are good, and bad ones are refused with a line and the fix.

use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use tandem_papers::SPACES;
use tandem_search::Space;

const SMALL: &str = r#"
title = "Small"
[length]
round_trips = 100
packets_most = 50_000
[parameters]
rate = { from = "1mbit", to = "10mbit", scale = "log" }
rtt = { from = "10ms", to = "100ms" }
[scenario.dumbbell]
rate = "{rate}"
rtt = "{rtt}"
queue = "1bdp"
[[scenario.flows]]
controller = "contender"
[features.loss.parameters]
loss = { from = 1e-4, to = 0.01, scale = "log" }
[features.loss.scenario.dumbbell]
loss = "{loss}"
[features.bursts.parameters]
start = { from = 1e-4, to = 0.01, scale = "log" }
[features.bursts.scenario.dumbbell]
loss = { good_to_bad = "{start}", bad_to_good = 0.1 }
"#;

/// Each draws, mutates and moves points whose scenarios are all good, within the length that the file allows.
#[test]
fn every_point_of_the_presets_is_a_scenario() {
    for (id, _) in SPACES {
        let space = Space::named(id.strip_prefix("search/").unwrap()).unwrap();
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut point = space.draw(&mut rng);
        for i in 0..400 {
            point = match i % 3 {
                0 => space.draw(&mut rng),
                1 => space.mutate(&point, &space.draw(&mut rng), &mut rng),
                _ => space.neighbour(&point, 0.05, &mut rng),
            };
            let Some(scenario) = space.scenario(&point, "reno") else { continue };
            let scenario = scenario.unwrap_or_else(|e| panic!("{id}: {e}\n{:#?}", space.table(&point, "reno")));
            let packets = scenario.network.links[0].rate.bps as f64 * scenario.duration.as_secs_f64() / 12_000.0;
            assert!(packets <= 1.05 * space.length.packets_most, "{id}: {packets} packets");
            // So that another process can run it.
            let again = scenario.written().unwrap().read().unwrap_or_else(|e| panic!("{id}: {e}"));
            assert_eq!(again.meaning(), scenario.meaning(), "{id}");
        }
        assert!(space.path(&space.draw(&mut rng)).is_some(), "{id}: what is drawn can be afforded");
    }
}

#[test]
fn features_that_set_one_key_exclude_each_other() {
    let space = Space::parse(SMALL, "small.toml").unwrap();
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let points: Vec<_> = (0..200).map(|_| space.draw(&mut rng)).collect();
    assert!(points.iter().all(|point| !(point.has[0] && point.has[1])));
    for feature in 0..2 {
        assert!(points.iter().any(|point| point.has[feature]));
    }
}

#[test]
fn what_a_point_lacks_is_not_in_its_scenario() {
    let space = Space::parse(SMALL, "small.toml").unwrap();
    let mut point = space.draw(&mut Pcg64Mcg::seed_from_u64(1));
    point.has = vec![true, false];
    let with = toml::to_string(&space.table(&point, "vegas").unwrap()).unwrap();
    assert!(with.contains("[dumbbell.loss]\n") && with.contains("controller = \"vegas\""), "{with}");
    point.has = vec![false, false];
    assert!(!space.table(&point, "vegas").unwrap()["dumbbell"].as_table().unwrap().contains_key("loss"));
    assert_eq!(space.active(&point).count(), 2);
}

#[test]
fn bad_files_are_refused_where_they_are_wrong() {
    let error = |from: &str, to: &str| {
        assert!(SMALL.contains(from), "{from}");
        Space::parse(&SMALL.replacen(from, to, 1), "small.toml").unwrap_err().to_string()
    };
    for (from, to, line, part) in [
        ("title =", "titel =", 2, "unknown key `titel`"),
        ("round_trips = 100", "round_trips = 1", 4, "must be from 50"),
        ("packets_most = 50_000", "", 3, "`packets_most` must be"),
        ("from = \"10ms\", to = \"100ms\"", "from = \"10ms\", to = \"1ms\"", 8, "`to` must be above `from`"),
        ("from = \"10ms\", to = \"100ms\"", "from = \"10ms\", to = \"1mbit\"", 8, "same kind of unit"),
        ("rtt = { from", "rt = { from", 6, "[parameters] needs `rtt`"),
        ("queue = \"1bdp\"", "queue = \"{queue}\"", 12, "there is no parameter `queue` here"),
        ("queue = \"1bdp\"", "queue = \"{loss}\"", 12, "there is no parameter `loss` here"),
        ("queue = \"1bdp\"", "queue = \"{rate}+{rtt}\"", 12, "quantities of one kind"),
        ("loss = \"{loss}\"", "loss = 0.1", 16, "`loss` is used nowhere"),
        ("[features.loss.scenario.dumbbell]", "[features.loss.scenari.dumbbell]", 17, "unknown key `scenari`"),
        ("scale = \"log\" }\nrtt", "scale = \"lin\" }\nrtt", 7, "`scale` must be"),
    ] {
        let error = error(from, to);
        assert!(error.starts_with(&format!("small.toml:{line}:")) && error.contains(part), "{error}");
    }
    let error = Space::named("fixed-paht").unwrap_err().to_string();
    assert!(error.contains("there is no such space; there are changing-path"), "{error}");
    assert!(Space::named("./none.toml").unwrap_err().to_string().contains("cannot be read"));
}
