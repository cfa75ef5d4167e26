// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other ends of connections, and prefixes of their addresses.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use serde::Serialize;

const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;

/// `struct tandem_peer` of `bpf/peer.h`; `tests/layout.rs` compares the two.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    // Public for the layout test only: see `address`.
    #[doc(hidden)]
    pub family: u32,
    /// The port that was connected to: the peer's, or of an accepted connection our own.
    pub port: u32,
    #[doc(hidden)]
    pub addr: [u8; 16],
}

impl Peer {
    pub(crate) fn new(address: IpAddr, port: u16) -> Self {
        let address = address.to_canonical();
        let family = if address.is_ipv4() { AF_INET } else { AF_INET6 };
        let mut addr = [0; 16];
        match address {
            IpAddr::V4(address) => addr[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => addr = address.octets(),
        }
        Self { family, port: port.into(), addr }
    }

    /// Its address; of IPv4 also if the socket is of IPv6.
    pub fn address(&self) -> IpAddr {
        let [a, b, c, d, ..] = self.addr;
        if self.family == AF_INET { Ipv4Addr::new(a, b, c, d).into() } else { Ipv6Addr::from(self.addr).into() }
    }

    pub(crate) fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..4].copy_from_slice(&self.family.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.port.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.addr);
        bytes
    }
}

/// The addresses that begin with the same bits, as `192.0.2.0/24`; a single address is one of 32 or 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Prefix {
    address: IpAddr,
    bits: u8,
}

impl Prefix {
    /// The first of its addresses.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The key of a trie: its length, then the address.
    pub(crate) fn key(&self) -> Vec<u8> {
        let mut key = u32::from(self.bits).to_ne_bytes().to_vec();
        match self.address {
            IpAddr::V4(address) => key.extend(address.octets()),
            IpAddr::V6(address) => key.extend(address.octets()),
        }
        key
    }

    fn masked(address: IpAddr, bits: u8) -> IpAddr {
        match address {
            IpAddr::V4(a) => {
                Ipv4Addr::from(u32::from(a) & u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0)).into()
            }
            IpAddr::V6(a) => {
                Ipv6Addr::from(u128::from(a) & u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0)).into()
            }
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.address.is_ipv4() { 32 } else { 128 };
        if self.bits == whole { write!(f, "{}", self.address) } else { write!(f, "{}/{}", self.address, self.bits) }
    }
}

/// Why a text is not a prefix, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// No address stands before the slash.
    #[error("`{0}` is not an IPv4 or IPv6 address; host names are not looked up: give 192.0.2.0/24 or 2001:db8::/32")]
    NoAddress(String),
    /// No length stands after it.
    #[error("`/{bits}` is not a prefix length: give 0 to {most} after the slash")]
    NoLength {
        /// As it was written.
        bits: String,
        /// The longest prefix of this kind of address, bits.
        most: u8,
    },
    /// Connections of IPv4 have their own addresses here.
    #[error("`{text}` is an IPv4 address in IPv6's notation: give {inside}, which such connections match")]
    Mapped {
        /// As it was written.
        text: String,
        /// The address of IPv4.
        inside: Ipv4Addr,
    },
    /// The address is one within the prefix, not its first.
    #[error("`{text}` has bits beyond its length: did you mean {first}/{bits}?")]
    BitsBeyond {
        /// As it was written.
        text: String,
        /// The first address of the prefix.
        first: IpAddr,
        /// Its length, bits.
        bits: u8,
    },
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| PrefixError::NoAddress(address.to_owned()))?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) => bits
                .parse()
                .ok()
                .filter(|bits| *bits <= most)
                .ok_or_else(|| PrefixError::NoLength { bits: bits.to_owned(), most })?,
        };
        if let IpAddr::V6(mapped) = address
            && let Some(inside) = mapped.to_ipv4_mapped()
        {
            return Err(PrefixError::Mapped { text: text.to_owned(), inside });
        }
        let first = Self::masked(address, bits);
        if first != address {
            return Err(PrefixError::BitsBeyond { text: text.to_owned(), first, bits });
        }
        Ok(Self { address, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_read_and_written() {
        for text in ["192.0.2.0/24", "192.0.2.7", "0.0.0.0/0", "2001:db8::/32", "::/0", "::1", "128.0.0.0/1"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("192.0.2.7/32".parse::<Prefix>(), "192.0.2.7".parse());
        assert_eq!("192.0.2.0/24".parse::<Prefix>().unwrap().key()[4..], [192, 0, 2, 0]);
    }

    #[test]
    fn what_is_no_prefix_says_what_would_be_one() {
        for (text, words) in [
            ("192.0.2.7/24", "did you mean 192.0.2.0/24?"),
            ("2001:db8::1/32", "did you mean 2001:db8::/32?"),
            ("192.0.2.0/33", "give 0 to 32"),
            ("::/129", "give 0 to 128"),
            ("192.0.2.0/", "give 0 to 32"),
            ("::ffff:192.0.2.7", "give 192.0.2.7"),
            ("example.com", "not an IPv4 or IPv6 address"),
            ("192.0.2", "not an IPv4 or IPv6 address"),
        ] {
            let refused = text.parse::<Prefix>().unwrap_err();
            assert!(refused.to_string().contains(words), "{text}: {refused}");
        }
    }

    #[test]
    fn an_ipv4_address_in_ipv6_s_clothes_is_ipv4() {
        let peer = Peer::new("::ffff:192.0.2.7".parse().unwrap(), 443);
        assert_eq!(
            (peer, peer.address().to_string().as_str()),
            (Peer::new("192.0.2.7".parse().unwrap(), 443), "192.0.2.7")
        );
        assert_eq!(Peer::new("2001:db8::7".parse().unwrap(), 1).address().to_string(), "2001:db8::7");
    }
}
