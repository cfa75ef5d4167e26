// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows whose endpoints another crate has: their datagrams cross the same network, in the same virtual time, as the simulator's own packets.

use tandem_engine::{Counters, Transfers};
use tandem_network::End;
use tandem_scenario::{TcpSource, result::FlowSample};

/// What a [`Foreign`] flow wants sent: datagrams, and the end that each is for.
pub type Outbox = Vec<(End, Vec<u8>)>;

/// Both endpoints of one flow. All times are nanoseconds since the start of the run.
pub trait Foreign {
    /// A datagram has reached an end.
    fn on_datagram(&mut self, now: u64, at: End, datagram: Vec<u8>, out: &mut Outbox);

    /// A timer may be due.
    fn on_timer(&mut self, now: u64, out: &mut Outbox);

    /// When [`Self::on_timer`] is to be called next; [`NEVER`](tandem_network::agenda::NEVER): not at all.
    fn wake_at(&self) -> u64;

    /// The flow's counts; what has been received in units of the scenario's MSS.
    fn counters(&self) -> Counters;

    /// The smoothed RTT, us; `None` while nothing is outstanding.
    fn srtt_us(&self) -> Option<u64>;

    /// A sample for the trace, but for its goodput.
    fn windows(&self) -> FlowSample;

    /// When the application has data to send.
    fn transfers(&self) -> &Transfers;
}

/// Makes the endpoints of flows that the simulator does not carry itself.
pub trait Hosts {
    /// The endpoints of this flow. `transfers` counts data in units of the scenario's MSS.
    ///
    /// # Errors
    /// `transfers` again, if the simulator's own TCP is to carry the flow.
    fn endpoints(&self, source: &TcpSource, flow: usize, transfers: Transfers) -> Result<Box<dyn Foreign>, Transfers>;
}

/// The simulator's own TCP for all.
pub struct NoHosts;

impl Hosts for NoHosts {
    fn endpoints(
        &self,
        _source: &TcpSource,
        _flow: usize,
        transfers: Transfers,
    ) -> Result<Box<dyn Foreign>, Transfers> {
        Err(transfers)
    }
}
