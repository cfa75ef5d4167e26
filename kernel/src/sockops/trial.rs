// SPDX-License-Identifier: MIT OR Apache-2.0
//! A trial of two controllers on connections as they come. It lives as long as its value: the program ends with the link, which ends with
//! the process, however that ends. Connections that have a controller keep it.
#![expect(unsafe_code)]

use std::{
    mem::size_of,
    net::IpAddr,
    path::{Path, PathBuf},
};

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, RingBufferBuilder};
use serde::Serialize;

use super::{
    Cgroup, Peer, Prefix,
    loader::{attach, cannot, fill, load, make_room, map, maps_of_program, open_with, program_ids},
    policy::cgroup_of_policy,
};
use crate::{
    Error, Totals,
    histograms::RawTotals,
    jiffies,
    names::{NAME_BYTES, check_name},
    object::TRIAL,
    sysctl,
};

const PROGRAM: &str = "trial";
/// `enum tandem_connection_flags` of `bpf/trial.h`.
const ESTABLISHED: u32 = 1;
const ACCEPTED: u32 = 2;

/// Which connections take part, and what they get.
#[derive(Debug, Clone)]
pub struct TrialSetup {
    /// The names of the controllers; the share is the first one's.
    pub arms: [String; 2],
    /// Share of the connections, or of the peers; between 0 and 1.
    pub share: f64,
    /// Does one peer always have the same arm? Otherwise each connection's is drawn.
    pub by_peer: bool,
    /// Decides which peers have which arm.
    pub seed: u64,
    /// The only port that takes part: of the peer, or of accepted connections our own.
    pub port: Option<u16>,
    /// The only peers that take part; empty: all.
    pub to: Vec<Prefix>,
    /// The cgroup whose connections take part; `None`: all.
    pub cgroup: Option<PathBuf>,
}

/// A connection that has ended: `struct tandem_connection` of `bpf/trial.h`. `tests/layout.rs` compares the two.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    #[doc(hidden)]
    pub peer: Peer,
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub began_ns: u64,
    /// Likewise.
    pub ended_ns: u64,
    #[doc(hidden)]
    pub bytes_acked: u64,
    #[doc(hidden)]
    pub bytes_received: u64,
    /// Smoothed RTT at the end, microseconds; 0 without a sample.
    pub srtt_us: u32,
    /// The least RTT of the last minutes, microseconds; 0 without a sample.
    pub min_rtt_us: u32,
    /// Segments with data that were sent, retransmissions too.
    pub segments: u32,
    /// Segments that were retransmitted, with or without data.
    pub retransmitted: u32,
    #[doc(hidden)]
    pub busy_jiffies: u32,
    #[doc(hidden)]
    pub rwnd_jiffies: u32,
    #[doc(hidden)]
    pub sndbuf_jiffies: u32,
    /// Which of the arms: 0 or 1.
    pub arm: u32,
    #[doc(hidden)]
    pub flags: u32,
    /// The congestion window at the end, packets.
    pub cwnd: u32,
}

impl Connection {
    /// The other end's address.
    pub fn address(&self) -> IpAddr {
        self.peer.address()
    }

    /// The port that was connected to: the peer's, or of an accepted connection our own.
    pub fn port(&self) -> u16 {
        self.peer.port as u16
    }

    /// Bytes of data that the peer acknowledged. The kernel counts a byte for the FIN, and for the SYN of who opens the connection; of a
    /// connection that ends without a FIN this is a byte less than there was.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_acked.saturating_sub(if self.is_accepted() { 1 } else { 2 })
    }

    /// Bytes of data that came from the peer; likewise.
    pub fn bytes_received(&self) -> u64 {
        self.bytes_received.saturating_sub(1)
    }

    /// Was the handshake completed?
    pub fn is_established(&self) -> bool {
        self.flags & ESTABLISHED != 0
    }

    /// Did the other end open it?
    pub fn is_accepted(&self) -> bool {
        self.flags & ACCEPTED != 0
    }
}

/// The connections of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ArmCounts {
    /// That began with its controller.
    pub started: u64,
    /// Of those, the number that have ended.
    pub ended: u64,
    /// That kept another controller: the kernel did not have this one any more, or their route says which.
    pub refused: u64,
    /// Of the ended ones, the number without a record: more ended at once than there was room for.
    pub lost: u64,
}

impl ArmCounts {
    /// `struct tandem_trial_counts` of `bpf/trial.h`.
    fn parse(bytes: &[u8]) -> Self {
        let number = |at: usize| {
            let bytes = bytes.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_ne_bytes)
        };
        Self { started: number(0), ended: number(1), refused: number(2), lost: number(3) }
    }
}

/// A trial that goes on.
pub struct Trial {
    // First, so that nothing is recorded any more when the rest goes.
    _link: Link,
    object: Object,
    jiffies_per_s: f64,
}

impl Trial {
    /// Begins; new connections take part from now on.
    ///
    /// # Errors
    /// [`Error::NotAvailable`] for a controller that the kernel does not have; [`Error::PolicyFirst`] under a policy that would decide before;
    /// those of a cgroup; [`Error`] if this process may not, or the kernel does not want the program.
    pub fn start(setup: &TrialSetup) -> Result<Self, Error> {
        let cgroup = setup.cgroup.as_deref().map_or_else(Cgroup::root, Cgroup::find)?;
        let available = sysctl::available()?;
        for name in &setup.arms {
            check_name(name)?;
            if !available.contains(name) {
                return Err(Error::NotAvailable { name: name.clone(), available });
            }
        }
        check_policy(&cgroup.path)?;
        let (mut object, jiffies_per_s) = verified(setup)?;
        let link = attach(&mut object, PROGRAM, &cgroup)?;
        Ok(Self { _link: link, object, jiffies_per_s })
    }

    /// Hands over the connections that have ended since the last call. There is room for about 40,000 in between.
    ///
    /// # Errors
    /// [`Error`] if the kernel's buffer cannot be read.
    pub fn collect(&self, mut take: impl FnMut(&Connection)) -> Result<(), Error> {
        let records = map(&self.object, "records");
        let mut builder = RingBufferBuilder::new();
        let callback = |bytes: &[u8]| {
            if bytes.len() >= size_of::<Connection>() {
                // SAFETY: any bit pattern is a valid Connection, there are enough bytes, and the read allows any alignment.
                take(&unsafe { bytes.as_ptr().cast::<Connection>().read_unaligned() });
            }
            0
        };
        builder.add(&records, callback).map_err(|e| cannot("read", "records", &e))?;
        let buffer = builder.build().map_err(|e| cannot("read", "records", &e))?;
        buffer.consume().map_err(|e| cannot("read", "records", &e))
    }

    /// The connections of each arm so far.
    ///
    /// # Errors
    /// [`Error`] if the kernel's counts cannot be read.
    pub fn counts(&self) -> Result<[ArmCounts; 2], Error> {
        let counts = map(&self.object, "counts");
        let of = |arm: u32| -> Result<ArmCounts, Error> {
            let found = counts.lookup(&arm.to_ne_bytes(), MapFlags::ANY).map_err(|e| cannot("read", "counts", &e))?;
            Ok(ArmCounts::parse(&found.unwrap_or_default()))
        };
        Ok([of(0)?, of(1)?])
    }

    /// The kernel's unit of the times of [`Trial::busy_s`], seconds.
    pub fn jiffy_s(&self) -> f64 {
        1.0 / self.jiffies_per_s
    }

    /// Seconds in which the connection had something to send or to be acknowledged; of those, in which the receiver's window, and the
    /// send buffer, held it back.
    pub fn busy_s(&self, connection: &Connection) -> [f64; 3] {
        [connection.busy_jiffies, connection.rwnd_jiffies, connection.sndbuf_jiffies]
            .map(|jiffies| f64::from(jiffies) / self.jiffies_per_s)
    }
}

/// A trial that goes on, in whatever process.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// The kernel's number of its program.
    pub id: u32,
    /// In the trial's order.
    pub arms: [RunningArm; 2],
}

/// An arm of a trial that goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningArm {
    /// What became of its connections so far.
    pub counts: ArmCounts,
    /// What those that have ended did, also those that were lost.
    pub totals: Totals,
}

/// The trials that go on.
///
/// # Errors
/// [`Error::NoRights`] if this process may not see them; [`Error::Io`] if the kernel's counts cannot be read.
pub fn running() -> Result<Vec<Running>, Error> {
    let mut all = Vec::new();
    for id in program_ids(PROGRAM) {
        let maps = match maps_of_program(id) {
            Err(e @ Error::NoRights { .. }) => return Err(e),
            // It has just ended.
            Err(_) => continue,
            Ok(maps) => maps,
        };
        if let Some(arms) = arms_in(&maps)? {
            all.push(Running { id, arms });
        }
    }
    Ok(all)
}

/// `None`: another's program of that name, or one of another version.
fn arms_in(maps: &[MapHandle]) -> Result<Option<[RunningArm; 2]>, Error> {
    let value = |name: &'static str, key: u32| -> Result<Option<Vec<u8>>, Error> {
        let Some(map) = maps.iter().find(|map| map.name() == name) else { return Ok(None) };
        map.lookup(&key.to_ne_bytes(), MapFlags::ANY).map_err(|e| cannot("read", name, &e))
    };
    let Some(asked) = value(".rodata.trial", 0)?.filter(|bytes| bytes.len() >= 2 * NAME_BYTES) else { return Ok(None) };
    let jiffies_per_s = jiffies::per_second()?;
    let arm = |number: u32| -> Result<Option<RunningArm>, Error> {
        let [counts, totals] = [value("counts", number)?, value("totals", number)?];
        let (Some(counts), Some(raw)) = (counts, totals.as_deref().and_then(RawTotals::parse)) else { return Ok(None) };
        let name = &asked[number as usize * NAME_BYTES..][..NAME_BYTES];
        let name = String::from_utf8_lossy(name.split(|b| *b == 0).next().unwrap_or_default()).into_owned();
        let counts = ArmCounts::parse(&counts);
        let open = counts.started.saturating_sub(counts.ended);
        Ok(Some(RunningArm { counts, totals: Totals::new(name, open, &raw, jiffies_per_s) }))
    };
    Ok(arm(0)?.zip(arm(1)?).map(|(first, second)| [first, second]))
}

/// A policy for the same connections that is called first leaves none to the trial: one for the same cgroup, or for one within.
fn check_policy(cgroup: &Path) -> Result<(), Error> {
    match cgroup_of_policy()? {
        Some(policy) if Path::new(&policy).starts_with(cgroup) => Err(Error::PolicyFirst { cgroup: policy }),
        _ => Ok(()),
    }
}

/// And how many jiffies there are in a second.
fn verified(setup: &TrialSetup) -> Result<(Object, f64), Error> {
    let mut object = open_with(TRIAL, PROGRAM)?;
    let jiffies_per_s = jiffies::tell(&mut object)?;
    let (v4, v6): (Vec<&Prefix>, Vec<&Prefix>) = setup.to.iter().partition(|prefix| prefix.address().is_ipv4());
    for mut map in object.maps_mut() {
        match map.name().to_str() {
            Some("prefixes4") => make_room(&mut map, v4.len())?,
            Some("prefixes6") => make_room(&mut map, v6.len())?,
            Some(".rodata.trial") => {
                let asked = to_bytes(setup);
                map.initial_value_mut().expect("it has a value in the object")[..asked.len()].copy_from_slice(&asked);
            }
            _ => {}
        }
    }
    let object = load(object, PROGRAM, "begin a trial")?;
    let one = 1u32.to_ne_bytes();
    fill(&object, "prefixes4", v4.iter().map(|prefix| (prefix.key(), &one[..])))?;
    fill(&object, "prefixes6", v6.iter().map(|prefix| (prefix.key(), &one[..])))?;
    Ok((object, jiffies_per_s))
}

/// `struct tandem_trial` of `bpf/trial.h`.
fn to_bytes(setup: &TrialSetup) -> Vec<u8> {
    let mut bytes = vec![0; 2 * NAME_BYTES];
    for (arm, name) in setup.arms.iter().enumerate() {
        bytes[arm * NAME_BYTES..][..name.len()].copy_from_slice(name.as_bytes());
    }
    bytes.extend(setup.seed.to_ne_bytes());
    // A share of 1 would be one more than fits.
    let share = (setup.share.clamp(0.0, 1.0) * 2f64.powi(32)).min(f64::from(u32::MAX)) as u32;
    let flags = [share, u32::from(setup.by_peer), u32::from(setup.port.unwrap_or(0)), u32::from(!setup.to.is_empty())];
    bytes.extend(flags.iter().flat_map(|number| number.to_ne_bytes()));
    bytes
}
