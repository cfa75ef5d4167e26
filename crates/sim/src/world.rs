// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event loop, and the result that it makes of a run.

use tandem_engine::{Applications, Counters, FlowEnd, Options, Readable, Recorder, RecorderOptions};
use tandem_network::{Alarm, End, Event, QueueSamples, wlan::CellSamples};
use tandem_results::{FlowSample, LinkResult, SeedResult, Trace};
use tandem_scenario::Scenario;

use crate::{
    endpoints::{Make, NewFlow},
    flow::Flow,
    net::Net,
    windows::Front,
};

/// One seed of a scenario while it runs.
pub struct World<'a> {
    scenario: &'a Scenario,
    options: Options<'a>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) net: Net,
    pub(crate) recorder: Recorder<'a>,
    /// How far the ends have come, if the run goes by windows.
    pub(crate) front: Front,
    cpu_start_s: f64,
    /// When the host last looked, ns.
    last_tick: u64,
}

/// How a run takes its way through time. Both give the same result, to the last bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clockwork {
    /// By windows, where the scenario is one for it.
    Fastest,
    /// Event by event.
    Events,
}

/// Some milliseconds: on a fast link a tick of the recorder may be many seconds away.
const EVENTS_BETWEEN_LOOKS: u32 = 1 << 14;

/// CPU time of this thread, seconds; 0 on systems that are not asked for it.
fn cpu_s() -> f64 {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let t = clock_gettime(ClockId::ThreadCPUTime);
        t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
    }
    #[cfg(not(unix))]
    0.0
}

impl<'a> World<'a> {
    /// At time 0. The scenario has none of the kernel's own controllers.
    pub(crate) fn new(
        scenario: &'a Scenario,
        seed: u64,
        options: Options<'a>,
        make: &Make,
        clockwork: Clockwork,
    ) -> Self {
        let cpu_start_s = cpu_s();
        let group_of_flow = scenario.group_of_flow();
        let applications = Applications::new(scenario, seed);
        let flow = |(index, &group): (usize, &usize)| {
            Flow::new(&NewFlow { scenario, index, group, seed, applications: &applications }, make)
        };
        let flows: Vec<Flow> = group_of_flow.iter().enumerate().map(flow).collect();
        let by_windows = clockwork == Clockwork::Fastest && flows.iter().all(|flow| flow.endpoints().are_apart());
        let mut net = Net::new(scenario, seed, by_windows);
        for (f, flow) in flows.iter().enumerate() {
            net.wake(f, End::Senders, flow.start());
        }
        let recording = RecorderOptions {
            unit_bytes: scenario.mss(),
            has_raw_rtts: flows.iter().all(|f| f.endpoints().tells_rtts()),
            traced_flows_per_group: options.traced_flows_per_group,
        };
        let recorder = Recorder::new(scenario, seed, recording);
        net.network.wake(Alarm::Host, recorder.next());
        let front = Front::default();
        Self { scenario, options, flows, net, recorder, front, cpu_start_s, last_tick: 0 }
    }

    /// Runs to the end; `None` if cancelled.
    pub(crate) fn run(mut self) -> Option<SeedResult> {
        self.advance(self.scenario.duration.ns).then(|| self.result())
    }

    /// Runs until the time `end`, ns, which is not after the scenario's; `false` if cancelled. Several steps give what one gives.
    pub fn advance(&mut self, end: u64) -> bool {
        match &self.net.windows {
            Some(windows) => self.advance_by_windows(end, windows.ahead),
            None => self.advance_by_events(end),
        }
    }

    /// One event after the other, as the network's agenda has them.
    fn advance_by_events(&mut self, end: u64) -> bool {
        let mut events: u32 = 0;
        while let Some((now, event)) = self.net.advance(end) {
            events = events.wrapping_add(1);
            if events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && self.options.is_cancelled() {
                return false;
            }
            match event {
                Event::AtReceiver(f, data) => self.flows[f].on_data(now, f, data.header, &mut self.net),
                Event::AtSender(f, ack) => {
                    let flow = &mut self.flows[f];
                    if let Some(rtt_ns) = flow.on_ack(now, f, ack, &mut self.net) {
                        self.recorder.rtt(now, flow.group, rtt_ns / 1000);
                    }
                }
                Event::Alarm(Alarm::Flow(f, at)) => self.flows[f].on_timer(now, f, at, &mut self.net),
                Event::Alarm(Alarm::Host) => {
                    if !self.on_tick(now) {
                        return false;
                    }
                    self.net.network.wake(Alarm::Host, self.recorder.next());
                }
            }
        }
        true
    }

    /// It is time for the recorder to read; `false` if cancelled.
    pub(crate) fn on_tick(&mut self, now: u64) -> bool {
        if self.options.is_cancelled() {
            return false;
        }
        self.options.advance(now - self.last_tick);
        self.last_tick = now;
        self.recorder.on_tick(now, &mut Moment { now, flows: &self.flows, net: &mut self.net });
        true
    }

    /// Has the caller had enough?
    pub(crate) fn is_cancelled(&self) -> bool {
        self.options.is_cancelled()
    }

    /// Does the run go by windows?
    pub fn goes_by_windows(&self) -> bool {
        self.net.windows.is_some()
    }

    /// The samples so far, if there are any to be taken.
    pub fn trace(&self) -> Option<&Trace> {
        self.recorder.trace()
    }

    /// What came of it; the run is at its end.
    pub fn result(mut self) -> SeedResult {
        let ends: Vec<FlowEnd> = self.flows.iter().enumerate().map(|(f, flow)| self.flow_end(f, flow)).collect();
        let data_packets = self.flows.iter().map(|f| f.arrived_packets).sum();
        let links = self.links();
        let measured_s = self.scenario.measured().as_secs_f64();
        let cell = self.net.network.air.as_ref().map(|air| air.cell.result(measured_s));
        let run = Moment { now: self.scenario.duration.ns, flows: &self.flows, net: &mut self.net };
        let result = self.recorder.result(&run, &ends, links, data_packets);
        SeedResult { cell, cpu_s: cpu_s() - self.cpu_start_s, ..result }
    }

    fn links(&self) -> Vec<LinkResult> {
        let measured_s = self.scenario.measured().as_secs_f64();
        let Recorder { queues, cell, .. } = &self.recorder;
        let wired = queues.iter().zip(&self.net.network.links).map(|(q, link)| q.result(link, measured_s));
        let air = self.net.network.air.iter().flat_map(|air| cell.links(&air.cell, measured_s));
        wired.chain(air).collect()
    }

    fn flow_end<'b>(&self, index: usize, flow: &'b Flow) -> FlowEnd<'b> {
        FlowEnd {
            base_rtt_ns: self.net.network.base_rtt_ns(index),
            transfers: flow.endpoints().transfers(),
            quality: flow.endpoints().quality(),
        }
    }
}

/// The simulation at one time.
struct Moment<'a> {
    now: u64,
    flows: &'a [Flow],
    net: &'a mut Net,
}

impl Readable for Moment<'_> {
    fn counters(&self, flow: usize) -> Counters {
        self.flows[flow].endpoints().counters()
    }

    fn srtt_us(&self, flow: usize) -> Option<u64> {
        self.flows[flow].endpoints().srtt_us()
    }

    fn windows(&self, flow: usize) -> FlowSample {
        self.flows[flow].endpoints().windows()
    }

    fn waiting_packets(&mut self) -> Vec<f32> {
        let now = self.now;
        let wired = self.net.network.links.iter_mut().map(|link| link.waiting(now) as f32);
        let air = self.net.network.air.iter().flat_map(|air| air.cell.waiting_up_and_down(now));
        wired.chain(air).collect()
    }

    fn sample_queues(&mut self, links: &mut [QueueSamples], cell: &mut CellSamples) {
        for (samples, link) in links.iter_mut().zip(&mut self.net.network.links) {
            samples.take(self.now, link);
        }
        if let Some(air) = &self.net.network.air {
            cell.take(self.now, &air.cell);
        }
    }
}
