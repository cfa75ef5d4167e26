// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue disciplines, in two families.
//!
//! One decides at arrival ([`AtArrival`]). Packets leave in the order in which they came, so the link knows a packet's
//! departure at once, and a packet that waits costs no event. Drop-tail is this family without a decision.
//!
//! The other decides at departure ([`AtDeparture`]). It keeps the packets that wait and picks the next each time the link
//! becomes free.
//!
//! Neither is woken by a clock: between two calls nothing changes but time, so a discipline that updates something at regular
//! times does those updates that are due when it is next called.

mod codel;
mod dualpi2;
mod fifo;
mod fq_codel;
mod pie;
mod red;

use std::fmt::Debug;

use tandem_scenario::{Aqm, Limit};

use crate::{Packet, Rng, ahead::Ahead};

/// The decision about one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The packet joins the queue.
    Pass,
    /// The packet joins the queue, marked if it is ECN-capable; otherwise it is lost.
    Mark,
    /// The packet is lost.
    Drop,
}

/// The queue as a packet finds it when it arrives. The packet is not counted.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// When the packet arrives, ns.
    pub now: u64,
    /// The packet in transmission is not counted.
    pub waiting_packets: usize,
    /// When the last packet accepted so far has left or will have left, ns. The arriving one waits from `now` until then.
    pub busy_until: u64,
    /// Transmission time of a full packet, ns; at least 1.
    pub full_packet_ns: u64,
}

/// A discipline that decides at arrival. It is asked for packets only that find room.
pub trait AtArrival: Debug + Send {
    /// Decides about the arriving packet. `rng` belongs to the link alone.
    fn judge(&mut self, arrival: &Arrival, rng: &mut Rng) -> Verdict;
}

/// A packet that waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waiting<P> {
    /// When it arrived, ns.
    pub arrival: u64,
    /// Size on the wire, headers included.
    pub bytes: u32,
    /// The packet as the host knows it.
    pub packet: P,
    /// Has this queue marked it?
    pub marked: bool,
}

impl<P: Packet> Waiting<P> {
    /// Marks the packet if it is ECN-capable; returns whether it was.
    pub fn mark(&mut self) -> bool {
        let is_capable = self.packet.ecn().is_capable();
        if is_capable {
            self.packet.mark();
            self.marked = true;
        }
        is_capable
    }
}

/// Does a discipline that decides at departure let each packet pass that finds the link free, until one has to wait?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// It may not.
    None,
    /// It does, and none of them changes anything.
    Silent,
    /// It does, but must hear of each, by [`AtDeparture::pass_by`].
    Heard,
}

/// A discipline that decides at departure, with the queue or queues that it serves.
pub trait AtDeparture<P>: Debug + Send {
    /// Who decides about a packet that arrives and finds room; `None`: each may come in.
    fn judge(&mut self) -> Option<&mut dyn AtArrival> {
        None
    }

    /// Takes a packet; the link has checked that there is room. A packet that finds the link free comes here, too, and is
    /// picked at once.
    fn push(&mut self, packet: Waiting<P>);

    /// Picks the packet that the link sends at `now`, ns. Packets that it decides to drop go to `dropped`. `None` leaves the
    /// queue empty.
    fn pop(&mut self, now: u64, dropped: impl FnMut(Waiting<P>)) -> Option<Waiting<P>>;

    /// As [`Self::push`] and then [`Self::pop`], of a packet that finds the link free and nothing that waits. `None`: it was dropped.
    fn pass(&mut self, packet: Waiting<P>) -> Option<Waiting<P>> {
        let now = packet.arrival;
        self.push(packet);
        self.pop(now, |_| ())
    }

    /// Whether each packet passes that finds the link free, until one has to wait.
    fn rest(&self) -> Rest {
        Rest::None
    }

    /// As [`Self::pass`] of a packet of `bytes` while [`Rest::Heard`].
    fn pass_by(&mut self, _packet: &P, _bytes: u32) {}

    /// Does it keep its limit itself, by [`Self::shrink`]? Otherwise the link drops packets that find no room.
    fn keeps_limit(&self) -> bool {
        false
    }

    /// Takes out packets until the limit holds again. They go to `dropped` with the next [`Self::pop`].
    fn shrink(&mut self, _limit: Limit) {}

    /// Packets that wait, without the one in transmission.
    fn waiting_packets(&self) -> usize;

    /// Bytes that wait, headers included, without the packet in transmission.
    fn waiting_bytes(&self) -> u64;
}

/// A link's queue.
#[derive(Debug)]
pub(crate) enum Queue<P> {
    AtArrival(Ahead, Option<Box<dyn AtArrival>>),
    AtDeparture(Kept<P>),
}

/// The disciplines that decide at departure.
#[derive(Debug)]
pub(crate) enum Kept<P> {
    Fifo(Box<fifo::Fifo<P>>),
    Codel(Box<codel::Sojourn<P>>),
    FqCodel(Box<fq_codel::Queues<P>>),
    DualPi2(Box<dualpi2::Queues<P>>),
}

/// `with_kept!(kept, queue => expression)`: the expression for each of the disciplines.
macro_rules! with_kept {
    ($kept:expr, $queue:ident => $body:expr) => {
        match $kept {
            $crate::discipline::Kept::Fifo($queue) => $body,
            $crate::discipline::Kept::Codel($queue) => $body,
            $crate::discipline::Kept::FqCodel($queue) => $body,
            $crate::discipline::Kept::DualPi2($queue) => $body,
        }
    };
}
pub(crate) use with_kept;

impl<P: Packet> Kept<P> {
    /// As [`AtDeparture::waiting_packets`].
    pub fn waiting_packets(&self) -> usize {
        with_kept!(self, queue => AtDeparture::<P>::waiting_packets(&**queue))
    }

    /// As [`AtDeparture::waiting_bytes`].
    pub fn waiting_bytes(&self) -> u64 {
        with_kept!(self, queue => AtDeparture::<P>::waiting_bytes(&**queue))
    }
}

/// The list of disciplines. `mtu` in bytes.
pub(crate) fn queue<P: Packet>(aqm: Aqm, mtu: u32) -> Queue<P> {
    let at_arrival = |judge| Queue::AtArrival(Ahead::default(), judge);
    let kept = match aqm {
        Aqm::DropTail => return at_arrival(None),
        Aqm::Red(red) => return at_arrival(Some(Box::new(red::Average::new(red)))),
        Aqm::Pie(pie) => return at_arrival(Some(Box::new(pie::Controller::new(pie)))),
        Aqm::FqCodel(fq_codel) => Kept::FqCodel(Box::new(fq_codel::Queues::new(fq_codel, mtu))),
        Aqm::DualPi2(dualpi2) => Kept::DualPi2(Box::new(dualpi2::Queues::new(dualpi2))),
        Aqm::Codel(codel) => Kept::Codel(Box::new(codel::Sojourn::new(codel, mtu))),
    };
    Queue::AtDeparture(kept)
}

impl<P: Packet> Queue<P> {
    /// The same, with its packets in it: for a link that does not know in advance when they will leave.
    pub fn kept(self) -> Self {
        match self {
            Self::AtArrival(_, judge) => Self::AtDeparture(Kept::Fifo(Box::new(fifo::Fifo::new(judge)))),
            kept @ Self::AtDeparture(_) => kept,
        }
    }
}
