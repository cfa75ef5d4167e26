// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which addresses flows have, so that any packet tells its flow, and routes can treat groups differently.
//!
//! Group g has 10.g.0.0/16 at the senders' end and 10.(128 + g).0.0/16 at the receivers'; its n-th flow has the n-th
//! address of each. They exist in namespaces of our own only, so nothing they could clash with is there.

use std::net::Ipv4Addr;

use crate::{netlink::Prefix, path::End};

pub const MAX_GROUPS: usize = 128;
/// Not the first address and not the last of 2^16.
pub const MAX_FLOWS_PER_GROUP: u32 = 0xfffe;

/// A group's flows, counted from 0 in the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    pub group: usize,
    pub flow: u32,
    pub end: End,
}

impl Address {
    pub fn ip(self) -> Ipv4Addr {
        let prefix = prefix(self.group, self.end).address.to_bits();
        Ipv4Addr::from_bits(prefix | (self.flow + 1))
    }

    /// The sender of an IPv4 packet; `None` if it is none of ours.
    pub fn source_of(packet: &[u8]) -> Option<Self> {
        let &[first, ..] = packet else { return None };
        let source = packet.get(12..16)?;
        let is_ours = first >> 4 == 4 && source[0] == 10;
        let flow = u32::from(u16::from_be_bytes([source[2], source[3]])).checked_sub(1)?;
        let end = if source[1] < 128 { End::Senders } else { End::Receivers };
        is_ours.then_some(Self { group: usize::from(source[1] & 127), flow, end })
    }
}

/// The addresses of a group's flows at one end.
pub fn prefix(group: usize, end: End) -> Prefix {
    assert!(group < MAX_GROUPS, "checked before a run begins");
    let second = group as u8 | if end == End::Receivers { 128 } else { 0 };
    Prefix { address: Ipv4Addr::new(10, second, 0, 0), length: 16 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_tells_its_flow() {
        let mut packet = [0; 20];
        packet[0] = 0x45;
        packet[12..16].copy_from_slice(&[10, 131, 1, 5]);
        // 1 * 256 + 5, counted from 1.
        let address = Address { group: 3, flow: 260, end: End::Receivers };
        assert_eq!(Address::source_of(&packet), Some(address));
        assert_eq!(address.ip(), Ipv4Addr::new(10, 131, 1, 5));
    }

    #[test]
    fn other_packets_tell_none() {
        assert_eq!(Address::source_of(&[]), None);
        assert_eq!(Address::source_of(&[0x45; 10]), None);
        let mut ipv6 = [10; 40];
        ipv6[0] = 0x60;
        assert_eq!(Address::source_of(&ipv6), None);
        let mut foreign = [0; 20];
        foreign[0] = 0x45;
        foreign[12..16].copy_from_slice(&[192, 168, 0, 1]);
        assert_eq!(Address::source_of(&foreign), None);
    }
}
