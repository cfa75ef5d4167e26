// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that have not proved that they have the ticket: what they get, and what is reported about them.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use quinn::{Connection, Incoming, RecvStream, SendStream, VarInt};
use tokio::{
    task::{AbortHandle, JoinSet},
    time::{Instant, timeout},
};

use crate::{
    Ticket,
    link::{Side, proof, trust},
    wire::MAGIC,
};

/// Why a connection was closed, for the other side.
pub const STRANGER: VarInt = VarInt::from_u32(1);

/// A sender that has proved itself.
pub struct Proved {
    pub connection: Connection,
    pub to: SendStream,
    pub from: RecvStream,
}

/// Connections that have not proved it. Each gets a place for a while. If none is left, the oldest of the address with the most
/// places is closed, so that a peer with few addresses keeps nobody else out.
pub struct Strangers {
    places: usize,
    proof: Duration,
    tasks: JoinSet<Option<Proved>>,
    /// Oldest first.
    here: Vec<(SocketAddr, AbortHandle)>,
}

impl Strangers {
    pub fn new(places: usize, proof: Duration) -> Self {
        Self { places, proof, tasks: JoinSet::new(), here: Vec::new() }
    }

    /// Admits one whose address is validated. Returns the one that it displaces.
    pub fn meet(&mut self, incoming: Incoming, ticket: &Ticket) -> Option<SocketAddr> {
        let (address, ticket, limit) = (incoming.remote_address(), ticket.clone(), self.proof);
        let task = self.tasks.spawn(async move { timeout(limit, let_in(incoming, &ticket)).await.ok().flatten() });
        self.here.push((address, task));
        if self.here.len() <= self.places {
            return None;
        }
        // A peer that has just proved itself is no longer a stranger.
        let strangers: Vec<usize> = (0..self.here.len()).filter(|&i| !self.here[i].1.is_finished()).collect();
        let addresses: Vec<SocketAddr> = strangers.iter().map(|&i| self.here[i].0).collect();
        let (address, task) = self.here.remove(strangers[least_deserving(&addresses)?]);
        task.abort();
        Some(address)
    }

    /// Waits for the next that has proved itself, or failed to.
    pub async fn next(&mut self) -> (SocketAddr, Option<Proved>) {
        loop {
            let Some(ended) = self.tasks.join_next_with_id().await else { return std::future::pending().await };
            let id = ended.as_ref().map_or_else(|e| e.id(), |(id, _)| *id);
            // Not one of those that were put out.
            if let Some(index) = self.here.iter().position(|(_, task)| task.id() == id) {
                let (address, _) = self.here.remove(index);
                return (address, ended.ok().and_then(|(_, proved)| proved));
            }
        }
    }
}

/// The oldest of those who have the most places.
fn least_deserving(addresses: &[SocketAddr]) -> Option<usize> {
    let mut places: HashMap<IpAddr, usize> = HashMap::new();
    addresses.iter().for_each(|address| *places.entry(home(*address)).or_default() += 1);
    let most = places.values().max()?;
    addresses.iter().position(|address| places[&home(*address)] == *most)
}

/// The addresses of one party: one of IPv4, 2^64 of IPv6.
fn home(address: SocketAddr) -> IpAddr {
    match address.ip().to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

/// The handshake, and both proofs. `None`: a stranger, who has learned nothing.
pub async fn let_in(incoming: Incoming, ticket: &Ticket) -> Option<Proved> {
    let connection = incoming.await.ok()?;
    let is_known = async {
        let (mut to, mut from) = connection.accept_bi().await.ok()?;
        let mut hello = [0; MAGIC.len() + 32];
        from.read_exact(&mut hello).await.ok()?;
        let (magic, theirs) = hello.split_at(MAGIC.len());
        let expected = proof(&connection, &ticket.secret, Side::Sender).ok()?;
        let theirs: [u8; 32] = theirs.try_into().ok()?;
        // Hashes are compared in constant time.
        if magic != MAGIC || blake3::Hash::from(theirs) != expected {
            return None;
        }
        let own = proof(&connection, &ticket.secret, Side::Receiver).ok()?;
        to.write_all(own.as_bytes()).await.ok()?;
        Some((to, from))
    };
    match is_known.await {
        Some((to, from)) => {
            trust(&connection);
            Some(Proved { connection, to, from })
        }
        None => {
            connection.close(STRANGER, b"this is not the secret");
            None
        }
    }
}

/// A few messages, then only their number, so that nobody can fill the log.
pub struct Quota {
    most: u64,
    time: Duration,
    /// When the current time began, and what came since.
    began: Instant,
    came: u64,
}

impl Quota {
    pub fn new(most: u64, time: Duration) -> Self {
        Self { most, time, began: Instant::now(), came: 0 }
    }

    /// Whether a message that comes now may be shown.
    pub fn allows(&mut self, now: Instant) -> bool {
        if self.came == 0 {
            self.began = now;
        }
        self.came += 1;
        self.came <= self.most
    }

    /// When the time is up.
    pub fn end(&self) -> Instant {
        self.began + self.time
    }

    /// Whether something came.
    pub fn is_open(&self) -> bool {
        self.came > 0
    }

    /// The time is up: how many were not shown. The next begins anew.
    pub fn withheld(&mut self) -> u64 {
        std::mem::take(&mut self.came).saturating_sub(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_the_most_places_loses_one() {
        let least = |addresses: &[&str]| {
            least_deserving(&addresses.iter().map(|a| a.parse().unwrap()).collect::<Vec<SocketAddr>>())
        };
        assert_eq!(least(&["192.0.2.1:1", "192.0.2.2:1", "192.0.2.2:2", "192.0.2.3:1"]), Some(1));
        // The same address, as sockets for both families show it.
        assert_eq!(least(&["192.0.2.1:1", "192.0.2.2:1", "[::ffff:192.0.2.2]:2"]), Some(1));
        // One network of IPv6 is one party.
        assert_eq!(least(&["[2001:db8::1]:1", "[2001:db8:0:1::1]:1", "[2001:db8:0:1:ffff::2]:1"]), Some(1));
        assert_eq!(least(&["192.0.2.1:1", "192.0.2.2:1"]), Some(0));
        assert_eq!(least(&[]), None);
    }

    #[test]
    fn messages_beyond_the_quota_are_counted() {
        let (start, minute) = (Instant::now(), Duration::from_secs(60));
        let mut quota = Quota::new(3, minute);
        assert!(!quota.is_open());
        let shown = (0..10_000).filter(|i| quota.allows(start + Duration::from_millis(*i))).count();
        assert_eq!((shown, quota.end()), (3, start + minute));
        assert_eq!((quota.withheld(), quota.is_open()), (9_997, false));
        let later = start + 3 * minute;
        assert!(quota.allows(later) && quota.is_open());
        assert_eq!((quota.end(), quota.withheld()), (later + minute, 0));
    }
}
