// SPDX-License-Identifier: MIT OR Apache-2.0
//! One seed of a scenario, from empty namespaces to its result.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use hdrhistogram::Histogram;
use rustix::time::ClockId;
use tandem_network::{Link, Rng, Stream, histogram};
use tandem_scenario::{Scenario, result::SeedResult};

use crate::{
    controllers::Controllers,
    emulator::{clock_ns, monotonic_ns},
    error::{Doing, Error},
    lab::Lab,
    path::End,
    priority,
    record::Recorder,
    traffic::{BACKLOG_TICKS, Flow, Kind, TICK_NS, connect, payload},
    trust, udp,
};

/// What a caller may want of a run besides its result.
#[derive(Debug, Default, Clone, Copy)]
pub struct Options<'a> {
    /// Samples windows and queues over time: of the first this many flows of each group. 0 = no trace.
    pub traced_flows_per_group: usize,
    /// Set by another thread to end the run early.
    pub cancelled: Option<&'a AtomicBool>,
    /// Counts nanoseconds as they pass.
    pub progress_ns: Option<&'a AtomicU64>,
}

/// Runs one seed, which takes as long as the scenario; `None` if it was cancelled.
pub fn run(scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, Error> {
    let cpu_start = clock_ns(ClockId::ProcessCPUTime);
    let lab = Lab::new(scenario, seed)?;
    let controllers = Controllers::attach(scenario)?;
    let mut flows = connect(scenario, seed, &lab, &controllers)?;
    let origin = begin(scenario, seed, &lab);
    let stopped = AtomicBool::new(false);
    let udp_senders: Vec<_> = flows.iter_mut().filter_map(take_udp_sender).collect();
    let driven = thread::scope(|scope| {
        let udp = (!udp_senders.is_empty()).then(|| scope.spawn(|| udp::send_all(udp_senders, origin, &stopped)));
        let driver = scope.spawn(|| {
            priority::raise(priority::TRAFFIC);
            lab.namespaces[End::Senders as usize].move_thread_inside()?;
            drive(scenario, seed, options, &lab, &controllers, &mut flows, origin)
        });
        let driven = driver.join().unwrap_or_else(|panic| resume_unwind(panic));
        stopped.store(true, Relaxed);
        let udp = udp.map_or(Ok(()), |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        udp.doing("send UDP packets")?;
        driven
    })?;
    let Some(Driven { recorder, tick_gap_ns }) = driven else { return Ok(None) };
    let base_rtts: Vec<u64> = (0..flows.len()).map(|f| lab.emulator.path().base_rtt_ns(f)).collect();
    let result = recorder.result(&flows, &base_rtts, &lab.emulator.path()).doing("read the flows' sockets")?;
    let stray_drops = lab.device_drops()?;
    let emulation = trust::judge(lab.measure, &lab.emulator.stop()?, stray_drops, &tick_gap_ns);
    let cpu_s = (clock_ns(ClockId::ProcessCPUTime) - cpu_start) as f64 / 1e9;
    Ok(Some(SeedResult { seed, cpu_s, emulation: Some(emulation), ..result }))
}

/// Puts the scenario's links into the path. Returns the run's start, ns of [`monotonic_ns`].
fn begin(scenario: &Scenario, seed: u64, lab: &Lab) -> u64 {
    let origin = monotonic_ns();
    let measured = origin + scenario.warmup.ns..origin + scenario.duration.ns;
    let links = scenario.network.links.iter().enumerate();
    let links = links.map(|(i, l)| Link::new(l, scenario.mtu, measured.clone(), Rng::new(seed, Stream::Link(i))));
    lab.emulator.begin(origin, |path| path.begin(links.collect()));
    origin
}

fn take_udp_sender(flow: &mut Flow) -> Option<udp::UdpSender> {
    match &mut flow.kind {
        Kind::Udp(udp) => udp.sender.take(),
        Kind::Tcp(_) => None,
    }
}

struct Driven<'a> {
    recorder: Recorder<'a>,
    /// Between looks at the flows' sockets.
    tick_gap_ns: Histogram<u64>,
}

/// Looks after flows and records until the end; `None` if cancelled.
fn drive<'a>(
    scenario: &'a Scenario,
    seed: u64,
    options: Options,
    lab: &Lab,
    controllers: &Controllers,
    flows: &mut [Flow],
    origin: u64,
) -> Result<Option<Driven<'a>>, Error> {
    let mut recorder = Recorder::new(scenario, seed, flows, options.traced_flows_per_group);
    let payload = payload();
    let mut tick_gap_ns = histogram();
    let mut last = 0;
    loop {
        let now = (monotonic_ns() - origin).min(scenario.duration.ns);
        tick_gap_ns.saturating_record(now - last);
        if let Some(progress) = options.progress_ns {
            progress.fetch_add(now - last, Relaxed);
        }
        if now - last > BACKLOG_TICKS * TICK_NS {
            // TCP ran out of data, and what it may send by now comes in one burst.
            lab.emulator.path().suspect_until(monotonic_ns() + lab.measure.pauses().suspect_for_ns);
        }
        last = now;
        for flow in flows.iter_mut() {
            flow.on_tick(now, &payload, scenario.mss()).doing("send and receive data")?;
        }
        if now >= recorder.next() {
            recorder.on_tick(now, flows, controllers, origin, &lab.emulator)?;
        }
        if now == scenario.duration.ns {
            return Ok(Some(Driven { recorder, tick_gap_ns }));
        }
        if options.cancelled.is_some_and(|c| c.load(Relaxed)) || !lab.emulator.is_running() {
            return Ok(None);
        }
        let spent = (monotonic_ns() - origin).saturating_sub(now);
        thread::sleep(Duration::from_nanos(TICK_NS.saturating_sub(spent)));
    }
}
