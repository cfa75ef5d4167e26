// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a path has delivered at one of its ends.

use serde::Serialize;

const SECOND_NS: u64 = 1_000_000_000;

/// Counts of the packets that left the path at one end.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Delivered {
    /// IP packets of any kind.
    pub packets: u64,
    /// Bytes behind the TCP or UDP header of an IPv4 packet; 0 for other protocols.
    pub payload_bytes: u64,
    /// The same in each second since the path began, megabits.
    pub payload_mbit_by_second: Vec<f64>,
}

impl Delivered {
    /// A packet arrives `since_begin_ns` after the path began.
    pub fn count(&mut self, since_begin_ns: u64, packet: &[u8]) {
        let payload_bytes = payload_bytes(packet) as u64;
        let second = (since_begin_ns / SECOND_NS) as usize;
        if self.payload_mbit_by_second.len() <= second {
            self.payload_mbit_by_second.resize(second + 1, 0.0);
        }
        self.packets += 1;
        self.payload_bytes += payload_bytes;
        self.payload_mbit_by_second[second] += payload_bytes as f64 * 8e-6;
    }
}

/// Bytes behind the TCP or UDP header of an IPv4 packet; 0 for other protocols.
fn payload_bytes(packet: &[u8]) -> usize {
    let Some(&first) = packet.first() else { return 0 };
    let ip_header_bytes = usize::from(first & 15) * 4;
    let header_bytes = match packet.get(9) {
        Some(&6) => packet.get(ip_header_bytes + 12).map(|offset| usize::from(offset >> 4) * 4),
        Some(&17) => Some(8),
        _ => None,
    };
    header_bytes.map_or(0, |bytes| packet.len().saturating_sub(ip_header_bytes + bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IPv4 with a header of 20 bytes (RFC 791 section 3.1).
    fn packet(protocol: u8, bytes: usize) -> Vec<u8> {
        let mut packet = vec![0; bytes];
        packet[0] = 0x45;
        packet[9] = protocol;
        packet
    }

    #[test]
    fn payload_is_what_follows_the_headers() {
        // TCP with timestamps: 8 words of 4 bytes. 1500 - 20 - 32.
        let mut tcp = packet(6, 1500);
        tcp[20 + 12] = 0x80;
        assert_eq!(payload_bytes(&tcp), 1448);
        assert_eq!(payload_bytes(&packet(17, 1500)), 1472);
        // ICMP carries none.
        assert_eq!(payload_bytes(&packet(1, 84)), 0);
        assert_eq!(payload_bytes(&[]), 0);
        assert_eq!(payload_bytes(&packet(6, 20)), 0);
    }

    #[test]
    fn seconds_count_from_the_beginning() {
        let mut delivered = Delivered::default();
        for at in [0, 999_999_999, 3_000_000_000] {
            delivered.count(at, &packet(17, 28 + 125_000));
        }
        assert_eq!(delivered.packets, 3);
        assert_eq!(delivered.payload_bytes, 375_000);
        assert_eq!(delivered.payload_mbit_by_second, [2.0, 0.0, 0.0, 1.0]);
    }
}
