// SPDX-License-Identifier: MIT OR Apache-2.0
//! Infers the path from all runs. A value that no run shows stays unknown; the caller then tries several.

use tandem_scenario::{
    DEFAULT_MTU,
    aqm::AqmSpec,
    effects::BucketSpec,
    units::{Bytes, QueueSize, Span},
};

use super::{
    Direction, Evidence, Inferred, LimitedBy, Measured, Transferred,
    limit::{Flow, models_path},
    reading::{Fall, Losses, Reading, Readings, rate},
};

/// A busy path's RTT is above the idle one's by at least this share and this time, or its queue was not seen. Ours.
const QUEUED_SHARE: f64 = 0.1;
const QUEUED_MS: f64 = 1.0;
/// A loss rate needs at least this many packets.
const FEW_PACKETS: f64 = 1000.0;
/// No usable path loses more than this.
const MOST_LOSS: f64 = 0.99;

/// What the RTTs under load show about a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// Nothing: there are no such RTTs, or they rose by too little.
    Unknown,
    /// There was none.
    Flat,
    /// There was one for a moment.
    Peak,
    /// There was one most of the time.
    Stood,
}

/// The path from all runs together.
pub fn infer(mut all: Vec<Readings>) -> Measured {
    let mut path = Measured { cautions: take_cautions(&mut all), ..Measured::default() };
    let least = largest(all.iter().map(|r| r.least_rtt_ms.clone()), |ms| -ms);
    path.leave_other_direction(&mut all);
    let busy = largest(all.iter().map(|r| r.busy_rtt_ms.clone()), |ms| *ms);
    let evidence = Rtts { least: least.as_ref(), busy: busy.as_ref() };
    if let Some(flow) = fastest(&all) {
        path.take_flow(flow, &all, &evidence);
    }
    if let Some(least) = &least {
        path.infer_rtt(least);
    }
    path.infer_queue(&evidence);
    if let Some(losing) = most_telling(&all) {
        path.infer_loss(losing, &evidence);
    }
    if let Some(aqm) = all.iter().find_map(|r| r.aqm.as_ref()) {
        path.take_aqm(aqm);
    }
    path.controller = path.controller.take().or_else(|| all.iter().find_map(|r| r.controller.clone()));
    path.direction = path.direction.or_else(|| all.iter().find_map(|r| r.direction));
    for caution in &mut path.cautions {
        // The caller ends the sentence.
        caution.truncate(caution.trim_end_matches('.').len());
    }
    path
}

/// In the order of the files, each once.
fn take_cautions(all: &mut [Readings]) -> Vec<String> {
    let mut cautions: Vec<String> = all.iter_mut().flat_map(|r| std::mem::take(&mut r.cautions)).collect();
    cautions.dedup();
    cautions
}

/// The reading for which `key` is largest.
fn largest<T>(readings: impl Iterator<Item = Option<Reading<T>>>, key: impl Fn(&T) -> f64) -> Option<Reading<T>> {
    readings.flatten().max_by(|a, b| key(&a.value).total_cmp(&key(&b.value)))
}

fn transferred(run: &Readings) -> Option<Transferred> {
    let payload = run.payload_bps.as_ref()?;
    Some(Transferred {
        goodput_mbps: payload.value / 1e6,
        controller: run.controller.clone()?,
        flows: run.flows.unwrap_or(1),
        seconds: run.seconds,
        source: payload.source.clone(),
    })
}

/// The run that shows the rate; if none does, one that shows what limited it.
fn fastest(all: &[Readings]) -> Option<&Readings> {
    let with_rate = all.iter().filter_map(|r| Some((r, r.wire_bps()?)));
    let fastest = with_rate.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(readings, _)| readings);
    fastest.or_else(|| all.iter().find(|r| r.limited_by.is_some()))
}

/// The best count of losses: one path's before the whole machine's, one with an RTT before others, then the one with most packets.
fn most_telling(all: &[Readings]) -> Option<&Readings> {
    let packets = |r: &Readings| r.losses.as_ref().map_or(0.0, |losses| losses.value.packets);
    let rank = |r: &Readings| (!r.is_of_all_paths, r.busy_rtt_ms.is_some());
    let losing = all.iter().filter(|r| packets(r) >= FEW_PACKETS);
    losing.max_by(|a, b| rank(a).cmp(&rank(b)).then(packets(a).total_cmp(&packets(b))))
}

/// The smallest RTT of all, and the largest under load.
struct Rtts<'a> {
    least: Option<&'a Reading<f64>>,
    busy: Option<&'a Reading<f64>>,
}

fn rises(busy_ms: f64, least_ms: f64) -> bool {
    busy_ms - least_ms >= QUEUED_MS && busy_ms - least_ms >= QUEUED_SHARE * least_ms
}

impl Rtts<'_> {
    fn least_ms(&self) -> Option<f64> {
        self.least.map(|least| least.value)
    }

    /// A run's own RTTs show whether it had a queue. A ping beside it shows that only if there was one: otherwise nobody knows
    /// that the path was busy then.
    fn queue(&self, run: &Readings) -> Queue {
        let Some(least) = self.least else { return Queue::Unknown };
        let Some(busy) = run.busy_rtt_ms.as_ref().filter(|busy| busy.source != least.source) else {
            let rose = self.busy.is_some_and(|busy| rises(busy.value, least.value));
            return if rose { Queue::Stood } else { Queue::Unknown };
        };
        if rises(busy.value, least.value) {
            let stood = run.mean_rtt_ms.is_none_or(|mean_ms| rises(mean_ms, least.value));
            if stood { Queue::Stood } else { Queue::Peak }
        } else if busy.value - least.value < QUEUED_SHARE * least.value {
            Queue::Flat
        } else {
            Queue::Unknown
        }
    }
}

impl Measured {
    /// The path has two directions. The one in which this machine sends is the one that it can change.
    fn leave_other_direction(&mut self, all: &mut Vec<Readings>) {
        let sends = all.iter().any(|r| r.direction == Some(Direction::Sends) && r.payload_bps.is_some());
        if !sends {
            return;
        }
        for run in all.iter().filter(|r| r.direction == Some(Direction::Receives)) {
            if let Some(payload) = &run.payload_bps {
                self.cautions.push(format!(
                    "{}: this machine receives there, so only its RTT is used beside the measurements in which it sends.",
                    payload.source
                ));
            }
        }
        all.retain(|r| r.direction != Some(Direction::Receives));
    }

    fn take_flow(&mut self, run: &Readings, all: &[Readings], rtts: &Rtts) {
        let queue = rtts.queue(run);
        let flow = Flow { readings: run, least_rtt_ms: rtts.least_ms(), queue };
        self.limited_by = flow.limited_by();
        self.direction = run.direction;
        self.controller.clone_from(&run.controller);
        self.transferred = transferred(run);
        let mut flows = all.iter().filter(|r| r.payload_bps.is_some()).map(|r| r.flows);
        // Measured with one and with eight, it is not known how many are meant.
        self.flows = run.flows.filter(|_| flows.all(|flows| flows == run.flows));
        let mtu = run.packet.mtu_bytes.round() as u32;
        self.mtu = (run.is_packet_known && mtu != DEFAULT_MTU).then_some(mtu);
        if let (Some(bps), Some(payload)) = (run.wire_bps(), &run.payload_bps) {
            let headers = bps / payload.value;
            match flow.fall().filter(|_| matches!(self.limited_by, Some(LimitedBy::Policer(_)))) {
                Some(fall) => self.infer_policer(&fall, headers, payload.source.clone()),
                None => self.infer_rate(bps, payload.source.clone()),
            }
        }
    }

    /// The link is at least as fast as the burst; the policer's rate is what passed after it. `headers` is the size of packets with headers
    /// over their size without.
    fn infer_policer(&mut self, fall: &Fall, headers: f64, source: String) {
        let [peak, later] = [fall.peak_bps, fall.later_bps].map(|bps| rate(bps * headers));
        let (Some(peak), Some(later)) = (peak, later) else { return };
        let burst = Bytes((fall.excess_bytes * headers / 1e4).ceil() as u64 * 10_000);
        self.rate = Some(peak);
        self.policer = Some(BucketSpec { rate: later, burst });
        let surety =
            "at least: what arrived at most in an interval, with headers, before the policer's bucket was empty";
        self.note("rate", peak.to_string(), format!("{source} of intervals"), surety);
        let surety = "a guess: what arrived in the later half, with headers, and what came above that before";
        self.note("policer", format!("{later}:{burst}"), format!("{source} of intervals"), surety);
    }

    /// What arrived, with headers.
    fn infer_rate(&mut self, bps: f64, source: String) {
        self.rate = rate(bps);
        let Some(rate) = self.rate else { return };
        self.rate_at_least = !matches!(self.limited_by, Some(LimitedBy::Path(_) | LimitedBy::Port(_)));
        let surety = match &self.limited_by {
            Some(LimitedBy::Path(evidence) | LimitedBy::Port(evidence)) => {
                format!("what arrived, with headers; the path was full: {}", evidence.words)
            }
            Some(limit) => format!(
                "at least: what arrived, with headers; {} limited the flow: {}",
                limit.what(),
                limit.evidence().words
            ),
            None if models_path(self.controller.as_deref()) => {
                "at least: what arrived, with headers; a controller with a model of the path comes near its rate where nothing else limits it"
                    .to_owned()
            }
            None => "at least: what arrived, with headers; the flow may not have filled the path".to_owned(),
        };
        self.note("rate", rate.to_string(), source, surety);
    }

    fn infer_rtt(&mut self, least: &Reading<f64>) {
        let rtt = Span { ns: (least.value * 1e3).round().max(1.0) as u64 * 1000 };
        self.rtt = Some(rtt);
        let surety = "at most: the smallest seen; a queue that was never empty is part of it";
        self.note("rtt", rtt.to_string(), least.source.clone(), surety);
    }

    /// None, if the RTTs of the idle and of the busy path differ by too little.
    fn infer_queue(&mut self, rtts: &Rtts) {
        let (Some(least), Some(busy)) = (rtts.least, rtts.busy) else { return };
        if !rises(busy.value, least.value) {
            return;
        }
        let queued_ms = busy.value - least.value;
        let queue = QueueSize::Time(Span { ns: (queued_ms * 10.0).round() as u64 * 100_000 });
        self.queue = Some(queue);
        let source = format!("{}, less the RTT", busy.source);
        self.note("queue", queue.to_string(), source, "at least: the longest wait seen; a full queue may be longer");
    }

    /// After the queue: what was lost while there was one, it dropped. Without an RTT under load nobody knows.
    fn infer_loss(&mut self, run: &Readings, rtts: &Rtts) {
        let Some(Reading { value: Losses { lost, packets }, source }) = run.losses.clone() else { return };
        let flow = Flow { readings: run, least_rtt_ms: rtts.least_ms(), queue: rtts.queue(run) };
        let counted = format!("{lost:.0} of {packets:.0} packets were lost");
        let (share, surety) = if lost == 0.0 {
            (0.0, format!("nothing was lost in {packets:.0} packets: at most {} (95 %)", scientific(3.0 / packets)))
        } else if self.policer.is_some() {
            (0.0, format!("a guess: {counted}, as a policer loses them"))
        } else if flow.queue == Queue::Flat && flow.is_loss_in_bursts() {
            self.bursts = Some(Evidence::new(counted.clone(), &*source));
            self.cautions.push(format!(
                "{source}: {counted}, more than the controller could have had by chance at this rate. They were lost together, \
                 so the rate of random loss is not known."
            ));
            return;
        } else if flow.queue == Queue::Flat || matches!(flow.limited_by(), Some(LimitedBy::Loss(_))) {
            ((lost / packets).min(MOST_LOSS), format!("a guess: {counted} and no queue was seen, so it was chance"))
        } else if flow.queue == Queue::Stood {
            (0.0, format!("a guess: {counted} while a queue stood, so the full queue dropped them"))
        } else if run.is_of_all_paths {
            return;
        } else {
            self.cautions.push(format!(
                "{source}: {counted}, but the RTTs do not tell whether a full queue dropped them or chance. Add what `ping` or \
                 `ss -ti` prints while the transfer runs."
            ));
            return;
        };
        self.loss = scientific(share).parse().ok();
        self.note("loss", scientific(share), source, surety);
    }

    /// Only what the simulator has is a queue of the path's; the others tell whether this machine paces.
    fn take_aqm(&mut self, aqm: &Reading<String>) {
        self.aqm = Some(aqm.value.clone());
        if aqm.value.parse::<AqmSpec>().is_ok_and(|aqm| aqm != AqmSpec::DropTail) {
            let surety = "if this machine's uplink is the bottleneck";
            self.note("aqm", aqm.value.clone(), aqm.source.clone(), surety);
        }
    }

    fn note(&mut self, what: &'static str, value: String, source: String, surety: impl Into<String>) {
        self.inferred.push(Inferred { what, value, source, surety: surety.into() });
    }
}

fn scientific(share: f64) -> String {
    if share == 0.0 { "0".to_owned() } else { format!("{share:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lossy(busy_ms: f64, lost: f64) -> Readings {
        Readings {
            least_rtt_ms: Some(Reading::new(100.0, "a")),
            busy_rtt_ms: Some(Reading::new(busy_ms, "b")),
            losses: Some(Reading::new(Losses { lost, packets: 10_000.0 }, "c")),
            ..Readings::default()
        }
    }

    #[test]
    fn losses_without_a_queue_are_chance() {
        let loss = |busy_ms, lost| infer(vec![lossy(busy_ms, lost)]).loss.unwrap().0;
        // 109 ms are within a tenth of 100 ms.
        assert!((loss(109.0, 25.0) - 0.0025).abs() < 1e-12);
        assert_eq!((loss(111.0, 25.0), loss(109.0, 0.0)), (0.0, 0.0));
    }

    #[test]
    fn losses_without_an_rtt_under_load_are_not_known() {
        let blind = Readings { busy_rtt_ms: None, ..lossy(0.0, 25.0) };
        let path = infer(vec![blind.clone()]);
        assert!(path.loss.is_none() && path.cautions[0].contains("25 of 10000 packets were lost"));
        // A ping without a queue may have been sent while nothing else was: it does not tell.
        let idle = Readings { losses: None, ..lossy(102.0, 0.0) };
        assert!(infer(vec![blind.clone(), idle]).loss.is_none());
        let loaded = Readings { losses: None, ..lossy(150.0, 0.0) };
        assert_eq!(infer(vec![blind, loaded]).loss.unwrap().0, 0.0);
        // On a path of 0.2 ms a host's own delay of 0.5 ms is no queue, and not the lack of one.
        let short = Readings {
            least_rtt_ms: Some(Reading::new(0.2, "a")),
            busy_rtt_ms: Some(Reading::new(0.7, "b")),
            ..lossy(0.0, 25.0)
        };
        assert!(infer(vec![short]).loss.is_none());
    }

    #[test]
    fn a_queue_for_a_moment_does_not_show_that_the_path_was_full() {
        let run = |mean_ms| Readings {
            payload_bps: Some(Reading::new(1e6, "d")),
            mean_rtt_ms: Some(mean_ms),
            ..lossy(150.0, 0.0)
        };
        let path = infer(vec![run(101.0)]);
        assert!(path.rate_at_least && path.limited_by.is_none() && path.queue.is_some());
        let path = infer(vec![run(120.0)]);
        assert!(!path.rate_at_least && matches!(path.limited_by, Some(LimitedBy::Path(_))));
    }

    #[test]
    fn what_this_machine_sends_goes_before_what_it_receives() {
        let run = |direction, mbps: f64| Readings {
            payload_bps: Some(Reading::new(mbps * 1e6, format!("{mbps}"))),
            direction: Some(direction),
            ..Readings::default()
        };
        let path = infer(vec![run(Direction::Receives, 144.8), run(Direction::Sends, 14.48)]);
        // 14.48 * 1500 / 1448.
        assert_eq!(path.rate.unwrap().to_string(), "15mbit");
        assert!(path.direction == Some(Direction::Sends) && path.cautions[0].contains("this machine receives"));
        let path = infer(vec![run(Direction::Receives, 144.8)]);
        assert_eq!((path.rate.unwrap().to_string().as_str(), path.direction), ("150mbit", Some(Direction::Receives)));
    }

    #[test]
    fn absurd_numbers_are_survived() {
        let run = Readings {
            payload_bps: Some(Reading::new(f64::MAX, "a")),
            least_rtt_ms: Some(Reading::new(f64::MIN_POSITIVE, "b")),
            busy_rtt_ms: Some(Reading::new(f64::MAX, "c")),
            losses: Some(Reading::new(Losses { lost: f64::MAX, packets: 1e300 }, "d")),
            mean_rtt_ms: Some(f64::INFINITY),
            flows: Some(u32::MAX),
            ..Readings::default()
        };
        let path = infer(vec![run.of_file("x")]);
        assert!(path.rate.is_none() && path.queue.is_none());
    }
}
