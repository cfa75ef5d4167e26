// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the files of a paper share: `paper.toml`, its parts, and files with several figures.

use std::{fs, path::Path};

use tandem_papers::{Experiment, Form, Source, find, ids, load};

const PAPER: &str = r#"cite = "A paper"
[scenario]
duration = "4s"
warmup = "1s"
[scenario.dumbbell]
rate = "10mbit"
queue = "20p"
[parts]
acks = "An ACK for every packet."
[parts.tcp]
controller = "reno"
recovery = "rate-halving"
[parts.today]
name = "today's TCP"
set = { "flows.*.recovery" = "prr" }
seeds = 2
"#;

const OWN: &str = r#"claim = "Nothing happens."
assumptions = [{ use = "acks" }, "The rest."]
[scenario]
warmup = "2s"
[scenario.dumbbell]
rtt = "20ms"
[[scenario.flows]]
use = "tcp"
[[scenario.flows]]
use = "tcp"
controller = "cubic"
[[scenario.flows]]
udp = { rate = "1mbit" }
[sweep]
label = "RTT, ms"
values = [10]
set = { "dumbbell.rtt" = "{}ms" }
[[curves]]
name = "first"
[[curves]]
name = "second"
measure = { kind = "goodput", groups = [1] }
[[variants]]
use = "today"
seeds = 3
[figures.rate]
title = "Goodput"
y = { label = "Mb/s" }
measure = { kind = "goodput" }
[[figures.rate.claims]]
text = "{curve} has some"
found = "{curve} has {}"
curve = ["first", "second"]
headline = true
above = 0.1
[figures.use]
title = "Use of the link"
y = { label = "%" }
measure = { kind = "utilisation" }
[[figures.use.claims]]
text = "It is used"
headline = true
curve = "first"
above = 50
"#;

fn read(own: &str, paper: Option<&str>) -> Result<Vec<Experiment>, String> {
    let own = Source { path: "own.toml", text: own };
    Experiment::read("x/own", own, paper.map(|text| Source { path: "paper.toml", text })).map_err(|e| e.to_string())
}

/// Written out by hand, as one file without a paper's.
#[test]
fn a_file_takes_what_it_does_not_say() {
    let both = read(OWN, Some(PAPER)).unwrap();
    assert_eq!(both.iter().map(|figure| &*figure.id).collect::<Vec<_>>(), ["x/rate", "x/use"]);
    let whole = r#"
        title = "Goodput"
        claim = "Nothing happens."
        assumptions = ["An ACK for every packet.", "The rest."]
        [scenario]
        duration = "4s"
        warmup = "2s"
        dumbbell = { rate = "10mbit", rtt = "20ms", queue = "20p" }
        flows = [
            { controller = "reno", recovery = "rate-halving" },
            { controller = "cubic", recovery = "rate-halving" },
            { udp = { rate = "1mbit" } },
        ]
        [sweep]
        label = "RTT, ms"
        values = [10]
        set = { "dumbbell.rtt" = "{}ms" }
        [y]
        label = "Mb/s"
        [measure]
        kind = "goodput"
        [[curves]]
        name = "first"
        [[curves]]
        name = "second"
        measure = { kind = "goodput", groups = [1] }
        [[claims]]
        text = "first has some"
        found = "first has {}"
        curve = "first"
        headline = true
        above = 0.1
        [[claims]]
        text = "second has some"
        found = "second has {}"
        curve = "second"
        headline = true
        above = 0.1
        [[variants]]
        name = "today's TCP"
        set = { "flows.*.recovery" = "prr" }
        seeds = 3
    "#;
    assert_eq!(both[0].table(), whole.parse().unwrap());
    let scenario = both[1].scenario_file(Form::Full, "first", "at 10").unwrap();
    assert!(scenario.contains("rtt = \"10ms\"") && scenario.contains("duration = \"4s\""), "{scenario}");
}

#[test]
fn errors_name_the_file_that_is_wrong() {
    for (from, to, place, message) in [
        ("queue = \"20p\"", "queue = 20", "paper.toml:7:9:", ""),
        ("rate = \"10mbit\"", "rate = \"10mbi\"", "paper.toml:6:8:", ""),
        ("warmup = \"2s\"", "warmup = \"9s\"", "paper.toml:3:12:", "longer than the warm-up, 9s"),
        ("seeds = 2", "seed = 2", "", "unknown field `seed`"),
        ("{ use = \"acks\" }", "{ use = \"ack\" }", "own.toml:2:24:", "no part `ack`; it has `acks`, `tcp`, `today`"),
        ("{ use = \"acks\" }", "{ use = \"acks\", also = 1 }", "own.toml:2:24:", "no other key"),
        ("{ use = \"acks\" }", "{ use = 1 }", "own.toml:2:24:", "the name of a part"),
        ("flows.*.recovery", "flows.*.recover", "paper.toml:15:9:", "there is no `flows.*.recover`"),
        ("[\"first\", \"second\"]", "[\"first\", 2]", "own.toml:33:19:", "named by a text"),
        ("[\"first\", \"second\"]", "[\"first\", \"third\"]", "own.toml:", "no curve `third`"),
        ("cite = \"A paper\"", "cite = A paper", "paper.toml:1:8:", ""),
    ] {
        assert!(OWN.contains(from) || PAPER.contains(from), "{from}");
        let error = read(&OWN.replace(from, to), Some(&PAPER.replace(from, to))).expect_err(to);
        assert!(error.starts_with(place) && error.contains(message), "{to}: {error}");
    }
    let error = read(OWN, None).unwrap_err();
    assert!(error.starts_with("own.toml:2:24: there is no paper.toml"), "{error}");
    let error = read("figures = 3", None).unwrap_err();
    assert!(error.starts_with("own.toml:1:11: figures are tables with names"), "{error}");
    let error = Experiment::parse("x", "x.toml", OWN).unwrap_err().to_string();
    assert!(error.contains("several figures"), "{error}");
}

/// Keys of the part that is used come after those of the part that uses it.
#[test]
fn a_part_uses_another() {
    let then =
        |then: &str| PAPER.replace("recovery = \"rate-halving\"", &format!("use = \"then\"\n[parts.then]\n{then}"));
    let tables = |paper: &str| read(OWN, Some(paper)).map(|figures| figures[0].table());
    let split = then("controller = \"vegas\"\nrecovery = \"rate-halving\"");
    assert_eq!(tables(&split), tables(PAPER));
    let error = tables(&then("use = \"tcp\"")).unwrap_err();
    assert!(error.contains("in a circle"), "{error}");
}

#[test]
fn a_file_on_disk_has_its_paper_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    fs::write(&path, OWN).unwrap();
    assert!(load(&path).unwrap_err().to_string().contains("there is no paper.toml"));
    fs::write(folder.path().join("paper.toml"), PAPER).unwrap();
    let ids: Vec<String> = load(&path).unwrap().into_iter().map(|figure| figure.id).collect();
    assert_eq!(ids, ["rate", "use"]);
    let error = load(&folder.path().join("paper.toml")).unwrap_err().to_string();
    assert!(error.contains("name one of those"), "{error}");
}

/// Those that come with the program, too; and nothing in a paper's file is left over.
#[test]
fn the_papers_files_share_only_what_they_use() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("papers");
    for folder in ["s0", "s1", "s2", "s3", "s4"].map(|paper| papers.join(paper)) {
        let paper: toml::Table = fs::read_to_string(folder.join("paper.toml")).unwrap().parse().unwrap();
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let all: String = files.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap()).collect();
        for part in paper["parts"].as_table().unwrap().keys() {
            assert!(all.contains(&format!("use = \"{part}\"")), "{}: {part} is unused", folder.display());
        }
    }
    let all: Vec<&str> = ids().collect();
    assert!(
        all.contains(&"s4/queue-jain") && all.iter().all(|id| all.iter().filter(|other| *other == id).count() == 1)
    );
    assert_eq!(find("s4/queue-jain").unwrap().unwrap().id, "s4/queue-jain");
}

/// The files in claims/ are run by their paths: each names claims, and a headline among them.
#[test]
fn the_claims_files_are_good() {
    let folder = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("claims")).unwrap();
    let figures: Vec<usize> = folder.map(|entry| load(&entry.unwrap().path()).unwrap().len()).collect();
    assert!(figures.len() >= 3 && figures.iter().all(|&count| count >= 2), "{figures:?}");
}
