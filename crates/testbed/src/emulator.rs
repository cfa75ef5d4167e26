// SPDX-License-Identifier: MIT OR Apache-2.0
//! Carries packets between two TUN devices as a [`Path`] says, against CLOCK_MONOTONIC, and watches its own punctuality.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};

use hdrhistogram::Histogram;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    time::{ClockId, clock_gettime},
};
use tandem_network::agenda::NEVER;

use crate::{
    error::{Doing, Error},
    path::{ENDS, End, Packet, Path},
    tun::Tun,
};

/// Packets read, and packets written, before the other is looked after.
const BATCH: usize = 16;
/// Below this time to the next event the emulator does not sleep: waking up takes about as long.
const SPIN_NS: u64 = 60_000;
/// The longest sleep; a stop is noticed after it.
const MAX_SLEEP_NS: u64 = 20_000_000;

/// Tells which flow a packet belongs to; `None` for one that is none of ours, such as IPv6 router solicitations.
pub type Classifier = dyn Fn(End, &[u8]) -> Option<usize> + Send + Sync;

/// How punctual the emulator was, since [`Emulator::begin`].
#[derive(Debug, Clone)]
pub struct Punctuality {
    /// By how much each packet left later than the path says, ns.
    pub lateness_ns: Histogram<u64>,
    /// Between looks at what the hosts have sent, ns: a packet may have waited so long unseen.
    pub look_gap_ns: Histogram<u64>,
    /// CPU time of the emulator's thread and how long it ran, ns. The work of the kernel's TCP on a packet's arrival is
    /// part of it.
    pub cpu_ns: u64,
    pub wall_ns: u64,
    /// Not asleep and not spinning.
    pub busy_ns: u64,
}

pub struct Emulator {
    shared: Arc<Shared>,
    thread: JoinHandle<io::Result<Punctuality>>,
}

struct Shared {
    path: Mutex<Path>,
    /// At [`End::Senders`], at [`End::Receivers`].
    devices: [Tun; 2],
    classify: Box<Classifier>,
    /// When punctuality begins to count, ns.
    counted_from: AtomicU64,
    stopped: AtomicBool,
}

/// CLOCK_MONOTONIC, ns.
pub fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

pub fn clock_ns(clock: ClockId) -> u64 {
    let t = clock_gettime(clock);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

impl Emulator {
    /// Starts to carry packets, at first with the propagation delay alone. `mtu` in bytes.
    pub fn start(path: Path, devices: [Tun; 2], mtu: u32, classify: Box<Classifier>) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            path: Mutex::new(path),
            devices,
            classify,
            counted_from: AtomicU64::new(NEVER),
            stopped: AtomicBool::new(false),
        });
        let worker = Worker::new(Arc::clone(&shared), mtu);
        let thread = thread::Builder::new().name("emulator".into()).spawn(|| worker.run()).doing("start a thread")?;
        Ok(Self { shared, thread })
    }

    /// Has `begin` call [`Path::begin`]; punctuality counts from `now` on, ns of [`monotonic_ns`].
    pub fn begin(&self, now: u64, begin: impl FnOnce(&mut Path)) {
        begin(&mut self.shared.lock());
        self.shared.counted_from.store(now, Relaxed);
    }

    /// What it carries packets over. It carries none while this is held.
    pub fn path(&self) -> MutexGuard<'_, Path> {
        self.shared.lock()
    }

    /// False after an error; [`Self::stop`] tells it.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Stops; the devices are gone when this returns.
    pub fn stop(self) -> Result<Punctuality, Error> {
        self.shared.stopped.store(true, Relaxed);
        let outcome = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        outcome.doing("carry packets between the network namespaces")
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Path> {
        // A panic elsewhere is reported by the thread that panicked.
        self.path.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Worker {
    shared: Arc<Shared>,
    punctuality: Punctuality,
    /// For packets to be read.
    spare: Vec<Box<[u8]>>,
    buffer_bytes: usize,
    read: Vec<Packet>,
    due: VecDeque<(u64, Packet)>,
    counted_from: u64,
    last_look: u64,
    quiet: bool,
}

impl Worker {
    fn new(shared: Arc<Shared>, mtu: u32) -> Self {
        let histogram = tandem_network::histogram;
        Self {
            shared,
            punctuality: Punctuality {
                lateness_ns: histogram(),
                look_gap_ns: histogram(),
                cpu_ns: 0,
                wall_ns: 0,
                busy_ns: 0,
            },
            spare: Vec::new(),
            buffer_bytes: mtu as usize,
            read: Vec::new(),
            due: VecDeque::new(),
            counted_from: NEVER,
            last_look: monotonic_ns(),
            quiet: false,
        }
    }

    fn run(mut self) -> io::Result<Punctuality> {
        let shared = Arc::clone(&self.shared);
        let mut cpu_at_begin = 0;
        while !shared.stopped.load(Relaxed) {
            if self.counted_from == NEVER && shared.counted_from.load(Relaxed) != NEVER {
                self.counted_from = shared.counted_from.load(Relaxed);
                cpu_at_begin = clock_ns(ClockId::ThreadCPUTime);
            }
            self.look()?;
            let next = self.exchange();
            if self.due.is_empty() && self.quiet {
                self.wait(next)?;
            } else {
                self.deliver()?;
            }
            let now = monotonic_ns();
            if !self.quiet {
                self.punctuality.busy_ns += now - self.last_look;
            }
        }
        self.punctuality.cpu_ns = clock_ns(ClockId::ThreadCPUTime) - cpu_at_begin;
        self.punctuality.wall_ns = monotonic_ns().saturating_sub(self.counted_from);
        Ok(self.punctuality)
    }

    /// Reads what the hosts have sent.
    fn look(&mut self) -> io::Result<()> {
        for end in ENDS {
            for _ in 0..BATCH {
                let mut buffer = self.spare.pop().unwrap_or_else(|| vec![0; self.buffer_bytes].into_boxed_slice());
                let Some(bytes) = self.shared.devices[end as usize].read(&mut buffer)? else {
                    self.spare.push(buffer);
                    break;
                };
                match (self.shared.classify)(end, &buffer[..bytes]) {
                    Some(flow) => self.read.push(Packet::new(buffer, bytes, flow, end.other())),
                    None => self.spare.push(buffer),
                }
            }
        }
        Ok(())
    }

    /// Puts what was read on its way and takes what is due. Returns when something is next due.
    fn exchange(&mut self) -> u64 {
        let mut path = self.shared.lock();
        let now = monotonic_ns();
        path.advance(now);
        self.quiet = self.read.is_empty();
        for packet in self.read.drain(..) {
            path.send(now, packet);
        }
        let due = path.arrived.len().min(BATCH);
        self.quiet &= due == 0;
        self.due.extend(path.arrived.drain(..due));
        self.spare.append(&mut path.dropped);
        if now > self.counted_from {
            self.punctuality.look_gap_ns.saturating_record(now - self.last_look);
        }
        self.last_look = now;
        path.next()
    }

    fn deliver(&mut self) -> io::Result<()> {
        while let Some((due, packet)) = self.due.pop_front() {
            self.shared.devices[packet.to as usize].write(packet.contents())?;
            if due >= self.counted_from {
                self.punctuality.lateness_ns.saturating_record(monotonic_ns() - due);
            }
            self.spare.push(packet.buffer);
        }
        Ok(())
    }

    /// Waits until a host sends something or `next` has come.
    fn wait(&mut self, next: u64) -> io::Result<()> {
        let sleep = next.saturating_sub(monotonic_ns()).min(MAX_SLEEP_NS);
        if sleep < SPIN_NS {
            std::hint::spin_loop();
            return Ok(());
        }
        let until = Timespec { tv_sec: 0, tv_nsec: (sleep - SPIN_NS) as _ };
        let [a, b] = &self.shared.devices;
        let mut fds = [PollFd::new(a, PollFlags::IN), PollFd::new(b, PollFlags::IN)];
        poll(&mut fds, Some(&until))?;
        self.last_look = monotonic_ns();
        Ok(())
    }
}
