// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario in words.

use tandem_results::CellSummary;
use tandem_scenario::{
    Ecn, Group, Honesty, Limit, LinkConfig, Loss, Recovery, Scenario, ShortFlows, Traffic, Transfer, Transport,
    USUAL_ACK_EVERY,
    short_flows::{Arrivals, Sizes},
    units::{Bytes, LossRate, Rate},
    wlan::{DOWNLINK, UPLINK, WlanCell},
};

use crate::number;

/// The network, the times and the chances, if these runs have them in common; they may differ in their number of seeds.
pub fn common_setup<'a>(scenarios: impl Iterator<Item = &'a Scenario> + Clone) -> Option<String> {
    let first = scenarios.clone().next()?;
    let have_same_seeds = scenarios.clone().all(|scenario| scenario.seeds == first.seeds);
    let text = |scenario| if have_same_seeds { setup(scenario) } else { with_seeds(scenario, "seeds differ") };
    let common = text(first);
    scenarios.skip(1).all(|scenario| text(scenario) == common).then_some(common)
}

/// The network, the times and the chances of a run.
pub fn setup(scenario: &Scenario) -> String {
    let verb = if scenario.seeds.len() == 1 { "it has" } else { "there is one for each of" };
    with_seeds(scenario, &format!("{verb} {}", seeds(&scenario.seeds)))
}

fn with_seeds(scenario: &Scenario, seeds: &str) -> String {
    let jitter = match scenario.send_jitter.ns {
        0 => "Senders add no random delay of their own".to_owned(),
        _ => format!("Senders add a random delay of up to {}", scenario.send_jitter.in_words()),
    };
    format!(
        "{} A run lasts {}, of which the first {} are warm-up, excluded from every measurement; {seeds}. \
         {jitter}; packets have {} bytes on the wire, of which {} are payload.",
        links(scenario),
        scenario.duration.in_words(),
        scenario.warmup.in_words(),
        scenario.mtu,
        scenario.mss(),
    )
}

/// The flows of each group, a sentence a group, of at most this many groups.
pub fn flows(scenario: &Scenario) -> String {
    const MOST: usize = 24;
    let all = scenario.groups.len();
    let mut sentences: Vec<String> = scenario.groups.iter().take(MOST).map(|g| group(scenario, g)).collect();
    if all > MOST {
        sentences.push(format!("And {} more groups, listed in results.json.", all - MOST));
    }
    sentences.join(" ")
}

pub fn seeds(seeds: &[u64]) -> String {
    let text: Vec<String> = seeds.iter().map(u64::to_string).collect();
    match seeds {
        [] => "no seed".into(),
        [one] => format!("one seed ({one})"),
        [first, .., last] if last.wrapping_sub(*first) == seeds.len() as u64 - 1 => {
            format!("{} seeds ({first} to {last})", seeds.len())
        }
        _ => format!("{} seeds ({})", seeds.len(), text.join(", ")),
    }
}

/// Links that are alike share a sentence.
fn links(scenario: &Scenario) -> String {
    let cell = scenario.network.cell.as_ref();
    let wired = cell.map_or(scenario.network.links.len(), |cell| cell.uplink.min(cell.downlink));
    let (wired, air) = scenario.network.links.split_at(wired);
    let words: Vec<(String, &str)> = wired.iter().map(|l| (link(l), l.name.as_str())).collect();
    let mut sentences: Vec<(&str, Vec<&str>)> = Vec::new();
    for (text, name) in &words {
        match sentences.iter_mut().find(|(known, _)| known == text) {
            Some((_, names)) => names.push(name),
            None => sentences.push((text, vec![name])),
        }
    }
    let sentence = |(text, names): &(&str, Vec<&str>)| match names.as_slice() {
        [one] => format!("Link {one}: {text}."),
        many => format!("Links {}: {text} each.", list(many)),
    };
    let sentences = sentences.iter().map(sentence).chain(cell.map(|cell| wireless(cell, air)));
    sentences.collect::<Vec<_>>().join(" ")
}

fn wireless(cell: &WlanCell, links: &[LinkConfig]) -> String {
    let room_of = |name: &str| links.iter().find(|l| l.name == name).map_or(String::new(), |l| room(l.limit));
    let preamble = if cell.short_preamble { ", short preambles" } else { "" };
    let errors = match cell.frame_error_rate.0 {
        0.0 => String::new(),
        _ => format!(", {} of frames damaged", cell.frame_error_rate),
    };
    format!(
        "Wireless cell ({}): {} stations, each with a queue of {}, and an access point with one of {}; data at {}, its ACKs at \
         {}{preamble}, a frame is sent {} times at most{errors}.",
        cell.standard,
        cell.stations,
        room_of(UPLINK),
        room_of(DOWNLINK),
        cell.data_rate.in_words(),
        cell.control_rate.in_words(),
        cell.max_tries,
    )
}

/// How a wireless cell's channel was used.
pub fn channel(cell: &CellSummary) -> String {
    let errors = match cell.error_airtime {
        0.0 => String::new(),
        share => format!(", damaged frames {} %", number::percent(share)),
    };
    format!(
        "frames from stations that arrived took {} % of the channel's time, those from the access point {} %, collisions {} %{errors}; \
         {} % of the frames sent collided; the access point's queue dropped {} packets, {} were given up after the last try; \
         Jain's index of the stations is {:.3}",
        number::percent(cell.up_airtime),
        number::percent(cell.down_airtime),
        number::percent(cell.collision_airtime),
        number::percent(cell.collision_rate),
        number::count(cell.ap_drops),
        number::count(cell.given_up),
        cell.station_jain,
    )
}

fn room(limit: Limit) -> String {
    match limit {
        Limit::Packets(n) => format!("{n} packets"),
        Limit::Bytes(n) => size(n),
    }
}

fn link(link: &LinkConfig) -> String {
    format!(
        "{}, {} one way, a {} queue of {}, {}{}",
        link.rate.in_words(),
        link.delay.in_words(),
        link.aqm.in_words(),
        room(link.limit),
        loss(link.loss),
        link.effects
            .iter()
            .flat_map(|effects| effects.in_words())
            .map(|words| format!(", {words}"))
            .collect::<String>()
    )
}

fn loss(loss: Loss) -> String {
    match loss {
        Loss::None => "no random loss".into(),
        Loss::Bernoulli(rate) => format!("random loss {rate}"),
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => format!(
            "loss in bursts (Gilbert-Elliott: {} when good, {} when bad, to bad {}, to good {})",
            LossRate(loss_good),
            LossRate(loss_bad),
            LossRate(good_to_bad),
            LossRate(bad_to_good),
        ),
    }
}

fn group(scenario: &Scenario, group: &Group) -> String {
    let flows = if group.flows == 1 { "1 flow".into() } else { format!("{} flows", group.flows) };
    let mut parts = vec![format!("{}: {flows}{}", group.name, source(&group.source))];
    parts.push(format!("round-trip propagation {}", scenario.base_rtt(group).in_words()));
    if group.rtt_spread.ns > 0 {
        parts.push(format!("plus up to {} at random", group.rtt_spread.in_words()));
    }
    match (group.start.ns, group.start_spread.ns) {
        (0, 0) => {}
        (_, 0) => parts.push(format!("starting at {}", group.start.in_words())),
        (0, _) => parts.push(format!("starting at random in the first {}", group.start_spread.in_words())),
        _ => parts.push(format!(
            "starting at {} plus up to {} at random",
            group.start.in_words(),
            group.start_spread.in_words()
        )),
    }
    parts.extend(group.stop.map(|stop| format!("stopping at {}", stop.in_words())));
    parts.join(", ") + "."
}

fn size(bytes: u64) -> String {
    Bytes(bytes).in_words()
}

fn short_flows(short: &ShortFlows) -> String {
    let sizes = match &short.sizes {
        Sizes::Fixed { bytes } => size(*bytes),
        Sizes::LogNormal { median_bytes, sigma } => {
            format!("log-normal sizes (median {}, sigma {sigma})", size(*median_bytes))
        }
        Sizes::Pareto { smallest_bytes, largest_bytes, shape } => {
            format!("Pareto sizes ({} to {}, shape {shape})", size(*smallest_bytes), size(*largest_bytes))
        }
        Sizes::Listed(_) => "the sizes of a file".into(),
    };
    match short.arrivals {
        Arrivals::Poisson { per_second } => {
            let per_second = number::significant(per_second, 3);
            format!("short flows of {sizes}, {per_second} a second on average (Poisson)")
        }
        Arrivals::Users { think } => {
            format!("users who think {} on average before short flows of {sizes}", think.in_words())
        }
    }
}

fn source(source: &Traffic) -> String {
    let sender = source.in_words();
    let Some(tcp) = source.tcp() else { return format!(" of {sender}") };
    let mut text = match &tcp.transfer {
        Transfer::Bulk => format!(" of {sender} that always have data to send"),
        Transfer::Finite { bytes, pause } => {
            let again = pause.map_or("once".into(), |p| format!("again and again with pauses of {}", p.in_words()));
            let size = size(*bytes);
            format!(" of {sender} that send {size} {again}")
        }
        Transfer::Offered { rate_bps, piece_bytes, process, changes } => {
            let offer = |bps: Option<u64>| match bps {
                None => "all that the window takes".to_owned(),
                Some(0) => "nothing".to_owned(),
                Some(bps) => Rate { bps }.in_words(),
            };
            let at_random = process.as_ref().map_or(String::new(), |process| process.in_words(*piece_bytes));
            let later = changes.iter().map(|c| format!(", {} from {}", offer(c.rate_bps), c.at.in_words()));
            let first = offer(*rate_bps);
            format!(" of {sender} whose applications offer {first}{at_random}{}", later.collect::<String>())
        }
        Transfer::Short(short) => format!(" of {sender} for {}", short_flows(short)),
    };
    text += &match (tcp.delayed_acks, tcp.ack_every) {
        (false, _) | (true, 1) => ", an ACK for each packet".to_owned(),
        (true, USUAL_ACK_EVERY) => ", delayed ACKs".to_owned(),
        (true, every) => format!(", an ACK for {every} packets"),
    };
    text += match tcp.receiver {
        Honesty::Honest => "",
        Honesty::EarlyAcks => ", a receiver that acknowledges what has not arrived",
        Honesty::HidesMarks => ", a receiver that hides marks",
    };
    if tcp.handshake {
        text += ", with a handshake";
    }
    if tcp.pacing {
        text += ", paced";
    }
    if tcp.transport == Some(Transport::Quic) {
        text += ", over QUIC";
    }
    text += match tcp.ecn {
        Ecn::Off => "",
        Ecn::Rfc3168 => ", ECN (RFC 3168)",
        Ecn::Rfc8511 => ", ECN (RFC 8511)",
        Ecn::Accurate => ", accurate ECN",
    };
    if tcp.recovery == Recovery::RateHalving {
        text += ", rate halving in recovery";
    }
    if let Some(window) = tcp.receive_window {
        text += &format!(", receive window {window} packets");
    }
    text
}

fn list(names: &[&str]) -> String {
    match names {
        [start @ .., last] if !start.is_empty() => format!("{} and {last}", start.join(", ")),
        names => names.join(""),
    }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::{
        file::{Overrides, parse},
        units::NO_BREAK,
    };

    use super::*;

    fn scenario(text: &str) -> Scenario {
        parse(text, "test.toml", "test", &Overrides::default()).expect("a good scenario")
    }

    #[test]
    fn tells_the_network_and_the_times() {
        let told = setup(&scenario(
            "duration = \"60s\"\nwarmup = \"10s\"\nseeds = 3\nsend_jitter = \"0ms\"\n\
             [dumbbell]\nrate = \"1gbit\"\nrtt = \"40ms\"\nqueue = \"2MB\"\n[[flows]]\ncontroller = \"reno\"\n",
        ));
        assert_eq!(
            told.replace(NO_BREAK, " "),
            "Links bottleneck and reverse: 1 Gbit/s, 20 ms one way, a drop-tail queue of 2 MB, no random loss each. \
             A run lasts 60 s, of which the first 10 s are warm-up, excluded from every measurement; there is one for each of \
             3 seeds (1 to 3). Senders add no random delay of their own; packets have 1500 bytes on the wire, \
             of which 1448 are payload."
        );
    }

    #[test]
    fn tells_of_a_wireless_cell() {
        let told = setup(&scenario(
            "duration = \"60s\"\n[wlan]\nphy = \"802.11b\"\nstations = 3\nqueue = \"20p\"\nshort_preamble = true\n\
             station_queue = \"50p\"\nframe_error_rate = 0.01\nwired_rate = \"100mbit\"\nrtt = \"60ms\"\n\
             [[flows]]\ncontroller = \"reno\"\n",
        ));
        let told = told.replace(NO_BREAK, " ");
        assert!(
            told.starts_with(
                "Links wired and wired-back: 100 Mbit/s, 30 ms one way, a drop-tail queue of 10000 packets, no random loss each. \
                 Wireless cell (802.11b): 3 stations, each with a queue of 50 packets, and an access point with one of 20 packets; \
                 data at 11 Mbit/s, its ACKs at 2 Mbit/s, short preambles, a frame is sent 7 times at most, 0.01 of frames damaged. \
                 A run lasts"
            ),
            "{told}"
        );
    }

    #[test]
    fn tells_what_flows_do() {
        let told = flows(&scenario(
            "duration = \"60s\"\n[dumbbell]\nrate = \"1gbit\"\nrtt = \"40ms\"\nqueue = \"100p\"\n\
             [[flows]]\ncontroller = \"reno\"\ncount = 2\nstart = \"5s\"\ntransfer = \"10MB\"\npause = \"1s\"\n\
             delayed_acks = false\npacing = true\nrecovery = \"rate-halving\"\n\
             [[flows]]\nudp = { rate = \"10mbit\", on = \"1s\", off = \"500us\" }\n",
        ));
        assert_eq!(
            told.replace(NO_BREAK, " "),
            "reno: 2 flows of reno that send 10 MB again and again with pauses of 1 s, an ACK for each packet, paced, \
             rate halving in recovery, \
             round-trip propagation 40 ms, starting at 5 s. \
             udp: 1 flow of UDP at 10 Mbit/s, 1 s on and 500 µs off, round-trip propagation 40 ms."
        );
    }

    #[test]
    fn tells_what_receivers_do() {
        let told = flows(&scenario(
            "duration = \"60s\"\n[dumbbell]\nrate = \"1gbit\"\nrtt = \"40ms\"\nqueue = \"100p\"\n\
             [[flows]]\ncontroller = \"reno\"\nack_every = 8\nreceiver = \"early-acks\"\n",
        ));
        let expected = "data to send, an ACK for 8 packets, a receiver that acknowledges what has not arrived, ";
        assert!(told.replace(NO_BREAK, " ").contains(expected), "{told}");
    }
}
