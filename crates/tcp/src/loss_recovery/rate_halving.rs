// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rate halving with FACK, as Linux 2.4 and 2.6 had it up to 3.1 (Mathis and Mahdavi, "Forward acknowledgement", SIGCOMM 1996; Mathis,
//! Semke, Mahdavi and Lahey, "The rate-halving algorithm for TCP congestion control", 1999; Sarolahti and Kuznetsov, "Congestion control
//! in Linux TCP", USENIX 2002).
//!
//! The window falls by a packet at every second ACK and is never more than one above what is in flight. So each loss lowers it, too, and it
//! may end far below ssthresh; slow start brings it back. docs/reference/recovery.md compares the two recoveries, and ns-2's with this one.

use tandem_controllers::{Conn, Controller, State};

use crate::scoreboard::{DUP_THRESH, Delivered, Scoreboard};

/// Packets that may leave at once after a disturbance (Linux's tcp_max_burst).
const MAX_BURST: u64 = 3;

/// The account of one recovery.
#[derive(Debug, Clone, Copy)]
pub struct RateHalving {
    /// The halving goes no further than to ssthresh rather than to half of it.
    stops_at_ssthresh: bool,
    /// Is the next ACK one of those at which the window falls?
    falls_next: bool,
}

impl RateHalving {
    /// Most modules of Linux 2.6.22 let the halving go on to half of ssthresh (tcp_reno_min_cwnd), so that it lasts a whole round however
    /// little the controller gives up. Some stop at ssthresh, and Westwood+ at rate * RTTmin, which is our controller's ssthresh.
    pub fn new(controller: &Controller) -> Self {
        Self { stops_at_ssthresh: controller.halves_to_ssthresh(), falls_next: false }
    }

    pub fn begin(&mut self) {
        self.falls_next = false;
    }

    /// The window after an ACK in recovery.
    pub fn window(&mut self, conn: &Conn, in_flight: u64) -> u32 {
        let least = if self.stops_at_ssthresh { conn.snd_ssthresh } else { conn.snd_ssthresh / 2 };
        let falls = self.falls_next && conn.snd_cwnd > least;
        self.falls_next = !self.falls_next;
        at_most(conn.snd_cwnd - u32::from(falls), in_flight + 1)
    }
}

/// The window after a disturbance: no burst of more than [`MAX_BURST`] packets.
pub fn moderate(cwnd: u32, in_flight: u64) -> u32 {
    at_most(cwnd, in_flight + MAX_BURST)
}

fn at_most(cwnd: u32, packets: u64) -> u32 {
    u64::from(cwnd).min(packets) as u32
}

/// FACK: what lies [`DUP_THRESH`] or more below the highest SACKed segment is lost. In recovery that goes for what was sent before it
/// began (below `high_seq`) alone, and an ACK that only SACKs loses the first unacknowledged segment in any case. A retransmission is lost once
/// new data that was sent after it is SACKed. While a timeout is repaired nothing is judged.
pub fn detect_losses(board: &mut Scoreboard, delivered: &Delivered, state: State, high_seq: u64) -> u64 {
    let is_over = board.una >= high_seq;
    if state == State::Loss && !is_over {
        return 0;
    }
    let mut end = board.sacked_end().saturating_sub(DUP_THRESH);
    if state == State::Recovery && !is_over {
        let tells_of_hole = delivered.segments > 0 && !delivered.advanced;
        end = end.max(board.una + u64::from(tells_of_hole)).min(high_seq);
    }
    board.lose_below(end) + board.lose_retransmissions_by_new_data()
}
