// SPDX-License-Identifier: MIT OR Apache-2.0
//! Carries packets between two TUN devices as a [`Path`] says, against CLOCK_MONOTONIC, and watches its own punctuality.
//!
//! Each end has a thread: it reads what the hosts there send and writes what is due there. Writing a packet takes longest
//! by far, because the kernel does all of TCP's work on it meanwhile, up to putting the answer into the device.

use std::{
    collections::VecDeque,
    io,
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread::{self, JoinHandle},
};

use hdrhistogram::Histogram;
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
    time::{ClockId, clock_gettime},
};
use tandem_network::{agenda::NEVER, histogram};

use crate::{
    attention::Attention,
    error::{Doing, Error},
    path::{ENDS, End, Packet, Path},
    priority::{self, CpuTimes},
    tun::Tun,
};

/// Packets read, and packets written, before the other is looked after.
const BATCH: usize = 16;
/// The shortest sleep. At 1 Gb/s, where something is due every 12 us, waking for each packet costs half as much CPU time
/// again, and a busy host makes up for that with pauses of 50 ms; spinning instead of sleeping is worse still.
const MIN_SLEEP_NS: u64 = 20_000;
/// A CPU that has slept for longer takes so long to wake up: the last part of a long sleep is spent awake. Where something
/// is due more often than that, the time that this takes would be missed elsewhere.
const WAKE_UP_NS: u64 = 100_000;
/// The longest sleep; a stop is noticed after it.
const MAX_SLEEP_NS: u64 = 20_000_000;

/// Tells which flow a packet belongs to; `None` for one that is none of ours, such as IPv6 router solicitations.
pub type Classifier = dyn Fn(End, &[u8]) -> Option<usize> + Send + Sync;

/// How punctual the emulator was, since [`Emulator::begin`].
#[derive(Debug, Clone)]
pub struct Punctuality {
    /// By how much each packet left later than the path says, ns.
    pub lateness_ns: Histogram<u64>,
    /// Between looks at what the hosts at an end have sent, while packets were under way, ns: one may have waited so long unseen.
    pub look_gap_ns: Histogram<u64>,
    /// The sum of those gaps that were longer than [`Pauses::unserved_from_ns`], ns; of the end where it is larger.
    pub unserved_ns: u64,
    /// CPU time of the emulator's threads, the kernel's TCP included, ns.
    pub cpu_ns: u64,
    /// How long the threads could have run but got no CPU, ns.
    pub starved_ns: u64,
    /// How long it ran, ns.
    pub wall_ns: u64,
    /// Packets that a full queue dropped soon after a pause.
    pub drops_after_pauses: u64,
}

/// What counts as a pause of the emulator, and how long what it held up may fill queues.
#[derive(Debug, Clone, Copy)]
pub struct Pauses {
    /// Between two looks at what hosts have sent, ns.
    pub longer_than_ns: u64,
    pub suspect_for_ns: u64,
    /// A longer time between two looks counts as not served, ns.
    pub unserved_from_ns: u64,
}

pub struct Emulator {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<io::Result<Punctuality>>>,
}

struct Shared {
    path: Mutex<Path>,
    /// In the order of [`ENDS`].
    ends: [Attached; 2],
    classify: Box<Classifier>,
    pauses: Pauses,
    /// When punctuality begins to count, ns.
    counted_from: AtomicU64,
    stopped: AtomicBool,
}

/// What a thread needs at its end.
struct Attached {
    device: Tun,
    /// Ends the sleep of the end's thread.
    alarm: OwnedFd,
    /// Until when the thread sleeps; 0 while it is awake.
    asleep_until: AtomicU64,
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
    /// Starts to carry packets, at first with the propagation delay alone. `mtu` in bytes; `devices` in the order of
    /// [`ENDS`].
    pub fn start(
        path: Path,
        devices: [Tun; 2],
        mtu: u32,
        pauses: Pauses,
        classify: Box<Classifier>,
    ) -> Result<Self, Error> {
        let alarm = || eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).doing("make an eventfd");
        let attached = |device, alarm| Attached { device, alarm, asleep_until: AtomicU64::new(0) };
        let [senders, receivers] = devices;
        let shared = Shared {
            path: Mutex::new(path),
            ends: [attached(senders, alarm()?), attached(receivers, alarm()?)],
            classify,
            pauses,
            counted_from: AtomicU64::new(NEVER),
            stopped: AtomicBool::new(false),
        };
        // Whole before its threads are there, so that the first ends if there can be no second.
        let mut emulator = Self { shared: Arc::new(shared), threads: Vec::new() };
        for end in ENDS {
            let worker = Worker::new(Arc::clone(&emulator.shared), end, mtu);
            let thread = thread::Builder::new().name(format!("emulator-{}", end as usize));
            emulator.threads.push(thread.spawn(|| worker.run()).doing("start a thread")?);
        }
        Ok(emulator)
    }

    /// Lets `begin` put links into the path; punctuality counts from `now` on, ns of [`monotonic_ns`].
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
        !self.threads.iter().any(JoinHandle::is_finished)
    }

    /// Stops; the devices are gone when this returns.
    pub fn stop(mut self) -> Result<Punctuality, Error> {
        let mut sum = Punctuality::default();
        for outcome in self.end_threads() {
            let outcome = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sum.add(&outcome.doing("carry packets between the network namespaces")?);
        }
        sum.drops_after_pauses = self.shared.lock().drops_after_pauses();
        Ok(sum)
    }

    /// Ends all threads and waits for them, whatever came of any; none are left for a second call.
    fn end_threads(&mut self) -> Vec<thread::Result<io::Result<Punctuality>>> {
        self.shared.stopped.store(true, Relaxed);
        self.threads.drain(..).map(JoinHandle::join).collect()
    }
}

impl Drop for Emulator {
    /// Otherwise its threads, before all others on their CPUs, would hold the devices until the program ends.
    fn drop(&mut self) {
        // Who wants to know what came of them calls `stop`.
        self.end_threads();
    }
}

impl Default for Punctuality {
    fn default() -> Self {
        Self {
            lateness_ns: histogram(),
            look_gap_ns: histogram(),
            unserved_ns: 0,
            cpu_ns: 0,
            starved_ns: 0,
            wall_ns: 0,
            drops_after_pauses: 0,
        }
    }
}

impl Punctuality {
    fn add(&mut self, other: &Self) {
        for (sum, more) in [(&mut self.lateness_ns, &other.lateness_ns), (&mut self.look_gap_ns, &other.look_gap_ns)] {
            sum.add(more).expect("the histograms have the same bounds");
        }
        self.unserved_ns = self.unserved_ns.max(other.unserved_ns);
        self.cpu_ns += other.cpu_ns;
        self.starved_ns += other.starved_ns;
        self.wall_ns = self.wall_ns.max(other.wall_ns);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Path> {
        // A panic elsewhere is reported by the thread that panicked.
        self.path.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One end's thread.
struct Worker {
    shared: Arc<Shared>,
    end: End,
    punctuality: Punctuality,
    attention: Attention,
    /// For packets to be read.
    spare: Vec<Box<[u8]>>,
    buffer_bytes: usize,
    read: Vec<Packet>,
    due: VecDeque<(u64, Packet)>,
    counted_from: u64,
}

impl Worker {
    fn new(shared: Arc<Shared>, end: End, mtu: u32) -> Self {
        let attention = Attention::new(monotonic_ns(), NEVER, shared.pauses.unserved_from_ns);
        Self {
            shared,
            end,
            punctuality: Punctuality::default(),
            attention,
            spare: Vec::new(),
            buffer_bytes: mtu as usize,
            read: Vec::new(),
            due: VecDeque::new(),
            counted_from: NEVER,
        }
    }

    fn run(mut self) -> io::Result<Punctuality> {
        priority::raise(priority::EMULATOR);
        let shared = Arc::clone(&self.shared);
        let mut before = CpuTimes::default();
        while !shared.stopped.load(Relaxed) {
            if self.counted_from == NEVER && shared.counted_from.load(Relaxed) != NEVER {
                self.counted_from = shared.counted_from.load(Relaxed);
                self.attention.count_from(self.counted_from);
                before = priority::cpu_times();
            }
            self.look()?;
            let is_quiet = self.read.is_empty();
            let next = self.exchange()?;
            if is_quiet && self.due.is_empty() {
                self.sleep_until(next)?;
            } else {
                self.deliver()?;
            }
        }
        if self.counted_from != NEVER {
            let after = priority::cpu_times();
            self.punctuality.cpu_ns = after.used_ns - before.used_ns;
            self.punctuality.starved_ns = after.starved_ns - before.starved_ns;
            self.punctuality.wall_ns = monotonic_ns() - self.counted_from;
        }
        self.punctuality.look_gap_ns = self.attention.gap_ns;
        self.punctuality.unserved_ns = self.attention.unserved_ns;
        Ok(self.punctuality)
    }

    fn attached(&self) -> &Attached {
        &self.shared.ends[self.end as usize]
    }

    /// Reads what the hosts have sent.
    fn look(&mut self) -> io::Result<()> {
        for _ in 0..BATCH {
            let mut buffer = self.spare.pop().unwrap_or_else(|| vec![0; self.buffer_bytes].into_boxed_slice());
            let Some(bytes) = self.attached().device.read(&mut buffer)? else {
                self.spare.push(buffer);
                break;
            };
            match (self.shared.classify)(self.end, &buffer[..bytes]) {
                Some(flow) => self.read.push(Packet::new(buffer, bytes, flow, self.end.other())),
                None => self.spare.push(buffer),
            }
        }
        Ok(())
    }

    /// Puts what was read on its way and takes what is due here. Returns when something is next due anywhere.
    fn exchange(&mut self) -> io::Result<u64> {
        let mut path = self.shared.lock();
        let now = monotonic_ns();
        let is_here = !self.read.is_empty() || !path.arrived[self.end as usize].is_empty();
        let gap_ns = self.attention.looked(now, is_here || path.next() != NEVER);
        path.advance(now);
        let Pauses { longer_than_ns, suspect_for_ns, .. } = self.shared.pauses;
        if gap_ns > longer_than_ns {
            path.suspect_until(now + gap_ns + suspect_for_ns);
        }
        for packet in self.read.drain(..) {
            path.send(now, packet);
        }
        let arrived = &mut path.arrived[self.end as usize];
        let due = arrived.len().min(BATCH);
        self.due.extend(arrived.drain(..due));
        share(&mut self.spare, path.spare());
        let next = path.next();
        let other_is_due = !path.arrived[self.end.other() as usize].is_empty();
        drop(path);
        self.wake_other(if other_is_due { now } else { next })?;
        Ok(next)
    }

    /// Wakes the other end's thread if it would sleep past `time`.
    fn wake_other(&self, time: u64) -> io::Result<()> {
        let other = &self.shared.ends[self.end.other() as usize];
        if other.asleep_until.load(SeqCst) > time {
            rustix::io::write(&other.alarm, &1u64.to_ne_bytes())?;
        }
        Ok(())
    }

    fn deliver(&mut self) -> io::Result<()> {
        while let Some((due, packet)) = self.due.pop_front() {
            self.attached().device.write(packet.contents())?;
            if due >= self.counted_from {
                self.punctuality.lateness_ns.saturating_record(monotonic_ns() - due);
            }
            self.spare.push(packet.buffer);
        }
        Ok(())
    }

    /// Waits until a host here sends something, `next` has come, or the other thread knows of something earlier.
    fn sleep_until(&mut self, next: u64) -> io::Result<()> {
        let Attached { device, alarm, asleep_until } = self.attached();
        asleep_until.store(next, SeqCst);
        // What the other thread added before it could see that this one sleeps.
        let next = self.shared.lock().next().min(next);
        let now = monotonic_ns();
        let sleep = next.saturating_sub(now).clamp(MIN_SLEEP_NS, MAX_SLEEP_NS);
        let early = if sleep > 2 * WAKE_UP_NS { WAKE_UP_NS } else { 0 };
        let timeout = Timespec { tv_sec: 0, tv_nsec: (sleep - early) as _ };
        let mut fds = [PollFd::new(device, PollFlags::IN), PollFd::new(alarm, PollFlags::IN)];
        let polled = poll(&mut fds, Some(&timeout));
        let is_alarmed = !fds[1].revents().is_empty();
        asleep_until.store(0, SeqCst);
        match polled {
            Ok(0) => {
                while early > 0 && monotonic_ns() < now + sleep {
                    std::hint::spin_loop();
                }
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        if is_alarmed {
            rustix::io::read(alarm, &mut [0; 8])?;
        }
        self.attention.slept(now + sleep, monotonic_ns());
        Ok(())
    }
}

/// Keeps about as many buffers as a batch takes. More packets begin at one end than end there, so that its buffers come to lie
/// at the other: through `common` they come back.
fn share(own: &mut Vec<Box<[u8]>>, common: &mut Vec<Box<[u8]>>) {
    if own.len() < BATCH {
        own.extend(common.drain(common.len() - common.len().min(BATCH)..));
    } else if own.len() > 2 * BATCH {
        common.extend(own.drain(BATCH..));
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::OpenOptions, os::unix::net::UnixDatagram};

    use tandem_scenario::Topology;

    use super::*;

    /// With these in place of devices; what it reads from them goes nowhere.
    fn emulator(devices: [OwnedFd; 2]) -> Emulator {
        let path = Path::new(&Topology::default(), Vec::new());
        let pauses = Pauses { longer_than_ns: NEVER, suspect_for_ns: 0, unserved_from_ns: NEVER };
        Emulator::start(path, devices.map(Tun::of), 1500, pauses, Box::new(|_, _| None)).unwrap()
    }

    /// A device from which nothing comes, and its other side: once the device is gone, nothing can be sent from there.
    fn quiet_device() -> (OwnedFd, UnixDatagram) {
        let (near, far) = UnixDatagram::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        (near.into(), far)
    }

    #[test]
    fn what_is_dropped_leaves_neither_threads_nor_devices() {
        let [(senders, beyond_senders), (receivers, beyond_receivers)] = [quiet_device(), quiet_device()];
        let emulator = emulator([senders, receivers]);
        assert!(beyond_senders.send(&[0]).is_ok() && beyond_receivers.send(&[0]).is_ok());
        drop(emulator);
        // The threads hold the devices as long as they run.
        assert!(beyond_senders.send(&[0]).is_err() && beyond_receivers.send(&[0]).is_err());
    }

    /// Reading what is open for writing only is an error.
    #[test]
    fn stopping_tells_of_the_error_that_ended_one_thread_and_ends_the_other() {
        let unreadable = OpenOptions::new().write(true).open("/dev/null").unwrap();
        let (quiet, beyond) = quiet_device();
        let emulator = emulator([unreadable.into(), quiet]);
        tandem_testing::wait_until("the thread has ended", || !emulator.is_running());
        let error = emulator.stop().unwrap_err().to_string();
        assert!(error.starts_with("cannot carry packets between the network namespaces: "), "{error}");
        assert!(beyond.send(&[0]).is_err());
    }

    /// Data one way and an ACK for every second packet the other way: no more buffers than those under way at the same time,
    /// and two batches for each end.
    #[test]
    fn buffers_come_back() {
        let (mut ends, mut common) = ([Vec::new(), Vec::new()], Vec::new());
        let mut made = 0;
        for turn in 0..10_000 {
            for (from, packets) in [(0, BATCH), (1, BATCH / 2)] {
                let sent: Vec<_> = (0..packets).map(|_| ends[from].pop()).collect();
                made += sent.iter().filter(|buffer| buffer.is_none()).count();
                ends[1 - from].extend(sent.into_iter().map(Option::unwrap_or_default));
                share(&mut ends[from], &mut common);
                share(&mut ends[1 - from], &mut common);
            }
            assert!(made <= 6 * BATCH, "{made} buffers after {turn} turns");
        }
        assert_eq!(ends[0].len() + ends[1].len() + common.len(), made);
    }
}
