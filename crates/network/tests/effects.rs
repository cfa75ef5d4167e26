// SPDX-License-Identifier: MIT OR Apache-2.0
//! What links do beside carrying packets, by hand. At 12 Mbit/s 1500 bytes take 1 ms; the delay is 10 ms.

mod common;

use common::{MS, MTU, spec};
use tandem_network::{Contents, DropReason, Ecn, End, Event, Network, Packet, Rng, Route, Stream, wired_links};
use tandem_scenario::{
    Aqm, Effects, Limit, LinkConfig, Loss, Topology,
    effects::{
        self as spec_effects, Bunches, Change, During, Jitter, JitterDistribution, RateTrace, Reorder, TokenBucket,
    },
    units::{LossRate, Rate, Span},
};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Numbered {
    number: u32,
    place: u32,
    ecn: Ecn,
}

impl Packet for Numbered {
    type Returning = Numbered;

    fn bytes(&self) -> u32 {
        MTU
    }

    fn place(&self) -> u32 {
        self.place
    }

    fn set_place(&mut self, place: u32) {
        self.place = place;
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
}

#[derive(Debug, Default)]
struct Drops(Vec<(u64, u32, DropReason)>);

impl Contents<Numbered> for Drops {
    fn dropped(&mut self, now: u64, packet: Numbered, reason: DropReason) {
        self.0.push((now, packet.number, reason));
    }

    fn copied(&mut self, packet: Numbered) -> Numbered {
        Numbered { number: packet.number + 1000, ..packet }
    }
}

/// One link with these effects that begins at a time of its own, and one flow over it there (or back, for ACKs).
struct Path {
    network: Network<Numbered>,
    drops: Drops,
    /// (number, when).
    arrivals: Vec<(u32, u64)>,
    to: End,
    sent: u32,
    /// Of the packets to come.
    ecn: Ecn,
    /// Those of the packets that arrived.
    fields: Vec<Ecn>,
}

/// When the host's clock says that the scenario begins.
const ORIGIN: u64 = 7_000 * MS;

fn path_to(to: End, limit: u32, effects: Effects) -> Path {
    let link = LinkConfig { effects: Some(Box::new(effects)), ..spec(Limit::Packets(limit), Aqm::DropTail) };
    let topology = Topology { links: vec![link], ..Topology::default() };
    let links = wired_links(&topology, MTU, ORIGIN, &(0..u64::MAX), 1);
    let route = match to {
        End::Receivers => Route::new(&[0], &[], Rng::new(1, Stream::Flow(0))),
        End::Senders => Route::new(&[], &[0], Rng::new(1, Stream::Flow(0))),
    };
    let network = Network::new(links, None, vec![route]);
    Path { network, drops: Drops::default(), arrivals: vec![], to, sent: 0, ecn: Ecn::NotCapable, fields: vec![] }
}

fn path(effects: Effects) -> Path {
    path_to(End::Receivers, 1000, effects)
}

impl Path {
    fn run_until(&mut self, now: u64) {
        while let Some((at, event)) = self.network.advance(now, &mut self.drops) {
            let (Event::AtReceiver(_, packet) | Event::AtSender(_, packet)) = event else { panic!("no alarm is set") };
            self.arrivals.push((packet.number, at - ORIGIN));
            self.fields.push(packet.ecn);
        }
    }

    /// Sends a packet at this time of the scenario, us.
    fn send(&mut self, us: u64) {
        let now = ORIGIN + us * 1000;
        self.run_until(now);
        let packet = Numbered { number: self.sent, place: 0, ecn: self.ecn };
        self.sent += 1;
        self.network.send(now, 0, self.to, packet, &mut self.drops);
    }

    /// Sends this many, at the given times of the scenario, ms, and returns when they arrive there, us.
    fn arrivals_us(mut self, sent_ms: &[u64]) -> Vec<(u32, u64)> {
        sent_ms.iter().for_each(|ms| self.send(ms * 1000));
        self.run_until(ORIGIN + 100_000 * MS);
        self.arrivals.iter().map(|&(number, at)| (number, at / 1000)).collect()
    }
}

fn change(at_ms: u64) -> Change {
    Change { at: Span::from_ms(at_ms), every: None, rate_bps: None, delay: None, loss: None, limit: None }
}

/// Five at once. From 2 ms on a packet takes 2 ms, from 5 ms on nothing is sent, from 20 ms on a packet takes 1 ms: the first two end
/// at 1 and 2, the third at 4; half of the fourth is sent by 5, the rest takes 0.5 ms from 20 on, and the fifth ends at 21.5.
#[test]
fn a_rate_that_changes_and_an_outage() {
    let rates = [(2, 6_000_000), (5, 0), (20, 12_000_000)];
    let changes = rates.map(|(at, bps)| Change { rate_bps: Some(bps), ..change(at) }).to_vec();
    let arrivals = path(Effects { changes, ..Effects::default() }).arrivals_us(&[0; 5]);
    let expected = [11_000, 12_000, 14_000, 30_500, 31_500];
    assert_eq!(arrivals, (0..).zip(expected).collect::<Vec<_>>());
}

/// From 5 ms on the link has 1 ms of delay instead of 10: what leaves at 6 ms could arrive at 7 and waits for what left at 4, at 14.
/// Again 10 ms from 20 ms on.
#[test]
fn a_shorter_delay_keeps_the_order() {
    let delays = [(5, 1), (20, 10)];
    let changes = delays.map(|(at, ms)| Change { delay: Some(Span::from_ms(ms)), ..change(at) }).to_vec();
    for to in [End::Receivers, End::Senders] {
        let effects = Effects { changes: changes.clone(), ..Effects::default() };
        let arrivals = path_to(to, 1000, effects).arrivals_us(&[3, 5, 14, 20]);
        assert_eq!(arrivals, [(0, 14_000), (1, 14_000), (2, 16_000), (3, 31_000)]);
    }
}

/// All is lost from 10 to 20 ms; a queue of 1 from 30 ms on.
#[test]
fn loss_and_limit_change() {
    let lossy = |at, loss| Change { loss: Some(loss), ..change(at) };
    let all = Loss::GilbertElliott { good_to_bad: 1.0, bad_to_good: 1.0, loss_good: 1.0, loss_bad: 1.0 };
    let narrow = Change { limit: Some(Limit::Packets(1)), ..change(30) };
    let effects = Effects { changes: vec![lossy(10, all), lossy(20, Loss::None), narrow], ..Effects::default() };
    let mut path = path(effects);
    [9, 10, 19, 20, 29, 29, 29, 30, 40, 40, 40].iter().for_each(|ms| path.send(ms * 1000));
    path.run_until(ORIGIN + 1000 * MS);
    let drops: Vec<_> = path.drops.0.iter().map(|&(at, number, why)| ((at - ORIGIN) / MS, number, why)).collect();
    let (random, queue) = (DropReason::Random, DropReason::Queue);
    // At 30 ms one is in transmission and one waits; at 40 ms the third finds one that waits.
    assert_eq!(drops, [(10, 1, random), (19, 2, random), (30, 7, queue), (40, 10, queue)]);
}

/// Of five in one burst one is in transmission, two wait, and two are lost, as on a link without effects: the first begins before the second comes.
#[test]
fn a_burst_has_the_room_that_it_has_on_any_link() {
    for to in [End::Receivers, End::Senders] {
        let mut path = path_to(to, 2, Effects::default());
        for number in 0..5 {
            path.network.send(ORIGIN, 0, to, Numbered { number, ..Numbered::default() }, &mut path.drops);
        }
        path.run_until(ORIGIN + 100 * MS);
        assert_eq!(path.arrivals, [(0, 11 * MS), (1, 12 * MS), (2, 13 * MS)]);
        assert_eq!(path.drops.0, [(ORIGIN, 3, DropReason::Queue), (ORIGIN, 4, DropReason::Queue)]);
        assert_eq!(path.network.links[0].stats.max_waiting, 2);
    }
}

/// Every second, at 100 and 200 ms of it, the rate falls and rises.
#[test]
fn changes_come_again() {
    let rate = |at, bps| Change { every: Some(Span::from_secs(1)), rate_bps: Some(bps), ..change(at) };
    let effects = Effects { changes: vec![rate(100, 1_200_000), rate(200, 12_000_000)], ..Effects::default() };
    let arrivals = path(effects).arrivals_us(&[50, 150, 250, 7_150, 7_250]);
    let took: Vec<u64> =
        arrivals.iter().zip([50, 150, 250, 7_150, 7_250]).map(|((_, at), ms)| at - ms * 1000).collect();
    assert_eq!(took, [11_000, 20_000, 11_000, 20_000, 11_000]);
}

/// Opportunities at 2, 2 and 5 ms of each 10.
#[test]
fn a_trace_decides_when_packets_leave() {
    let rate_trace = RateTrace::parse("2\n2\n5\n10\n", "t").ok();
    let arrivals = path(Effects { rate_trace, ..Effects::default() }).arrivals_us(&[0, 0, 0, 6, 12, 12, 12, 13]);
    let expected = [12, 12, 15, 20, 22, 22, 25, 30].map(|ms| ms * 1000);
    assert_eq!(arrivals, (0..).zip(expected).collect::<Vec<_>>());
}

/// Uniform jitter of 5 ms on 10 ms: from 5 to 15 ms. Packets come 4 ms apart: with the order kept none overtakes, otherwise some do.
#[test]
fn jitter_with_and_without_order() {
    for (keep_order, to) in
        [(true, End::Receivers), (false, End::Receivers), (true, End::Senders), (false, End::Senders)]
    {
        let jitter = Jitter {
            time: Span::from_ms(5),
            distribution: JitterDistribution::Uniform,
            correlation: 0.0,
            keep_order,
            during: During::default(),
        };
        let sent: Vec<u64> = (0..1000).map(|i| 4 * i).collect();
        let arrivals = path_to(to, 1000, Effects { jitter: Some(jitter), ..Effects::default() }).arrivals_us(&sent);
        assert_eq!(arrivals.len(), 1000);
        let is_in_order = arrivals.is_sorted_by_key(|(number, _)| *number);
        assert_eq!(is_in_order, keep_order, "{to:?}");
        for (number, at) in arrivals {
            let took = at - u64::from(number) * 4000;
            assert!((6_000..16_000).contains(&took) || keep_order && took < 24_000, "{took}");
        }
    }
}

/// A tenth comes 3.5 packet times late: with a full link exactly three others overtake each, if no other late one is near.
#[test]
fn late_packets_are_overtaken_by_as_many_as_the_distance_says() {
    for to in [End::Receivers, End::Senders] {
        let reorder = Some(Reorder { share: LossRate(0.1), by: Span { ns: 7 * MS / 2 }, during: During::default() });
        let arrivals = path_to(to, 20_000, Effects { reorder, ..Effects::default() }).arrivals_us(&[0; 10_000]);
        let late: Vec<u32> =
            arrivals.iter().filter(|(n, at)| *at == u64::from(*n) * 1000 + 14_500).map(|a| a.0).collect();
        // Binomial: standard deviation 30.
        assert!((900..1100).contains(&late.len()), "{}", late.len());
        for &number in late.iter().filter(|&&n| n + 8 < 10_000 && !late.iter().any(|&m| m != n && m.abs_diff(n) < 8)) {
            let place = arrivals.iter().position(|(n, _)| *n == number).unwrap();
            let before: Vec<u32> = arrivals[place - 3..place].iter().map(|a| a.0).collect();
            assert_eq!(before, [number + 1, number + 2, number + 3]);
        }
        assert_eq!(arrivals.len(), 10_000);
    }
}

/// Binomial with p = 1/4 of 10 000: standard deviation 43. A copy arrives with its original, behind it.
#[test]
fn copies_follow_their_originals() {
    let effects = Effects { duplicate: LossRate(0.25), ..Effects::default() };
    let arrivals = path_to(End::Receivers, 20_000, effects).arrivals_us(&[0; 10_000]);
    assert!((12_300..12_700).contains(&arrivals.len()), "{}", arrivals.len());
    // A copy has the number of its original and 1000 more.
    let copies = arrivals.windows(2).filter(|pair| pair[1].0 == pair[0].0 + 1000 && pair[1].1 == pair[0].1);
    assert!((2_300..2_700).contains(&copies.count()));
}

/// The second and the fifth are lost by their numbers; of each three, the last, or all but the last.
#[test]
fn losses_by_number() {
    for (drop, arriving) in [
        (spec_effects::Drops::Packets(vec![2, 5]), vec![0, 2, 3, 5, 6]),
        (spec_effects::Drops::Every(3), vec![0, 1, 3, 4, 6]),
        (spec_effects::Drops::KeepEvery(3), vec![2, 5]),
    ] {
        let arrivals = path(Effects { drop: Some(drop), ..Effects::default() }).arrivals_us(&[0; 7]);
        assert_eq!(arrivals.iter().map(|(number, _)| *number).collect::<Vec<_>>(), arriving);
    }
}

/// A bleached packet has no ECN field, whatever it was. A mark that is lost is ECT(0) again; what was not marked stays as it is.
#[test]
fn ecn_fields_are_changed() {
    use Ecn::{Capable, Marked, NotCapable, Scalable};
    let fields = |bleach: f64, unmark: f64| {
        let mut path = path(Effects { bleach, unmark, ..Effects::default() });
        for ecn in [NotCapable, Capable, Scalable, Marked] {
            path.ecn = ecn;
            path.send(0);
        }
        path.run_until(ORIGIN + 100 * MS);
        path.fields
    };
    assert_eq!(fields(1.0, 0.0), [NotCapable; 4]);
    assert_eq!(fields(0.0, 1.0), [NotCapable, Capable, Scalable, Capable]);
    assert_eq!(fields(0.0, 0.0), [NotCapable, Capable, Scalable, Marked]);
    // Binomial with p = 1/4 of 4000: standard deviation 27.
    let mut path = path(Effects { bleach: 0.25, ..Effects::default() });
    path.ecn = Scalable;
    (0..4000).for_each(|ms| path.send(ms * 1000));
    path.run_until(ORIGIN + 10_000 * MS);
    let bleached = path.fields.iter().filter(|&&field| field == NotCapable).count();
    assert!((880..1120).contains(&bleached), "{bleached}");
}

/// Held for 5 ms, at most four. Six at once leave at 1 to 6 ms: the first four when the fourth leaves, at 4 ms; the other two 5 ms
/// after the fifth, at 10 ms. One at 30 ms leaves at 31 and is alone until 36. All arrive 10 ms later.
#[test]
fn packets_come_in_bunches() {
    for to in [End::Receivers, End::Senders] {
        let aggregate = Some(Bunches { hold: Span::from_ms(5), most: 4, during: During::default() });
        let arrivals =
            path_to(to, 1000, Effects { aggregate, ..Effects::default() }).arrivals_us(&[0, 0, 0, 0, 0, 0, 30]);
        let expected = [14, 14, 14, 14, 20, 20, 46].map(|ms| ms * 1000);
        assert_eq!(arrivals, (0..).zip(expected).collect::<Vec<_>>());
    }
}

/// Each is there from 20 ms until before 40 ms after the run's start, and packets leave the link 1 ms after they are sent: those of 19 to 38 ms
/// meet it. Late ones and bunches come 5 ms later than others; jitter of 5 ms moves a packet by less than that.
#[test]
fn effects_are_there_for_a_while() {
    let during = During { from: Span::from_ms(20), until: Some(Span::from_ms(40)) };
    let sent: Vec<u64> = (0..60).collect();
    let moved = |effects: Effects, spread_us: u64| {
        let arrivals = path_to(End::Receivers, 1000, effects).arrivals_us(&sent);
        let usual = |&(number, at): &(u32, u64)| at.abs_diff(u64::from(number) * 1000 + 11_000) <= spread_us;
        let mut unusual: Vec<u32> =
            arrivals.iter().filter(|arrival| !usual(arrival)).map(|(number, _)| *number).collect();
        unusual.sort_unstable();
        (arrivals.len(), unusual)
    };
    let within: Vec<u32> = (19..39).collect();
    let reorder = Some(Reorder { share: LossRate::ALL, by: Span::from_ms(5), during });
    assert_eq!(moved(Effects { reorder, ..Effects::default() }, 0), (60, within.clone()));
    let aggregate = Some(Bunches { hold: Span::from_ms(5), most: 2, during });
    let pairs: Vec<u32> = within.iter().copied().filter(|n| n % 2 == 1).collect();
    assert_eq!(moved(Effects { aggregate, ..Effects::default() }, 0), (60, pairs));
    let distribution = JitterDistribution::Uniform;
    let jitter = Some(Jitter { time: Span::from_ms(5), distribution, correlation: 0.0, keep_order: false, during });
    assert_eq!(moved(Effects { jitter, ..Effects::default() }, 0), (60, within));
}

/// Four places, and 10 ms on the way. Of six at once, which leave at 1 to 6 ms, the first four take the places until 11 to 14 ms. One that leaves at
/// 10 ms finds none, one at 11 ms has that of the first at this moment, and one at 12 ms that of the second.
#[test]
fn a_delay_has_room_for_so_many() {
    let mut path = path(Effects { delay_limit: Some(4), ..Effects::default() });
    [0, 0, 0, 0, 0, 0, 9, 10, 11].iter().for_each(|ms| path.send(ms * 1000));
    path.run_until(ORIGIN + 1000 * MS);
    let dropped: Vec<u32> = path.drops.0.iter().map(|&(_, number, _)| number).collect();
    assert_eq!(dropped, [4, 5, 6]);
    assert!(path.drops.0.iter().all(|drop| drop.2 == DropReason::Queue));
    assert_eq!(path.network.links[0].stats.queue_drops, 3);
    let arrivals: Vec<(u32, u64)> = path.arrivals.iter().map(|&(number, at)| (number, at / MS)).collect();
    assert_eq!(arrivals, [(0, 11), (1, 12), (2, 13), (3, 14), (7, 21), (8, 22)]);
}

/// With three places and all packets twice: the first has two, the second one and no copy, the third none.
#[test]
fn copies_take_places_too() {
    let effects = Effects { delay_limit: Some(3), duplicate: LossRate::ALL, ..Effects::default() };
    let mut path = path(effects);
    (0..3).for_each(|_| path.send(0));
    path.run_until(ORIGIN + 1000 * MS);
    assert_eq!(path.arrivals.iter().map(|arrival| arrival.0).collect::<Vec<_>>(), [0, 1000, 1]);
    assert_eq!(path.drops.0.len(), 1);
}

/// A bunch of four leaves at once, at 4 ms, and two of it find room.
#[test]
fn a_bunch_needs_room_at_once() {
    let aggregate = Some(Bunches { hold: Span::from_ms(50), most: 4, during: During::default() });
    let mut path = path(Effects { delay_limit: Some(2), aggregate, ..Effects::default() });
    (0..4).for_each(|_| path.send(0));
    path.run_until(ORIGIN + 1000 * MS);
    assert_eq!(path.arrivals.iter().map(|&(number, at)| (number, at / MS)).collect::<Vec<_>>(), [(0, 14), (1, 14)]);
    assert_eq!(path.network.links[0].stats.queue_drops, 2);
}

/// Between 5 and 8 ms every packet is lost, at 8 ms none.
#[test]
fn all_may_be_lost_for_a_while() {
    let change = |ms, loss| Change {
        at: Span::from_ms(ms),
        every: None,
        rate_bps: None,
        delay: None,
        loss: Some(loss),
        limit: None,
    };
    let changes = vec![change(5, Loss::from(LossRate::ALL)), change(8, Loss::None)];
    let arrivals = path_to(End::Receivers, 1000, Effects { changes, ..Effects::default() })
        .arrivals_us(&(0..12).collect::<Vec<_>>());
    let arrived: Vec<u32> = arrivals.iter().map(|(number, _)| *number).collect();
    assert_eq!(arrived, [0, 1, 2, 3, 4, 8, 9, 10, 11]);
}

/// 6 Mbit/s and two packets: two of five at once pass. 4 ms later there is room for two again.
#[test]
fn a_policer_drops() {
    let policer = Some(TokenBucket { rate: Rate { bps: 6_000_000 }, burst_bytes: 3000 });
    let mut path = path(Effects { policer, ..Effects::default() });
    [0, 0, 0, 0, 0, 4, 4, 4].iter().for_each(|ms| path.send(ms * 1000));
    path.run_until(ORIGIN + 1000 * MS);
    let dropped: Vec<u32> = path.drops.0.iter().map(|drop| drop.1).collect();
    assert_eq!(dropped, [2, 3, 4, 7]);
    assert_eq!(path.network.links[0].stats.queue_drops, 4);
}

/// The same bucket as a shaper, which fills by half a packet a millisecond. Transmissions begin at 0, 1 and 2 ms and leave tokens for 1,
/// 0.5 and 0 packets; at 3 ms there is half a packet's worth, and the fourth leaves a debt of as much. From 4 ms on one goes each 2 ms,
/// with the first token that is there.
#[test]
fn a_shaper_queues() {
    let shaper = Some(TokenBucket { rate: Rate { bps: 6_000_000 }, burst_bytes: 3000 });
    let arrivals = path(Effects { shaper, ..Effects::default() }).arrivals_us(&[0; 8]);
    let expected = [11, 12, 13, 14, 15, 17, 19, 21].map(|ms| ms * 1000);
    assert_eq!(arrivals.iter().map(|a| a.1 / 100 * 100).collect::<Vec<_>>(), expected);
}
