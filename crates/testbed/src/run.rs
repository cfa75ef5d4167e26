// SPDX-License-Identifier: MIT OR Apache-2.0
//! One seed of a scenario, from empty namespaces to its result.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use hdrhistogram::Histogram;
use rustix::time::ClockId;
use tandem_engine::Options;
use tandem_network::{histogram, wired_links};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;

use crate::{
    controllers::Controllers,
    descriptors,
    emulator::{clock_ns, monotonic_ns},
    error::{Doing, Error},
    lab::Lab,
    path::End,
    priority,
    record::Reader,
    traffic::{BACKLOG_TICKS, Flow, Kind, TICK_NS, connect, payload},
    trust,
    udp::{self, UdpSender},
};

/// What a run measured.
struct Measured {
    result: SeedResult,
    stray_drops: u64,
    tick_gap_ns: Histogram<u64>,
    /// Closed when the emulator has stopped: before, the path would carry that, too.
    _flows: Vec<Flow>,
}

/// Runs one seed, which takes as long as the scenario; `None` if it was cancelled.
///
/// # Errors
/// If rights, descriptors or a kernel feature are missing, or a flow cannot be started.
pub fn run(scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, Error> {
    let cpu_start = clock_ns(ClockId::ProcessCPUTime);
    descriptors::allow(descriptors::wanted(scenario))?;
    let result = run_in(Lab::new(scenario, seed)?, scenario, seed, options)?;
    let cpu_s = (clock_ns(ClockId::ProcessCPUTime) - cpu_start) as f64 / 1e9;
    Ok(result.map(|result| SeedResult { cpu_s, ..result }))
}

fn run_in(lab: Lab, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, Error> {
    let controllers = Controllers::attach(scenario)?;
    let outcome = measure(scenario, seed, options, &lab, &controllers);
    let stopped = lab.emulator.stop();
    if options.is_cancelled() && matches!(outcome, Ok(None)) {
        return Ok(None);
    }
    // Where packets are no longer carried, that is why the rest went wrong, too: it is the error to tell.
    let punctuality = stopped?;
    let Some(measured) = outcome? else { return Ok(None) };
    let emulation = trust::judge(lab.measure, &punctuality, measured.stray_drops, &measured.tick_gap_ns);
    Ok(Some(SeedResult { seed, emulation: Some(emulation), ..measured.result }))
}

/// `None` if it was cancelled, or ended because the emulator no longer runs, of which [`Emulator::stop`] tells.
///
/// [`Emulator::stop`]: crate::emulator::Emulator::stop
fn measure(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    lab: &Lab,
    controllers: &Controllers,
) -> Result<Option<Measured>, Error> {
    let flows = connect(scenario, seed, lab, controllers, &|| goes_on(options, lab))?;
    let Some(mut flows) = flows else { return Ok(None) };
    let origin = begin(scenario, seed, lab);
    let udp_senders = flows.iter_mut().filter_map(take_udp_sender).collect();
    let driven = beside_udp(udp_senders, origin, || {
        priority::raise(priority::TRAFFIC);
        lab.namespaces[End::Senders as usize].move_thread_inside()?;
        drive(scenario, seed, options, lab, controllers, &mut flows, origin)
    })?;
    let Some(Driven { reader, tick_gap_ns }) = driven else { return Ok(None) };
    let result = reader.result(&flows, &mut lab.emulator.path()).doing("read the flows' sockets")?;
    Ok(Some(Measured { result, stray_drops: lab.device_drops()?, tick_gap_ns, _flows: flows }))
}

fn goes_on(options: Options, lab: &Lab) -> bool {
    !options.is_cancelled() && lab.emulator.is_running()
}

/// Does `work` on a thread of its own while another sends UDP packets, if there are any to send.
fn beside_udp<T: Send>(
    senders: Vec<UdpSender>,
    origin: u64,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let stopped = AtomicBool::new(false);
    thread::scope(|scope| {
        let udp = (!senders.is_empty()).then(|| scope.spawn(|| udp::send_all(senders, origin, &stopped)));
        let done = {
            let _stop = SetWhenDropped(&stopped);
            scope.spawn(work).join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        let udp = udp.map_or(Ok(()), |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        udp.doing("send UDP packets")?;
        done
    })
}

/// Also by a panic: the scope of the threads that wait for the flag would otherwise wait for them for ever.
struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Puts the scenario's links into the path. Returns the run's start, ns of [`monotonic_ns`].
fn begin(scenario: &Scenario, seed: u64, lab: &Lab) -> u64 {
    let origin = monotonic_ns();
    let measured = origin + scenario.warmup.ns..origin + scenario.duration.ns;
    let links = wired_links(&scenario.network, scenario.mtu, origin, &measured, seed);
    lab.emulator.begin(origin, |path| path.begin(links));
    origin
}

fn take_udp_sender(flow: &mut Flow) -> Option<UdpSender> {
    match &mut flow.kind {
        Kind::Udp(udp) => udp.sender.take(),
        Kind::Tcp(_) => None,
    }
}

struct Driven<'a> {
    reader: Reader<'a>,
    /// Between looks at the flows' sockets.
    tick_gap_ns: Histogram<u64>,
}

/// Looks after flows and records until the end; `None` if it did not go on until then.
fn drive<'a>(
    scenario: &'a Scenario,
    seed: u64,
    options: Options,
    lab: &Lab,
    controllers: &Controllers,
    flows: &mut [Flow],
    origin: u64,
) -> Result<Option<Driven<'a>>, Error> {
    let mut reader = Reader::new(scenario, seed, options.traced_flows_per_group);
    let payload = payload();
    let mut tick_gap_ns = histogram();
    let mut last = 0;
    loop {
        let now = (monotonic_ns() - origin).min(scenario.duration.ns);
        tick_gap_ns.saturating_record(now - last);
        options.advance(now - last);
        if now - last > BACKLOG_TICKS * TICK_NS {
            // TCP ran out of data, and what it may send by now comes in one burst.
            lab.emulator.path().suspect_until(monotonic_ns() + lab.measure.pauses().suspect_for_ns);
        }
        last = now;
        let realtime_origin = clock_ns(ClockId::Realtime) - (monotonic_ns() - origin);
        for flow in flows.iter_mut() {
            flow.on_tick(now, realtime_origin, &payload).doing("send and receive data")?;
        }
        if now >= reader.next() {
            reader.on_tick(now, flows, controllers, &lab.emulator)?;
        }
        if now == scenario.duration.ns {
            return Ok(Some(Driven { reader, tick_gap_ns }));
        }
        if !goes_on(options, lab) {
            return Ok(None);
        }
        let spent = (monotonic_ns() - origin).saturating_sub(now);
        thread::sleep(Duration::from_nanos(TICK_NS.saturating_sub(spent)));
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::OpenOptions,
        os::{fd::OwnedFd, unix::net::UnixDatagram},
        panic::{AssertUnwindSafe, catch_unwind},
        sync::{atomic::AtomicU64, mpsc},
    };

    use tandem_engine::ConstantRate;
    use tandem_network::agenda::NEVER;
    use tandem_scenario::file::{Overrides, parse};
    use tandem_testing::{PATIENCE, wait_until};

    use super::*;
    use crate::{namespace::Namespace, netlink::Netlink};

    fn scenario(flows: &str) -> Scenario {
        let path = "[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\nqueue = \"1bdp\"";
        parse(&format!("duration = \"300s\"\n{path}\n[[flows]]\n{flows}"), "s.toml", "s", &Overrides::default())
            .unwrap()
    }

    /// `None`, and said so, where paths cannot be emulated. `scripts/test.sh` counts the line.
    fn lab(scenario: &Scenario) -> Option<Lab> {
        let device = OpenOptions::new().read(true).write(true).open("/dev/net/tun").doing("open `/dev/net/tun`");
        if let Err(e) = device.and_then(|_| Namespace::new()) {
            tandem_testing::skip(&e.to_string());
            return None;
        }
        Some(Lab::new(scenario, 1).unwrap())
    }

    #[test]
    fn a_path_that_breaks_is_an_error_and_not_a_cancelled_run() {
        let scenario = scenario("udp = { rate = \"1mbit\" }");
        let Some(lab) = lab(&scenario) else { return };
        let senders = lab.namespaces[End::Senders as usize].try_clone().unwrap();
        let device = lab.devices[End::Senders as usize];
        let progress_ns = AtomicU64::new(0);
        let options = Options { progress_ns: Some(&progress_ns), ..Options::default() };
        let outcome = thread::scope(|scope| {
            let run = scope.spawn(|| run_in(lab, &scenario, 1, options));
            wait_until("the run has begun", || progress_ns.load(Relaxed) > 0 || run.is_finished());
            senders.enter(|| Netlink::new()?.remove(device)).unwrap();
            run.join().unwrap()
        });
        let error = outcome.unwrap_err().to_string();
        assert!(error.starts_with("cannot carry packets between the network namespaces: "), "{error}");
        assert!(progress_ns.into_inner() < scenario.duration.ns);
    }

    /// To connect a flow would be an error: there is no such congestion control.
    #[test]
    fn a_cancelled_run_connects_no_more_flows() {
        let scenario = scenario("controller = \"kernel:nonesuch\"");
        let cancelled = AtomicBool::new(false);
        let options = Options { cancelled: Some(&cancelled), ..Options::default() };
        let Some(whole) = lab(&scenario) else { return };
        let error = run_in(whole, &scenario, 1, options).unwrap_err().to_string();
        assert!(error.contains("kernel:nonesuch"), "{error}");
        cancelled.store(true, Relaxed);
        let Some(whole) = lab(&scenario) else { return };
        assert!(run_in(whole, &scenario, 1, options).unwrap().is_none());
    }

    /// On a thread that nobody waits for, lest the test hang where it ought to fail.
    #[test]
    fn a_panic_ends_the_thread_that_sends_udp() {
        let (finished, is_finished) = mpsc::channel();
        thread::spawn(move || {
            let socket = OwnedFd::from(UnixDatagram::unbound().unwrap()).into();
            let silent =
                UdpSender::new(socket, ConstantRate::new("1mbit".parse().unwrap(), None, 1500, NEVER, NEVER), 1500);
            let work = || -> Result<(), Error> { panic!("what the test is about") };
            let caught = catch_unwind(AssertUnwindSafe(|| beside_udp(vec![silent], monotonic_ns(), work)));
            finished.send(caught.is_err()).unwrap();
        });
        assert_eq!(is_finished.recv_timeout(PATIENCE), Ok(true));
    }
}
