// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender's part in ECN (RFC 3168 section 6.1.2): data says that marks are understood, and once that the window was reduced for one.

use tandem_scenario::Ecn;

use crate::packet::{CWR, ECT_0, NOT_ECT};

#[derive(Debug, Clone, Copy)]
pub struct EcnSender {
    /// The window's share that a mark leaves, in percent (RFC 8511); `None`: what a loss leaves.
    kept_percent: Option<u32>,
    /// The window was reduced, and the receiver does not know it yet.
    must_tell: bool,
}

impl EcnSender {
    /// `None` if it is off.
    pub fn new(ecn: Ecn, controller: &str) -> Option<Self> {
        let kept_percent = match ecn {
            Ecn::Off => return None,
            Ecn::Rfc3168 => None,
            // RFC 8511 section 3.1: beta_ecn.
            Ecn::Rfc8511 => Some(if controller == "cubic" { 85 } else { 80 }),
        };
        Some(Self { kept_percent, must_tell: false })
    }

    /// The slow-start threshold after a mark, if it is another than after a loss; `cwnd` in packets.
    pub fn ssthresh(&self, cwnd: u32) -> Option<u32> {
        self.kept_percent.map(|percent| (u64::from(cwnd) * u64::from(percent) / 100).max(2) as u32)
    }

    /// The window was reduced.
    pub fn reduced(&mut self) {
        self.must_tell = true;
    }

    /// What a segment says that is sent now. Retransmissions may not be marked (section 6.1.5).
    pub fn on_data(&mut self, again: bool) -> u64 {
        if again {
            return NOT_ECT;
        }
        let cwr = if std::mem::take(&mut self.must_tell) { CWR } else { 0 };
        ECT_0 | cwr
    }
}
