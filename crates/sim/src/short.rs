// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short flows: a connection for each transfer, one after the other. Handshakes are left out.

use tandem_engine::Due;
use tandem_tcp::{AckOut, Config};

use crate::{flow::Tcp, net::Net};

pub struct Short {
    pub tcp: Tcp,
    /// What each connection is made from.
    config: Config,
}

impl Short {
    pub fn new(tcp: Tcp, config: Config) -> Self {
        Self { tcp, config }
    }

    /// A segment has arrived. Returns the ACK to send now, if any. That of a transfer's last segment is not delayed: it has the PSH flag, and
    /// Linux acknowledges such a segment when the program reads it.
    pub fn on_data(&mut self, now: u64, segment: u64) -> Option<AckOut> {
        let Tcp { sender, receiver, .. } = &mut self.tcp;
        let ack = receiver.on_data(now, segment);
        ack.or_else(|| (receiver.next_expected == sender.data_end()).then(|| receiver.on_ack_deadline()))
    }

    /// One of the timers may be due. Returns when to look again.
    pub fn on_timer(&mut self, now: u64, index: usize, net: &mut Net) -> u64 {
        match self.tcp.transfers.on_time(now) {
            Due::Nothing => {}
            Due::Stop => self.tcp.sender.stop(),
            Due::Begin(segments) => {
                let Tcp { sender, receiver, .. } = &mut self.tcp;
                sender.renew(&self.config, now);
                *receiver = receiver.renewed();
                self.tcp.give(now, index, segments.unwrap_or(0), net);
            }
        }
        self.tcp.on_timers(now, index, net)
    }
}
