// SPDX-License-Identifier: MIT OR Apache-2.0
//! Headers of users' own: they are the controllers that they say they are, and what is wrong with one is said where it can be mended.
//!
//! Loaded headers stay, and their names must differ: each test has names of its own.
#![cfg(feature = "own")]

use std::{fs, path::PathBuf, sync::Arc};

use proptest::{prelude::*, test_runner::RngSeed};
use tandem_controllers::{
    Ack, Conn, Controller, INFINITE_SSTHRESH, Instance, MAX_WINDOW, NamedError, Params, Reason, Signal, State, find,
    own::{HEADERS, OwnError, is_header, named, open, templates},
};
use tempfile::TempDir;

/// The header that `tandem new` writes.
fn template(name: &str) -> String {
    let [(_, header), ..] = templates(name);
    header
}

/// A folder with headers.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The template, called otherwise and changed.
    fn of_template(&self, name: &str, change: impl Fn(String) -> String) -> PathBuf {
        self.write(&format!("{name}.h"), &change(template(name)))
    }

    /// What is wrong with the template, changed so.
    fn wrong(&self, name: &str, from: &str, to: &str) -> String {
        let path = self.of_template(name, |text| {
            assert!(text.contains(from), "the template has no `{from}`");
            text.replacen(from, to, 1)
        });
        let message = open(&path).expect_err("it must not load").to_string();
        message.replace(&self.0.path().display().to_string(), ".")
    }
}

/// The first line of the template that has this, from 1.
fn line_of(part: &str) -> usize {
    1 + template("mine").lines().position(|line| line.contains(part)).unwrap()
}

fn one_of_ours(name: &str) -> &'static str {
    HEADERS.iter().find(|(file, _)| *file == format!("{name}.h")).unwrap().1
}

#[test]
fn a_path_has_a_slash_and_ends_in_h() {
    assert!(["./mine.h", "a/b.h", "/mine.h", "../mine.h"].into_iter().all(is_header));
    assert!(!["mine.h", "mine", "./mine", "./mine.c", "reno"].into_iter().any(is_header));
}

#[test]
fn all_that_the_headers_include_is_part_of_the_program() {
    let included =
        HEADERS.iter().flat_map(|(_, text)| text.lines()).filter_map(|line| line.strip_prefix("#include \""));
    for name in included.map(|rest| rest.split('"').next().unwrap()) {
        assert!(HEADERS.iter().any(|(file, _)| *file == name), "{name}");
    }
}

/// A call of the contract.
#[derive(Debug, Clone)]
enum Call {
    Ack { packets: u32, rtt_us: u32 },
    Lose(Reason),
    Undo,
    Restart,
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        8 => (1..64u32, 0..400_000u32).prop_map(|(packets, rtt_us)| Call::Ack { packets, rtt_us }),
        1 => any::<bool>().prop_map(|mark| Call::Lose(if mark { Reason::Mark } else { Reason::Loss })),
        1 => Just(Call::Undo),
        1 => Just(Call::Restart),
    ]
}

/// All that a controller has become after these calls.
fn after(controller: &'static Controller, calls: &[Call]) -> ([u64; 13], Conn) {
    let (mut conn, mut delivered) = (
        Conn {
            snd_cwnd: 10,
            snd_ssthresh: INFINITE_SSTHRESH,
            snd_cwnd_clamp: MAX_WINDOW,
            mss: 1448,
            is_cwnd_limited: 1,
            ..Conn::default()
        },
        0,
    );
    let mut instance = Instance::new(&Arc::new(Params::new(controller)), &mut conn);
    for call in calls {
        conn.now_us += 1000;
        match call {
            Call::Ack { packets, rtt_us } => {
                delivered += packets;
                let ack =
                    Ack { pkts_acked: *packets, rtt_us: *rtt_us, delivered, acked_sacked: *packets, ..Ack::default() };
                instance.pkts_acked(&mut conn, &ack);
                instance.cong_avoid(&mut conn, *packets);
            }
            Call::Lose(reason) => {
                conn.snd_ssthresh = instance.ssthresh(&conn, *reason);
                instance.set_state(&mut conn, State::Recovery);
                conn.snd_cwnd = conn.snd_ssthresh;
                instance.set_state(&mut conn, State::Open);
            }
            Call::Undo => conn.snd_cwnd = instance.undo_cwnd(&conn),
            Call::Restart => instance.restart(&mut conn),
        }
    }
    (*instance.state(), conn)
}

/// Ours, called otherwise, and loaded from a file.
fn copy_of(place: &Place, ours: &str, name: &str, more: &str) -> &'static Controller {
    let text = one_of_ours(ours).replace(&format!("{ours}_"), &format!("{name}_"));
    let text = text.replace(&format!("struct {ours} "), &format!("struct {name} "));
    let text = text.replace(&format!("({ours})"), &format!("({name})"));
    open(&place.write(&format!("{name}.h"), &format!("{more}{text}"))).unwrap()
}

#[test]
fn a_copy_of_ours_does_what_ours_does() {
    let place = Place::new();
    let marks = "#define TANDEM_TRAITS TANDEM_COUNTS_MARKS\n#define TANDEM_SIGNAL MARKS\n";
    for (ours, name, more) in
        [("reno", "own_reno", ""), ("westwood", "own_westwood", ""), ("dctcp", "own_dctcp", marks)]
    {
        let (copy, ours) = (copy_of(&place, ours, name, more), find(ours).unwrap());
        assert_eq!(copy.params().collect::<Vec<_>>(), ours.params().collect::<Vec<_>>());
        assert_eq!((copy.state_bytes(), copy.signal), (ours.state_bytes(), ours.signal));
        assert_eq!((copy.counts_marks(), copy.owns_window()), (ours.counts_marks(), ours.owns_window()));
        let config =
            ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() };
        proptest!(config, |(calls in prop::collection::vec(call(), 1..200))| {
            prop_assert_eq!(after(copy, &calls), after(ours, &calls));
        });
    }
}

/// 100 packets ACKed at a window of 100 are a round trip. 700 of 1000 are what `kept` = 0.7 leaves.
#[test]
fn the_template_adds_and_multiplies_as_its_parameters_say() {
    let place = Place::new();
    let controller = open(&place.of_template("own_aimd", |text| text)).unwrap();
    assert_eq!((controller.name, controller.signal), ("own_aimd", Signal::Loss));
    let mut params = Params::new(controller);
    params.set("step", 4.0).unwrap();
    params.set("kept", 0.7).unwrap();
    let usual = Conn { snd_cwnd: 100, snd_ssthresh: 50, snd_cwnd_clamp: 5000, is_cwnd_limited: 1, ..Conn::default() };
    let mut conn = usual;
    let mut instance = Instance::new(&Arc::new(params), &mut conn);
    (0..100).for_each(|_| instance.cong_avoid(&mut conn, 1));
    assert!((103..=104).contains(&conn.snd_cwnd), "{}", conn.snd_cwnd);
    let before_loss = Conn { snd_cwnd: 1000, ..usual };
    assert!((699..=700).contains(&instance.ssthresh(&before_loss, Reason::Loss)));
    assert_eq!(instance.undo_cwnd(&Conn { snd_cwnd: 700, ..usual }), 1000);
}

#[test]
fn a_header_is_compiled_once_and_again_when_it_or_what_it_includes_changes() {
    let place = Place::new();
    place.write("own_part.h", "#define OWN_STEP 1\n");
    let include =
        |text: String| text.replace("#include \"growth.h\"", "#include \"growth.h\"\n#include \"own_part.h\"");
    let path = place.of_template("own_twice", |text| include(text).replace("P(step, 1, 1,", "P(step, 1, OWN_STEP,"));
    let step = |controller: &'static Controller| Params::new(controller).get("step");
    let first = open(&path).unwrap();
    assert!(std::ptr::eq(first, open(&path).unwrap()));
    assert!(std::ptr::eq(first, find("own_twice").unwrap()));

    place.write("own_part.h", "/* the same */\n#define OWN_STEP 1\n");
    assert!(std::ptr::eq(first, open(&path).unwrap()), "a comment changes nothing");

    place.write("own_part.h", "#define OWN_STEP 3\n");
    let second = open(&path).unwrap();
    assert_eq!((step(first), step(second)), (Some(1.0), Some(3.0)));
    assert_ne!(first.arithmetic, second.arithmetic);
    assert!(std::ptr::eq(second, find("own_twice").unwrap()));
}

#[test]
fn names_are_looked_for_beside_the_file_that_has_them() {
    let place = Place::new();
    place.write("below/own_below.h", &template("own_below"));
    let found = named("./below/own_below.h", place.0.path()).unwrap();
    assert_eq!(found.own_header(), Some(&*place.0.path().canonicalize().unwrap().join("below/own_below.h")));
    assert!(std::ptr::eq(named("reno", place.0.path()).unwrap(), find("reno").unwrap()));
    assert!(matches!(named("./own_below.h", place.0.path()), Err(NamedError::Own(OwnError::NotThere { .. }))));
}

#[test]
fn names_that_mean_two_things_are_refused() {
    let place = Place::new();
    let text = template("own_same");
    let first = open(&place.write("a/own_same.h", &text)).unwrap();
    // The same header at another place is the same.
    assert!(std::ptr::eq(first, open(&place.write("b/own_same.h", &text)).unwrap()));
    let other = place.write("c/own_same.h", &text.replace("P(step, 1, 1,", "P(step, 1, 2,"));
    let message = open(&other).unwrap_err().to_string();
    assert!(message.contains("c/own_same.h` have the same name"), "{message}");

    for ours in ["reno", "growth", "controller"] {
        let message = open(&place.write(&format!("{ours}.h"), "")).unwrap_err().to_string();
        assert!(message.ends_with("give yours another name, and its functions with it"), "{message}");
    }
    for name in ["my-cc", "9lives", "", "a_name_that_is_too_long", "für"] {
        let error = open(&place.write(&format!("{name}.h"), "")).unwrap_err();
        assert!(matches!(error, OwnError::BadName { .. }), "{name}: {error}");
    }
}

#[test]
fn files_that_are_none_are_refused() {
    let place = Place::new();
    let error = open(&place.0.path().join("own_none.h")).unwrap_err();
    assert!(error.to_string().contains("is not there; `tandem new own_none` writes"), "{error}");
    fs::create_dir(place.0.path().join("own_folder.h")).unwrap();
    assert!(matches!(open(&place.0.path().join("own_folder.h")), Err(OwnError::Unreadable { .. })));
}

#[test]
fn a_syntax_error_names_the_users_line() {
    let message = Place::new().wrong("own_syntax", "s->prior_cwnd = c->snd_cwnd;\n}", "s->prior_cwnd = c->snd_cwnd\n}");
    let line = line_of("s->prior_cwnd = c->snd_cwnd;");
    assert!(message.starts_with(&format!("`./own_syntax.h` does not compile:\n  ./own_syntax.h:{line}:")), "{message}");
    assert!(message.contains("expected"), "{message}");
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new();
    let message = place.wrong("own_lacks", "u32 own_lacks_undo_cwnd", "u32 own_lacks_undo");
    assert!(message.starts_with("`./own_lacks.h` lacks `own_lacks_undo_cwnd`:"), "{message}");
    let empty = open(&place.write("own_empty.h", "")).unwrap_err();
    let OwnError::Lacks { what, .. } = &empty else { panic!("{empty}") };
    for part in [
        "init",
        "pkts_acked",
        "cong_avoid",
        "ssthresh",
        "set_state",
        "restart",
        "undo_cwnd",
        "view",
        "PARAMS",
        "params",
    ] {
        assert!(what.contains(&format!("`own_empty_{part}`")), "{part}: {what:?}");
    }
    assert!(what.contains(&"`struct own_empty`".to_owned()), "{what:?}");
}

#[test]
fn a_state_that_is_too_large_is_measured() {
    let place = Place::new();
    let message = place.wrong("own_large", "u32 prior_cwnd;", "u64 more[11]; u32 prior_cwnd;");
    let line = line_of("struct mine {");
    let expected =
        format!("`./own_large.h:{line}`: `struct own_large` has 96 bytes, and a controller's state at most 88:");
    assert!(message.starts_with(&expected), "{message}");
    assert!(
        open(&place.of_template("own_full", |text| text.replace("u32 prior_cwnd;", "u32 prior_cwnd, more[21];")))
            .is_ok()
    );
}

#[test]
fn what_the_kernel_could_not_run_is_refused() {
    let place = Place::new();
    let floats =
        place.wrong("own_float", "max_u32(mul_div(c->snd_cwnd, p->kept, 1024), 2)", "(u32)(c->snd_cwnd * 0.7)");
    assert!(floats.contains("own_float.h") && floats.contains("does not compile"), "{floats}");
    let writes = place.wrong("own_writes", "return max_u32(c->snd_cwnd, s->prior_cwnd)", "return c->snd_cwnd = 2");
    assert!(writes.contains("  ./own_writes.h:") && writes.contains("read-only"), "{writes}");
    let owns = place.wrong("own_owns", "#define TANDEM_TRAITS 0", "#define TANDEM_TRAITS TANDEM_OWNS_WINDOW");
    assert!(owns.contains("TANDEM_OWNS_SLOW_START"), "{owns}");
    let trait_ = place.wrong("own_trait", "#define TANDEM_TRAITS 0", "#define TANDEM_TRAITS TANDEM_OWNS_ALL");
    assert!(trait_.contains("TANDEM_OWNS_ALL"), "{trait_}");
}

#[test]
fn warnings_in_the_users_lines_count() {
    let message = Place::new().wrong("own_unused", "s->prior_cwnd = c->snd_cwnd;\n}", "u32 forgotten;\n}");
    assert!(message.contains("  ./own_unused.h:") && message.contains("forgotten"), "{message}");
}

#[test]
fn parameters_must_make_sense() {
    let place = Place::new();
    let message = place.wrong("own_range", "P(step, 1, 1, 1, 64,", "P(step, 1, 0, 1, 64,");
    assert!(message.contains("`step` has a default, 0, that is not within 1 to 64"), "{message}");
    let message = place.wrong("own_scale", "P(step, 1, 1, 1, 64,", "P(step, 0, 1, 1, 64,");
    assert!(message.contains("`step` has a scale of 0"), "{message}");
    let message = place.wrong("own_five", "P(step, 1, 1, 1, 64,", "P(step, 1, 1, 64,");
    assert!(message.contains("own_five.h") && message.contains("requires 6 arguments"), "{message}");
}

/// It has the whole room, and no end of slow start beside it.
#[test]
fn a_header_may_own_the_window() {
    let place = Place::new();
    let owns = |text: String| {
        let traits = "#define TANDEM_TRAITS (TANDEM_OWNS_WINDOW | TANDEM_WANTS_RATE)\n#define TANDEM_OWNS_SLOW_START";
        let text = text.replace("#define TANDEM_TRAITS 0", traits).replace("SIGNAL LOSS", "SIGNAL MODEL");
        text.replace(
            "const struct tandem_conn *c, const struct tandem_ack *ack)\n{",
            "struct tandem_conn *c, const struct tandem_ack *ack)\n{\n\tc->snd_cwnd = 50;",
        )
    };
    let controller = open(&place.of_template("own_window", owns)).unwrap();
    assert!(controller.owns_window() && controller.wants_rate() && !controller.counts_marks());
    assert_eq!(controller.signal, Signal::Model);
    assert_eq!(controller.params().map(|p| p.name).collect::<Vec<_>>(), ["step", "kept"]);
    let (_, conn) = after(controller, &[Call::Ack { packets: 1, rtt_us: 1000 }]);
    assert_eq!(conn.snd_cwnd, 51, "slow start adds the packet that was ACKed");
    let large = place
        .of_template("own_window_2", |text| owns(text).replace("u32 prior_cwnd;", "u64 more[13]; u32 prior_cwnd;"));
    let message = open(&large).unwrap_err().to_string();
    assert!(
        message.contains("has 112 bytes, and a controller's state at most 104, which the kernel gives"),
        "{message}"
    );
}
