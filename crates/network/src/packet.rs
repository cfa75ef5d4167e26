// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a network must know of the packets that it carries, and who keeps the rest of them.

use std::fmt;

/// The two ends of every flow. Data goes from the senders to the receivers, ACKs go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// Where data comes from and ACKs arrive.
    Senders,
    /// Where data arrives and ACKs come from.
    #[default]
    Receivers,
}

impl End {
    /// The end that packets to this one come from.
    pub fn other(self) -> Self {
        match self {
            End::Senders => End::Receivers,
            End::Receivers => End::Senders,
        }
    }
}

/// A packet as the network sees it. It is copied from pipe to pipe, so it should be small: what is large stays with the
/// host, in its [`Contents`].
pub trait Packet: Copy + Default + fmt::Debug + Send + 'static {
    /// What remains of a packet on its way from the last link to the senders' end. Tens of thousands may be there at the
    /// same time, so a host can make this smaller than the packet.
    type Returning: Copy + Default + fmt::Debug + Send + From<Self>;

    /// Its size on the wire, headers included.
    fn bytes(&self) -> u32;
    /// The network's own note of where the packet is on its way. The host only keeps it.
    fn place(&self) -> u32;
    /// The network changes its note.
    fn set_place(&mut self, place: u32);
    /// Its ECN field (RFC 3168 section 5).
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }
    /// A queue marks it: its ECN field becomes [`Ecn::Marked`]. Queues mark capable packets only.
    fn mark(&mut self) {
        self.set_ecn(Ecn::Marked);
    }
    /// Somebody on the way changes its ECN field.
    fn set_ecn(&mut self, _ecn: Ecn) {}
    /// Tells conversations within one flow of the network apart, for queues that are fair to each; 0 where a flow is one conversation.
    fn conversation(&self) -> u32 {
        0
    }
}

/// The ECN field of the IP header [RFC 3168 5] [RFC 9331 4.1].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ecn {
    /// Not-ECT: its sender would not understand a mark.
    #[default]
    NotCapable,
    /// ECT(0): a mark counts as a loss.
    Capable,
    /// ECT(1): its sender takes frequent marks (L4S).
    Scalable,
    /// CE: congestion experienced.
    Marked,
}

impl Ecn {
    /// May a queue mark the packet, or has one?
    pub fn is_capable(self) -> bool {
        self != Self::NotCapable
    }
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The link's random loss, or the last try in a wireless cell.
    Random,
    /// A full queue or queue management.
    Queue,
}

/// What the host keeps of the packets that are under way, such as buffers.
pub trait Contents<P> {
    /// The packet was dropped at `now`, ns: its contents are free again.
    fn dropped(&mut self, now: u64, packet: P, reason: DropReason);
    /// A link carries the packet twice: the second one, with contents of its own.
    fn copied(&mut self, packet: P) -> P;
}
