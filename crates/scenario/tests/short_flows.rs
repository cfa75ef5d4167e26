// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short flows in scenario files: what they mean, what may be wrong with them, and how long one takes alone.

use std::fs;

use tandem_scenario::{
    Scenario,
    file::{Overrides, load, parse},
    short_flows::{Arrivals, SizeList, Sizes},
};

fn text(short: &str) -> String {
    format!(
        "duration = \"60s\"\n[dumbbell]\nrate = \"12mbit\"\nrtt = \"20ms\"\nqueue = \"100p\"\n\
         [[flows]]\ncontroller = \"reno\"\ncount = 10\n{short}\n"
    )
}

fn read(short: &str) -> Result<Scenario, String> {
    parse(&text(short), "x.toml", "x", &Overrides::default()).map_err(|e| e.to_string())
}

fn arrivals(short: &str) -> Arrivals {
    read(short).unwrap().groups[0].source.short().unwrap().arrivals
}

#[track_caller]
fn per_second(short: &str, expected: f64) {
    let Arrivals::Poisson { per_second } = arrivals(short) else { panic!("{short}") };
    assert!((per_second / expected - 1.0).abs() < 1e-5, "{per_second}, expected {expected}");
}

/// 12 Mb/s carry 11.584 Mb/s of payload, 1 448 000 bytes a second. A tenth of it is in 14.48 transfers of 10 kB.
#[test]
fn a_load_is_a_share_of_the_payload_that_fits() {
    per_second(r#"short = { load = "10%", size = "10kB" }"#, 14.48);
    per_second(r#"short = { load = 0.1, size = "10kB" }"#, 14.48);
    per_second(r#"short = { per_second = 3, size = "10kB" }"#, 3.0);
    // The mean of a log-normal distribution is its median times e^(sigma^2 / 2): e^0.5 = 1.6487213.
    per_second(
        r#"short = { load = "10%", size = { kind = "lognormal", median = "10kB", sigma = 1 } }"#,
        14.48 / 1.6487213,
    );
    // That of a Pareto distribution is shape / (shape - 1) times the smallest: 3.
    per_second(r#"short = { load = "10%", size = { kind = "pareto", smallest = "10kB", shape = 1.5 } }"#, 14.48 / 3.0);
    // With shape 1 all classes [x, 2x) have equal data: up to e^2 times the smallest ln(e^2) of it, and what is cut off the same as one
    // smallest: 3 in all. 73.8905610 kB is e^2 times 10 kB.
    let cut =
        r#"short = { load = "10%", size = { kind = "pareto", smallest = "10kB", shape = 1, largest = "73890.561B" } }"#;
    let Arrivals::Poisson { per_second } = arrivals(cut) else { panic!() };
    assert!((per_second / (14.48 / 3.0) - 1.0).abs() < 1e-4, "{per_second}");
}

/// The inverse of the distribution at some points, by hand.
#[test]
fn quantiles() {
    let pareto = Sizes::Pareto { smallest_bytes: 1000, largest_bytes: 50_000, shape: 2.0 };
    let at = |share| pareto.quantile_bytes(share, |_| panic!("no normal distribution"));
    assert_eq!([at(0.0), at(0.75), at(0.99), at(0.9999)], [1000, 2000, 10_000, 50_000]);
    let log_normal = Sizes::LogNormal { median_bytes: 1000, sigma: 2.0 };
    // e^2 = 7.389.
    assert_eq!(log_normal.quantile_bytes(0.8413, |_| 1.0), 7389);
    let listed = Sizes::Listed(SizeList::parse("1kB\n# a comment\n\n 2kB \n3kB\n4kB", &"x").unwrap());
    assert_eq!(
        [0.0, 0.249, 0.25, 0.5, 0.999].map(|share| listed.quantile_bytes(share, |_| 0.0)),
        [1, 1, 2, 3, 4].map(|k| k * 1000)
    );
    assert_eq!(listed.mean_bytes(), 2500.0);
}

/// 12 Mb/s are a packet each millisecond; an ACK of 52 bytes takes 34.667 us, so that a round takes 21.034667 ms. Ten packets go in the first
/// round. The window of 20 then does not fill the round, that of 40 does: then 1 ms each.
#[test]
fn alone_on_the_path() {
    let scenario = read(r#"short = { think = "1s", size = "1kB" }"#).unwrap();
    let alone_ms = |packets: u64| scenario.alone_s(&scenario.groups[0], 0.020, packets * 1448) * 1e3;
    let cases = [
        (1, 21.034667),
        (10, 30.034667),
        (11, 42.069333),
        (30, 61.069333),
        (31, 63.104),
        (70, 102.104),
        (1000, 1032.104),
    ];
    for (packets, expected_ms) in cases {
        assert!(
            (alone_ms(packets) - expected_ms).abs() < 1e-5,
            "{packets}: {}, expected {expected_ms}",
            alone_ms(packets)
        );
    }
    // One byte is a packet, too.
    assert_eq!(scenario.alone_s(&scenario.groups[0], 0.020, 1), scenario.alone_s(&scenario.groups[0], 0.020, 1448));
    // A receiver that takes 14 480 bytes lets ten go in each round: 25 are ten, ten and five.
    let narrow = read("receive_window = \"14480B\"\nshort = { think = \"1s\", size = \"1kB\" }").unwrap();
    let narrow_ms = narrow.alone_s(&narrow.groups[0], 0.020, 25 * 1448) * 1e3;
    assert!((narrow_ms - (3.0 * 21.034667 + 4.0)).abs() < 1e-5, "{narrow_ms}");
    // A SYN and its answer have 52 bytes each: 20.069333 ms.
    let greeted = read("handshake = true\nshort = { think = \"1s\", size = \"1kB\" }").unwrap();
    let greeted_ms = greeted.alone_s(&greeted.groups[0], 0.020, 11 * 1448) * 1e3;
    assert!((greeted_ms - (20.069333 + 42.069333)).abs() < 1e-5, "{greeted_ms}");
}

#[track_caller]
fn wrong(short: &str, column: usize, parts: &[&str]) {
    let message = read(short).expect_err(short);
    let line = text(short).lines().position(|line| line.contains("short")).unwrap() + 1;
    assert!(message.starts_with(&format!("x.toml:{line}:{column}: ")), "`{short}`: {message}");
    for part in parts {
        assert!(message.contains(part), "`{short}`: {message}");
    }
}

#[test]
fn mistakes_have_their_place_and_the_mend() {
    wrong(r#"short = { size = "1kB" }"#, 9, &["one of `load", "per_second", "think"]);
    wrong(r#"short = { load = 0.1, think = "1s", size = "1kB" }"#, 9, &["one of `load"]);
    wrong(r#"short = { load = "0", size = "1kB" }"#, 18, &["above 0"]);
    wrong(r#"short = { load = "much", size = "1kB" }"#, 18, &["`much` is not a load", "`30%`"]);
    wrong(r#"short = { per_second = 0.0, size = "1kB" }"#, 24, &["above 0"]);
    wrong(r#"short = { per_second = 1e9, size = "1kB" }"#, 24, &["too many", "at most 10000000"]);
    wrong(r#"short = { think = "0s", size = "1kB" }"#, 19, &["above 0"]);
    wrong(r#"short = { think = "1s", size = "1" }"#, 32, &["size `1` has no unit", "kB"]);
    wrong(r#"short = { think = "1s", size = { kind = "uniform" } }"#, 41, &["unknown variant `uniform`", "`pareto`"]);
    wrong(
        r#"short = { think = "1s", size = { kind = "pareto", smallest = "1kB", shape = 1 } }"#,
        32,
        &["no mean", "`largest`"],
    );
    wrong(r#"short = { think = "1s", size = { kind = "lognormal", median = "1kB", sigma = 9 } }"#, 32, &["0 to 4"]);
    wrong(
        r#"short = { think = "1s", size = { kind = "file", path = "no-such-file" } }"#,
        32,
        &["no-such-file", "cannot be read"],
    );
    wrong(
        r#"short = { think = "1s", size = "1kB", classes = ["2kB", "1kB"] }"#,
        49,
        &["1kB comes after 2kB", "must rise"],
    );
    wrong("transfer = \"1MB\"\nshort = { think = \"1s\", size = \"1kB\" }", 9, &["either `short` or `transfer`"]);
}

#[test]
fn a_file_of_sizes_is_beside_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    fs::write(&file, text(r#"short = { think = "1s", size = { kind = "file", path = "sizes.txt" } }"#)).unwrap();
    let sizes = |text: &str| {
        fs::write(folder.path().join("sizes.txt"), text).unwrap();
        load(&file, &Overrides::default()).map(|s| s.groups[0].source.short().unwrap().sizes.mean_bytes())
    };
    assert_eq!(sizes("1kB\n2kB\n").unwrap(), 1500.0);
    let message = sizes("1kB\nlarge\n").unwrap_err().to_string();
    assert!(message.contains("s.toml:9:") && message.contains("sizes.txt:2: `large` is not a size"), "{message}");
    let message = sizes("# nothing\n").unwrap_err().to_string();
    assert!(message.contains("there is no size"), "{message}");
}
