// SPDX-License-Identifier: MIT OR Apache-2.0
//! What limited a flow. If it was not the path, the rate that arrived is only a lower bound of the path's.

use tandem_controllers::{Controller, ResponseFunction, Signal, find};

use super::{
    Evidence, LimitedBy,
    infer::Queue,
    reading::{Fall, Losses, Reading, Readings, positive, rate_words},
};
use crate::candidate::USUAL_DEFAULT;

/// Losses come in bursts, each of which halves a window only once, and a run has few bursts. So a flow may reach several times what the
/// response function gives for the packets that it lost. Ours; simulated and measured runs differ by up to 2.5.
const RESPONSE_FACTOR: f64 = 3.0;
/// Fewer losses do not give a loss rate.
const FEW_LOSSES: f64 = 3.0;
/// Below this RTT a host's own delays hide the effect of a window.
const LEAST_WINDOW_RTT_MS: f64 = 1.0;
/// A window is the limit if the data in flight reaches this share of it.
const NEAR: f64 = 1.5;
/// BBR's congestion window is up to three times the data in flight on a path that it fills. Taken for all that model the path.
const MODEL_NEAR: f64 = 4.0;
/// What Ethernet adds to a packet on the wire: preamble, header, checksum and gap.
const ETHERNET_BYTES: f64 = 38.0;
/// Rates of Ethernet, Gb/s.
const ETHERNET_GBPS: [f64; 10] = [0.1, 1.0, 2.5, 5.0, 10.0, 25.0, 40.0, 100.0, 200.0, 400.0];
/// A flow that fills an Ethernet is within this share of its rate.
const ETHERNET_SHARES: std::ops::RangeInclusive<f64> = 0.985..=1.003;

/// What other systems call a controller, and the name that the list has for it or for what it is nearest to: FreeBSD's NewReno, Google's
/// kernels and those of XanMod for BBR.
const NAMES_ELSEWHERE: [(&str, &str); 4] = [("newreno", "reno"), ("bbr1", "bbr"), ("bbr2", "bbr3"), ("bbrplus", "bbr")];

/// The controller of the list that the sender of a run had; `None` if it has none like it. Nearly every sender that does not say is one with
/// the usual default.
fn listed(name: Option<&str>) -> Option<&'static Controller> {
    let name = name.unwrap_or(USUAL_DEFAULT);
    let elsewhere = NAMES_ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == name);
    find(elsewhere.map_or(name, |(_, ours)| ours)).ok()
}

/// Does this controller set its window by a model of the path, as BBR does? Its window tells nothing of what is in flight, and it fills a path
/// where nothing else limits it.
pub fn models_path(name: Option<&str>) -> bool {
    listed(name).is_some_and(|controller| controller.signal == Signal::Model)
}

/// A flow on a path, examined for what limited it.
pub struct Flow<'a> {
    pub readings: &'a Readings,
    pub least_rtt_ms: Option<f64>,
    pub queue: Queue,
}

impl Flow<'_> {
    /// The most certain first: what the file says, then what a queue shows, then what the rate matches.
    pub fn limited_by(&self) -> Option<LimitedBy> {
        let readings = self.readings;
        let payload = readings.payload_bps.as_ref();
        readings
            .limited_by
            .clone()
            .or_else(|| readings.overload.clone().map(LimitedBy::Path))
            .or_else(|| self.queue_stood())
            .or_else(|| self.by_policer(payload?))
            .or_else(|| self.by_ethernet(payload?))
            .or_else(|| readings.processor.clone().map(LimitedBy::Processor))
            .or_else(|| self.by_loss(payload?))
            .or_else(|| self.by_window(payload?))
    }

    fn queue_stood(&self) -> Option<LimitedBy> {
        let (busy, least) = (self.readings.busy_rtt_ms.as_ref(), self.least_rtt_ms);
        (self.queue == Queue::Stood).then(|| {
            LimitedBy::Path(match (busy, least) {
                (Some(busy), Some(least)) => Evidence::new(
                    format!("a queue stood: the RTT rose from {least} to {} ms", busy.value),
                    &*busy.source,
                ),
                _ => Evidence::new("a queue stood while the path was busy", "RTT under load"),
            })
        })
    }

    /// A bucket that was full at first lets a burst pass at the link's rate; from then on what exceeds the rate at which it fills is lost, and
    /// no queue shows it.
    fn by_policer(&self, payload: &Reading<f64>) -> Option<LimitedBy> {
        let Fall { peak_bps, later_bps, .. } = self.fall()?;
        Some(LimitedBy::Policer(Evidence::new(
            format!(
                "its rate fell from {} to {} and stayed there, packets were lost, and no queue stood",
                rate_words(peak_bps),
                rate_words(later_bps)
            ),
            &*payload.source,
        )))
    }

    /// The fall of a run without a standing queue: a queue that slowed the flow would show as delay.
    pub fn fall(&self) -> Option<Fall> {
        self.readings.fall.filter(|_| matches!(self.queue, Queue::Flat | Queue::Peak))
    }

    /// A rate of exactly a gigabit is no coincidence.
    fn by_ethernet(&self, payload: &Reading<f64>) -> Option<LimitedBy> {
        let packet = self.readings.packet;
        let ethernet_gbps = self.readings.wire_bps()? * (1.0 + ETHERNET_BYTES / packet.mtu_bytes) / 1e9;
        let full = ETHERNET_GBPS.into_iter().find(|gbps| ETHERNET_SHARES.contains(&(ethernet_gbps / gbps)))?;
        Some(LimitedBy::Port(Evidence::new(
            format!("it is what an Ethernet of {} carries", rate_words(full * 1e9)),
            &*payload.source,
        )))
    }

    fn by_loss(&self, payload: &Reading<f64>) -> Option<LimitedBy> {
        let losses = self.readings.losses.as_ref()?;
        let is_clear = matches!(self.queue, Queue::Flat | Queue::Peak) && losses.value.lost >= FEW_LOSSES;
        let response_bps = self.response_bps().filter(|_| is_clear)?;
        let is_near = (1.0 / RESPONSE_FACTOR..=RESPONSE_FACTOR).contains(&(payload.value / response_bps));
        is_near.then(|| {
            let Losses { lost, packets } = losses.value;
            let controller = self.readings.controller.as_deref().unwrap_or(USUAL_DEFAULT);
            let words = format!(
                "{lost:.0} of {packets:.0} packets were lost without a queue, and with as many {controller} gets some {} over \
                 this RTT, however fast the path is (RFC 9438, 5.1)",
                rate_words(response_bps)
            );
            LimitedBy::Loss(Evidence::new(words, &*losses.source))
        })
    }

    /// The controller could not have reached this rate with this many independent losses, so they came together.
    pub fn is_loss_in_bursts(&self) -> bool {
        let payload_bps = self.readings.payload_bps.as_ref().map(|payload| payload.value);
        payload_bps.zip(self.response_bps()).is_some_and(|(payload, response)| payload > RESPONSE_FACTOR * response)
    }

    /// Payload of all flows together, as the response functions of Reno and CUBIC have it. Others have none here; BBR has none at all.
    fn response_bps(&self) -> Option<f64> {
        let readings = self.readings;
        let Losses { lost, packets } = readings.losses.as_ref()?.value;
        let loss = positive(lost / packets)?;
        let rtt_s = readings.mean_rtt_ms.or(self.least_rtt_ms)? / 1e3;
        let window_packets = match listed(readings.controller.as_deref())?.response_function()? {
            ResponseFunction::Reno => reno_window_packets(loss),
            ResponseFunction::Cubic => cubic_window_packets(loss, rtt_s),
            ResponseFunction::Compound => return None,
        };
        let flows = f64::from(readings.flows.unwrap_or(1));
        positive(flows * window_packets * readings.packet.payload_bytes * 8.0 / rtt_s)
    }

    /// Nothing was lost, no queue rose, and the rate did not grow: a window that is no controller's was full.
    fn by_window(&self, payload: &Reading<f64>) -> Option<LimitedBy> {
        let readings = self.readings;
        let windows = &readings.windows;
        let least_rtt_ms = self.least_rtt_ms.filter(|ms| *ms >= LEAST_WINDOW_RTT_MS)?;
        let is_undisturbed = self.queue == Queue::Flat && readings.losses.as_ref()?.value.lost == 0.0;
        if !is_undisturbed || windows.is_growing {
            return None;
        }
        let flight_bytes = payload.value / 8.0 * least_rtt_ms / 1e3 / f64::from(readings.flows.unwrap_or(1));
        let is_modelled = models_path(readings.controller.as_deref());
        if is_modelled && windows.congestion_bytes.is_none_or(|window| window < MODEL_NEAR * flight_bytes) {
            return None;
        }
        let start =
            format!("nothing was lost, no queue built up, and some {:.0} kB were in flight", flight_bytes / 1e3);
        let evidence = |rest: String| Evidence::new(format!("{start}{rest}"), &*payload.source);
        let kb = |bytes: f64| format!("{:.0} kB", bytes / 1e3);
        Some(match (windows.receive_bytes, windows.send_bytes) {
            (_, Some(bytes)) if bytes <= NEAR * flight_bytes => {
                LimitedBy::SendBuffer(evidence(format!(", as many as the sender's buffer of {} takes", kb(bytes))))
            }
            (Some(bytes), _) if bytes <= NEAR * flight_bytes => {
                LimitedBy::ReceiveWindow(evidence(format!(", as many as the receiver's window of {} takes", kb(bytes))))
            }
            (Some(bytes), _) => LimitedBy::SendBuffer(evidence(format!(
                ", far fewer than the receiver's window of {} takes, so the sender's buffer was full",
                kb(bytes)
            ))),
            (None, _) => LimitedBy::ReceiveWindow(evidence(
                ", so a window was full: the receiver's, or else the sender's buffer, of which the file says nothing"
                    .into(),
            )),
        })
    }
}

/// RFC 9438, 5.1: Reno's mean window, AIMD with 1 and 0.5.
fn reno_window_packets(loss: f64) -> f64 {
    (1.5 / loss).sqrt()
}

/// RFC 9438, 5.1, with C 0.4 and β 0.7; where that is below Reno's, CUBIC grows as Reno does.
fn cubic_window_packets(loss: f64, rtt_s: f64) -> f64 {
    let (c, beta) = (0.4_f64, 0.7);
    let curve = (c * (3.0 + beta) / (4.0 * (1.0 - beta))).powf(0.25) * (rtt_s / loss).powf(0.75);
    curve.max(reno_window_packets(loss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_of_the_rfc() {
        // The tables of RFC 9438, 5.1: at an RTT of 0.1 s and a loss of 1e-6 CUBIC has 5926 packets; Reno has 1200 times 1.0206, as it has 1.2 for
        // the root of 1.5. At 1e-2 CUBIC has 12 as Reno.
        assert!((cubic_window_packets(1e-6, 0.1) - 5926.0).abs() < 10.0, "{}", cubic_window_packets(1e-6, 0.1));
        assert!((reno_window_packets(1e-6) - 1224.7).abs() < 0.1);
        assert!((cubic_window_packets(1e-2, 0.1) - 12.25).abs() < 0.01);
    }

    fn run(payload_mbps: f64, lost: f64, controller: &str) -> Readings {
        Readings {
            payload_bps: Some(Reading::new(payload_mbps * 1e6, "rate")),
            losses: Some(Reading::new(Losses { lost, packets: 100_000.0 }, "losses")),
            controller: Some(controller.to_owned()),
            ..Readings::default()
        }
    }

    fn limit(readings: &Readings, queue: Queue) -> Option<LimitedBy> {
        Flow { readings, least_rtt_ms: Some(100.0), queue }.limited_by()
    }

    #[test]
    fn loss_limits_what_fits_the_response_function() {
        // Loss 1e-4: Reno's window has 122.5 packets of 1448 bytes, which are 14.2 Mb/s at 100 ms.
        assert!(matches!(limit(&run(14.0, 10.0, "reno"), Queue::Flat), Some(LimitedBy::Loss(_))));
        assert!(matches!(limit(&run(40.0, 10.0, "reno"), Queue::Peak), Some(LimitedBy::Loss(_))));
        assert_eq!(limit(&run(43.0, 10.0, "reno"), Queue::Flat), None);
        assert_eq!(limit(&run(4.0, 10.0, "reno"), Queue::Flat), None);
        assert_eq!(limit(&run(14.0, 10.0, "bbr"), Queue::Flat), None);
        assert_eq!(limit(&run(14.0, 10.0, "reno"), Queue::Unknown), None);
        assert!(matches!(limit(&run(14.0, 10.0, "reno"), Queue::Stood), Some(LimitedBy::Path(_))));
        let is_burst = |mbps| {
            Flow { readings: &run(mbps, 10.0, "reno"), least_rtt_ms: Some(100.0), queue: Queue::Flat }
                .is_loss_in_bursts()
        };
        assert_eq!((is_burst(40.0), is_burst(43.0)), (false, true));
        // As FreeBSD calls it.
        assert!(matches!(limit(&run(14.0, 10.0, "newreno"), Queue::Flat), Some(LimitedBy::Loss(_))));
    }

    #[test]
    fn a_window_limits_what_is_constant_without_loss() {
        // 80 Mb/s at 100 ms: 1 MB in flight.
        let with =
            |windows: Windows, controller| limit(&Readings { windows, ..run(80.0, 0.0, controller) }, Queue::Flat);
        use super::super::reading::Windows;
        let receive = |bytes| Windows { receive_bytes: Some(bytes), ..Windows::default() };
        assert!(matches!(with(Windows::default(), "cubic"), Some(LimitedBy::ReceiveWindow(_))));
        assert!(matches!(with(receive(1.2e6), "cubic"), Some(LimitedBy::ReceiveWindow(_))));
        assert!(matches!(with(receive(8e6), "cubic"), Some(LimitedBy::SendBuffer(_))));
        let buffer = Windows { send_bytes: Some(1e6), ..receive(1e6) };
        assert!(matches!(with(buffer, "cubic"), Some(LimitedBy::SendBuffer(_))));
        assert_eq!(with(Windows { is_growing: true, ..Windows::default() }, "cubic"), None);
        let congestion = |bytes| Windows { congestion_bytes: Some(bytes), ..Windows::default() };
        assert_eq!(with(congestion(2e6), "bbr"), None);
        assert!(with(congestion(5e6), "bbr").is_some());
        assert_eq!(with(congestion(2e6), "bbr2"), None);
        assert!(with(congestion(2e6), "prague").is_some(), "it owns its window, but has no model of the path");
        assert_eq!(limit(&run(80.0, 0.0, "cubic"), Queue::Unknown), None);
    }

    #[test]
    fn a_full_ethernet_is_the_path() {
        // 1448 of 1538 bytes on the wire are payload: 941.5 Mb/s of a gigabit.
        assert!(matches!(limit(&run(941.0, 0.0, "cubic"), Queue::Flat), Some(LimitedBy::Port(_))));
        assert!(!matches!(limit(&run(900.0, 0.0, "cubic"), Queue::Flat), Some(LimitedBy::Port(_))));
    }
}
