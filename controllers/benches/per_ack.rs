// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an ACK costs in each controller, called as the simulator calls it: `pkts_acked`, then `cong_avoid`.
//!
//! A connection of 1000 packets in congestion avoidance, an ACK for each packet, a loss every 20 windows, RTTs that wander by a tenth:
//! rounds end, growth and cuts occur, and no branch is always the same.

use std::{hint::black_box, sync::Arc};

use rustix::time::{ClockId, clock_gettime};
use tandem_controllers::{
    Ack, CONTROLLERS, Conn, Controller, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Params, Reason, State,
};

const GOAL_NS: f64 = 60.0;
const ACKS: u32 = 2_000_000;
const RUNS: usize = 5;
const WINDOW: u32 = 1000;
const MSS: u32 = 1448;
const RTT_US: u64 = 50_000;

fn cpu_ns() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 * 1e9 + t.tv_nsec as f64
}

/// The host's own work, too, which [`main`] measures without a controller.
struct Connection {
    controller: Option<Instance>,
    owns_window: bool,
    conn: Conn,
    delivered: u32,
}

impl Connection {
    fn new(controller: Option<&'static Controller>) -> Self {
        let mut conn = Conn {
            now_us: 1_000_000,
            snd_cwnd: WINDOW,
            snd_ssthresh: INFINITE_SSTHRESH,
            snd_cwnd_clamp: MAX_WINDOW,
            snd_nxt: WINDOW * MSS,
            mss: MSS,
            is_cwnd_limited: 1,
            ..Conn::default()
        };
        let instance = controller.map(|c| Instance::new(&Arc::new(Params::new(c)), &mut conn));
        conn.snd_ssthresh = 2;
        Self { controller: instance, owns_window: controller.is_some_and(Controller::owns_window), conn, delivered: 0 }
    }

    #[inline]
    fn ack(&mut self, nth: u32) {
        self.conn.now_us += RTT_US / u64::from(WINDOW);
        self.conn.snd_una = self.conn.snd_una.wrapping_add(MSS);
        self.conn.snd_nxt = self.conn.snd_una.wrapping_add(WINDOW * MSS);
        self.delivered = self.delivered.wrapping_add(1);
        let rtt_us = RTT_US as u32 + (nth.wrapping_mul(0x9e37_79b9) >> 20);
        let mut ack = Ack { pkts_acked: 1, acked_sacked: 1, rtt_us, ..Ack::default() };
        if self.owns_window {
            let prior_delivered = self.delivered.saturating_sub(WINDOW);
            ack = Ack { delivered: self.delivered, prior_delivered, interval_us: rtt_us, in_flight: WINDOW, ..ack };
        }
        if let Some(controller) = &mut self.controller {
            controller.pkts_acked(&mut self.conn, black_box(&ack));
            if !self.owns_window {
                controller.cong_avoid(&mut self.conn, 1);
            }
            if nth.is_multiple_of(20 * WINDOW) {
                self.lose();
            }
        }
        black_box(&self.conn);
    }

    fn lose(&mut self) {
        let Some(controller) = &mut self.controller else { return };
        self.conn.snd_ssthresh = controller.ssthresh(&self.conn, Reason::Loss);
        controller.set_state(&mut self.conn, State::Recovery);
        controller.set_state(&mut self.conn, State::Open);
        if !self.owns_window {
            self.conn.snd_cwnd = WINDOW;
        }
    }
}

/// Nanoseconds an ACK: the least of some runs, because other work of the machine only adds to it.
fn ns_per_ack(controller: Option<&'static Controller>) -> f64 {
    let run = |_| {
        let mut connection = Connection::new(controller);
        let start = cpu_ns();
        (0..ACKS).for_each(|nth| connection.ack(nth));
        (cpu_ns() - start) / f64::from(ACKS)
    };
    (0..RUNS).map(run).fold(f64::INFINITY, f64::min)
}

fn main() {
    let host = ns_per_ack(None);
    println!(
        "\nNanoseconds an ACK, the controller alone (least of {RUNS} runs of {ACKS} ACKs; goal: at most {GOAL_NS}):"
    );
    let costs = CONTROLLERS.iter().map(|c| (c.name, ns_per_ack(Some(c)) - host));
    for (name, ns) in costs {
        println!("  {name:14} {ns:6.1}{}", if ns > GOAL_NS { "  too much" } else { "" });
    }
}
