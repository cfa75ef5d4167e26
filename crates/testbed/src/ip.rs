// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a path reads and changes in IPv4 headers (RFC 791). Packets of other kinds are carried as they are.

use tandem_network::Ecn;

/// Where the header has type of service and checksum.
const TOS: usize = 1;
const CHECKSUM: usize = 10;
const SHORTEST_HEADER: usize = 20;

fn is_ipv4(packet: &[u8]) -> bool {
    packet.len() >= SHORTEST_HEADER && packet[0] >> 4 == 4
}

/// The ECN field (RFC 3168 section 5).
pub fn ecn(packet: &[u8]) -> Ecn {
    if !is_ipv4(packet) {
        return Ecn::NotCapable;
    }
    match packet[TOS] & 3 {
        0 => Ecn::NotCapable,
        1 => Ecn::Scalable,
        2 => Ecn::Capable,
        _ => Ecn::Marked,
    }
}

/// Sets the ECN field, and the checksum to what it then is (RFC 1624 equation 3).
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    if !is_ipv4(packet) {
        return;
    }
    let word = |packet: &[u8], at: usize| u32::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    let (old, checksum) = (word(packet, 0), word(packet, CHECKSUM));
    let field = match ecn {
        Ecn::NotCapable => 0,
        Ecn::Scalable => 1,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    };
    packet[TOS] = packet[TOS] & !3 | field;
    let mut sum = (!checksum & 0xffff) + (!old & 0xffff) + word(packet, 0);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[CHECKSUM..CHECKSUM + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// A number that packets of one connection share and others hardly do: of addresses, protocol and ports.
pub fn conversation(packet: &[u8]) -> u32 {
    if !is_ipv4(packet) {
        return 0;
    }
    let header_bytes = usize::from(packet[0] & 15) * 4;
    let ports = packet.get(header_bytes..header_bytes + 4).unwrap_or_default();
    // FNV-1a.
    let bytes = [packet[9]].into_iter().chain(packet[12..20].iter().copied()).chain(ports.iter().copied());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with ECT(0) whose checksum is worked out from RFC 791's definition, not by difference.
    fn packet(tos: u8) -> Vec<u8> {
        let mut packet = vec![
            0x45, tos, 0x05, 0xdc, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 128, 0, 1, 0x13, 0x89, 0x9c, 0x40,
        ];
        let checksum = checksum(&packet);
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    fn checksum(packet: &[u8]) -> u16 {
        let words = packet[..20].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
        let sum: u32 = words.sum();
        !((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn another_field_keeps_the_checksum_right() {
        for tos in [1, 2, 3, 0xb8 | 2] {
            for (field, to) in [(0, Ecn::NotCapable), (1, Ecn::Scalable), (2, Ecn::Capable), (3, Ecn::Marked)] {
                let mut changed = packet(tos);
                set_ecn(&mut changed, to);
                assert_eq!(changed, packet(tos & !3 | field));
                // Of a header with its checksum in it, the sum is 0.
                assert_eq!((checksum(&changed), ecn(&changed)), (0, to));
            }
        }
    }

    #[test]
    fn fields_of_rfc_3168() {
        let fields = [0, 1, 2, 3].map(|tos| ecn(&packet(tos)));
        assert_eq!(fields, [Ecn::NotCapable, Ecn::Scalable, Ecn::Capable, Ecn::Marked]);
        assert_eq!((ecn(&[]), ecn(&[0x60; 40])), (Ecn::NotCapable, Ecn::NotCapable));
    }

    #[test]
    fn connections_have_their_own_numbers() {
        let (mut other, one) = (packet(0), packet(2));
        assert_eq!(conversation(&other), conversation(&one));
        other[21] += 1;
        assert_ne!(conversation(&other), conversation(&one));
        assert_eq!(conversation(&[0x45; 3]), 0);
    }
}
