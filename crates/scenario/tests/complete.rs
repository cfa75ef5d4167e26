// SPDX-License-Identifier: MIT OR Apache-2.0
//! From file to complete scenario: defaults, delays, routes.

use tandem_scenario::{
    Aqm, CongestionControl, Limit, Loss, Scenario, Source, TcpSource, Transfer,
    aqm::{Codel, Red},
    file::{Overrides, parse},
    units::{LossRate, Span},
};

fn scenario(text: &str) -> Scenario {
    parse(text, "x.toml", "x", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn dumbbell(extra: &str) -> Scenario {
    scenario(&format!(
        "duration = \"60s\"\n{extra}\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"101ms\"\nqueue = \"1bdp\"\nloss = 1e-6\n\
         reverse_rate = \"10mbit\"\n\
         [[flows]]\ncontroller = \"reno\"\n[[flows]]\ncontroller = \"reno\"\nrtt = \"150ms\"\naccess = \"3ms\"\n\
         [[flows]]\ncontroller = \"compound\"\nreverse = true\n[[flows]]\nudp = {{ rate = \"1mbit\" }}"
    ))
}

#[test]
fn dumbbell_defaults() {
    let s = dumbbell("");
    assert_eq!((s.name.as_str(), s.mtu, s.mss(), s.warmup.ns, s.seeds.as_slice()), ("x", 1500, 1448, 0, &[1u64][..]));
    // The packet of the slowest link with data on it, which goes back, too: 12000 bit at 10 Mbit/s.
    assert_eq!(s.send_jitter, Span { ns: 1_200_000 });
    assert_eq!(s.sample_interval, Span::from_ms(30), "60 s in 2000 parts");
    let [forward, back] = &s.network.links[..] else { panic!() };
    // 100 Mbit/s * 101 ms = 841.67 packets; 84.17 at 10 Mbit/s.
    assert_eq!((forward.limit, back.limit), (Limit::Packets(842), Limit::Packets(84)));
    assert_eq!((forward.loss, back.loss), (Loss::Bernoulli(LossRate(1e-6)), Loss::None));
    // An odd RTT loses nothing in the halving.
    assert_eq!(forward.delay.ns + back.delay.ns, 101_000_000);
    let rtts: Vec<u64> = s.groups.iter().map(|g| s.base_rtt(g).ns / 1_000_000).collect();
    assert_eq!(rtts, [101, 153, 101, 101]);
    let routes: Vec<_> = s.groups.iter().map(|g| (g.forward.as_slice(), g.back.as_slice())).collect();
    assert_eq!(routes, [(&[0][..], &[1][..]), (&[0], &[1]), (&[1], &[0]), (&[0], &[1])]);
    let names: Vec<&str> = s.groups.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["reno", "reno #2", "compound", "udp"]);
    let Source::Tcp(tcp) = &s.groups[0].source else { panic!() };
    assert!(tcp.delayed_acks && !tcp.pacing && tcp.transfer == Transfer::Bulk && tcp.receive_window.is_none());
    assert_eq!(tcp.initial_window, 10);
}

#[test]
fn a_slow_link_with_acks_alone_does_not_delay_senders() {
    let text = |flow| {
        format!(
            "duration = \"9s\"\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"9ms\"\nqueue = \"9p\"\nreverse_rate = \"10mbit\"\n\
             [[flows]]\n{flow}"
        )
    };
    assert_eq!(scenario(&text("controller = \"reno\"")).send_jitter, Span { ns: 120_000 });
    assert_eq!(scenario(&text("controller = \"reno\"\nreverse = true")).send_jitter, Span { ns: 1_200_000 });
}

/// The links carry the smallest RTT of any group, so a group may also have a shorter one than the dumbbell's.
#[test]
fn shorter_rtt_than_the_dumbbells() {
    let s = scenario(
        "duration = \"1s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"100ms\"\nqueue = \"9p\"\n[[flows]]\ncontroller = \"reno\"\n\
         [[flows]]\ncontroller = \"reno\"\nrtt = \"20ms\"",
    );
    assert_eq!(s.network.links.iter().map(|l| l.delay.ns).sum::<u64>(), 20_000_000);
    let rtts: Vec<u64> = s.groups.iter().map(|g| s.base_rtt(g).ns / 1_000_000).collect();
    assert_eq!(rtts, [100, 20]);
}

#[test]
fn seeds_and_overrides() {
    assert_eq!(dumbbell("seeds = 3\nfirst_seed = 7").seeds, [7, 8, 9]);
    let overrides = Overrides { seeds: Some(2), first_seed: Some(100), no_delayed_acks: true, ..Overrides::default() };
    let text = "duration = \"1s\"\nseeds = 5\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"1ms\"\nqueue = \"9p\"\n\
                [[flows]]\ncontroller = \"reno\"\ndelayed_acks = true";
    let s = parse(text, "x", "x", &overrides).unwrap();
    assert_eq!(s.seeds, [100, 101]);
    assert!(matches!(&s.groups[0].source, Source::Tcp(tcp) if !tcp.delayed_acks));
}

/// What is set for one flow goes before the command line, that before the file's [set].
#[test]
fn parameters_by_precedence() {
    let text = "duration = \"1s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"1ms\"\nqueue = \"9p\"\n\
                [[flows]]\ncontroller = \"compound\"\nset = { gamma = 7 }\n[[flows]]\ncontroller = \"compound\"\n\
                [set.compound]\ngamma = 8\nlow_window = 38";
    let gammas = |overrides: &Overrides| -> Vec<(f64, f64)> {
        let s = parse(text, "x", "x", overrides).unwrap();
        let value = |s: &Source, name| match s {
            Source::Tcp(TcpSource { controller: CongestionControl::Tandem(params), .. }) => params.get(name).unwrap(),
            _ => panic!(),
        };
        s.groups.iter().map(|g| (value(&g.source, "gamma"), value(&g.source, "low_window"))).collect()
    };
    assert_eq!(gammas(&Overrides::default()), [(7.0, 38.0), (8.0, 38.0)]);
    let mut overrides = Overrides::default();
    overrides.settings.entry("compound".into()).or_default().insert("gamma".into(), 9.0);
    assert_eq!(gammas(&overrides), [(7.0, 38.0), (9.0, 38.0)]);
}

#[test]
fn parking_lot() {
    let s = scenario(
        "duration = \"1s\"\n[parking_lot]\nhops = 3\nrate = \"12mbit\"\nhop_delay = \"10ms\"\nqueue = \"1bdp\"\n\
         [[flows]]\ncontroller = \"reno\"\nfrom = \"r1\"\nto = \"r4\"\n[[flows]]\ncontroller = \"reno\"\nfrom = \"r3\"\nto = \"r2\"",
    );
    let names = |route: &[usize]| route.iter().map(|&l| s.network.links[l].name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(&s.groups[0].forward), ["r1-r2", "r2-r3", "r3-r4"]);
    assert_eq!(names(&s.groups[0].back), ["r4-r3", "r3-r2", "r2-r1"]);
    assert_eq!((names(&s.groups[1].forward), names(&s.groups[1].back)), (vec!["r3-r2"], vec!["r2-r3"]));
    // The longest RTT is 60 ms, 60 packets of 1 ms.
    assert!(s.network.links.iter().all(|l| l.limit == Limit::Packets(60)));
    assert_eq!(s.base_rtt(&s.groups[0]).ns, 60_000_000);
}

const DIAMOND: &str = "duration = \"1s\"\n\
    [[links]]\nname = \"up1\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1mbit\"\ndelay = \"1ms\"\nqueue = \"9p\"\nboth_ways = true\n\
    [[links]]\nname = \"up2\"\nfrom = \"b\"\nto = \"d\"\nrate = \"1mbit\"\ndelay = \"2ms\"\nqueue = \"9p\"\nboth_ways = true\n\
    [[links]]\nname = \"low1\"\nfrom = \"a\"\nto = \"c\"\nrate = \"1mbit\"\ndelay = \"4ms\"\nqueue = \"9p\"\nboth_ways = true\n\
    [[links]]\nname = \"low2\"\nfrom = \"c\"\nto = \"d\"\nrate = \"1mbit\"\ndelay = \"8ms\"\nqueue = \"9p\"\nboth_ways = true\n\
    [[flows]]\ncontroller = \"reno\"\nfrom = \"a\"\nto = \"d\"\n";

/// Of two routes with two hops, the one whose links come first; another one by name.
#[test]
fn routes_in_a_graph() {
    let route = |extra: &str| {
        let s = scenario(&format!("{DIAMOND}{extra}"));
        let names =
            |route: &[usize]| route.iter().map(|&l| s.network.links[l].name.clone()).collect::<Vec<_>>().join(" ");
        (names(&s.groups[0].forward), names(&s.groups[0].back), s.base_rtt(&s.groups[0]).ns / 1_000_000)
    };
    assert_eq!(route(""), ("up1 up2".into(), "up2-back up1-back".into(), 6));
    assert_eq!(route("route = [\"low1\", \"low2\"]"), ("low1 low2".into(), "up2-back up1-back".into(), 15));
    let both = "route = [\"low1\", \"low2\"]\nack_route = [\"low2-back\", \"low1-back\"]";
    assert_eq!(route(both), ("low1 low2".into(), "low2-back low1-back".into(), 24));
    // One link beats two.
    let direct = DIAMOND.replacen("[[flows]]", "[[links]]\nname = \"x\"\nfrom = \"a\"\nto = \"d\"\nrate = \"1mbit\"\ndelay = \"1s\"\nqueue = \"9p\"\n[[flows]]", 1);
    let s = scenario(&direct);
    assert_eq!((s.groups[0].forward.as_slice(), s.groups[0].back.len()), (&[8][..], 2));
}

#[test]
fn queue_management() {
    let aqm = |aqm: &str, queue: &str| {
        let text = format!(
            "duration = \"1s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"1ms\"\nqueue = \"{queue}\"\naqm = {aqm}\n\
             [[flows]]\ncontroller = \"reno\""
        );
        parse(&text, "x", "x", &Overrides::default()).map(|s| s.network.links[0].aqm).map_err(|e| e.to_string())
    };
    // min = limit / 6, max = 3 min; 60 packets as 90 kB.
    let red = Aqm::Red(Red { min_packets: 10.0, max_packets: 30.0, max_p: 0.1, weight: 0.002 });
    assert_eq!(aqm("\"red\"", "60p"), Ok(red));
    assert_eq!(aqm("\"red\"", "90kB"), Ok(red));
    let own = Aqm::Red(Red { min_packets: 5.0, max_packets: 20.0, max_p: 0.5, weight: 0.1 });
    assert_eq!(aqm("{ kind = \"red\", min = 5.0, max = 20.0, max_p = 0.5, weight = 0.1 }", "60p"), Ok(own));
    assert_eq!(
        aqm("\"codel\"", "60p"),
        Ok(Aqm::Codel(Codel { target: Span::from_ms(5), interval: Span::from_ms(100) }))
    );
    let slow = Aqm::Codel(Codel { target: Span::from_ms(20), interval: Span::from_ms(400) });
    assert_eq!(aqm("{ kind = \"codel\", target = \"20ms\", interval = \"400ms\" }", "60p"), Ok(slow));
    for (spec, part) in [
        ("\"fq\"", "unknown queue discipline `fq`"),
        ("{ kind = \"red\", min = 9.0, max = 9.0 }", "0 < min < max"),
        ("{ kind = \"red\", max_p = 0.0 }", "above 0"),
        ("{ kind = \"codel\", target = \"100ms\" }", "target < interval"),
        ("{ kind = \"codel\", limit = 3 }", "unknown field `limit`"),
    ] {
        let message = aqm(spec, "60p").unwrap_err();
        assert!(message.contains(part), "{spec}: {message}");
    }
}
