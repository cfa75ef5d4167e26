// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ten paths that people run, and what they say of them in public. The sources are named in words, as most of them are threads and guides.

/// A path, and what is right for it.
pub struct Expert {
    pub path: &'static str,
    /// As `tandem advise` takes them.
    pub options: &'static str,
    /// In our words.
    pub says: &'static str,
    /// Any of these may be advised.
    pub accepts: &'static [&'static str],
    /// Parts of what has to be said before any controller.
    pub first: &'static [&'static str],
}

pub const PATHS: [Expert; 10] = [
    Expert {
        path: "DSL uplink",
        options: "--rate 1mbit --rtt 30ms --queue 200p --loss 0 --neighbours cubic:1",
        says: "manage the queue at 90 % of the rate (bufferbloat.net); `cubic` may stay",
        accepts: &["cubic"],
        first: &["cake bandwidth 900kbit"],
    },
    Expert {
        path: "Cable uplink",
        options: "--rate 50mbit --rtt 15ms --queue 100ms --loss 0 --neighbours cubic:1",
        says: "the same: a managed queue; `cubic` may stay",
        accepts: &["cubic"],
        first: &["cake bandwidth 45mbit"],
    },
    Expert {
        path: "LTE, a queue for each user",
        options: "--rate 30mbit --rtt 50ms --queue 1500p --loss 0 --neighbours none",
        says: "`bbr` for less delay, as nobody shares the queue; for goodput alone `cubic` is as good",
        accepts: &["cubic", "bbr", "bbr3"],
        first: &["If the delay hurts, run `"],
    },
    Expert {
        path: "Starlink",
        options: "--rate 150mbit --rtt 45ms --queue 1bdp --loss 0.2% --neighbours cubic:1",
        says: "`bbr`: six times `cubic`'s goodput (measurements of several users)",
        accepts: &["bbr", "bbr3"],
        first: &[],
    },
    Expert {
        path: "Data transfer node, 10 Gb/s over 90 ms, four flows",
        options: "--rate 10gbit --rtt 90ms --loss 0 --neighbours none --flows 4 cubic reno htcp bbr compound",
        says: "buffers first, then pacing by fq; `cubic`, `htcp` or `bbr` (ESnet)",
        accepts: &["cubic", "htcp", "bbr", "bbr3"],
        first: &["net.ipv4.tcp_wmem", "root fq"],
    },
    Expert {
        path: "Geostationary satellite",
        options: "--rate 50mbit --rtt 600ms --queue 1bdp --loss 0 --neighbours cubic:1",
        says: "buffers; in the steady state `cubic` does as well as any, `bbr` only begins faster (measurements of a university)",
        accepts: &["cubic"],
        first: &["net.ipv4.tcp_wmem"],
    },
    Expert {
        path: "Datacentre with marks",
        options: "--rate 25gbit --rtt 100us --queue 1000p --aqm red --ecn --loss 0 --neighbours dctcp:2",
        says: "`dctcp`, where all switches mark and all neighbours use it",
        accepts: &["dctcp"],
        first: &[],
    },
    Expert {
        path: "Wi-Fi that loses 1 %",
        options: "--rate 100mbit --rtt 10ms --queue 1bdp --loss 1% --neighbours cubic:1",
        says: "the link layer repairs losses, so 1 % is a fault or a queue: look there; then `cubic` or `bbr`",
        accepts: &["cubic", "bbr", "bbr3"],
        first: &["is not chance but a fault"],
    },
    Expert {
        path: "Policed egress of a cloud",
        options: "--rate 1gbit --rtt 20ms --queue 1bdp --policer 100mbit:1MB --loss 0 --neighbours none",
        says: "shape below the policer; `bbr`, or `cubic` with pacing",
        accepts: &["bbr", "bbr3", "cubic"],
        first: &["First stay below the policer"],
    },
    Expert {
        path: "Office with a deep buffer",
        options: "--rate 1gbit --rtt 20ms --queue 200ms --loss 0 --neighbours cubic:10 cubic reno bbr htcp compound",
        says: "`cubic`; Reno and its like would starve beside it",
        accepts: &["cubic"],
        first: &["cake bandwidth 900mbit"],
    },
];
