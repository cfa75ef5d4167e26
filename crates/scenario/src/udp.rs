// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP at a constant rate, all of it: its keys, what they come to, and what it says of itself.

use serde::{Deserialize, Serialize};

use crate::{
    scenario::HEADER_BYTES,
    traffic::Kind,
    units::{Bytes, Rate, Span, bps, pair_of_seconds},
};

/// The least payload of a packet, bytes: room for its number.
const LEAST_PAYLOAD_BYTES: u32 = 8;

/// Packets at a constant rate, all the time or on and off in turn.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpSpec {
    /// Rate while it sends, headers included.
    pub rate: Rate,
    /// How long it sends before each silence; without `on` and `off` it always sends.
    pub on: Option<Span>,
    /// How long each silence lasts.
    pub off: Option<Span>,
    /// Bytes of a packet, headers included; those of the MTU if not given.
    pub packet: Option<Bytes>,
    /// The times on and off are exponentially distributed with the given means.
    #[serde(default)]
    pub random: bool,
}

/// The same, checked.
#[derive(Debug, Clone, Serialize)]
pub struct UdpSource {
    /// Rate while it sends, headers included.
    #[serde(rename = "rate_bps", serialize_with = "bps")]
    pub rate: Rate,
    /// How long it sends and then is silent, in turn; `None`: it always sends.
    #[serde(rename = "on_off_s", serialize_with = "pair_of_seconds")]
    pub on_off: Option<(Span, Span)>,
    /// Bytes of a packet on the wire; `None`: those of the MTU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_bytes: Option<u32>,
    /// Are the times on and off exponentially distributed, with those means?
    #[serde(skip_serializing_if = "is_not")]
    pub is_random: bool,
}

fn is_not(value: &bool) -> bool {
    !value
}

impl UdpSpec {
    /// Checks the values; a wrong one is refused in words.
    pub(crate) fn check(&self, mtu: u32) -> Result<UdpSource, String> {
        let on_off = match (self.on, self.off) {
            (Some(on), Some(off)) if on.ns > 0 && off.ns > 0 => Some((on, off)),
            (None, None) => None,
            _ => return Err("udp needs both `on` and `off`, above 0, or neither".into()),
        };
        if self.random && on_off.is_none() {
            return Err("random is about the times `on` and `off`: give both, or leave it out".into());
        }
        let least = HEADER_BYTES + LEAST_PAYLOAD_BYTES;
        let packet_bytes = match self.packet {
            Some(bytes) if !(u64::from(least)..=u64::from(mtu)).contains(&bytes.0) => {
                return Err(format!("a packet has {least} to {mtu} bytes, headers included"));
            }
            Some(bytes) if bytes.0 < u64::from(mtu) => Some(bytes.0 as u32),
            _ => None,
        };
        Ok(UdpSource { rate: self.rate, on_off, packet_bytes, is_random: self.random })
    }
}

impl Kind for UdpSource {
    fn name(&self) -> String {
        "udp".to_owned()
    }

    fn constant_rate(&self) -> Option<Rate> {
        Some(self.rate)
    }

    fn packet_bytes(&self, mtu: u32) -> u32 {
        self.packet_bytes.unwrap_or(mtu)
    }

    fn in_words(&self) -> String {
        let mut text = format!("UDP at {}", self.rate.in_words());
        if let Some((on, off)) = self.on_off {
            let at_random = if self.is_random { ", on average" } else { "" };
            text += &format!(", {} on and {} off{at_random}", on.in_words(), off.in_words());
        }
        text + &self
            .packet_bytes
            .map_or(String::new(), |bytes| format!(", packets of {}", Bytes(bytes.into()).in_words()))
    }
}
