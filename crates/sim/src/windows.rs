// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run by windows: as far as neither end can matter to the other, first all senders, flow by flow, then the link that carries what they have
//! sent, then all receivers. See [`Lookahead`].

use tandem_network::{End, Lookahead, agenda::NEVER};

use crate::{
    flow::Answer,
    net::{Net, Windows},
    packet::Packet,
    world::World,
};

/// How far the two ends have come: all that is due there by these times, ns, has happened. Nothing can reach a receiver at time 0.
#[derive(Debug, Default)]
pub struct Front {
    senders: u64,
    receivers: u64,
}

impl World<'_> {
    /// Runs until the time `end`, ns; `false` if cancelled.
    pub(crate) fn advance_by_windows(&mut self, end: u64, ahead: Lookahead) -> bool {
        loop {
            let tick = self.recorder.next();
            if !self.advance_ends(end.min(tick), ahead) {
                return false;
            }
            if tick > end {
                return true;
            }
            if !self.on_tick(tick) {
                return false;
            }
        }
    }

    /// Lets happen at both ends what is due by `end`; `false` if cancelled.
    fn advance_ends(&mut self, end: u64, ahead: Lookahead) -> bool {
        loop {
            self.advance_senders(end.min(self.front.receivers + ahead.back_ns), ahead);
            self.front.receivers = end.min(self.front.senders + ahead.forward_ns);
            let are_quiet = !self.advance_receivers(self.front.receivers, ahead);
            if self.front.senders == end && self.front.receivers == end {
                return true;
            }
            if are_quiet {
                self.skip_silence(end, ahead);
            }
            if self.is_cancelled() {
                return false;
            }
        }
    }

    /// Lets happen at the senders' end and at the link from there what is due by `until`.
    fn advance_senders(&mut self, until: u64, ahead: Lookahead) {
        let Self { flows, net, recorder, front, .. } = self;
        net.begin_window(front.senders, until);
        for (f, flow) in flows.iter_mut().enumerate() {
            if net.network.due_at_sender(f) <= until {
                let due = flow.advance_sender(until, f, net, recorder);
                net.network.set_due_at_sender(f, due);
            }
        }
        net.carry(ahead, until);
        front.senders = until;
    }

    /// Lets happen at the receivers' end and at the link from there what is due by `until`. Returns whether anything was.
    fn advance_receivers(&mut self, until: u64, ahead: Lookahead) -> bool {
        let mut was_any = false;
        loop {
            was_any |= self.take_rows(until.min(self.net.next_deadline().0), ahead);
            let (due, deadline_of) = self.net.next_deadline();
            let Self { flows, net, .. } = self;
            // Data that arrives at the very time of a deadline comes first.
            if let Some((now, f, data)) = net.at_receiver(ahead, until.min(due)) {
                flows[f].on_data(now, f, data.header, net);
            } else if due <= until {
                net.serve_back(ahead, due);
                flows[deadline_of].on_timer(due, deadline_of, End::Receivers, net);
            } else {
                net.serve_back(ahead, until);
                return was_any;
            }
            was_any = true;
        }
    }

    /// Takes the segments that reach receivers by `until`, as long as each is one of a TCP connection. Returns whether there were any.
    fn take_rows(&mut self, until: u64, ahead: Lookahead) -> bool {
        let Self { flows, net, .. } = self;
        let ack_bytes = net.ack_bytes;
        let Net { network, carried, windows: Some(Windows { deadlines, .. }), .. } = net else { return false };
        let mut receivers = network.receivers(ahead);
        let (mut until, mut was_any) = (until, false);
        while let Some((now, f, data)) = receivers.first(until)
            && let Some(answer) = flows[f].take_segment(now, data.header, carried)
        {
            receivers.take();
            was_any = true;
            match answer {
                Answer::Ack(header) => receivers.answer(now, f, Packet { header, bytes: ack_bytes, place: 0 }, carried),
                Answer::Later(deadline) if flows[f].brings_forward(deadline) => {
                    deadlines.set(f, deadline);
                    until = until.min(deadline);
                }
                Answer::Later(_) => {}
            }
        }
        was_any
    }

    /// No receiver has anything to do before the front: goes to the time right before something is due at all. What waited for the link back may
    /// have left it since the senders were looked at.
    fn skip_silence(&mut self, end: u64, ahead: Lookahead) {
        let next_at_senders = (0..self.flows.len()).map(|f| self.net.network.due_at_sender(f)).min().unwrap_or(NEVER);
        let next = next_at_senders.min(self.net.next_at_receivers(ahead));
        let silent_until = end.min(next.saturating_sub(1));
        self.front.senders = self.front.senders.max(silent_until);
        self.front.receivers = self.front.receivers.max(silent_until);
    }
}
