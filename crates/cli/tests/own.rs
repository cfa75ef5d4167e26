// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers of users' own: written by `tandem new`, named by their paths, in every command that names controllers.

mod common;

use std::{fs, process::Command};

use common::{Finished, Place, QUICK, QUICK_FILE};
use serde_json::Value;
use tandem_testing::output;

/// A place where `tandem new mine` was run.
fn place(new: Place) -> Place {
    new.succeed("new mine");
    new
}

/// Changes the header that is there.
fn change(place: &Place, from: &str, to: &str) {
    let text = place.read("mine.h");
    assert!(text.contains(from), "the header has no `{from}`");
    place.write("mine.h", &text.replacen(from, to, 1));
}

fn refused(place: &Place, arguments: &str) -> String {
    let finished = place.tandem(arguments);
    assert_eq!(finished.status, Some(2), "{arguments}\n{}", finished.err);
    finished.err
}

/// What a run's own flows came to, seed by seed.
fn figures(run: &Value) -> [&Value; 2] {
    [&run["groups"][0]["goodput_by_seed_mbps"], &run["groups"][0]["retransmits"]]
}

/// What the template says of itself is what RFC 5681 says of Reno.
#[test]
fn the_header_that_new_writes_is_reno_to_the_bit_until_it_is_changed() {
    let place = place(Place::new());
    let compare = format!("compare {QUICK} --seeds 2 --json --no-report ./mine.h ./mine.h@step=8 reno");
    let results: Value = serde_json::from_str(&place.succeed(&compare).out).unwrap();
    let runs = results["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| &run["name"]).collect::<Vec<_>>(), ["mine", "mine@step=8", "reno"]);
    assert_eq!(runs[0]["groups"][0]["controller"], "mine");
    assert_eq!(figures(&runs[0]), figures(&runs[2]));
    assert_ne!(figures(&runs[1]), figures(&runs[2]));
}

/// Its golden traces hold until the law is changed, and then the lines that differ are told.
#[test]
fn the_traces_that_new_writes_are_of_its_header() {
    let place = place(Place::new());
    let played = place.succeed("conform mine.trace");
    assert_eq!(played.out, "7 stories, 10 checks: all match\n");
    change(
        &place,
        "additive_increase(c, c->snd_cwnd / p->step, acked)",
        "additive_increase(c, 2 * c->snd_cwnd / p->step, acked)",
    );
    let changed = place.tandem("conform mine.trace --json");
    assert_eq!(changed.status, Some(1), "{}", changed.err);
    assert!(changed.err.contains("3 of 10 lines do not match"), "{}", changed.err);
    let verdict: Value = serde_json::from_str(&changed.out).unwrap();
    let what: Vec<&str> = verdict["problems"].as_array().unwrap().iter().map(|p| p["what"].as_str().unwrap()).collect();
    // 10 packets ACKed are half of what a packet takes now; 16 * 2 / 4 = 8 of which 4 are ACKed.
    assert_eq!((what[0], what[2], &verdict["conforms"]), ("cwnd is 10", "cwnd is 16", &false.into()));
    let line = place.read("mine.trace").lines().position(|line| line.starts_with("expect cwnd=11")).unwrap() + 1;
    assert_eq!(verdict["problems"][0]["line"], line);
    assert!(place.read("mine.md").starts_with("# mine\n"));
}

#[test]
fn new_overwrites_nothing_and_takes_no_name_of_ours() {
    let place = place(Place::new());
    fs::remove_file(place.path("mine.h")).unwrap();
    assert!(refused(&place, "new mine").contains("`mine.trace` is there already"));
    place.write("mine.h", "/* work of a day */");
    assert!(refused(&place, "new mine").contains("`mine.h` is there already"));
    assert_eq!(place.read("mine.h"), "/* work of a day */");
    for name in ["reno", "growth"] {
        assert!(refused(&place, &format!("new {name}")).contains("give yours another name"), "{name}");
    }
    assert!(refused(&place, "new my-cc").contains("1 to 15 letters, digits or `_`"));
    let told = place.succeed("new ideas/gentle.h").out;
    assert!(told.contains("ideas/gentle.h reno"), "{told}");
    place.succeed(&format!("compare {QUICK} --seeds 1 --no-report ideas/gentle.h"));
}

/// Relative to the file that names them, as its other paths are; `--set` is relative to where the command runs.
#[test]
fn scenario_files_name_headers_beside_them() {
    let place = Place::new();
    place.succeed("new below/mine");
    let file = QUICK_FILE.join("\n").replace("\"reno\"", "\"./mine.h\"");
    let run = |text: String, more: &str| {
        place.write("below/s.toml", &text);
        let out = place.succeed(&format!("run below/s.toml --json --no-report {more}")).out;
        let results: Value = serde_json::from_str(&out).unwrap();
        figures(&results["runs"][0]).map(Value::clone)
    };
    let usual = run(file.clone(), "");
    let own = run(file.replace("./mine.h", "./mine.h@step=8"), "");
    let set = run(format!("{file}\n[set.\"./mine.h\"]\nstep = 8\n"), "");
    let given = run(file.clone(), "--set below/mine.h.step=8");
    assert_ne!(usual, own);
    assert_eq!([&set, &given], [&own; 2]);

    let wrong = place.tandem("run below/s.toml --set below/mine.h.pace=8");
    assert!(wrong.err.contains("controller `mine` has no parameter `pace`; it has `step`, `kept`"), "{}", wrong.err);
    place.write("below/s.toml", &file.replace("./mine.h", "./gone.h"));
    let gone = refused(&place, "run below/s.toml");
    assert!(gone.contains("below/s.toml:8:14: `below/gone.h` is not there"), "{gone}");
}

/// Its text is in the keys of finished runs, and comments are not.
#[test]
fn a_changed_header_is_another_controller_to_the_store() {
    let place = place(Place::with_store());
    let compare = format!("compare {QUICK} --seeds 1 --json --no-report ./mine.h");
    let run = || place.succeed(&compare).out;
    let first = run();
    change(&place, "/* Whenever somebody looks", "/* Whenever one looks");
    assert_eq!(run(), first);
    assert_eq!(place.stored_runs(), 1);
    change(&place, "p->kept, 1024), 2)", "p->kept, 1024), 3)");
    run();
    assert_eq!(place.stored_runs(), 2);
    // What it includes counts, too.
    change(&place, "#include \"growth.h\"", "#include \"growth.h\"\n#include \"part.h\"");
    change(&place, "p->kept, 1024), 3)", "p->kept, 1024), LEAST)");
    place.write("part.h", "#define LEAST 3\n");
    run();
    assert_eq!(place.stored_runs(), 2, "the same text, by another way");
    place.write("part.h", "#define LEAST 4\n");
    run();
    assert_eq!(place.stored_runs(), 3);
}

#[test]
fn sweeps_vary_headers_and_their_parameters() {
    let place = place(Place::new());
    let scenario =
        QUICK_FILE.join("\n").replace("[dumbbell]", "[scenario.dumbbell]").replace("[[flows]]", "[[scenario.flows]]");
    place.write(
        "sweep.toml",
        &format!(
            "[scenario]\n{scenario}\n[grid]\n'flows[0].controller' = ['./mine.h', 'reno']\nset.'./mine.h'.step = [1, 4]\n"
        ),
    );
    let sweep = |expected: &str| {
        let out = place.succeed("sweep sweep.toml --out set --no-report").out;
        assert!(out.contains(expected), "{out}");
    };
    // `step` does nothing to reno, which is one point.
    sweep("3 are new, 0 were there");
    sweep("0 are new, 3 were there");
    change(&place, "p->kept, 1024), 2)", "p->kept, 1024), 3)");
    sweep("2 are new, 1 were there");
}

/// What the program says with another compiler.
fn with_compiler(place: &Place, cc: &str) -> Finished {
    let mut command: Command = place.command(&format!("compare {QUICK} --seeds 1 --no-report ./mine.h"));
    output(command.env("CC", cc)).into()
}

#[test]
fn a_compiler_that_is_missing_is_named_and_the_mend() {
    let place = place(Place::new());
    let missing = with_compiler(&place, "no-such-cc");
    assert_eq!(missing.status, Some(2));
    assert!(missing.err.contains("there is no `no-such-cc`: install gcc or clang"), "{}", missing.err);
    for cc in ["gcc", "clang-16", "gcc -g0"] {
        let finished = with_compiler(&place, cc);
        assert_eq!(finished.status, Some(0), "{cc}: {}", finished.err);
    }
}

/// A processor would end the program without a word.
#[test]
fn a_division_by_zero_ends_the_run_with_its_line() {
    let place = place(Place::new());
    change(&place, "c->snd_cwnd / p->step, acked", "c->snd_cwnd / (p->step - 1), acked");
    let line = 1 + place.read("mine.h").lines().position(|line| line.contains("(p->step - 1)")).unwrap();
    for cc in ["gcc", "clang-16"] {
        let finished = with_compiler(&place, cc);
        assert_eq!(finished.status, Some(1), "{cc}: {}", finished.err);
        assert!(
            finished.err.contains(&format!("mine.h:{line}:")) && finished.err.contains("a division by 0"),
            "{}",
            finished.err
        );
    }
}

#[test]
fn clang_names_lines_as_gcc_does() {
    let place = place(Place::new());
    change(&place, "s->prior_cwnd = c->snd_cwnd;\n}", "s->prior_cwnd = c->snd_cwnd\n}");
    for cc in ["gcc", "clang-16"] {
        let finished = with_compiler(&place, cc);
        assert!(finished.err.contains("`./mine.h` does not compile:\n  ./mine.h:"), "{cc}: {}", finished.err);
    }
    change(&place, "mine_view", "mine_shown");
    for cc in ["gcc", "clang-16"] {
        let finished = with_compiler(&place, cc);
        assert!(finished.err.contains("`./mine.h` lacks `mine_view`"), "{cc}: {}", finished.err);
    }
}

/// Nothing is compiled that is not named by a path: results that come from elsewhere name controllers, too.
#[test]
fn a_bare_name_compiles_nothing() {
    let place = place(Place::new());
    for name in ["mine", "mine.h"] {
        let message = refused(&place, &format!("compare {QUICK} {name}"));
        assert!(message.contains(&format!("unknown controller `{name}`")), "{message}");
    }
    assert!(refused(&place, &format!("compare {QUICK} mine.h")).contains("named by a path: `./mine.h`"));
}

/// The temporary folder is gone when the library is loaded.
#[test]
fn nothing_is_left_in_the_folder_for_temporary_files() {
    let place = place(Place::new());
    fs::create_dir(place.path("tmp")).unwrap();
    let mut command = place.command(&format!("compare {QUICK} --seeds 1 --no-report ./mine.h"));
    let finished: Finished = output(command.env("TMPDIR", place.path("tmp"))).into();
    assert_eq!(finished.status, Some(0), "{}", finished.err);
    assert_eq!(place.files("tmp"), [""; 0]);
}

#[cfg(feature = "quic")]
#[test]
fn headers_run_over_a_quic_stack() {
    let place = place(Place::new());
    let compare = format!("compare {QUICK} --seeds 1 --json --no-report --engine quic ./mine.h reno");
    let results: Value = serde_json::from_str(&place.succeed(&compare).out).unwrap();
    let runs = &results["runs"];
    assert_eq!(figures(&runs[0]), figures(&runs[1]));
}

/// Where it wins, the commands name its path: its name alone means nothing to them.
#[test]
fn advice_names_the_header_by_its_path() {
    let place = place(Place::new());
    // With random losses a faster growth is worth a lot; the delay that it adds is allowed.
    let path = "--rate 20mbit --rtt 40ms --queue 1bdp --loss 1e-3 --neighbours none --max-added-delay 1s";
    let advise =
        format!("advise {path} --default reno --seeds 5 --duration 20s --warmup 4s --no-report ./mine.h@step=8");
    let out = place.succeed(&advise).out;
    assert!(out.contains("run `mine@step=8`"), "{out}");
    assert!(
        out.contains(" ./mine.h@step=8") && !out.contains(" load mine") && !out.contains("--controller mine"),
        "{out}"
    );
}
