// SPDX-License-Identifier: MIT OR Apache-2.0
//! An emulated path for UDP without root: datagrams that arrive here cross the network of a scenario, by the machine's clock.
//!
//! `relay SCENARIO.toml SEED LISTEN SERVER`: what comes to LISTEN goes on to SERVER over the links of the scenario's first flow, and what
//! comes back goes back over its links for ACKs. It spins, because a sleep is too coarse: give it a core.

use std::{
    net::{SocketAddr, UdpSocket},
    path::Path,
    time::Instant,
};

use socket2::SockRef;
use tandem_network::{Contents, DropReason, End, Event, Network, Packet, Route, wired_links};
use tandem_scenario::file::{Overrides, load};

/// What each socket should hold while another program has the core, bytes. What it loses is no part of the path.
const SOCKET_BYTES: usize = 4 << 20;

/// UDP and IPv4.
const HEADERS: u32 = 28;

/// A datagram under way: its place in the store.
#[derive(Clone, Copy, Debug, Default)]
struct Datagram {
    number: u32,
    bytes: u32,
    place: u32,
}

impl Packet for Datagram {
    type Returning = Datagram;

    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn place(&self) -> u32 {
        self.place
    }

    fn set_place(&mut self, place: u32) {
        self.place = place;
    }
}

#[derive(Default)]
struct Store {
    contents: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Store {
    fn keep(&mut self, bytes: &[u8]) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.contents.push(Vec::new());
            self.contents.len() as u32 - 1
        });
        self.contents[number as usize].clear();
        self.contents[number as usize].extend_from_slice(bytes);
        number
    }
}

impl Contents<Datagram> for Store {
    fn dropped(&mut self, _now: u64, packet: Datagram, _reason: DropReason) {
        self.free.push(packet.number);
    }

    fn copied(&mut self, packet: Datagram) -> Datagram {
        let bytes = self.contents[packet.number as usize].clone();
        Datagram { number: self.keep(&bytes), ..packet }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, scenario, seed, listen, server] = &arguments[..] else {
        return Err("relay SCENARIO.toml SEED LISTEN SERVER".into());
    };
    let scenario = load(Path::new(scenario), &Overrides::default())?.without_default_send_jitter();
    let (listen, server): (SocketAddr, SocketAddr) = (listen.parse()?, server.parse()?);
    let seed: u64 = seed.parse()?;
    let links = wired_links(&scenario.network, scenario.mtu, 0, &(0..u64::MAX >> 2), seed);
    let mut network: Network<Datagram> = Network::new(links, None, Route::of_flows(&scenario, seed));
    let inside = UdpSocket::bind(listen)?;
    let outside = UdpSocket::bind(SocketAddr::new(listen.ip(), 0))?;
    outside.connect(server)?;
    for socket in [&inside, &outside] {
        socket.set_nonblocking(true)?;
        SockRef::from(socket).set_recv_buffer_size(SOCKET_BYTES)?;
    }
    let (start, mut store, mut sender, mut buffer) = (Instant::now(), Store::default(), None, vec![0; 1 << 16]);
    println!("relay at {}", inside.local_addr()?);
    loop {
        let now = start.elapsed().as_nanos() as u64;
        while let Some((_, event)) = network.advance(now, &mut store) {
            // A full socket buffer loses a datagram, as it may at any host.
            let packet = match event {
                Event::AtReceiver(_, packet) => {
                    let _ = outside.send(&store.contents[packet.number as usize]);
                    packet
                }
                Event::AtSender(_, packet) => {
                    let _ = sender.map(|to| inside.send_to(&store.contents[packet.number as usize], to));
                    packet
                }
                Event::Alarm(_) => continue,
            };
            store.free.push(packet.number);
        }
        // A few at a time, so that what is due does not wait.
        for _ in 0..16 {
            let taken = match inside.recv_from(&mut buffer) {
                Ok((bytes, from)) => {
                    sender = Some(from);
                    Some((bytes, End::Receivers))
                }
                Err(_) => outside.recv(&mut buffer).ok().map(|bytes| (bytes, End::Senders)),
            };
            let Some((bytes, to)) = taken else { break };
            let packet = Datagram { number: store.keep(&buffer[..bytes]), bytes: bytes as u32 + HEADERS, place: 0 };
            network.send(start.elapsed().as_nanos() as u64, 0, to, packet, &mut store);
        }
    }
}
