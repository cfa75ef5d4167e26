// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all connections of the machine do, by controller, against what the sockets themselves say.

mod net;
mod skip;

use std::{
    io::Read,
    net::{Shutdown, TcpListener, TcpStream},
    thread::sleep,
    time::Duration,
};

use tandem_controllers::find;
use tandem_kernel::{Histogram, Histograms, Totals};
use tandem_testing::PATIENCE;

use net::{FAR, Path, Registered, connected, info, wait_until};

const BYTES: u64 = 3_000_000;

fn of(histograms: &mut Histograms, name: &str) -> Option<Totals> {
    histograms.look().unwrap().into_iter().find(|totals| totals.controller == name)
}

/// All is in one bucket, whose range holds the value.
fn assert_holds(histogram: &Histogram, value: f64) {
    let place = histogram.buckets.iter().position(|(_, count)| *count > 0).unwrap();
    let below = place.checked_sub(1).map_or(0.0, |before| histogram.buckets[before].0);
    assert_eq!(histogram.count(), histogram.buckets[place].1, "{histogram:?}");
    assert!(below < value && value <= histogram.buckets[place].0, "{value} is not in bucket {place} of {histogram:?}");
}

/// Sends this much, and waits until all of it is acknowledged.
fn send_and_settle(near: &TcpStream, far: &TcpStream, bytes: u64) {
    let mut left = bytes;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut far, mut block) = (far, vec![0; 1 << 16]);
            while left > 0 {
                left -= far.read(&mut block).unwrap() as u64;
            }
        });
        let block = vec![1; bytes as usize];
        std::io::Write::write_all(&mut &*near, &block).unwrap();
    });
    wait_until("all is acknowledged", || info(near).tcpi_unacked == 0);
}

#[test]
fn a_connection_is_counted_as_its_socket_says() {
    if skip::cannot_load() {
        return;
    }
    let (path, ours) = (Path::wire(), Registered::new(find("reno").unwrap()));
    let mut histograms = Histograms::new().unwrap();
    let (near, far) = connected(&ours.name, &path.near, &path.far, FAR);
    send_and_settle(&near, &far, BYTES);
    let totals = of(&mut histograms, &ours.name).expect("its connection is there");
    let socket = info(&near);
    // The SYN counts as a byte.
    assert_eq!((totals.connections, totals.acked_bytes), (1, BYTES + 1));
    assert_eq!(totals.retransmitted, u64::from(socket.tcpi_total_retrans));
    assert!(totals.segments >= BYTES.div_ceil(u64::from(socket.tcpi_snd_mss)), "{totals:?}");
    assert_holds(&totals.rtt_s, f64::from(socket.tcpi_rtt) / 1e6);
    assert_holds(&totals.window_bytes, f64::from(socket.tcpi_snd_cwnd) * f64::from(socket.tcpi_snd_mss));
    assert_eq!(totals.acked_bytes, socket.tcpi_bytes_acked);
    let held_s = [totals.path_s + totals.rwnd_s + totals.sndbuf_s, totals.rwnd_s, totals.sndbuf_s];
    let theirs_us = [socket.tcpi_busy_time, socket.tcpi_rwnd_limited, socket.tcpi_sndbuf_limited];
    for (held_s, theirs_us) in held_s.into_iter().zip(theirs_us) {
        assert!((held_s - theirs_us as f64 / 1e6).abs() < 1e-5, "{held_s} {theirs_us}");
    }
    if totals.retransmitted == 0 {
        assert_eq!(totals.retransmitted_ratio.buckets[0], (0.0, 1));
    }
    // It had no time to be idle since it began, that anybody knows of; and nothing new happens.
    assert_eq!(totals.idle_s, 0.0);
    assert_eq!(of(&mut histograms, &ours.name).unwrap(), totals, "a silent connection adds nothing");
    sleep(Duration::from_millis(300));
    send_and_settle(&near, &far, 1000);
    let later = of(&mut histograms, &ours.name).unwrap();
    assert_eq!((later.acked_bytes, later.rtt_s.count()), (BYTES + 1001, 2));
    assert!((0.25..PATIENCE.as_secs_f64()).contains(&later.idle_s), "{}", later.idle_s);
    drop((near, far));
}

/// What was before the first look is not counted, what begins after it is from its beginning on.
#[test]
fn what_was_before_is_not_counted() {
    if skip::cannot_load() {
        return;
    }
    let (path, ours) = (Path::wire(), Registered::new(find("reno").unwrap()));
    let (near, far) = connected(&ours.name, &path.near, &path.far, FAR);
    send_and_settle(&near, &far, BYTES);
    let mut histograms = Histograms::new().unwrap();
    let totals = of(&mut histograms, &ours.name).unwrap();
    assert_eq!((totals.connections, totals.acked_bytes, totals.rtt_s.count()), (1, 0, 0));
    send_and_settle(&near, &far, 5000);
    let totals = of(&mut histograms, &ours.name).unwrap();
    assert_eq!((totals.acked_bytes, totals.rtt_s.count(), totals.goodput_bytes_per_s.count()), (5000, 1, 1));
    // Two who look do not disturb each other.
    let mut other = Histograms::new().unwrap();
    send_and_settle(&near, &far, 7000);
    assert_eq!(of(&mut other, &ours.name).unwrap().acked_bytes, 7000);
    assert_eq!(of(&mut histograms, &ours.name).unwrap().acked_bytes, 12_000);
}

/// A receiver that does not read. The socket's own clock says how long: a full buffer is no full window yet.
#[test]
fn what_holds_a_connection_back_is_told_apart() {
    if skip::cannot_load() {
        return;
    }
    let (path, ours) = (Path::wire(), Registered::new(find("reno").unwrap()));
    let mut histograms = Histograms::new().unwrap();
    let (near, far) = connected(&ours.name, &path.near, &path.far, FAR);
    near.set_nonblocking(true).unwrap();
    wait_until("the buffer is full", || std::io::Write::write(&mut &near, &[0; 65536]).is_err());
    wait_until("the far window holds it for most of its time", || {
        let socket = info(&near);
        socket.tcpi_rwnd_limited > 100_000.max(socket.tcpi_busy_time * 3 / 4)
    });
    let before = info(&near);
    let totals = of(&mut histograms, &ours.name).unwrap();
    let after = info(&near);
    let rwnd_us = (totals.rwnd_s * 1e6).round() as u64;
    assert!((before.tcpi_rwnd_limited..=after.tcpi_rwnd_limited).contains(&rwnd_us), "{totals:?}");
    let path_us = (totals.path_s * 1e6).round() as u64;
    let paths =
        [before, after].map(|socket| socket.tcpi_busy_time - socket.tcpi_rwnd_limited - socket.tcpi_sndbuf_limited);
    assert!((paths[0]..=paths[1]).contains(&path_us), "{totals:?} {paths:?}");
    drop((near, far));
}

/// The kernel's own controllers too; a listening socket is no connection; a name that is gone is forgotten.
#[test]
fn names_come_and_go() {
    if skip::cannot_load() {
        return;
    }
    let path = Path::wire();
    let mut histograms = Histograms::new().unwrap();
    let ours = Registered::new(find("reno").unwrap());
    let name = ours.name.clone();
    let listener = path.near.enter(|| TcpListener::bind(("127.0.0.1", 0)).unwrap());
    rustix::net::sockopt::set_tcp_congestion(&listener, &name).unwrap();
    assert_eq!(of(&mut histograms, &name), None, "it listens");
    let (near, far) = connected(&name, &path.near, &path.far, FAR);
    assert_eq!(of(&mut histograms, &name).unwrap().connections, 1);
    let others: u64 = histograms.look().unwrap().iter().map(|totals| totals.connections).sum();
    assert!(others >= 2, "the other end has the machine's default");
    drop((listener, ours));
    assert_eq!(of(&mut histograms, &name).unwrap().connections, 1, "it lives on");
    near.shutdown(Shutdown::Both).unwrap();
    drop((near, far));
    wait_until("it is forgotten", || of(&mut histograms, &name).is_none());
}
