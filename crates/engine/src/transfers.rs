// SPDX-License-Identifier: MIT OR Apache-2.0
//! The application of a TCP flow: one endless transfer, finite ones with pauses between them, data at a rate, or short flows.

use tandem_network::{Rng, agenda::NEVER};
use tandem_results::ShortTransfer;
use tandem_scenario::{TcpSource, Transfer};

use crate::{
    demand::{Demanded, SharedDemand},
    offer::Offer,
};

/// When a flow has data to send, and how long its transfers take.
///
/// The engine calls [`on_time`](Self::on_time) at [`next`](Self::next) or later, does what it says, and calls
/// [`complete`](Self::complete) once all data of a running transfer has been acknowledged.
#[derive(Debug)]
pub struct Transfers {
    /// Size of one transfer in the engine's unit; `None`: endless.
    size: Option<u64>,
    pause: Option<u64>,
    stop: u64,
    next_start: u64,
    began: u64,
    is_running: bool,
    completed: Vec<Completion>,
    offer: Option<Box<Offer>>,
    short: Option<Box<Short>>,
}

/// What more there is to short flows.
#[derive(Debug)]
struct Short {
    demand: SharedDemand,
    unit_bytes: u32,
    /// The transfer that runs or is next.
    current: Demanded,
    /// Those that have ended.
    ended: Vec<ShortTransfer>,
}

/// The end of a transfer and how long it took, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    pub at: u64,
    pub took: u64,
}

/// What the application wants at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// The flow goes on with what it does.
    Nothing,
    /// A transfer begins, or goes on: send this much more, in the engine's unit; `None`: without end. One of short flows begins on a new
    /// connection.
    Begin(Option<u64>),
    /// Send no more than what has been sent: the flow has stopped, or its application pauses until the next `Begin`.
    Stop,
}

impl Transfers {
    /// The transfers of `source` from `start` on; `stop`: when the flow ends, [`NEVER`] if it does not. The engine counts data in units
    /// of `unit_bytes`; the last unit of a transfer may not be full. `rng` is for applications that write at random.
    pub fn new(source: &TcpSource, unit_bytes: u32, start: u64, stop: u64, rng: Rng) -> Self {
        let (size, pause) = match &source.transfer {
            Transfer::Finite { bytes, pause } => (Some(bytes.div_ceil(u64::from(unit_bytes))), pause.map(|p| p.ns)),
            Transfer::Bulk | Transfer::Offered { .. } | Transfer::Short(_) => (None, None),
        };
        let offer = Offer::new(&source.transfer, unit_bytes, start, stop, rng).map(Box::new);
        Self {
            size,
            pause,
            stop,
            next_start: start,
            began: 0,
            is_running: false,
            completed: Vec::new(),
            offer,
            short: None,
        }
    }

    /// Short flows from `start` on, as `demand` has them; the rest as in [`new`](Self::new).
    pub(crate) fn short(demand: SharedDemand, unit_bytes: u32, start: u64, stop: u64) -> Self {
        let current = demand.next(start);
        Self {
            size: None,
            pause: None,
            stop,
            next_start: current.at,
            began: 0,
            is_running: false,
            completed: Vec::new(),
            offer: None,
            short: Some(Box::new(Short { demand, unit_bytes, current, ended: Vec::new() })),
        }
    }

    /// What is due at `now`. A transfer that is still running at the stop is cut off: it will not count as completed.
    pub fn on_time(&mut self, now: u64) -> Due {
        if now >= self.stop {
            self.next_start = NEVER;
            self.is_running = false;
            return Due::Stop;
        }
        if self.next_start > now {
            return Due::Nothing;
        }
        if let Some(offer) = &mut self.offer {
            let due = offer.take(now);
            self.next_start = offer.next().max(now);
            return due;
        }
        self.next_start = NEVER;
        if let Some(Short { unit_bytes, current, .. }) = self.short.as_deref() {
            self.began = current.at;
            self.is_running = true;
            return Due::Begin(Some(current.bytes.div_ceil(u64::from(*unit_bytes))));
        }
        self.began = now;
        self.is_running = self.size.is_some();
        Due::Begin(self.size)
    }

    /// When [`on_time`](Self::on_time) must be called next after `now`.
    pub fn next(&self, now: u64) -> u64 {
        if self.stop > now { self.next_start.min(self.stop) } else { self.next_start }
    }

    /// Is a finite transfer under way?
    #[inline]
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// All data of the running transfer has been acknowledged at `now`.
    pub fn complete(&mut self, now: u64) {
        self.is_running = false;
        let took = now - self.began;
        if let Some(short) = &mut self.short {
            short.ended.push(short.current.took(Some(took)));
            short.current = short.demand.next(now);
            // One that has waited begins now.
            self.next_start = short.current.at.max(now);
            return;
        }
        self.completed.push(Completion { at: now, took });
        self.next_start = self.pause.map_or(NEVER, |pause| now + pause);
    }

    /// The transfers that were completed at `from` or later, of short flows those that came then: seconds each.
    pub(crate) fn completion_times_s(&self, from: u64) -> Vec<f64> {
        if let Some(short) = &self.short {
            return short.came_from(from).filter_map(|transfer| transfer.completion_time_s).collect();
        }
        self.completed.iter().filter(|c| c.at >= from).map(|c| c.took as f64 / 1e9).collect()
    }

    /// The short flows that came at `from` or later, before `end`, and before the stop. Of the flows that share a demand, the first that is asked
    /// also returns the transfers that nobody had time for.
    pub(crate) fn short_flows(&self, from: u64, end: u64) -> Vec<ShortTransfer> {
        let Some(short) = &self.short else { return Vec::new() };
        let end = end.min(self.stop);
        let waiting = std::iter::once(short.current).chain(short.demand.rest(end));
        let unfinished = waiting.filter(|demanded| demanded.at < end).map(|demanded| demanded.took(None));
        let from_s = from as f64 / 1e9;
        short.came_from(from).chain(unfinished.filter(|transfer| transfer.arrived_s >= from_s)).collect()
    }
}

impl Short {
    fn came_from(&self, from: u64) -> impl Iterator<Item = ShortTransfer> {
        let from_s = from as f64 / 1e9;
        self.ended.iter().copied().filter(move |transfer| transfer.arrived_s >= from_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_network::Stream;
    use tandem_scenario::file::{Overrides, parse};

    fn source(keys: &str) -> TcpSource {
        let text = format!(
            "duration = \"9s\"\n[dumbbell]\nrate = \"9mbit\"\nrtt = \"9ms\"\nqueue = \"9p\"\n[[flows]]\ncontroller = \"reno\"\n{keys}"
        );
        let scenario = parse(&text, "s.toml", "s", &Overrides::default()).unwrap();
        let tcp = scenario.groups[0].source.tcp().expect("TCP");
        tcp.clone()
    }

    fn of(keys: &str, unit_bytes: u32, start: u64, stop: u64) -> Transfers {
        Transfers::new(&source(keys), unit_bytes, start, stop, Rng::new(1, Stream::Transfers(0)))
    }

    /// 2001 bytes are three segments of 1000. They begin at 5, are acknowledged at 25 and begin again 10 later.
    #[test]
    fn transfers_follow_each_other() {
        let mut transfers = of("transfer = \"2001B\"\npause = \"10ns\"", 1000, 5, NEVER);
        assert_eq!((transfers.next(0), transfers.on_time(4)), (5, Due::Nothing));
        assert_eq!(transfers.on_time(5), Due::Begin(Some(3)));
        assert!(transfers.is_running());
        assert_eq!((transfers.next(5), transfers.on_time(6)), (NEVER, Due::Nothing));
        transfers.complete(25);
        assert!(!transfers.is_running());
        assert_eq!(
            (transfers.next(25), transfers.on_time(34), transfers.on_time(35)),
            (35, Due::Nothing, Due::Begin(Some(3)))
        );
        transfers.complete(42);
        assert_eq!(transfers.completion_times_s(0), [20e-9, 7e-9]);
        assert_eq!(transfers.completion_times_s(26), [7e-9]);
    }

    #[test]
    fn a_transfer_cut_off_at_the_stop_is_not_completed() {
        let mut transfers = of("transfer = \"1MB\"\npause = \"10ns\"", 1, 0, 100);
        assert_eq!((transfers.on_time(0), transfers.next(0)), (Due::Begin(Some(1_000_000)), 100));
        assert_eq!(transfers.on_time(100), Due::Stop);
        assert!(!transfers.is_running());
        assert_eq!((transfers.next(100), transfers.on_time(110)), (NEVER, Due::Stop));
    }

    /// 12 Mb/s are a segment of 1448 bytes each 965.3 us, rounded up to a nanosecond. A late look finds all that has come meanwhile.
    #[test]
    fn an_offered_rate_comes_a_segment_at_a_time() {
        let mut transfers = of("offered_rate = \"12mbit\"", 1448, 7, 5_000_000);
        assert_eq!(
            (transfers.on_time(7), transfers.is_running(), transfers.next(7)),
            (Due::Begin(Some(1)), false, 965_341)
        );
        assert_eq!((transfers.on_time(965_340), transfers.on_time(965_341)), (Due::Nothing, Due::Begin(Some(1))));
        assert_eq!(transfers.on_time(4_000_000), Due::Begin(Some(3)));
        assert_eq!(transfers.on_time(5_000_000), Due::Stop);
        let mut in_bytes = of("offered_rate = \"12mbit\"", 1, 0, NEVER);
        assert_eq!(in_bytes.on_time(1_000_000), Due::Begin(Some(2 * 1448)));
    }

    #[test]
    fn a_bulk_flow_never_completes() {
        let mut transfers = of("", 1448, 7, NEVER);
        assert_eq!((transfers.on_time(7), transfers.is_running(), transfers.next(7)), (Due::Begin(None), false, NEVER));
    }
}
