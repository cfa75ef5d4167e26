// SPDX-License-Identifier: MIT OR Apache-2.0
//! Histograms of all TCP connections of the machine, for each controller, ours or not: added up in the kernel (`bpf/histograms.bpf.c`), for
//! monitoring. Nothing is pinned, so all of it ends with the process.
#![expect(unsafe_code)]

use std::{
    collections::HashMap,
    io::{self, Read},
    mem::size_of,
};

use libbpf_rs::{Iter, Link, MapCore, MapFlags, Object};

use crate::{
    Error, jiffies,
    names::NAME_BYTES,
    netns,
    object::{HISTOGRAMS, refused_by},
    sockops::{cannot, load, map, open_with, program_mut},
    sysctl,
};

const PROGRAM: &str = "look";
/// `TANDEM_BUCKETS` of `bpf/histograms.h`, likewise what follows.
#[doc(hidden)]
pub const BUCKETS: usize = 50;

/// A histogram's first bound is 2 to the power of `first`; two bounds follow in each octave.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub first: usize,
    pub octaves: usize,
}

impl Bounds {
    /// Smoothed RTT, microseconds.
    pub const RTT: Self = Self { first: 6, octaves: 17 };
    /// The congestion window, bytes.
    pub const WINDOW: Self = Self { first: 10, octaves: 20 };
    /// Goodput, bytes a second.
    pub const GOODPUT: Self = Self { first: 10, octaves: 24 };
    /// Retransmitted share, 2^20ths.
    pub const RATIO: Self = Self { first: 10, octaves: 10 };

    /// Upper bounds in increasing order; the last bucket, for all larger values, has none.
    fn values(self) -> impl Iterator<Item = f64> {
        let power = |exponent: usize| (1u64 << exponent) as f64;
        let octave = move |n: usize| [1.5 * power(self.first + n), 2.0 * power(self.first + n)];
        std::iter::once(power(self.first)).chain((0..self.octaves).flat_map(octave))
    }
}

/// `struct tandem_histogram`.
#[doc(hidden)]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawHistogram {
    sum: u64,
    counts: [u64; BUCKETS],
}

/// `struct tandem_totals` of `bpf/histograms.h`. `tests/layout.rs` compares the two.
#[doc(hidden)]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawTotals {
    pub connections: u64,
    pub acked_bytes: u64,
    pub segments: u64,
    pub retransmitted: u64,
    pub idle_jiffies: u64,
    pub path_jiffies: u64,
    pub rwnd_jiffies: u64,
    pub sndbuf_jiffies: u64,
    pub rtt_us: RawHistogram,
    pub window_bytes: RawHistogram,
    pub goodput: RawHistogram,
    pub retransmitted_ratio: RawHistogram,
}

impl RawTotals {
    /// `None`: too few bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        // SAFETY: any bit pattern is a valid RawTotals, there are enough bytes, and the read allows any alignment.
        (bytes.len() >= size_of::<Self>()).then(|| unsafe { bytes.as_ptr().cast::<Self>().read_unaligned() })
    }
}

/// How often a value was in each range.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Sum of all values.
    pub sum: f64,
    /// The upper bound of each bucket, which belongs to it, and how many values were there and not below. The last has all that are larger.
    pub buckets: Vec<(f64, u64)>,
}

impl Histogram {
    /// `unit`: what one of the kernel's is. `before`: counts of values below the first bound that have a bucket of their own, and its bound.
    fn new(raw: &RawHistogram, bounds: Bounds, unit: f64, before: Option<f64>) -> Self {
        let bounds = before.into_iter().chain(bounds.values().map(|bound| bound * unit)).chain([f64::INFINITY]);
        Self { sum: raw.sum as f64 * unit, buckets: bounds.zip(raw.counts).collect() }
    }

    /// How many values there were.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }
}

/// The connections of one controller, at all looks since the first; or of a trial's arm, those that have ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Its name, ours or not.
    pub controller: String,
    /// How many connections there were at the last look, or there are in the arm now.
    pub connections: u64,
    /// Data that was sent and acknowledged.
    pub acked_bytes: u64,
    /// Segments with data, retransmissions too.
    pub segments: u64,
    /// Those that were retransmitted.
    pub retransmitted: u64,
    /// Seconds in which connections that sent something had nothing to send.
    pub idle_s: f64,
    /// Seconds in which the congestion window, or the path, held back what there was to send.
    pub path_s: f64,
    /// Seconds in which the receiver's window did.
    pub rwnd_s: f64,
    /// Seconds in which the send buffer did.
    pub sndbuf_s: f64,
    /// Smoothed RTT in seconds, of each connection that sent something, at each look or at its end; likewise the others.
    pub rtt_s: Histogram,
    /// The congestion window, bytes.
    pub window_bytes: Histogram,
    /// Bytes a second of the time in which there was something to send or to be acknowledged.
    pub goodput_bytes_per_s: Histogram,
    /// The share of the segments that were retransmissions.
    pub retransmitted_ratio: Histogram,
}

impl Totals {
    /// From the kernel's (`struct tandem_totals`), except for what differs between looks and trials.
    pub(crate) fn new(controller: String, connections: u64, raw: &RawTotals, jiffies_per_s: f64) -> Self {
        let seconds = |jiffies: u64| jiffies as f64 / jiffies_per_s;
        let share = 1.0 / f64::from(1u32 << 20);
        Self {
            controller,
            connections,
            acked_bytes: raw.acked_bytes,
            segments: raw.segments,
            retransmitted: raw.retransmitted,
            idle_s: seconds(raw.idle_jiffies),
            path_s: seconds(raw.path_jiffies),
            rwnd_s: seconds(raw.rwnd_jiffies),
            sndbuf_s: seconds(raw.sndbuf_jiffies),
            rtt_s: Histogram::new(&raw.rtt_us, Bounds::RTT, 1e-6, None),
            window_bytes: Histogram::new(&raw.window_bytes, Bounds::WINDOW, 1.0, None),
            goodput_bytes_per_s: Histogram::new(&raw.goodput, Bounds::GOODPUT, 1.0, None),
            retransmitted_ratio: Histogram::new(&raw.retransmitted_ratio, Bounds::RATIO, share, Some(0.0)),
        }
    }
}

/// Looks at all connections, again and again.
pub struct Histograms {
    // First, so that the program is gone before its maps are.
    link: Link,
    object: Object,
    jiffies_per_s: f64,
    /// The kernel's count of connections and looks at the last look, by controller.
    counted: HashMap<String, u64>,
}

impl Histograms {
    /// Has the kernel verify the program, and takes the first look: what connections did before is not counted.
    ///
    /// # Errors
    /// [`Error`] if this process may not, or the kernel does not want the program.
    pub fn new() -> Result<Self, Error> {
        let mut open = open_with(HISTOGRAMS, PROGRAM)?;
        let jiffies_per_s = jiffies::tell(&mut open)?;
        let mut object = load(open, PROGRAM, "read the TCP connections")?;
        let link = program_mut(&mut object, PROGRAM).attach().map_err(|e| refused_by(e, PROGRAM, ""))?;
        let mut made = Self { link, object, jiffies_per_s, counted: HashMap::new() };
        made.look()?;
        let (first, yes) = (0u32.to_ne_bytes(), 1u32.to_ne_bytes());
        map(&made.object, "goes_on").update(&first, &yes, MapFlags::ANY).map_err(|e| cannot("write", "goes_on", &e))?;
        Ok(made)
    }

    /// Reads each connection in all network namespaces. Returns the totals of each controller so far, in the order of their names.
    ///
    /// # Errors
    /// [`Error`] if the kernel's iterator or its sums cannot be read.
    pub fn look(&mut self) -> Result<Vec<Totals>, Error> {
        let link = &self.link;
        for (_, looked) in netns::visit(|_| look_here(link))? {
            looked?;
        }
        let available = sysctl::available()?;
        let mut controllers = Vec::new();
        let totals = map(&self.object, "totals");
        for key in totals.keys().collect::<Vec<_>>() {
            let value = totals.lookup(&key, MapFlags::ANY).map_err(|e| cannot("read", "totals", &e))?;
            let Some(raw) = value.as_deref().and_then(RawTotals::parse) else { continue };
            let found = self.totals(&key, &raw);
            if found.connections > 0 || available.contains(&found.controller) {
                self.counted.insert(found.controller.clone(), raw.connections);
                controllers.push(found);
            } else {
                // Unloaded, and its last connection is over: names of runs would add up.
                totals.delete(&key).map_err(|e| cannot("write", "totals", &e))?;
                self.counted.remove(&found.controller);
            }
        }
        controllers.sort_by(|a, b| a.controller.cmp(&b.controller));
        Ok(controllers)
    }

    fn totals(&self, key: &[u8], raw: &RawTotals) -> Totals {
        let name = key.split(|byte| *byte == 0).next().unwrap_or_default();
        let controller = String::from_utf8_lossy(&name[..name.len().min(NAME_BYTES)]).into_owned();
        let connections = raw.connections - self.counted.get(&controller).copied().unwrap_or(0);
        Totals::new(controller, connections, raw, self.jiffies_per_s)
    }
}

/// At the connections of the calling thread's namespace.
fn look_here(link: &Link) -> Result<(), Error> {
    let mut iterator = Iter::new(link).map_err(|e| refused_by(e, PROGRAM, ""))?;
    loop {
        match iterator.read(&mut [0; 64]) {
            Ok(0) => return Ok(()),
            // It writes nothing; after a million sockets the kernel wants to be asked again.
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock || e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io("read", "the iterator over TCP sockets", e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 64, 96, 128, 192, 256 us ...
    #[test]
    fn bounds_are_two_an_octave() {
        let bounds: Vec<f64> = Bounds { first: 6, octaves: 2 }.values().collect();
        assert_eq!(bounds, [64.0, 96.0, 128.0, 192.0, 256.0]);
        for bounds in [Bounds::RTT, Bounds::WINDOW, Bounds::GOODPUT, Bounds::RATIO] {
            // One more bucket for larger values, and for the ratio one for 0.
            assert!(bounds.values().count() + 2 <= BUCKETS + 1, "{bounds:?}");
        }
        assert_eq!(Bounds::RATIO.values().last(), Some(f64::from(1 << 20)), "all segments");
    }
}
