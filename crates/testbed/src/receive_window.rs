// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much a receiver allows to be under way.
//!
//! While a receiver's window still grows, Linux acknowledges each packet at once (`tcp_grow_window`). Without a bound it grows for as long as
//! a run lasts, and the ACKs that bulk transfers have, one for two packets, never come. So the window is as large as a path could need, and no larger.

use std::cmp::max;

use tandem_scenario::{Group, Limit, LinkConfig, Scenario, TcpSource, effects::Change};

/// Of what the path holds at most: a repair keeps what was sent after the loss until the loss is repaired, and that may take several rounds.
const ROOM: u64 = 4;
const LEAST_PACKETS: u64 = 64;
/// What TCP can say (RFC 7323, 2.3).
const MOST_BYTES: u64 = 1 << 30;

/// The receive window of a group's flows, in bytes: the scenario's, or one that limits nobody.
pub fn window_bytes(scenario: &Scenario, group: &Group, tcp: &TcpSource) -> u32 {
    let mss = u64::from(scenario.mss());
    let bytes = match tcp.receive_window {
        Some(packets) => u64::from(packets) * mss,
        None => (ROOM * most_under_way(scenario, group)).max(LEAST_PACKETS * mss),
    };
    bytes.min(MOST_BYTES) as u32
}

/// What the route holds with all its queues full, in bytes, at its highest rate, longest delay and largest queues.
fn most_under_way(scenario: &Scenario, group: &Group) -> u64 {
    let link = |&link: &usize| &scenario.network.links[link];
    let forward = || group.forward.iter().map(link);
    let rate_bps = forward().map(highest_rate_bps).min().unwrap_or(0);
    let delays_ns: u64 = forward().chain(group.back.iter().map(link)).map(longest_delay_ns).sum();
    let rtt_ns = delays_ns + group.access.ns + group.rtt_spread.ns;
    let on_the_way = u128::from(rate_bps) * u128::from(rtt_ns) / 8_000_000_000;
    let queued: u64 = forward().map(|link| largest_queue_bytes(link, scenario.mtu)).sum();
    u64::try_from(on_the_way).unwrap_or(u64::MAX).saturating_add(queued).min(MOST_BYTES)
}

/// The largest that it ever is: at first, or after a change.
fn largest(first: u64, link: &LinkConfig, changed: impl Fn(&Change) -> Option<u64>) -> u64 {
    let changes = link.effects.iter().flat_map(|effects| &effects.changes);
    changes.filter_map(changed).fold(first, max)
}

fn highest_rate_bps(link: &LinkConfig) -> u64 {
    largest(link.rate.bps, link, |change| change.rate_bps)
}

fn longest_delay_ns(link: &LinkConfig) -> u64 {
    let jitter_ns = link.effects.iter().filter_map(|effects| effects.jitter).map(|jitter| jitter.time.ns).sum::<u64>();
    largest(link.delay.ns, link, |change| change.delay.map(|delay| delay.ns)) + jitter_ns
}

fn largest_queue_bytes(link: &LinkConfig, mtu: u32) -> u64 {
    let bytes = |limit: Limit| limit.bytes(mtu);
    largest(bytes(link.limit), link, |change| change.limit.map(bytes))
}

#[cfg(test)]
mod tests {
    use tandem_scenario::file::{Overrides, parse};

    use super::*;

    fn window_of(more: &str) -> u32 {
        let text = format!(
            "duration = '9s'\n[dumbbell]\nrate = '12mbit'\nrtt = '100ms'\nqueue = '150kB'\n[[flows]]\ncontroller = 'reno'\n{more}"
        );
        let scenario = parse(&text, "test.toml", "test", &Overrides::default()).unwrap();
        let group = &scenario.groups[0];
        window_bytes(&scenario, group, group.source.tcp().unwrap())
    }

    /// 12 Mb/s for 100 ms are 150 kB, and as much waits: four times 300 kB.
    #[test]
    fn it_has_room_for_four_full_paths() {
        assert_eq!(window_of(""), 1_200_000);
        // Twice as fast from some time on: 300 kB are on the way.
        let faster = "[[effects.bottleneck.changes]]\nat = '5s'\nrate = '24mbit'\n";
        assert_eq!(window_of(faster), 1_800_000);
        // 50 ms there and 50 ms back; 150 ms there make 200 ms.
        let longer = "[[effects.bottleneck.changes]]\nat = '5s'\ndelay = '150ms'\n";
        assert_eq!(window_of(longer), 1_800_000);
    }

    #[test]
    fn the_scenario_may_say() {
        assert_eq!(window_of("receive_window = '14480B'\n"), 14_480);
    }
}
