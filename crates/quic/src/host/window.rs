// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an ACK, a loss or a mark does to the window: growth, one reduction for each recovery period (RFC 9002 section 7.3), rate reduction
//! (RFC 9937), persistent congestion, and the undoing of a mistake.

use tandem_controllers::{
    Ack, MAX_WINDOW, Reason, State,
    host::{Progress, Prr},
};

use super::{Arrived, Core, Host, Losses};

impl Host {
    pub(super) fn answer(&mut self, now_ns: u64, losses: Losses, to: State) {
        let arrived = self.open.take().filter(|(_, arrived)| arrived.now_ns == now_ns).map(|(before, arrived)| {
            self.core = before;
            arrived
        });
        if let Some(arrived) = &arrived {
            self.leave_what_is_over(arrived);
        }
        self.sync_conn(now_ns);
        let newly_lost = self.packets(losses.bytes);
        let is_new = self.core.reduced_at_ns.is_none_or(|at| losses.newest_sent_ns > at);
        if losses.is_persistent {
            self.collapse(now_ns);
        } else if is_new {
            self.reduce(now_ns, to);
        }
        if let Some(mut arrived) = arrived {
            // A mark may still follow a loss on the same ACK.
            arrived.newly_lost += newly_lost;
            arrived.collapsed |= losses.is_persistent;
            self.open = Some((self.core.clone(), arrived));
            // After a collapse the window is its least, whatever that ACK delivered.
            if !arrived.collapsed || self.owns_window {
                self.finish(&arrived);
            }
        } else if newly_lost > 0 {
            // What was delivered has been counted when it came, so one packet stands for it, as in Linux.
            self.reduce_rate(Progress { delivered: 1, newly_lost, advanced: false });
        }
    }

    /// Acts on an ACK when the state is what it should be.
    pub(super) fn finish(&mut self, arrived: &Arrived) {
        let newly_lost = arrived.newly_lost;
        let in_flight = self.packets(self.in_flight_bytes);
        let Core { controller, conn, state, .. } = &mut self.core;
        if self.owns_window {
            let ack = Ack { in_flight: in_flight as u32, lost: newly_lost as u32, ..arrived.ack };
            controller.pkts_acked(conn, &ack);
        } else if matches!(*state, State::Recovery | State::Cwr) {
            let progress = Progress { delivered: arrived.packets, newly_lost, advanced: true };
            self.reduce_rate(progress);
        } else if arrived.packets > 0 {
            controller.cong_avoid(conn, arrived.packets as u32);
        }
    }

    fn reduce_rate(&mut self, progress: Progress) {
        let in_flight = self.packets(self.in_flight_bytes);
        let Core { conn, state, prr, .. } = &mut self.core;
        let is_reducing = matches!(*state, State::Recovery | State::Cwr);
        if is_reducing && self.options.rate_reduction && progress.delivered > 0 && !self.owns_window {
            let allowed = prr.allows(conn.snd_ssthresh.into(), in_flight, progress);
            conn.snd_cwnd = (in_flight + allowed).clamp(1, MAX_WINDOW.into()) as u32;
        }
    }

    /// A recovery ends when a packet is acknowledged that was sent during it (RFC 9002 section 7.3.2).
    pub(super) fn leave_what_is_over(&mut self, arrived: &Arrived) {
        let is_over = self.core.reduced_at_ns.is_some_and(|at| arrived.newest_sent_ns > at);
        if self.core.state == State::Open || !is_over {
            return;
        }
        if self.core.state != State::Loss && !self.owns_window {
            self.core.conn.snd_cwnd = self.core.conn.snd_ssthresh;
        }
        self.enter(State::Open);
    }

    fn enter(&mut self, state: State) {
        if self.core.state != state {
            let Core { controller, conn, .. } = &mut self.core;
            controller.set_state(conn, state);
            self.core.state = state;
        }
    }

    fn reduce_ssthresh(&mut self) {
        let Core { controller, conn, prior_ssthresh, reductions, .. } = &mut self.core;
        *reductions += 1;
        *prior_ssthresh = Some(conn.snd_ssthresh);
        conn.snd_ssthresh = controller.ssthresh(conn, Reason::Loss);
        conn.snd_cwnd_cnt = 0;
    }

    fn reduce(&mut self, now_ns: u64, to: State) {
        self.core.prr = Prr::new(self.core.conn.snd_cwnd);
        self.core.prr_carry = 0;
        self.core.reduced_at_ns = Some(now_ns);
        self.reduce_ssthresh();
        if !self.options.rate_reduction && !self.owns_window {
            self.core.conn.snd_cwnd = self.core.conn.snd_ssthresh;
        }
        self.enter(to);
    }

    /// Persistent congestion (RFC 9002 section 7.6.2): the window falls to its least, and slow start follows.
    fn collapse(&mut self, now_ns: u64) {
        if self.core.state == State::Open {
            self.reduce_ssthresh();
        }
        self.core.conn.snd_cwnd = 1;
        self.core.conn.snd_cwnd_cnt = 0;
        self.core.reduced_at_ns = Some(now_ns);
        self.enter(State::Loss);
    }

    /// All packets that were found lost have arrived after all: the last reduction was a mistake.
    pub fn spurious(&mut self) {
        self.open = None;
        let Core { controller, conn, prior_ssthresh, .. } = &mut self.core;
        let Some(prior) = prior_ssthresh.take() else { return };
        conn.snd_cwnd = controller.undo_cwnd(conn);
        conn.snd_ssthresh = conn.snd_ssthresh.max(prior);
        self.enter(State::Open);
    }
}
