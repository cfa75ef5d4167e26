// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender's part in ECN. RFC 3168 section 6.1.2: data says that marks are understood, and once that the window was reduced for one.
//! Accurate ECN (RFC 9768): ACKs tell how many packets were marked.

use tandem_controllers::Controller;

use crate::{
    Ecn,
    segment::{CWR, ECT_0, ECT_1},
};

#[derive(Debug, Clone, Copy)]
pub struct EcnSender {
    /// The window's share that a mark leaves, in percent (RFC 8511); `None`: what the controller says.
    kept_percent: Option<u32>,
    /// The window was reduced, and the receiver does not know it yet.
    must_tell: bool,
    accurate: Option<Accurate>,
}

#[derive(Debug, Clone, Copy)]
struct Accurate {
    /// The ECN field of data segments.
    field: u64,
    /// Marked packets reported to the controller so far.
    told: u32,
    /// Does the controller count marks?
    counts: bool,
}

impl EcnSender {
    /// `None` if it is off.
    pub fn new(ecn: Ecn, controller: &Controller) -> Option<Self> {
        let kept_percent = match ecn {
            Ecn::Off => return None,
            Ecn::Rfc3168 | Ecn::Accurate => None,
            // beta_ecn [RFC 8511 3.1].
            Ecn::Rfc8511 => controller.beta_ecn_percent(),
        };
        // The field of L4S [RFC 9331 4.1].
        let field = if controller.sends_ect1() { ECT_1 } else { ECT_0 };
        let accurate = (ecn == Ecn::Accurate).then(|| Accurate { field, told: 0, counts: controller.counts_marks() });
        Some(Self { kept_percent, must_tell: false, accurate })
    }

    /// The state for a new connection of the flow; the count of marks continues.
    pub fn renewed(self) -> Self {
        Self { must_tell: false, ..self }
    }

    /// The ECN field of new data with accurate ECN, which says nothing else; otherwise 0.
    pub fn field(&self) -> u64 {
        self.accurate.map_or(0, |accurate| accurate.field)
    }

    /// Does the controller count marked packets?
    #[inline]
    pub fn counts_marks(&self) -> bool {
        self.accurate.is_some_and(|accurate| accurate.counts)
    }

    /// Does the receiver's count in an ACK include new marks?
    #[inline]
    pub fn has_new(&self, marks: u32) -> bool {
        self.accurate.is_some_and(|accurate| accurate.is_new(marks))
    }

    /// The newly marked packets to report to the controller, from the count in an ACK. [RFC 9331 4.2]
    #[inline]
    pub fn tell(&mut self, marks: u32) -> u32 {
        let Some(accurate) = self.accurate.as_mut().filter(|accurate| accurate.is_new(marks)) else { return 0 };
        let new = marks.wrapping_sub(accurate.told);
        accurate.told = marks;
        if accurate.counts { new } else { 0 }
    }

    /// The slow-start threshold after a mark, if it differs from the controller's; `cwnd` in packets. [RFC 8511 3]
    pub fn ssthresh(&self, cwnd: u32) -> Option<u32> {
        self.kept_percent.map(|percent| (u64::from(cwnd) * u64::from(percent) / 100).max(2) as u32)
    }

    /// The window was reduced.
    pub fn reduced(&mut self) {
        self.must_tell = true;
    }

    /// The last reduction was a mistake.
    pub fn reduction_undone(&mut self) {
        self.must_tell = false;
    }

    /// What a segment says about ECN that is sent now. CWR goes with new data [RFC 3168 6.1.2], but not with accurate ECN [RFC 9768 3.1.5].
    /// Retransmissions may not be marked [RFC 3168 6.1.5]; [RFC 8311 4.3] lifts that, and with accurate ECN Linux makes use of it.
    #[inline]
    pub fn on_data(&mut self, again: bool) -> u64 {
        if let Some(accurate) = self.accurate {
            return accurate.field;
        }
        if again {
            return 0;
        }
        let cwr = if std::mem::take(&mut self.must_tell) { CWR } else { 0 };
        ECT_0 | cwr
    }
}

impl Accurate {
    /// ACKs may overtake each other, so that an older count comes later.
    #[inline]
    fn is_new(self, marks: u32) -> bool {
        (marks.wrapping_sub(self.told) as i32) > 0
    }
}
