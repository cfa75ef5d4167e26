// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model as an engine: a scenario of one bulk Compound flow on one drop-tail link, answered in the common result schema.
//!
//! It knows no slow start: the run begins with a loss in the steady state, and every seed gives the same result.

use std::{borrow::Cow, sync::Arc, time::Instant};

use tandem_engine::{Engine, EngineError, Options, Warning, refuse_foreign_controllers, refuse_quic};
use tandem_results::{FlowResult, FlowSample, FlowTrace, LinkResult, LinkTrace, SeedResult, Trace};
use tandem_scenario::{
    Aqm, CongestionControl, Group, Honesty, LinkConfig, Loss, Recovery, Scenario, TcpSource, Transfer, USUAL_ACK_EVERY,
};

use crate::{
    connection::Connection,
    course::Course,
    follow::{Follower, MOST_ROUNDS},
    law::{Arithmetic, CONTROLLER, Law},
    path::Path,
};

/// Why the model has no answer to a scenario; the message says what it would need.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the model cannot answer this scenario: {0}. `--engine sim` can")]
pub struct Refusal(String);

/// The analytical model of one Compound TCP connection.
pub struct Model;

impl Engine for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    fn description(&self) -> &'static str {
        "Analytical model: one bulk flow of `compound` on one drop-tail link"
    }

    fn arithmetic(&self) -> &'static str {
        env!("TANDEM_ARITHMETIC")
    }

    fn check(&self, scenario: &Scenario, _force: bool) -> Result<Vec<Warning>, EngineError> {
        answerable(scenario)?;
        Ok(Vec::new())
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        let isolated = answerable(scenario)?;
        Ok(isolated.run(seed, options))
    }

    fn weight(&self) -> f64 {
        1e-3
    }

    /// Every seed gives the same result: one is enough.
    fn as_run<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        Cow::Owned(scenario.clone().with_seeds(scenario.seeds.first().copied()))
    }
}

/// The connection, if the model has its recovery, too.
fn answerable(scenario: &Scenario) -> Result<Isolated<'_>, EngineError> {
    refuse_foreign_controllers(scenario)?;
    refuse_quic(scenario)?;
    let isolated = Isolated::new(scenario).map_err(EngineError::refused)?;
    if isolated.recovery != Recovery::Prr {
        let why = "it covers a recovery that ends at ssthresh, but the flow has `recovery = \"rate-halving\"`";
        return Err(EngineError::refused(Refusal(why.into())));
    }
    Ok(isolated)
}

/// A scenario of one connection, whose course the model can tell. The simulator's runs of it are judged by the same.
#[derive(Debug, Clone)]
pub struct Isolated<'a> {
    scenario: &'a Scenario,
    path: Path,
    law: Law,
    recovery: Recovery,
    connection_link: usize,
}

fn refuse<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(why.into()))
}

/// The one flow, if all that it needs is there.
fn flow(scenario: &Scenario) -> Result<(&Group, &TcpSource), Refusal> {
    if scenario.network.cell.is_some() {
        return refuse("it covers links with a fixed rate, not a wireless cell");
    }
    let [group] = &scenario.groups[..] else {
        return refuse(format!("it covers a single flow, not {} groups of flows", scenario.groups.len()));
    };
    let Some(tcp) = group.source.tcp() else { return refuse("it covers TCP, not UDP") };
    if group.flows != 1 {
        return refuse(format!("it covers a single flow, not {}", group.flows));
    }
    if tcp.transfer != Transfer::Bulk || group.stop.is_some() {
        return refuse("it covers flows that always have data to send, not one that ends");
    }
    if tcp.handshake {
        return refuse("it does not cover handshakes");
    }
    if tcp.pacing {
        return refuse("it does not cover pacing");
    }
    if tcp.ack_every > USUAL_ACK_EVERY || tcp.receiver != Honesty::Honest {
        return refuse("it covers honest receivers that acknowledge at most two segments");
    }
    Ok((group, tcp))
}

fn link<'a>(scenario: &'a Scenario, group: &Group) -> Result<(usize, &'a LinkConfig), Refusal> {
    let [index] = group.forward[..] else {
        return refuse(format!("it covers one link, but the data takes {}", group.forward.len()));
    };
    let link = &scenario.network.links[index];
    if let Some(link) =
        group.forward.iter().chain(&group.back).map(|&i| &scenario.network.links[i]).find(|l| l.effects.is_some())
    {
        return refuse(format!("it covers links that never change, but link `{}` has [effects]", link.name));
    }
    if link.aqm != Aqm::DropTail {
        return refuse(format!("it covers drop-tail queues, but link `{}` has another kind", link.name));
    }
    if link.loss != Loss::None {
        return refuse(format!(
            "it covers losses by a full buffer, but link `{}` has random ones (`tandem model --loss` has the response function)",
            link.name
        ));
    }
    for back in group.back.iter().map(|&i| &scenario.network.links[i]) {
        if back.loss != Loss::None || back.rate.bps * u64::from(scenario.mtu) < link.rate.bps * ACK_BYTES {
            return refuse(format!("ACKs need a lossless return path, but link `{}` may lose some", back.name));
        }
    }
    Ok((index, link))
}

/// An ACK on the wire.
const ACK_BYTES: u64 = tandem_scenario::HEADER_BYTES as u64;

impl<'a> Isolated<'a> {
    /// The connection of a scenario with one flow.
    ///
    /// # Errors
    /// If the scenario is not that of one endless Compound connection, alone on a drop-tail link.
    pub fn new(scenario: &'a Scenario) -> Result<Self, Refusal> {
        let (group, tcp) = flow(scenario)?;
        let (connection_link, link) = link(scenario, group)?;
        let CongestionControl::Tandem(params) = &tcp.controller else {
            return refuse("it covers Tandem's controllers, not the flow's");
        };
        let Some(law) = Law::of(params) else {
            let name = params.controller().name;
            return refuse(format!("it covers `{CONTROLLER}`, whose gamma is fixed, but the flow has `{name}`"));
        };
        if params.get("rtt_gain") != Some(0.0) {
            return refuse(
                "it judges a round by its smallest RTT, but the flow by a smoothed one: set `compound.rtt_gain` to 0",
            );
        }
        let buffer_packets = link.limit.whole_packets(scenario.mtu) as f64;
        // The mean of what may come to each flow's RTT by chance.
        let rtt = scenario.mean_base_rtt(group);
        let path = Path { rate: link.rate, rtt, buffer_packets, packet_bytes: scenario.mtu, access_rate: None };
        if rtt.ns == 0 {
            return refuse("it needs a propagation delay");
        }
        let largest = path.pipe_packets() + buffer_packets;
        if tcp.receive_window.is_some_and(|window| f64::from(window) <= largest) {
            return refuse(format!(
                "the receive window ends the growth before the buffer is full, at {largest:.0} packets"
            ));
        }
        Connection::new(&path, &law, Arithmetic::Tandem).map_err(|e| Refusal(e.to_string()))?;
        let isolated = Self { scenario, path, law, recovery: tcp.recovery, connection_link };
        if isolated.most_rounds() > MOST_ROUNDS {
            return refuse(format!("it keeps each round, {MOST_ROUNDS} at most, and the run has more: shorten it"));
        }
        Ok(isolated)
    }

    /// The one flow's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The law of the flow's controller.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// One seed; every seed gives the same result. `None` if it was cancelled.
    pub fn run(&self, seed: u64, options: Options) -> Option<SeedResult> {
        let started = Instant::now();
        let course = self.course(&options)?;
        let (from, to) = (self.scenario.warmup.as_secs_f64(), self.scenario.duration.as_secs_f64());
        let measured = course.between(from, to);
        let ms_per_packet = 1e3 / self.path.packets_per_s();
        let (data, lost, seconds) = (measured.data, measured.lost.round() as u64, to - from);
        let flow = FlowResult {
            goodput_mbps: data * f64::from(self.scenario.mss()) * 8.0 / seconds / 1e6,
            sent_packets: data.round() as u64 + lost,
            retransmits: lost,
            timeouts: 0,
            window_reductions: measured.losses,
            base_rtt_ms: self.path.rtt.as_secs_f64() * 1e3,
            completion_times_s: Vec::new(),
            short_flows: Vec::new(),
            received_mbit_by_second: course.megabits_by_second(to, self.scenario.mss()),
        };
        let mut links = vec![LinkResult::default(); self.scenario.network.links.len()];
        links[self.connection_link] = LinkResult {
            utilisation: data / (seconds * self.path.packets_per_s()),
            queue_packets: measured.queue(|packets| packets),
            queueing_delay_ms: measured.queue(|packets| packets * ms_per_packet),
            offered_packets: data.round() as u64 + lost,
            drops: lost,
            ..LinkResult::default()
        };
        Some(SeedResult {
            seed,
            flows: vec![flow],
            srtt_ms: Vec::new(),
            rtt_ms: vec![measured.queue(|packets| (self.path.pipe_packets() + packets) * ms_per_packet)],
            deliveries: Vec::new(),
            links,
            data_packets: course.between(0.0, to).data.round() as u64,
            cell: None,
            cpu_s: started.elapsed().as_secs_f64(),
            emulation: None,
            trace: (options.traced_flows_per_group > 0).then(|| Arc::new(self.trace(seed, &course))),
        })
    }

    /// Every round of the run; `None` if it was cancelled.
    fn course(&self, options: &Options) -> Option<Course> {
        let connection = Connection::new(&self.path, &self.law, Arithmetic::Tandem).expect("checked when made");
        let mut follower = Follower::on(&self.path, &connection, &self.law).recording(self.most_rounds() + 1);
        let end = self.scenario.duration.as_secs_f64() * self.path.packets_per_s();
        let mut course = Course::new(self.path.packets_per_s());
        while course.end() < end && !options.is_cancelled() {
            // An epoch that does not end in time is beyond the end of the run, because no round is shorter than the RTT.
            let lost_packets = follower.epoch().map_or(0.0, |epoch| epoch.lost_packets);
            course.append(follower.take_records(), lost_packets);
        }
        (!options.is_cancelled()).then_some(course)
    }

    /// This many rounds at most are in the run, because none is shorter than the RTT.
    fn most_rounds(&self) -> u64 {
        self.scenario.duration.ns.div_ceil(self.path.rtt.ns)
    }

    fn trace(&self, seed: u64, course: &Course) -> Trace {
        let interval_s = self.scenario.sample_interval.as_secs_f64();
        let count = (self.scenario.duration.as_secs_f64() / interval_s) as usize;
        let time_s: Vec<f64> = (1..=count).map(|i| i as f64 * interval_s).collect();
        let rtt_ms = |queue: f64| ((self.path.pipe_packets() + queue) / self.path.packets_per_s() * 1e3) as f32;
        let (mut samples, mut queue_packets) = (Vec::new(), Vec::new());
        for &at in &time_s {
            let (record, queue) = course.at(at);
            samples.push(FlowSample {
                cwnd_packets: record.window as u32,
                loss_window_packets: record.loss_window as u32,
                delay_window_packets: (record.window - record.loss_window) as u32,
                gamma_packets: self.law.gamma_packets as f32,
                diff_packets: queue as f32,
                srtt_ms: rtt_ms(queue),
                base_rtt_ms: rtt_ms(0.0),
                in_flight_packets: record.window as u32,
                goodput_mbps: (record.totals.utilisation() * self.path.rate.bps as f64 / 1e6) as f32
                    * (self.scenario.mss() as f32 / self.scenario.mtu as f32),
                ..FlowSample::default()
            });
            queue_packets.push(queue as f32);
        }
        let name = self.scenario.network.links[self.connection_link].name.clone();
        let links = vec![LinkTrace { name, queue_packets, ..LinkTrace::default() }];
        Trace { seed, time_s, flows: vec![FlowTrace { flow: 0, group: 0, samples }], links }
    }
}
