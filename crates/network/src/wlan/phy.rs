// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long everything takes on the air.
//!
//! Clauses are those of IEEE Std 802.11-2016. The figures have been checked against
//! what is printed of them in Bianchi 2000 and in ns-3's results (docs/validation.md).

use tandem_scenario::wlan::{Standard, WlanCell};

/// A data frame around its packet: 24 bytes of header (three addresses), 4 of FCS (clause 9.3.2.1), 8 of LLC and SNAP.
pub const DATA_OVERHEAD_BYTES: u32 = 24 + 4 + 8;
/// An ACK frame (clause 9.3.1.4).
pub const ACK_BYTES: u32 = 14;

/// What a frame's bytes become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    /// Preamble and header, then the bytes in whole microseconds (clause 16.2.3.5: LENGTH).
    Dsss { preamble_ns: u64 },
    /// 20 us of preamble and SIGNAL, then symbols of 4 us that also hold 16 bits of SERVICE and 6 of tail (clause 17.4.3);
    /// then, at 2.4 GHz, 6 us of silence (clause 18.5.3).
    Ofdm { extension_ns: u64 },
}

const OFDM_PREAMBLE_NS: u64 = 20_000;
const OFDM_SYMBOL_NS: u64 = 4_000;

/// The timing of one cell, ns.
#[derive(Debug, Clone, PartialEq)]
pub struct Phy {
    /// Length of a backoff slot.
    pub slot_ns: u64,
    /// Silence between a data frame and its ACK.
    pub sifs_ns: u64,
    /// Silence after a frame that everybody understood, its ACK included.
    pub difs_ns: u64,
    /// Silence after a frame that nobody did.
    pub eifs_ns: u64,
    /// Length of an ACK frame.
    pub ack_ns: u64,
    /// The backoff is drawn from 0 to this after success and doubles (plus one) up to `cw_max`.
    pub cw_min: u32,
    /// The largest contention window.
    pub cw_max: u32,
    data_rate_bps: u64,
    coding: Coding,
}

impl Phy {
    /// The timing of a cell's standard, rates and preamble.
    pub fn new(cell: &WlanCell) -> Self {
        // aSlotTime, aSIFSTime, aCWmin: tables 16-4 (DSSS and CCK), 18-5 (ERP, short slot), 17-21 (OFDM, 20 MHz).
        let (slot_ns, sifs_ns, cw_min, coding) = match (cell.standard, cell.short_preamble) {
            // Preamble of 144 bits and header of 48 at 1 Mbit/s; or 72 at 1 and 48 at 2 (clause 16.2.2).
            (Standard::B, false) => (20_000, 10_000, 31, Coding::Dsss { preamble_ns: 192_000 }),
            (Standard::B, true) => (20_000, 10_000, 31, Coding::Dsss { preamble_ns: 96_000 }),
            (Standard::G, _) => (9_000, 10_000, 15, Coding::Ofdm { extension_ns: 6_000 }),
            (Standard::A, _) => (9_000, 16_000, 15, Coding::Ofdm { extension_ns: 0 }),
        };
        let lowest_rate_bps = cell.standard.rates().next().map_or(0, |r| r.bps);
        let difs_ns = sifs_ns + 2 * slot_ns;
        Self {
            slot_ns,
            sifs_ns,
            difs_ns,
            // Clause 10.3.2.3.7: as if an ACK at the lowest rate followed.
            eifs_ns: sifs_ns + frame_ns(coding, ACK_BYTES, lowest_rate_bps) + difs_ns,
            ack_ns: frame_ns(coding, ACK_BYTES, cell.control_rate.bps),
            cw_min,
            cw_max: 1023,
            data_rate_bps: cell.data_rate.bps,
            coding,
        }
    }

    /// A data frame with a packet of this many bytes.
    pub fn data_ns(&self, packet_bytes: u32) -> u64 {
        frame_ns(self.coding, packet_bytes + DATA_OVERHEAD_BYTES, self.data_rate_bps)
    }

    /// The part of [`Self::data_ns`] that the packet itself takes at the data rate.
    pub fn payload_ns(&self, packet_bytes: u32) -> u64 {
        u64::from(packet_bytes) * 8_000_000_000 / self.data_rate_bps
    }
}

fn frame_ns(coding: Coding, bytes: u32, rate_bps: u64) -> u64 {
    let bits = u64::from(bytes) * 8;
    match coding {
        Coding::Dsss { preamble_ns } => preamble_ns + (bits * 1_000_000).div_ceil(rate_bps) * 1000,
        Coding::Ofdm { extension_ns } => {
            let bits_a_symbol = rate_bps * OFDM_SYMBOL_NS / 1_000_000_000;
            let symbols = (16 + bits + 6).div_ceil(bits_a_symbol);
            OFDM_PREAMBLE_NS + symbols * OFDM_SYMBOL_NS + extension_ns
        }
    }
}
