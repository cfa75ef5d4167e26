// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities as users write them.

use tandem_scenario::{
    Limit,
    units::{Bytes, LossRate, QueueSize, Rate, Span},
};

#[track_caller]
fn refuses<T: std::str::FromStr<Err = E> + std::fmt::Debug, E: std::fmt::Display>(text: &str, parts: &[&str]) {
    let message = text.parse::<T>().expect_err(text).to_string();
    for part in parts {
        assert!(message.contains(part), "`{text}`: {message}");
    }
}

#[test]
fn rates() {
    let cases = [
        ("1gbit", 1_000_000_000),
        ("10Mbit", 10_000_000),
        ("2.5 gbit", 2_500_000_000),
        ("64kbit", 64_000),
        ("1bit", 1),
        ("1.5e3kbit", 1_500_000),
        ("12.5MB/s", 100_000_000),
        ("1kB/s", 8000),
        ("100tbit", 100_000_000_000_000),
    ];
    for (text, bps) in cases {
        assert_eq!(text.parse::<Rate>().unwrap().bps, bps, "{text}");
    }
}

/// Every refusal says what was given and what to write.
#[test]
fn bad_rates() {
    refuses::<Rate, _>("10", &["`10`", "no unit", "mbit"]);
    refuses::<Rate, _>("1000000", &["no unit"]);
    refuses::<Rate, _>("10Mb/s", &["`10Mb/s`", "bits or bytes", "`10mbit`", "`10MB/s`"]);
    refuses::<Rate, _>("10b/s", &["`10b/s`"]);
    refuses::<Rate, _>("10mbps", &["`10mbps`", "means bytes", "`10mbit`", "`10MB/s`"]);
    refuses::<Rate, _>("10 mbitt", &["unknown unit `mbitt`", "mbit"]);
    refuses::<Rate, _>("0mbit", &["`0mbit` is 0", "at least 1bit"]);
    refuses::<Rate, _>("0.9bit", &["is 0"]);
    refuses::<Rate, _>("-1mbit", &["negative"]);
    refuses::<Rate, _>("101tbit", &["above 100tbit"]);
    for text in ["", "fast", "mbit", "1.2.3mbit", "--1mbit", "infmbit", "nanmbit"] {
        refuses::<Rate, _>(text, &["not a rate", "100mbit"]);
    }
}

#[test]
fn spans() {
    let cases = [
        ("100ms", 100_000_000),
        ("1.5s", 1_500_000_000),
        ("10us", 10_000),
        ("10µs", 10_000),
        ("7ns", 7),
        ("2min", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("1e-3s", 1_000_000),
        ("0", 0),
        ("0s", 0),
    ];
    for (text, ns) in cases {
        assert_eq!(text.parse::<Span>().unwrap().ns, ns, "{text}");
    }
    refuses::<Span, _>("100", &["no unit", "100ms"]);
    refuses::<Span, _>("-1ms", &["`-1ms` is negative"]);
    refuses::<Span, _>("1fortnight", &["unknown unit `fortnight`"]);
    refuses::<Span, _>("1e9s", &["above"]);
}

#[test]
fn sizes() {
    let cases = [("2MB", 2_000_000), ("1.5kB", 1500), ("1MiB", 1_048_576), ("1b", 1), ("3GB", 3_000_000_000)];
    for (text, bytes) in cases {
        assert_eq!(text.parse::<Bytes>().unwrap().0, bytes, "{text}");
    }
    refuses::<Bytes, _>("100", &["no unit", "10MB"]);
    refuses::<Bytes, _>("0MB", &["is 0"]);
    refuses::<Bytes, _>("5mbit", &["unknown unit `mbit`"]);
}

#[test]
fn queues() {
    let cases = [
        ("1500p", QueueSize::Packets(1500)),
        ("1 packets", QueueSize::Packets(1)),
        ("2MB", QueueSize::Bytes(2_000_000)),
        ("15ms", QueueSize::Time(Span::from_ms(15))),
        ("0.5bdp", QueueSize::Bdp(0.5)),
    ];
    for (text, queue) in cases {
        assert_eq!(text.parse::<QueueSize>().unwrap(), queue, "{text}");
    }
    for text in ["0p", "0MB", "0ms", "0bdp"] {
        refuses::<QueueSize, _>(text, &[text, "is 0", "1p"]);
    }
    refuses::<QueueSize, _>("100", &["no unit", "1500p"]);
    refuses::<QueueSize, _>("1.5p", &["whole number"]);
    refuses::<QueueSize, _>("-1p", &["negative"]);
    refuses::<QueueSize, _>("5x", &["unknown unit `x`"]);
}

/// 100 Mbit/s for 100 ms are 1.25 MB, 833.33 packets of 1500 bytes.
#[test]
fn queues_in_packets() {
    let limit = |text: &str| {
        let rate = Rate { bps: 100_000_000 };
        text.parse::<QueueSize>().unwrap().limit(rate, Span::from_ms(100), 1500).map_err(|e| e.to_string())
    };
    assert_eq!(limit("1bdp"), Ok(Limit::Packets(833)));
    assert_eq!(limit("0.5bdp"), Ok(Limit::Packets(417)), "416.67");
    assert_eq!(limit("15ms"), Ok(Limit::Packets(125)));
    assert_eq!(limit("1us"), Ok(Limit::Packets(1)), "never less than one");
    assert_eq!(limit("7p"), Ok(Limit::Packets(7)));
    assert_eq!(limit("1500B"), Ok(Limit::Bytes(1500)));
    assert!(limit("1499B").unwrap_err().contains("does not hold one packet of 1500 bytes"));
}

#[test]
fn loss_rates() {
    for (text, share) in [("1e-6", 1e-6), ("0", 0.0), ("0.1%", 0.001), ("5 %", 0.05), ("0.999", 0.999)] {
        assert_eq!(text.parse::<LossRate>().unwrap().0, share, "{text}");
    }
    for text in ["1", "1.0", "100%", "-0.1", "-1%", "2"] {
        refuses::<LossRate, _>(text, &[text, "from 0 up to below 1"]);
    }
    for text in ["", "lots", "nan", "inf", "1e-6p"] {
        refuses::<LossRate, _>(text, &["not a loss rate"]);
    }
}

/// What is written is read back as the same: files, the command line and JSON spell alike.
#[test]
fn quantities_survive_writing() {
    for bps in [1, 999, 64_000, 1_500_000, 100_000_000, 2_500_000_000, 100_000_000_000_000] {
        assert_eq!(Rate { bps }.to_string().parse::<Rate>().unwrap().bps, bps);
    }
    for ns in [0, 1, 999, 1000, 1_000_001, 50_000_000, 1_500_000_000, 7_200_000_000_000] {
        assert_eq!(Span { ns }.to_string().parse::<Span>().unwrap().ns, ns);
    }
    for text in ["1500p", "2MB", "15ms", "0.5bdp", "1.5kB"] {
        assert_eq!(text.parse::<QueueSize>().unwrap().to_string(), text);
    }
    for text in ["1e-6", "0.01", "0", "1.5e-8"] {
        assert_eq!(text.parse::<LossRate>().unwrap().to_string(), text);
    }
}
