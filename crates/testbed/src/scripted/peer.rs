// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other end of a TCP connection, made by hand (RFC 9293, options of RFC 2018 and RFC 7323): it acknowledges what it is told to.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpStream},
    thread,
};

use netlink_packet_route::route::RouteMetric;
use tandem_testing::wait_until;

use crate::{
    netlink::{Netlink, Prefix},
    socket::connect_with,
    tun::Tun,
};

const HOST: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const PORT: u16 = 5001;
const MTU: u32 = 1500;
/// What the peer takes in one segment; the timestamps are part of it.
pub const PAYLOAD_BYTES: u32 = 1000 - 12;
/// RTAX_RTO_MIN of linux/rtnetlink.h, as a bit of RTAX_LOCK.
const LOCK_RTO_MIN: u32 = 1 << 13;

const SYN: u8 = 2;
const ACK: u8 = 16;
const MSS_1000: [u8; 4] = [2, 4, 0x03, 0xe8];
const SACK_PERMITTED: [u8; 4] = [1, 1, 4, 2];
const WINDOW_SCALE_7: [u8; 4] = [1, 3, 3, 7];

/// A segment that the host has sent.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    pub sequence: u32,
    pub payload_bytes: u32,
    /// Its timestamp.
    pub sent_at: u32,
    flags: u8,
    port: u16,
}

pub struct Peer {
    device: Tun,
    host_port: u16,
    /// Its own timestamp, which may not go back.
    clock: u32,
}

/// Makes a device in the calling thread's namespace, and a connection from there to the peer behind it.
pub fn connect(controller: &str, rto_min_ms: u32) -> (Peer, TcpStream) {
    let mut netlink = Netlink::new().unwrap();
    let lo = netlink.index_of("lo").unwrap();
    netlink.bring_up(lo, None).unwrap();
    let device = Tun::new(&mut netlink, "peer", MTU).unwrap();
    netlink.add_local(Prefix { address: HOST, length: 32 }).unwrap();
    let metrics = vec![RouteMetric::Lock(LOCK_RTO_MIN), RouteMetric::RtoMin(rto_min_ms)];
    netlink.add_route(Prefix { address: PEER, length: 32 }, device.index(), metrics).unwrap();
    let mut peer = Peer { device, host_port: 0, clock: 1000 };
    let [from, to] = [(HOST, 0), (PEER, PORT)].map(SocketAddr::from);
    let stream = thread::scope(|scope| {
        let host = scope.spawn(|| connect_with(controller, from, to).unwrap());
        let syn = peer.wait_for(|segment| segment.flags & SYN != 0);
        peer.host_port = syn.port;
        let options = [MSS_1000, SACK_PERMITTED, WINDOW_SCALE_7].concat();
        peer.send(SYN | ACK, 0, syn.sequence.wrapping_add(1), syn.sent_at, &options);
        host.join().unwrap()
    });
    (peer, stream)
}

impl Peer {
    /// All data that the host has sent and that has not been taken yet.
    pub fn take(&self) -> Vec<Segment> {
        let mut buffer = [0; MTU as usize];
        let mut segments = Vec::new();
        while let Some(bytes) = self.device.read(&mut buffer).unwrap() {
            segments.extend(parse(&buffer[..bytes]));
        }
        segments.retain(|segment| segment.payload_bytes > 0 || segment.flags & SYN != 0);
        segments
    }

    /// Waits until the host has sent such a segment, however busy the machine is; others are taken and forgotten.
    pub fn wait_for(&self, is_wanted: impl Fn(&Segment) -> bool) -> Segment {
        let mut found = None;
        wait_until("the host sends it", || {
            found = self.take().into_iter().find(&is_wanted);
            found.is_some()
        });
        found.unwrap()
    }

    /// Acknowledges all up to `next`. `echoed` is the timestamp that it answers; `sacked` is what has arrived beyond, from and to.
    pub fn acknowledge(&mut self, next: u32, echoed: u32, sacked: Option<(u32, u32)>) {
        let sack = sacked.map(|(from, to)| {
            let blocks = [from.to_be_bytes(), to.to_be_bytes()].concat();
            [&[1, 1, 5, 10], &blocks[..]].concat()
        });
        self.send(ACK, 1, next, echoed, &sack.unwrap_or_default());
    }

    fn send(&mut self, flags: u8, sequence: u32, next: u32, echoed: u32, options: &[u8]) {
        self.clock += 1;
        let stamps = [&[1, 1, 8, 10][..], &self.clock.to_be_bytes(), &echoed.to_be_bytes()].concat();
        let header_bytes = 20 + options.len() + stamps.len();
        let mut tcp = [PORT.to_be_bytes(), self.host_port.to_be_bytes()].concat();
        tcp.extend([sequence.to_be_bytes(), next.to_be_bytes()].concat());
        tcp.extend([(header_bytes / 4 * 16) as u8, flags, 0xff, 0xff, 0, 0, 0, 0]);
        tcp.extend([options, &stamps].concat());
        let pseudo = [&PEER.octets()[..], &HOST.octets(), &[0, 6], &(header_bytes as u16).to_be_bytes()].concat();
        let sum = checksum(&[&pseudo[..], &tcp].concat());
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());

        let total = (20 + header_bytes) as u16;
        let mut packet = vec![0x45, 0];
        packet.extend(total.to_be_bytes());
        // No identification, do not fragment, 64 hops, TCP.
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend([PEER.octets(), HOST.octets()].concat());
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend(tcp);
        self.device.write(&packet).unwrap();
    }
}

/// RFC 1071; the length is even.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// `None` if it is no TCP over IPv4.
fn parse(packet: &[u8]) -> Option<Segment> {
    if packet[0] != 0x45 || packet[9] != 6 {
        return None;
    }
    let tcp = &packet[20..];
    let number = |at: usize| u32::from_be_bytes(tcp[at..at + 4].try_into().unwrap());
    let header_bytes = usize::from(tcp[12] >> 4) * 4;
    Some(Segment {
        sequence: number(4),
        payload_bytes: (tcp.len() - header_bytes) as u32,
        sent_at: time_stamp(&tcp[20..header_bytes])?,
        flags: tcp[13],
        port: u16::from_be_bytes([tcp[0], tcp[1]]),
    })
}

fn time_stamp(mut options: &[u8]) -> Option<u32> {
    loop {
        match *options {
            [1, ..] => options = &options[1..],
            [8, 10, a, b, c, d, ..] => return Some(u32::from_be_bytes([a, b, c, d])),
            [kind, length, ..] if kind != 0 => options = options.get(usize::from(length).max(2)..)?,
            _ => return None,
        }
    }
}
