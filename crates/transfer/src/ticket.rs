// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tickets: `ADDRESS/CERTIFICATE/SECRET`, the last two in hexadecimal digits.

use std::{fmt, net::SocketAddr, str::FromStr};

/// What a sender must know of a receiver.
#[derive(Clone, PartialEq, Eq)]
pub struct Ticket {
    /// Where it listens.
    pub address: SocketAddr,
    /// BLAKE3 of its certificate.
    pub certificate: [u8; 32],
    /// What both sides prove to know.
    pub secret: [u8; 16],
}

/// A ticket that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a ticket, {0}: copy the whole line that `tandem receive` printed")]
pub struct BadTicket(&'static str);

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        write!(f, "{}/{}/{}", self.address, hex(&self.certificate), hex(&self.secret))
    }
}

/// Without the secret.
impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({})", self.address)
    }
}

impl FromStr for Ticket {
    type Err = BadTicket;

    fn from_str(text: &str) -> Result<Self, BadTicket> {
        let parts: Vec<&str> = text.trim().split('/').collect();
        let [address, certificate, secret] = parts[..] else { return Err(BadTicket("which has three parts")) };
        Ok(Self {
            address: address.parse().map_err(|_| BadTicket("whose first part is an address and a port"))?,
            certificate: bytes(certificate).ok_or(BadTicket("whose second part is 64 hexadecimal digits"))?,
            secret: bytes(secret).ok_or(BadTicket("whose third part is 32 hexadecimal digits"))?,
        })
    }
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, d| byte << 4 | d)).collect();
    (digits.len() == 2 * N).then(|| bytes.try_into().expect("as many as digits are pairs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_read_as_written() {
        for address in ["192.0.2.7:4433", "[2001:db8::7]:65535"] {
            let ticket = Ticket { address: address.parse().unwrap(), certificate: [0xa5; 32], secret: [7; 16] };
            let text = ticket.to_string();
            assert_eq!(text, format!("{address}/{}/{}", "a5".repeat(32), "07".repeat(16)));
            assert_eq!(text.parse(), Ok(ticket.clone()));
            assert!(!format!("{ticket:?}").contains("0707"));
        }
        for bad in ["", "x", "1.2.3.4:5/00/00", "1.2.3.4/{}/{}", "1.2.3.4:5/zz/00", "a/b/c/d"] {
            assert!(bad.parse::<Ticket>().unwrap_err().to_string().contains("tandem receive"), "{bad}");
        }
    }
}
