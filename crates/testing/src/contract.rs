// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of the contract (`controllers/include/contract.h`), whoever carries them out: what the test hosts drive.

use std::sync::Arc;

use tandem_controllers::{Ack, Conn, Instance, Params, State, View};

/// One connection's controller.
pub trait Contract: Sized {
    /// **init**: a controller for the connection `conn`.
    fn new(params: &Arc<Params>, conn: &mut Conn) -> Self;
    /// **pkts_acked**: an ACK's measurements, before the window changes.
    fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack);
    /// **cong_avoid**: grows the window for `acked` packets, outside CWR and recovery.
    fn cong_avoid(&mut self, conn: &mut Conn, acked: u32);
    /// **ssthresh**: the slow start threshold after a loss, packets.
    fn ssthresh(&mut self, conn: &Conn) -> u32;
    /// **set_state**: the connection enters a state.
    fn set_state(&mut self, conn: &mut Conn, state: State);
    /// **restart**: the connection sends again after it was idle.
    fn restart(&mut self, conn: &mut Conn);
    /// **undo_cwnd**: the window after a reduction that proved wrong, packets.
    fn undo_cwnd(&mut self, conn: &Conn) -> u32;
    /// **view**: the figures that the controller shows of itself.
    fn view(&self, conn: &Conn) -> View;
}

impl Contract for Instance {
    fn new(params: &Arc<Params>, conn: &mut Conn) -> Self {
        Instance::new(params, conn)
    }

    fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack) {
        Instance::pkts_acked(self, conn, ack);
    }

    fn cong_avoid(&mut self, conn: &mut Conn, acked: u32) {
        Instance::cong_avoid(self, conn, acked);
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        Instance::ssthresh(self, conn)
    }

    fn set_state(&mut self, conn: &mut Conn, state: State) {
        Instance::set_state(self, conn, state);
    }

    fn restart(&mut self, conn: &mut Conn) {
        Instance::restart(self, conn);
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        Instance::undo_cwnd(self, conn)
    }

    fn view(&self, conn: &Conn) -> View {
        Instance::view(self, conn)
    }
}
