// SPDX-License-Identifier: MIT OR Apache-2.0
//! noq's controllers.

use std::{any::Any, collections::BTreeMap, sync::Arc, time::Instant};

use noq_proto::{
    RttEstimator,
    congestion::{Controller, ControllerFactory, ControllerMetrics},
};
use tandem_controllers::host::Stamp;

use crate::{Acked, Factory, Host, Losses, PacedFactory, since};

/// A controller of ours in noq.
#[derive(Clone, Debug)]
pub struct OverNoq {
    host: Host,
    origin: Instant,
    initial_window: u64,
    /// By packet number: when the packet was sent, and its note. Empty unless the controller owns the window. Packet numbers begin again in
    /// each space of the handshake, so only number and time together say which packet it is.
    stamps: BTreeMap<u64, (u64, Stamp)>,
}

impl OverNoq {
    #[doc(hidden)]
    pub fn resume(host: Host, origin: Instant) -> Self {
        Self { initial_window: host.window_bytes(), host, origin, stamps: BTreeMap::new() }
    }

    /// What it is made of, to look at.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The controller of a connection, if it is one of ours: give what `congestion_state(path).clone_box().into_any()` returns.
    pub fn of(state: Box<dyn Any>) -> Option<Box<Self>> {
        state.downcast().ok()
    }

    fn ns(&self, time: Instant) -> u64 {
        since(self.origin, time)
    }

    /// [`Controller::on_ack`], for tests: they cannot make noq's estimator.
    #[doc(hidden)]
    pub fn acknowledge(&mut self, sent: Instant, bytes: u64, pn: u64) {
        let sent_ns = self.ns(sent);
        let stamp = self.stamps.remove(&pn).filter(|&(at, _)| at == sent_ns).map(|(_, stamp)| stamp);
        self.host.acked(Acked { sent_ns, bytes, stamp });
    }
}

impl Controller for OverNoq {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let now_ns = self.ns(now);
        let stamp = self.host.sent(now_ns, bytes.into());
        if self.host.owns_window() {
            self.stamps.insert(pn, (now_ns, stamp));
        }
    }

    fn on_ack(&mut self, _now: Instant, sent: Instant, bytes: u64, pn: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.acknowledge(sent, bytes, pn);
    }

    fn on_packet_lost(&mut self, _lost_bytes: u16, pn: u64, _now: Instant) {
        self.stamps.remove(&pn);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest_acked: Option<u64>) {
        if !self.host.is_virtual_time() {
            self.host.came_in(self.ns(Instant::now()));
        }
        self.host.end_of_ack(self.ns(now), in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        bytes: u64,
        _largest_lost: u64,
    ) {
        let (now_ns, newest_sent_ns) = (self.ns(now), self.ns(sent));
        if is_ecn {
            self.host.marked(now_ns, newest_sent_ns);
        } else {
            self.host.lost(now_ns, Losses { newest_sent_ns, bytes, is_persistent });
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.host.spurious();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.host.packet_size(new_mtu);
    }

    fn window(&self) -> u64 {
        self.host.window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.host.window_bytes();
        metrics.ssthresh = self.host.ssthresh_bytes();
        metrics.pacing_rate = self.host.pacing_bytes_per_s();
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
        Box::new(OverNoq::resume(self.host(current_mtu), now))
    }
}

impl ControllerFactory for PacedFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(OverNoq::resume(self.0.host(current_mtu), now))
    }
}
