// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trials over real connections: who takes part, what is recorded, beside others, and that nothing is left.

mod net;
mod skip;

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::net::sockopt::tcp_congestion;
use tandem_controllers::find;
use tandem_kernel::{
    Error, Totals,
    sockops::{ArmCounts, Connection, PolicyFile, Trial, TrialSetup, load_policy, programs, remove_policy, running},
};
use tandem_testing::PATIENCE;

use net::{Group, Registered, Space, transfer, wait_until};

/// A machine has one policy, and `programs` counts those of all.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Arms([Registered; 2]);

impl Arms {
    fn new() -> Self {
        Self([(); 2].map(|()| Registered::new(find("reno").unwrap())))
    }

    fn of(&self, controller: &str) -> Option<usize> {
        self.0.iter().position(|arm| arm.name == controller)
    }

    /// Of all connections in the cgroup, half each.
    fn setup(&self, group: &Group) -> TrialSetup {
        TrialSetup {
            arms: [0, 1].map(|arm| self.0[arm].name.clone()),
            share: 0.5,
            by_peer: false,
            seed: 1,
            port: None,
            to: Vec::new(),
            cgroup: Some(group.path.clone()),
        }
    }
}

/// What the end that opens a connection sends, where it matters; the other end sends nothing.
const BYTES: usize = 20_000;

/// What has ended, `count` connections of it.
fn ended(trial: &Trial, count: usize) -> Vec<Connection> {
    let mut all = Vec::new();
    wait_until(&format!("{count} connections have ended"), || {
        trial.collect(|connection| all.push(*connection)).unwrap();
        all.len() >= count
    });
    all
}

/// Opens a connection, sends `bytes` over it and closes it; the controllers of both ends, and what the kernel says that it acknowledged.
fn exchange(space: &Space, listen: &str, bytes: usize) -> [String; 2] {
    let (mut near, mut far) = space.enter(|| {
        let listener = TcpListener::bind(listen).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    });
    far.set_read_timeout(Some(PATIENCE)).unwrap();
    near.write_all(&vec![1; bytes]).unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    assert_eq!(far.read_to_end(&mut Vec::new()).unwrap(), bytes);
    [&near, &far].map(|end| tcp_congestion(end).unwrap())
}

fn space() -> Space {
    let space = Space::new();
    for address in ["192.0.2.7/32", "2001:db8::7/128"] {
        space.add_address(address);
    }
    space.enter(|| std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "reno")).unwrap();
    space
}

#[test]
fn each_connection_has_an_arm_and_leaves_a_record() {
    const EXCHANGES: usize = 60;
    if skip::lacks_sockops() {
        return;
    }
    let (_turn, space, group, arms) = (alone(), space(), Group::new(), Arms::new());
    let trial = Trial::start(&arms.setup(&group)).unwrap();
    // Of each arm: ends that opened a connection, and ends that accepted one.
    let mut ends = [[0; 2]; 2];
    group.enter(|| {
        for number in 0..EXCHANGES {
            let listen = ["127.0.0.1:0", "[2001:db8::7]:0"][number % 2];
            for (end, controller) in exchange(&space, listen, BYTES).iter().enumerate() {
                ends[arms.of(controller).unwrap_or_else(|| panic!("{controller}"))][end] += 1;
            }
        }
    });
    let by_arm = ends.map(|[opened, accepted]| opened + accepted);
    let records = ended(&trial, 2 * EXCHANGES);
    assert_eq!(records.len(), 2 * EXCHANGES);
    for ((arm, count), counted) in (0u32..).zip(by_arm).zip(trial.counts().unwrap()) {
        assert_eq!(records.iter().filter(|r| r.arm == arm).count() as u64, count);
        assert_eq!(counted, ArmCounts { started: count, ended: count, refused: 0, lost: 0 });
    }
    // 120 fair draws are outside this with a probability below 1 in 10^9.
    assert!(by_arm[0] > 25 && by_arm[1] > 25, "{by_arm:?}");
    let senders: Vec<_> = records.iter().filter(|r| !r.is_accepted()).collect();
    assert_eq!(senders.len(), EXCHANGES);
    let accepted = records.iter().filter(|r| r.is_accepted());
    assert!(accepted.clone().all(|r| (r.bytes_sent(), r.bytes_received()) == (0, BYTES as u64)));
    for sender in senders {
        assert_eq!((sender.bytes_sent(), sender.bytes_received()), (BYTES as u64, 0), "{sender:?}");
        assert!(sender.is_established() && sender.ended_ns > sender.began_ns);
        assert!(sender.segments > 0 && sender.srtt_us > 0, "{sender:?}");
        assert!(["127.0.0.1", "2001:db8::7"].contains(&&*sender.address().to_string()));
    }
    let ports = |accepted| -> Vec<u16> {
        let mut ports: Vec<u16> =
            records.iter().filter(|r| r.is_accepted() == accepted).map(Connection::port).collect();
        ports.sort_unstable();
        ports
    };
    assert_eq!(ports(true), ports(false), "both ends know the service's port");
    // This module's tests take turns, so that it is the only one of these two controllers.
    let goes_on = running().unwrap().into_iter().find(|trial| arms.of(&trial.arms[0].totals.controller) == Some(0));
    for (arm, told) in (0u32..).zip(&goes_on.expect("the trial goes on").arms) {
        assert_eq!((&told.totals.controller, told.totals.connections), (&arms.0[arm as usize].name, 0));
        assert_eq!(told.counts.ended, by_arm[arm as usize]);
        let (accepted, opened): (Vec<_>, Vec<_>) =
            records.iter().filter(|r| r.arm == arm).partition(|r| r.is_accepted());
        assert_eq!([opened.len(), accepted.len()], ends[arm as usize].map(|count| count as usize));
        assert_are_those_of(&told.totals, &opened, &accepted, trial.jiffy_s());
    }
}

/// What the kernel added up of ends that sent [`BYTES`] and of ends that sent nothing. How many of the latter it counts is open: on a busy machine
/// their FIN may be under way for a jiffy, which makes one an end that did something.
fn assert_are_those_of(totals: &Totals, opened: &[&Connection], accepted: &[&Connection], jiffy_s: f64) {
    let (least, most) = (opened.len() as u64, (opened.len() + accepted.len()) as u64);
    assert_eq!(totals.acked_bytes, least * BYTES as u64);
    assert_eq!(totals.segments, opened.iter().map(|r| u64::from(r.segments)).sum::<u64>());
    for histogram in [&totals.goodput_bytes_per_s, &totals.retransmitted_ratio] {
        assert_eq!(histogram.count(), least, "{histogram:?}");
    }
    for histogram in [&totals.rtt_s, &totals.window_bytes] {
        assert!((least..=most).contains(&histogram.count()), "{least} to {most}: {histogram:?}");
    }
    let is_sum = |is: f64, of: &dyn Fn(&Connection) -> f64, tolerance: f64| {
        let sum = |records: &[&Connection]| records.iter().map(|r| of(r)).sum::<f64>();
        let (opened, accepted) = (sum(opened), sum(accepted));
        let is_within = (opened - tolerance..=opened + accepted + tolerance).contains(&is);
        assert!(is_within, "{is} is not {opened} and at most {accepted} more: {totals:?}");
    };
    is_sum(totals.rtt_s.sum, &|r| f64::from(r.srtt_us) / 1e6, 1e-6 * most as f64);
    let busy_s = |r: &Connection| f64::from(r.busy_jiffies) * jiffy_s;
    let goodput = |r: &Connection| r.bytes_sent() as f64 / busy_s(r).max(0.5 * jiffy_s);
    is_sum(totals.goodput_bytes_per_s.sum, &goodput, most as f64);
    let busy_sum_s = totals.path_s + totals.rwnd_s + totals.sndbuf_s;
    is_sum(busy_sum_s, &busy_s, 1e-6);
    is_sum(totals.idle_s + busy_sum_s, &|r| (r.ended_ns - r.began_ns) as f64 / 1e9, 2.0 * jiffy_s * most as f64);
}

#[test]
fn one_peer_always_has_the_same_arm_and_only_those_asked_for_take_part() {
    if skip::lacks_sockops() {
        return;
    }
    let (_turn, space, group, arms) = (alone(), space(), Group::new(), Arms::new());
    let start = |change: &dyn Fn(&mut TrialSetup)| {
        let mut setup = arms.setup(&group);
        change(&mut setup);
        Trial::start(&setup).unwrap()
    };
    group.enter(|| {
        let mut seen = [0; 2];
        for seed in 0..16 {
            let _trial = start(&|setup| (setup.by_peer, setup.seed) = (true, seed));
            let found: Vec<_> = (0..3).flat_map(|_| exchange(&space, "192.0.2.7:0", 1)).collect();
            assert!(found.iter().all(|controller| *controller == found[0]), "{found:?}");
            seen[arms.of(&found[0]).unwrap()] += 1;
        }
        // The seed decides: these are the same each time.
        assert!(seen[0] > 2 && seen[1] > 2, "{seen:?}");

        let takes_part = |listen: &str| exchange(&space, listen, 1).map(|controller| arms.of(&controller).is_some());
        let trial = start(&|setup| setup.to = vec!["192.0.2.0/24".parse().unwrap()]);
        assert_eq!(
            [takes_part("192.0.2.7:0"), takes_part("127.0.0.1:0"), takes_part("[::1]:0")],
            [[true; 2], [false; 2], [false; 2]]
        );
        drop(trial);
        let trial = start(&|setup| setup.port = Some(8731));
        assert_eq!([takes_part("192.0.2.7:8731"), takes_part("192.0.2.7:0")], [[true; 2], [false; 2]]);
        drop(trial);
        for (share, arm) in [(1.0, 0), (0.0, 1)] {
            let _trial = start(&|setup| setup.share = share);
            assert!((0..10).flat_map(|_| exchange(&space, "[::1]:0", 1)).all(|name| arms.of(&name) == Some(arm)));
        }
    });
    let trial = start(&|_| ());
    let others = Group::new();
    others.enter(|| assert_eq!(exchange(&space, "192.0.2.7:0", 1), ["reno", "reno"], "another cgroup's"));
    assert_eq!(trial.counts().unwrap(), [ArmCounts::default(); 2]);
}

#[test]
fn what_held_a_connection_back_is_recorded() {
    if skip::lacks_sockops() {
        return;
    }
    let (_turn, space, group, arms) = (alone(), space(), Group::new(), Arms::new());
    let trial = Trial::start(&arms.setup(&group)).unwrap();
    group.enter(|| {
        // Nobody listens there.
        let refused = space.enter(|| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            drop(listener);
            TcpStream::connect(address)
        });
        assert!(refused.is_err());
        // A receiver that does not read for a while.
        let (near, mut far) = space.enter(|| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (near, listener.accept().unwrap().0)
        });
        near.set_nonblocking(true).unwrap();
        wait_until("the window is full", || (&near).write(&[0; 65536]).is_err());
        std::thread::sleep(Duration::from_millis(300));
        near.shutdown(Shutdown::Write).unwrap();
        far.read_to_end(&mut Vec::new()).unwrap();
    });
    let records = ended(&trial, 3);
    let failed: Vec<_> = records.iter().filter(|r| !r.is_established()).collect();
    assert_eq!((failed.len(), failed[0].bytes_sent(), failed[0].is_accepted()), (1, 0, false));
    let sender = records.iter().find(|r| r.bytes_sent() > 0).unwrap();
    let [busy_s, rwnd_s, _] = trial.busy_s(sender);
    // The clock of jiffies may be one late; a busy machine makes it longer, not shorter.
    assert!(rwnd_s >= 0.28 && busy_s >= rwnd_s, "{busy_s} {rwnd_s}");
    assert!(busy_s <= (sender.ended_ns - sender.began_ns) as f64 / 1e9 + 0.02, "{busy_s}");
}

#[test]
fn beside_others_and_gone_with_its_process() {
    if skip::lacks_sockops() {
        return;
    }
    let (_turn, space, outer, arms) = (alone(), space(), Group::new(), Arms::new());
    let inner = outer.within("inner");
    let policy = PolicyFile::parse("default -> cubic\n").unwrap();
    load_policy(&policy, Some(&outer.path)).unwrap();
    // A policy that is asked first leaves nothing to a trial; one around is asked afterwards.
    let refused = Trial::start(&arms.setup(&outer)).err().unwrap();
    assert!(
        matches!(&refused, Error::PolicyFirst { cgroup } if *cgroup == outer.path.display().to_string()),
        "{refused}"
    );
    let trial = Trial::start(&arms.setup(&inner)).unwrap();
    let second = Trial::start(&arms.setup(&inner)).unwrap();
    let streams = inner.enter(|| {
        let listener = space.enter(|| TcpListener::bind("127.0.0.1:0")).unwrap();
        let near = space.enter(|| TcpStream::connect(listener.local_addr().unwrap())).unwrap();
        (near, listener.accept().unwrap().0)
    });
    let controller = tcp_congestion(&streams.0).unwrap();
    assert!(arms.of(&controller).is_some(), "{controller}");
    assert_eq!(second.counts().unwrap(), [ArmCounts::default(); 2], "the first one has chosen");
    outer.enter(|| assert_eq!(exchange(&space, "127.0.0.1:0", 1), ["cubic", "cubic"]));
    drop(trial);
    inner.enter(|| assert!(exchange(&space, "127.0.0.1:0", 1).iter().all(|name| arms.of(name).is_some())));
    drop(second);
    inner.enter(|| assert_eq!(exchange(&space, "127.0.0.1:0", 1), ["cubic", "cubic"], "the policy is still there"));
    remove_policy().unwrap();
    inner.enter(|| assert_eq!(exchange(&space, "127.0.0.1:0", 1), ["reno", "reno"]));
    // The connection lives on, with its controller.
    transfer(&streams, 2_000_000, |_| ());
    assert_eq!(tcp_congestion(&streams.0).unwrap(), controller);
    wait_until("no program is left", || programs("trial") + programs("policy") == 0);
}

#[test]
fn a_controller_that_is_not_there_is_refused_and_one_that_goes_breaks_nothing() {
    if skip::lacks_sockops() {
        return;
    }
    let (_turn, space, group, Arms([first, second])) = (alone(), space(), Group::new(), Arms::new());
    let arms = Arms([first, second]);
    let mut setup = arms.setup(&group);
    setup.arms[1] = "no_such_thing".into();
    let refused = Trial::start(&setup).err().unwrap();
    assert!(refused.to_string().contains("modprobe tcp_no_such_thing"), "{refused}");
    let trial = Trial::start(&arms.setup(&group)).unwrap();
    drop(arms);
    group.enter(|| assert_eq!(exchange(&space, "127.0.0.1:0", 10), ["reno", "reno"]));
    let [first, second] = trial.counts().unwrap();
    assert_eq!((first.started + second.started, first.refused + second.refused), (0, 2));
}
