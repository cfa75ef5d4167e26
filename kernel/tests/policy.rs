// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem policy` over real connections: what each rule decides, beside others, without a gap, and that nothing is left.

mod net;
mod skip;

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    path::Path as File,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
use tandem_controllers::find;
use tandem_kernel::{
    Error, clean_up,
    sockops::{
        LoadedPolicy, LoadedRule, PolicyFile, Question, Rule, What, ask_policy, load_policy, policy, remove_policy,
    },
};

use net::{Group, Registered, Space, connected, transfer, wait_until};

/// A machine has one policy.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reno() -> Registered {
    Registered::new(find("reno").unwrap())
}

/// In force until the test ends.
struct InForce;

impl InForce {
    fn new(text: &str, group: &Group) -> Self {
        let (loaded, _) =
            load_policy(&PolicyFile::parse(text).unwrap(), Some(&group.path)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(loaded.cgroup, group.path.display().to_string());
        Self
    }
}

impl Drop for InForce {
    fn drop(&mut self) {
        match remove_policy() {
            Ok(_) | Err(Error::NoPolicy) => {}
            Err(e) => assert!(thread::panicking(), "{e}"),
        }
    }
}

/// The controllers of both ends of a connection from the namespace to itself: of who opens it, and of who accepts it.
fn ends(space: &Space, listen: &str) -> [String; 2] {
    let (near, far) = space.enter(|| {
        let listener = TcpListener::bind(listen).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    });
    [&near, &far].map(|end| tcp_congestion(end).unwrap())
}

/// A namespace with some addresses of documentation on its loopback device.
fn space() -> Space {
    let space = Space::new();
    for address in ["192.0.2.7/32", "198.51.100.7/32", "2001:db8:1::7/128", "2001:db8:2::7/128"] {
        space.add_address(address);
    }
    space.enter(|| std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "reno")).unwrap();
    space
}

#[test]
fn each_kind_of_rule_decides_for_both_ends() {
    if skip::lacks_sockops() {
        return;
    }
    let _turn = alone();
    let (space, outer) = (space(), Group::new());
    let inner = outer.within("inner");
    let [v4, longer, v6, port, cgroup, default] = [reno(), reno(), reno(), reno(), reno(), reno()];
    let text = format!(
        "192.0.2.0/24 -> {}\n192.0.2.7 -> {}\n2001:db8:1::/48 -> {}\nport 8730 -> {}\ncgroup {} -> {}\ndefault -> {}\n",
        v4.name,
        longer.name,
        v6.name,
        port.name,
        inner.path.display(),
        cgroup.name,
        default.name
    );
    let both = |name: &Registered| [name.name.clone(), name.name.clone()];
    {
        let _policy = InForce::new(&text, &outer);
        outer.enter(|| {
            assert_eq!(ends(&space, "192.0.2.7:0"), both(&longer));
            assert_eq!(ends(&space, "[2001:db8:1::7]:0"), both(&v6));
            // The port that was connected to, at both ends; a prefix counts for more.
            assert_eq!(ends(&space, "198.51.100.7:8730"), both(&port));
            assert_eq!(ends(&space, "[2001:db8:2::7]:8730"), both(&port));
            assert_eq!(ends(&space, "192.0.2.7:8730"), both(&longer));
            assert_eq!(ends(&space, "198.51.100.7:0"), both(&default));
            // IPv4 from a socket of IPv6.
            assert_eq!(mapped(&space, "192.0.2.7"), longer.name);
        });
        inner.enter(|| assert_eq!(ends(&space, "198.51.100.7:0"), both(&cgroup)));
        let own = Group::new();
        own.enter(|| assert_eq!(ends(&space, "192.0.2.7:0"), ["reno", "reno"], "it is of another cgroup"));
        let rules = policy().unwrap().unwrap().rules;
        let counts: Vec<u64> = rules.iter().map(|rule| rule.connections).collect();
        assert_eq!(counts, [0, 6, 2, 4, 2, 2], "{rules:?}");
        assert_eq!(rules[4].what, format!("cgroup {}", inner.path.display()));
    }
    outer.enter(|| assert_eq!(ends(&space, "192.0.2.7:0"), ["reno", "reno"]));
    assert!(!File::new("/sys/fs/bpf/tandem/-policy").exists());
}

/// The program does not look for kinds of rules that a policy lacks.
#[test]
fn a_rule_of_any_kind_may_be_the_only_one() {
    if skip::lacks_sockops() {
        return;
    }
    let _turn = alone();
    let (space, outer, ours) = (space(), Group::new(), reno());
    let inner = outer.within("inner");
    let cgroup = format!("cgroup {}", inner.path.display());
    for (what, listen) in [
        ("192.0.2.0/24", "192.0.2.7:0"),
        ("2001:db8:1::/48", "[2001:db8:1::7]:0"),
        ("port 8731", "198.51.100.7:8731"),
        (&*cgroup, "198.51.100.7:0"),
        ("default", "198.51.100.7:0"),
    ] {
        let _policy = InForce::new(&format!("{what} -> {}\n", ours.name), &outer);
        inner.enter(|| assert_eq!(ends(&space, listen), [&*ours.name; 2], "{what}"));
        let other = if what == "default" { &*ours.name } else { "reno" };
        outer.enter(|| assert_eq!(ends(&space, "[2001:db8:2::7]:0"), [other; 2], "{what}"));
    }
}

/// The controller of a connection to `::ffff:ADDRESS`.
fn mapped(space: &Space, address: &str) -> String {
    let address: IpAddr = address.parse().unwrap();
    let IpAddr::V4(v4) = address else { panic!("{address}") };
    let near = space.enter(|| {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect(SocketAddr::new(v4.to_ipv6_mapped().into(), port)).unwrap()
    });
    tcp_congestion(&near).unwrap()
}

#[test]
fn who_chooses_keeps_the_choice() {
    if skip::lacks_sockops() {
        return;
    }
    let _turn = alone();
    let (space, group, [ours, theirs]) = (space(), Group::new(), [reno(), reno()]);
    let _policy = InForce::new(&format!("default -> {}\n", ours.name), &group);
    group.enter(|| {
        let (near, far) = connected(&theirs.name, &space, &space, "127.0.0.1");
        assert_eq!([&near, &far].map(|end| tcp_congestion(end).unwrap()), [&*theirs.name, &*ours.name]);
        // The listener's choice is that of what it accepts.
        let accepted = space.enter(|| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            set_tcp_congestion(&listener, &theirs.name).unwrap();
            let _near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            listener.accept().unwrap().0
        });
        assert_eq!(tcp_congestion(&accepted).unwrap(), theirs.name);
    });
}

#[test]
fn there_is_no_gap_while_it_is_replaced() {
    if skip::lacks_sockops() {
        return;
    }
    let _turn = alone();
    let (space, group, [one, other]) = (space(), Group::new(), [reno(), reno()]);
    let files = [&one, &other].map(|name| PolicyFile::parse(&format!("0.0.0.0/0 -> {}\n", name.name)).unwrap());
    let _policy = InForce::new(&format!("0.0.0.0/0 -> {}\n", one.name), &group);
    let is_done = AtomicBool::new(false);
    group.enter(|| {
        thread::scope(|scope| {
            let replacer = scope.spawn(|| {
                for number in 0..40 {
                    let (_, is_replaced) = load_policy(&files[number % 2], Some(&group.path)).unwrap();
                    assert!(is_replaced);
                }
                is_done.store(true, Ordering::SeqCst);
            });
            let mut seen = 0;
            while !is_done.load(Ordering::SeqCst) && !replacer.is_finished() {
                for end in ends(&space, "127.0.0.1:0") {
                    assert!([&one.name, &other.name].contains(&&end), "{end}");
                }
                seen += 1;
            }
            assert!(seen > 0);
        });
    });
    let others = Group::new();
    let refused = load_policy(&files[0], Some(&others.path)).unwrap_err();
    assert!(
        matches!(&refused, Error::OtherCgroup { loaded } if *loaded == group.path.display().to_string()),
        "{refused}"
    );
}

#[test]
fn a_controller_that_is_gone_breaks_nothing() {
    if skip::lacks_sockops() {
        return;
    }
    let _turn = alone();
    let (space, group, ours) = (space(), Group::new(), reno());
    let name = ours.name.clone();
    let _policy = InForce::new(&format!("default -> {name}\n"), &group);
    let streams = group.enter(|| {
        let listener = space.enter(|| TcpListener::bind("127.0.0.1:0")).unwrap();
        let near = space.enter(|| TcpStream::connect(listener.local_addr().unwrap())).unwrap();
        (near, listener.accept().unwrap().0)
    });
    drop(ours);
    group.enter(|| assert_eq!(ends(&space, "127.0.0.1:0"), ["reno", "reno"]));
    // Those that have it go on with it.
    transfer(&streams, 3_000_000, |_| ());
    assert_eq!(tcp_congestion(&streams.0).unwrap(), name);
    let expected = LoadedRule {
        what: "default".into(),
        controller: name.clone(),
        is_available: false,
        connections: 2,
        refused: 2,
    };
    assert_eq!(policy().unwrap().unwrap().rules, [expected]);
    let refused =
        load_policy(&PolicyFile::parse(&format!("\ndefault -> {name}")).unwrap(), Some(&group.path)).unwrap_err();
    assert!(matches!(&refused, Error::UnknownController { line: 2, .. }), "{refused}");
    assert!(refused.to_string().contains("reno"), "{refused}");
}

/// A container's cgroup, say: the kernel detaches the program with it.
#[test]
fn a_cgroup_that_is_gone_takes_its_policy_along() {
    if skip::lacks_sockops() {
        return;
    }
    let _turn = alone();
    let (group, name) = (Group::new(), reno());
    let inner = group.within("inner");
    let file = PolicyFile::parse(&format!("cgroup {} -> {}", inner.path.display(), name.name)).unwrap();
    let _policy = InForce::new(&format!("default -> {}\n", name.name), &group);
    drop(inner);
    let refused = load_policy(&file, Some(&group.path)).unwrap_err();
    assert!(matches!(refused, Error::RuleWithoutCgroup { line: 1, .. }), "{refused}");
    drop(group);
    wait_until("nothing is in force", || policy().unwrap().is_none());
    assert!(matches!(ask_policy(&question("192.0.2.1", 1, None)), Err(Error::NoPolicy)));
    assert_eq!(clean_up(|_| false).unwrap().first().map(String::as_str), Some("policy"));
    assert!(!File::new("/sys/fs/bpf/tandem/-policy").exists());
}

fn question(peer: &str, port: u16, cgroup: Option<&Group>) -> Question {
    Question { peer: peer.parse().unwrap(), port, cgroup: cgroup.map(|group| group.path.display().to_string()) }
}

/// What the rule's words say, by looking at each rule: the longest prefix, then the port, then the innermost cgroup, then the default.
fn by_hand<'a>(rules: &'a [Rule], asked: &Question) -> Option<&'a Rule> {
    let length = |text: &str| text.split_once('/').map_or(128, |(_, bits)| bits.parse::<u32>().unwrap());
    let holds = |what: &What| match what {
        What::Prefix(prefix) => {
            let text = prefix.to_string();
            let bits = |address: IpAddr| match address {
                IpAddr::V4(a) => format!("4{:032b}", u32::from(a)),
                IpAddr::V6(a) => format!("6{:0128b}", u128::from(a)),
            };
            let (own, theirs) = (bits(prefix.address()), bits(asked.peer));
            let count = if text.contains('/') { length(&text) as usize } else { own.len() - 1 };
            theirs.len() == own.len() && own[..=count] == theirs[..=count]
        }
        What::Port(port) => *port == asked.port,
        What::Cgroup(path) => asked.cgroup.as_ref().is_some_and(|own| File::new(own).starts_with(path)),
        What::Default => true,
    };
    let weight = |rule: &&Rule| match &rule.what {
        What::Prefix(prefix) => (3, length(&prefix.to_string()) as usize),
        What::Port(_) => (2, 0),
        What::Cgroup(path) => (1, path.len()),
        What::Default => (0, 0),
    };
    rules.iter().filter(|rule| holds(&rule.what)).max_by_key(weight)
}

/// Of tables that overlap much.
#[test]
fn a_question_is_answered_as_by_hand() {
    if skip::lacks_sockops() {
        return;
    }
    let _turn = alone();
    let (group, name) = (Group::new(), reno());
    let inner = group.within("inner");
    let mut text = format!("cgroup {0} -> {1}\ncgroup {0}/inner -> {1}\n", group.path.display(), name.name);
    for bits in 0..=32u32 {
        let address = std::net::Ipv4Addr::from(0xc000_0207u32 & u32::MAX.checked_shl(32 - bits).unwrap_or(0));
        text += &if bits % 3 == 0 { String::new() } else { format!("{address}/{bits} -> {}\n", name.name) };
    }
    for bits in (1..=128u32).step_by(5) {
        let address =
            std::net::Ipv6Addr::from(0x2001_0db8_ffff_ffff_ffff_ffff_ffff_ffffu128 & (u128::MAX << (128 - bits)));
        text += &format!("{address}/{bits} -> {}\n", name.name);
    }
    text += &format!("port 443 -> {0}\nport 65535 -> {0}\n", name.name);
    for default in ["", "default"] {
        let text = if default.is_empty() { text.clone() } else { format!("{text}default -> {}\n", name.name) };
        let rules = PolicyFile::parse(&text).unwrap().rules;
        let _policy = InForce::new(&text, &group);
        let v4 = (0..32).map(|bit| std::net::Ipv4Addr::from(0xc000_0207u32 ^ (1 << bit)).to_string());
        let v6 = (0..128).step_by(3).map(|bit| {
            std::net::Ipv6Addr::from(0x2001_0db8_ffff_ffff_ffff_ffff_ffff_ffffu128 ^ (1 << bit)).to_string()
        });
        for (number, peer) in v4.chain(v6).chain(["192.0.2.7".into(), "2001:db8::1".into()]).enumerate() {
            let port = [443, 80, 65535][number % 3];
            let asked = question(&peer, port, [None, Some(&group), Some(&inner)][number / 3 % 3]);
            let answer = ask_policy(&asked).unwrap().rule.map(|rule| rule.what);
            assert_eq!(answer, by_hand(&rules, &asked).map(|rule| rule.what.to_string()), "{asked:?}");
        }
    }
}

#[test]
fn what_is_not_loaded_is_said_and_nothing_is_left() {
    if skip::lacks_sockops() {
        return;
    }
    let _turn = alone();
    assert!(policy().unwrap().is_none());
    assert!(matches!(remove_policy(), Err(Error::NoPolicy)));
    let file = PolicyFile::parse("192.0.2.0/24 -> reno\n").unwrap();
    let refused = load_policy(&file, Some(File::new("/no/such/group"))).unwrap_err();
    assert!(matches!(refused, Error::BadCgroup { .. }), "{refused}");
    let group = Group::new();
    let policy = InForce::new("192.0.2.0/24 -> reno\n", &group);
    let LoadedPolicy { rules, .. } = remove_policy().unwrap();
    assert_eq!((rules.len(), &*rules[0].what), (1, "192.0.2.0/24"));
    drop(policy);
    assert!(!File::new("/sys/fs/bpf/tandem/-policy").exists());
    let mounted: io::Result<String> = std::fs::read_to_string("/proc/mounts");
    assert!(File::new("/sys/fs/bpf/tandem").exists() || !mounted.unwrap().contains("tandem /sys/fs/bpf "));
}
