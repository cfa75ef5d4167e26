// SPDX-License-Identifier: MIT OR Apache-2.0
//! From file to complete scenario: defaults, delays, routes.

use tandem_scenario::{
    Aqm, CongestionControl, DumbbellSpec, FlowsSpec, Group, Limit, Loss, Recovery, Scenario, ScenarioSpec, TcpSource,
    Traffic, Transfer,
    aqm::{AqmSpec, Codel, Red},
    controller::parse_setting,
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
    let Traffic::Tcp(tcp) = &s.groups[0].source else { panic!() };
    assert!(tcp.delayed_acks && !tcp.pacing && tcp.transfer == Transfer::Bulk && tcp.receive_window.is_none());
    assert_eq!((tcp.initial_window, tcp.recovery), (10, Recovery::Prr));
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
    assert!(matches!(&s.groups[0].source, Traffic::Tcp(tcp) if !tcp.delayed_acks));
}

const THREE_SETTINGS: &str = "duration = \"1s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"1ms\"\nqueue = \"9p\"\n\
    [[flows]]\ncontroller = \"compound@gamma=7\"\n[[flows]]\ncontroller = \"compound\"\n\
    [set.compound]\ngamma = 8\nlow_window = 38";

/// Name, gamma, low_window and alpha of each group; of these the controller's defaults are 30, 41 and 0.125.
fn settings(overrides: &Overrides) -> Vec<(String, f64, f64, f64)> {
    let s = parse(THREE_SETTINGS, "x", "x", overrides).unwrap();
    let values = |group: &Group| match &group.source {
        Traffic::Tcp(TcpSource { controller: CongestionControl::Tandem(params), .. }) => {
            let get = |name| params.get(name).unwrap();
            (group.name.clone(), get("gamma"), get("low_window"), get("alpha"))
        }
        _ => panic!(),
    };
    s.groups.iter().map(values).collect()
}

/// The command line goes before the group, that before the file's [set], that before the default.
#[test]
fn parameters_by_precedence() {
    let named = |name: &str, gamma| (name.to_owned(), gamma, 38.0, 0.125);
    assert_eq!(settings(&Overrides::default()), [named("compound@gamma=7", 7.0), named("compound", 8.0)]);
    let mut overrides = Overrides::default();
    overrides.settings.push(parse_setting("compound.gamma=9").unwrap()).unwrap();
    assert_eq!(settings(&overrides), [named("compound@gamma=9", 9.0), named("compound", 9.0)]);
}

/// The same rule for `delayed_acks`, whose default is true.
#[test]
fn delayed_acks_by_precedence() {
    let delayed = |file: &str, group: &str, no_delayed_acks| {
        let text = format!(
            "duration = \"1s\"\n{file}\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"1ms\"\nqueue = \"9p\"\n\
             [[flows]]\ncontroller = \"reno\"\n{group}"
        );
        let overrides = Overrides { no_delayed_acks, ..Overrides::default() };
        let s = parse(&text, "x", "x", &overrides).unwrap();
        matches!(&s.groups[0].source, Traffic::Tcp(tcp) if tcp.delayed_acks)
    };
    let (on, off) = ("delayed_acks = true", "delayed_acks = false");
    assert!(delayed("", "", false));
    assert!(!delayed(off, "", false));
    assert!(delayed(off, on, false));
    assert!(!delayed(off, on, true));
}

/// What a program fills in is the same as what a file says, and is checked alike.
#[test]
fn a_description_without_a_file() {
    let path = DumbbellSpec {
        rate: "100mbit".parse().unwrap(),
        rtt: Span::from_ms(40),
        queue: "1bdp".parse().unwrap(),
        aqm: AqmSpec::DropTail,
        loss: Loss::None,
        reverse_rate: None,
        reverse_queue: None,
        reverse_loss: Loss::None,
    };
    let flows = FlowsSpec { controller: Some("compound@gamma=5".parse().unwrap()), count: 2, ..FlowsSpec::default() };
    let spec = ScenarioSpec { dumbbell: Some(path), flows: vec![flows], ..ScenarioSpec::new(Span::from_secs(9)) };
    let filled_in = spec.check().unwrap();
    let from_file = scenario(
        "duration = \"9s\"\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\"\n\
         [[flows]]\ncontroller = \"compound@gamma=5\"\ncount = 2",
    );
    assert_eq!(filled_in.identity(), from_file.identity());
    let error = ScenarioSpec { warmup: Span::from_secs(9), ..spec }.check().unwrap_err();
    assert_eq!((error.key.as_str(), error.to_string().contains("longer than the warm-up")), ("duration", true));
}

/// A scenario made of another has the same identity only if it gives the same results.
#[test]
fn derived_scenarios() {
    let s = dumbbell("");
    let other = s.clone().named("a\u{1b}[31mb").with_seeds(3..=4);
    assert_eq!((other.name.as_str(), other.seeds.as_slice()), ("a [31mb", &[3, 4][..]));
    assert_eq!(other.identity(), s.identity());
    assert_eq!(s.clone().with_seeds([]).seeds, [1]);
    let quiet = s.clone().without_default_send_jitter();
    assert_eq!(quiet.send_jitter, Span::default());
    assert_ne!(quiet.identity(), s.identity());
    // What was asked for stays, and gives the same results as the default.
    let asked = s.clone().with_given_send_jitter().without_default_send_jitter();
    assert_eq!((asked.send_jitter, asked.identity()), (s.send_jitter, s.identity()));
    let given = scenario(
        "duration = \"9s\"\nsend_jitter = \"3ms\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"9ms\"\nqueue = \"9p\"\n\
         [[flows]]\ncontroller = \"reno\"",
    );
    assert_eq!(given.without_default_send_jitter().send_jitter, Span::from_ms(3));
}

/// Kept runs are found by their scenario's identity, which a new key with a default must not change.
#[test]
fn the_default_recovery_leaves_no_trace_in_the_identity() {
    let with = |recovery: &str| {
        scenario(&format!(
            "duration = \"9s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"9ms\"\nqueue = \"9p\"\n\
             [[flows]]\ncontroller = \"reno\"\n{recovery}"
        ))
        .identity()
    };
    let default = with("");
    assert!(!default.contains("recovery"), "{default}");
    assert_eq!(with("recovery = \"prr\""), default);
    assert!(!default.contains("transport"), "{default}");
    assert_ne!(with("transport = \"quic\""), default);
    assert_ne!(with("recovery = \"rate-halving\""), default);
}

/// One definition: links there and back, the access delay, the random part or its mean.
#[test]
fn round_trip_times() {
    let s = scenario(
        "duration = \"9s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"101ms\"\nqueue = \"9p\"\n\
         [[flows]]\ncontroller = \"reno\"\naccess = \"3ms\"\nrtt_spread = \"10ms\"",
    );
    let group = &s.groups[0];
    assert_eq!(s.base_rtt(group), Span::from_ms(104));
    assert_eq!(s.mean_base_rtt(group), Span::from_ms(109));
    assert_eq!(s.rtt_with_access(group, 7_000_000), Span::from_ms(108));
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

/// Two routes have two hops: the one whose links come first is taken; the other has to be named.
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
    let direct = DIAMOND.replacen("[[flows]]", "[[links]]\nname = \"x\"\nfrom = \"a\"\nto = \"d\"\nrate = \"1mbit\"\ndelay = \"500ms\"\nqueue = \"9p\"\n[[flows]]", 1);
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
    let red = Aqm::Red(Red { min_packets: 10.0, max_packets: 30.0, max_p: 0.1, weight: 0.002, ecn: false });
    assert_eq!(aqm("\"red\"", "60p"), Ok(red));
    assert_eq!(aqm("\"red\"", "90kB"), Ok(red));
    let own = Aqm::Red(Red { min_packets: 5.0, max_packets: 20.0, max_p: 0.5, weight: 0.1, ecn: false });
    assert_eq!(aqm("{ kind = \"red\", min = 5.0, max = 20.0, max_p = 0.5, weight = 0.1 }", "60p"), Ok(own));
    assert_eq!(
        aqm("\"codel\"", "60p"),
        Ok(Aqm::Codel(Codel { target: Span::from_ms(5), interval: Span::from_ms(100), ecn: false }))
    );
    let slow = Aqm::Codel(Codel { target: Span::from_ms(20), interval: Span::from_ms(400), ecn: false });
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
