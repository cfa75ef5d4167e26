// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of the contract (`controllers/include/contract.h`), whoever carries them out: what the test hosts drive.

use std::sync::Arc;

use tandem_controllers::{Ack, Conn, Instance, Params, State, View};

/// One connection's controller.
pub trait Contract: Sized {
    /// **init**
    fn new(params: &Arc<Params>, conn: &mut Conn) -> Self;
    fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack);
    fn cong_avoid(&mut self, conn: &mut Conn, acked: u32);
    fn ssthresh(&mut self, conn: &Conn) -> u32;
    fn set_state(&mut self, conn: &mut Conn, state: State);
    fn restart(&mut self, conn: &mut Conn);
    fn undo_cwnd(&mut self, conn: &Conn) -> u32;
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
