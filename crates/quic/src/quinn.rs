// SPDX-License-Identifier: MIT OR Apache-2.0
//! quinn's controllers.

use std::{any::Any, sync::Arc, time::Instant};

use quinn_proto::{
    RttEstimator,
    congestion::{Controller, ControllerFactory, ControllerMetrics},
};

use crate::{Acked, Factory, Host, Losses, since};

/// A controller of ours in quinn. quinn tells nothing that a spurious loss could be known by, so no reduction is undone.
#[derive(Clone, Debug)]
pub struct OverQuinn {
    host: Host,
    origin: Instant,
    initial_window: u64,
}

impl OverQuinn {
    /// What it is made of, to look at.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The controller of a connection, if it is one of ours: give what `congestion_state().clone_box().into_any()` returns.
    pub fn of(state: Box<dyn Any>) -> Option<Box<Self>> {
        state.downcast().ok()
    }

    fn ns(&self, time: Instant) -> u64 {
        since(self.origin, time)
    }

    /// [`Controller::on_ack`], for tests: they cannot make quinn's estimator.
    #[doc(hidden)]
    pub fn acknowledge(&mut self, sent: Instant, bytes: u64) {
        self.host.acked(Acked { sent_ns: self.ns(sent), bytes, stamp: None });
    }

    #[doc(hidden)]
    pub fn resume(host: Host, origin: Instant) -> Self {
        Self { initial_window: host.window_bytes(), host, origin }
    }
}

impl Controller for OverQuinn {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        self.host.sent(self.ns(now), bytes);
    }

    fn on_ack(&mut self, _now: Instant, sent: Instant, bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.acknowledge(sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest_acked: Option<u64>) {
        if !self.host.is_virtual_time() {
            self.host.came_in(self.ns(Instant::now()));
        }
        self.host.end_of_ack(self.ns(now), in_flight, app_limited);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        let (now_ns, newest_sent_ns) = (self.ns(now), self.ns(sent));
        // Nothing lost: an ECN mark.
        match lost_bytes {
            0 => self.host.marked(now_ns, newest_sent_ns),
            bytes => self.host.lost(now_ns, Losses { newest_sent_ns, bytes, is_persistent }),
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.host.packet_size(new_mtu);
    }

    /// quinn sends while what is in flight and the next packet are *below* the window, RFC 9002 (appendix B.2) while they are not above it.
    fn window(&self) -> u64 {
        self.host.window_bytes() + 1
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.host.window_bytes();
        metrics.ssthresh = self.host.ssthresh_bytes();
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(OverQuinn::resume(self.host(current_mtu), now))
    }
}
