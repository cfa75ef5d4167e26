// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which scenarios a file makes, and the errors in it with their places.

#[allow(dead_code)]
mod common;

use std::path::Path;

use common::{SMALL, sweep};
use tandem_sim::Sim;
use tandem_sweep::{Kind, Sweep};

fn values(text: &str) -> Vec<String> {
    let sweep = sweep(text);
    let shown = |value: &Option<toml::Value>| value.as_ref().map_or("-".to_owned(), |v| v.to_string().replace('"', ""));
    let task = |task: tandem_sweep::Task| {
        format!("{} {}", task.values.iter().map(shown).collect::<Vec<_>>().join(" "), task.seed)
    };
    sweep.tasks(&Sim).unwrap().map(|t| task(t.unwrap())).collect()
}

#[test]
fn a_grid_is_every_combination() {
    assert_eq!(
        values(SMALL),
        [
            "5mbit reno 1",
            "5mbit reno 2",
            "5mbit compound 1",
            "5mbit compound 2",
            "10mbit reno 1",
            "10mbit reno 2",
            "10mbit compound 1",
            "10mbit compound 2",
        ]
    );
}

#[test]
fn a_list_and_a_grid_are_every_combination_of_both() {
    let text = SMALL.replace("seeds = 2", "seeds = 1").replace("\"dumbbell.rate\" = [\"5mbit\", \"10mbit\"]\n", "")
        + "[[list]]\n'dumbbell.rate' = '1mbit'\ndumbbell.rtt = '10ms'\n[[list]]\n'dumbbell.rate' = '2mbit'\n";
    assert_eq!(values(&text), ["10ms 1mbit reno 1", "10ms 1mbit compound 1", "- 2mbit reno 1", "- 2mbit compound 1"]);
}

#[test]
fn random_points_stay_when_more_are_drawn() {
    let text = |points: usize| {
        SMALL.split("[grid]").next().unwrap().replace("seeds = 2", "seeds = 1")
            + &format!(
                "[random]\npoints = {points}\nseed = 7\n[random.values]\n\
                \"dumbbell.rate\" = {{ from = \"1mbit\", to = \"1gbit\", scale = \"log\" }}\n\
                \"dumbbell.loss\" = {{ from = 0.0, to = 0.01 }}\n\"flows[0].count\" = {{ from = 1, to = 3 }}\n"
            )
    };
    let (few, many) = (values(&text(5)), values(&text(50)));
    assert_eq!((few.len(), many.len()), (5, 50));
    assert_eq!(few, many[..5]);
    let names: Vec<String> = sweep(&text(2)).columns().map(|column| column.name.clone()).collect();
    assert_eq!(names, ["dumbbell.loss", "dumbbell.rate_bps", "flows[0].count"]);
    assert!(sweep(&text(2)).columns().all(|column| matches!(column.kind, Kind::Number(_))));
}

/// Compound's gamma is nothing to Reno: its points with each gamma are the same.
#[test]
fn parameters_count_only_where_a_flow_has_them() {
    let text = SMALL.replace("seeds = 2", "seeds = 1").replace("[\"5mbit\", \"10mbit\"]", "[\"5mbit\"]")
        + "\"set.compound.gamma\" = [10, 20]\n";
    assert_eq!(values(&text), ["5mbit reno - 1", "5mbit compound 10 1", "5mbit compound 20 1"]);
}

#[test]
fn what_a_text_looks_like_does_not_change_its_keys() {
    let keys = |text: &str| sweep(text).tasks(&Sim).unwrap().map(|task| task.unwrap().key).collect::<Vec<_>>();
    let other = SMALL.replace("duration = \"600ms\"\nwarmup", "name = 'x' # a name\nduration = '600ms'\n\nwarmup");
    assert_eq!(keys(SMALL), keys(&other));
    assert_ne!(keys(SMALL), keys(&SMALL.replace("600ms", "700ms")));
}

#[test]
fn errors_have_their_place() {
    let error = |text: &str| {
        let sweep = Sweep::parse(text, "test.toml", Path::new(""));
        match sweep.map(|sweep| sweep.survey(&Sim, false).map(|survey| survey.tasks)) {
            Err(e) => e.to_string(),
            Ok(Err(e)) => e.to_string(),
            Ok(Ok(tasks)) => panic!("{tasks} tasks"),
        }
    };
    let with = |from: &str, to: &str| {
        assert!(SMALL.contains(from), "{from}");
        error(&SMALL.replace(from, to))
    };
    for (message, expected) in [
        (with("\"5mbit\", ", "\"5mbitt\", "), "test.toml:13:19: `dumbbell.rate` = \"5mbitt\": rate `5mbitt` has"),
        (
            with("\"dumbbell.rate\"", "\"dumbbell.rat\""),
            "test.toml:13:18: `dumbbell.rat` = \"5mbit\": unknown field `rat`",
        ),
        (with("flows[0].c", "flows[3].c"), "test.toml:14:25: `flows[3].controller`: there is no `flows[3]`"),
        (
            with("\"compound\"]", "\"compuond\"]"),
            "test.toml:14:25: `flows[0].controller` = \"compuond\": unknown controller",
        ),
        (with("20ms", "20mss"), "test.toml:8:7: time `20mss`"),
        (with("20ms", "15s"), "test.toml:8:7: `reno` has an RTT of 15s"),
        (with("[grid]", "[gird]"), "test.toml:12:1: unknown key `gird`"),
        (with("[\"5mbit\", \"10mbit\"]", "[]"), "test.toml:13:19: `dumbbell.rate` needs a list of values"),
        (with("\"dumbbell.rate\"", "seeds"), "test.toml:13:9: `seeds` cannot be swept"),
        (with("seeds = 2", "seeds = 0"), "test.toml:5:9: `seeds` must be a whole number from 1"),
        (
            with("\"compound\"]", "\"kernel:cubic\"]"),
            "`flows[0].controller` = \"kernel:cubic\": `kernel:cubic` is the kernel's own",
        ),
        (error(&(SMALL.to_owned() + "'set.cubic.c' = [0.5]\n")), "test.toml:15:17: `set.cubic.c` does nothing"),
        (error("[grid]\na = [1]\n"), "test.toml: there is no scenario"),
        (error("[scenario]\nduration = '1s'\n"), "test.toml: nothing varies"),
    ] {
        assert!(message.contains(expected), "{message}\n  instead of\n{expected}");
    }
}
