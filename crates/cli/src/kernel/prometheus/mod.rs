// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem kernel watch --prometheus`: metrics of all TCP connections of the machine, for monitoring.
//!
//! It reads the kernel when asked, as Prometheus expects, but never so often that this takes more than [`MOST_SHARE`] of a core: then the
//! last answer is repeated.

mod http;
mod metrics;

use std::{
    net::{SocketAddr, TcpListener},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use rustix::time::{ClockId, clock_gettime};
use tandem_kernel::{Error, Histograms, probe, sockops::running};

use crate::{
    failure::Failure,
    interrupt,
    terminal::{note, warn},
};
use metrics::{Metrics, text};

/// Share of a core.
const MOST_SHARE: f64 = 0.02;
/// Connections of each controller whose probes are read.
const PROBED: usize = 1000;
/// Interval between checks for an interrupt.
const TICK: Duration = Duration::from_millis(50);

pub fn prometheus(address: SocketAddr, interval: Duration, with_probes: bool) -> Result<(), Failure> {
    interrupt::flag();
    // Once it listens, connections are being counted.
    let exporter = Mutex::new(Exporter::new(interval, with_probes)?);
    let listener = TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    let bound = listener.local_addr().context("the socket has no address")?;
    note(&format!("tandem: http://{bound}/metrics, until Ctrl-C"));
    // It ends with the process, which closes the connections being served.
    thread::spawn(move || {
        http::serve(&listener, &|| exporter.lock().unwrap_or_else(PoisonError::into_inner).answer());
    });
    while !interrupt::is_interrupted() {
        thread::sleep(TICK);
    }
    Ok(())
}

struct Exporter {
    histograms: Histograms,
    with_probes: bool,
    interval: Duration,
    looked: Option<Instant>,
    looks: u64,
    /// Processor time of all reads, and of the last one.
    cpu: Duration,
    last_cpu: Duration,
    text: String,
}

impl Exporter {
    fn new(interval: Duration, with_probes: bool) -> Result<Self, Failure> {
        let histograms = Histograms::new()?;
        Ok(Self {
            histograms,
            with_probes,
            interval,
            looked: None,
            looks: 0,
            cpu: Duration::ZERO,
            last_cpu: Duration::ZERO,
            text: String::new(),
        })
    }

    /// The metrics: new ones if it is time, otherwise the last ones.
    fn answer(&mut self) -> Result<String, String> {
        let pause = pause(self.interval, self.last_cpu);
        if self.looked.is_none_or(|looked| looked.elapsed() >= pause) {
            let before = cpu_time();
            self.look().map_err(|e| {
                warn(&format!("tandem: {e}"));
                e.to_string()
            })?;
            self.last_cpu = cpu_time() - before;
            self.cpu += self.last_cpu;
        }
        Ok(self.text.clone())
    }

    fn look(&mut self) -> Result<(), Error> {
        let since_last_s = self.looked.map(|looked| looked.elapsed().as_secs_f64());
        self.looked = Some(Instant::now());
        self.looks += 1;
        let controllers = self.histograms.look()?;
        let trials = running()?;
        let probed = if self.with_probes { probe(PROBED)? } else { Vec::new() };
        let (looks, cpu_s) = (self.looks, self.cpu.as_secs_f64());
        self.text = text(Metrics { controllers, trials, probed, looks, cpu_s, since_last_s });
        Ok(())
    }
}

/// The interval from a read that took this much processor time to the next.
fn pause(interval: Duration, cpu: Duration) -> Duration {
    interval.max(cpu.div_f64(MOST_SHARE))
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 % of a core: a read that takes a fifth of a second is made every ten seconds.
    #[test]
    fn looking_is_bounded() {
        let pause_s = |cpu_ms| pause(Duration::from_secs(1), Duration::from_millis(cpu_ms)).as_secs_f64();
        assert_eq!((pause_s(0), pause_s(20), pause_s(200)), (1.0, 1.0, 10.0));
    }
}
