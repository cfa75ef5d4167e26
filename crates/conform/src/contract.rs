// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of the contract (`controllers/include/contract.h`), independent of what carries them out.

use std::sync::Arc;

use tandem_controllers::{Ack, Conn, Instance, Params, Reason, State, View};

use crate::Recorder;

/// One connection's controller.
pub trait Contract: Sized {
    /// **init**: a controller for the connection `conn`.
    fn new(params: &Arc<Params>, conn: &mut Conn) -> Self;
    /// **pkts_acked**: an ACK's measurements, before the window changes.
    fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack);
    /// **cong_avoid**: grows the window for `acked` packets, outside CWR and recovery.
    fn cong_avoid(&mut self, conn: &mut Conn, acked: u32);
    /// **ssthresh**: the slow start threshold after a loss or a mark, packets.
    fn ssthresh(&mut self, conn: &Conn, reason: Reason) -> u32;
    /// **set_state**: the connection enters a state.
    fn set_state(&mut self, conn: &mut Conn, state: State);
    /// **restart**: the connection sends again after it was idle.
    fn restart(&mut self, conn: &mut Conn);
    /// **undo_cwnd**: the window after a reduction that proved wrong, packets.
    fn undo_cwnd(&mut self, conn: &Conn) -> u32;
    /// **view**: the figures that the controller shows of itself.
    fn view(&self, conn: &Conn) -> View;
}

/// Both have the calls as their own functions.
macro_rules! by_its_own_functions {
    ($own:ty) => {
        impl Contract for $own {
            fn new(params: &Arc<Params>, conn: &mut Conn) -> Self {
                <$own>::new(params, conn)
            }

            fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack) {
                <$own>::pkts_acked(self, conn, ack);
            }

            fn cong_avoid(&mut self, conn: &mut Conn, acked: u32) {
                <$own>::cong_avoid(self, conn, acked);
            }

            fn ssthresh(&mut self, conn: &Conn, reason: Reason) -> u32 {
                <$own>::ssthresh(self, conn, reason)
            }

            fn set_state(&mut self, conn: &mut Conn, state: State) {
                <$own>::set_state(self, conn, state);
            }

            fn restart(&mut self, conn: &mut Conn) {
                <$own>::restart(self, conn);
            }

            fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
                <$own>::undo_cwnd(self, conn)
            }

            fn view(&self, conn: &Conn) -> View {
                <$own>::view(self, conn)
            }
        }
    };
}
by_its_own_functions!(Instance);
by_its_own_functions!(Recorder);
