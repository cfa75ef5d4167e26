// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers: a stream of its own for each link and flow, so that one more flow does not change another's luck.
//! Integers only, so that every machine draws the same.

use rand::{Rng as _, rand_core::SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use tandem_scenario::Group;

/// Who draws. Each kind and index has its own stream for a seed.
#[derive(Debug, Clone, Copy)]
pub enum Stream {
    /// The random losses and the queue discipline of a link, by its index.
    Link(usize),
    /// The delay and the send jitter of a flow, by its index.
    Flow(usize),
    /// The start of a flow, by its index.
    FlowStart(usize),
    /// The effects of a link, by its index.
    Effects(usize),
    /// The backoffs and frame errors of a sender in a wireless cell; 0 is the access point.
    Station(usize),
    /// The arrivals and sizes of short flows, by the index of the flow; those that a group shares, by that of its first flow.
    Transfers(usize),
}

/// When a flow of this group starts, ns.
pub fn start_ns(group: &Group, seed: u64, flow: usize) -> u64 {
    group.start.ns + Rng::new(seed, Stream::FlowStart(flow)).below(group.start_spread.ns + 1)
}

/// The delay outside the links of a flow of this group, ns: the first draw of the flow's own stream.
pub fn access_ns(group: &Group, flow_rng: &mut Rng) -> u64 {
    group.access.ns + flow_rng.below(group.rtt_spread.ns + 1)
}

/// One stream of random numbers: PCG with 128 bits of state (O'Neill 2014, MCG variant).
#[derive(Debug, Clone)]
pub struct Rng(Pcg64Mcg);

impl Rng {
    /// The stream of `stream` for this seed. The same arguments give the same numbers on every machine.
    pub fn new(seed: u64, stream: Stream) -> Self {
        let (kind, index) = match stream {
            Stream::Link(i) => (1u64, i),
            Stream::Flow(i) => (2, i),
            Stream::FlowStart(i) => (3, i),
            Stream::Station(i) => (4, i),
            Stream::Effects(i) => (5, i),
            Stream::Transfers(i) => (6, i),
        };
        let mut bytes = [0; 16];
        // Multiplying by odd constants spreads neighbouring seeds and indices over all bits (SplitMix64's increments).
        let low = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ kind << 62;
        let high = (index as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ seed.rotate_left(32) ^ kind;
        bytes[..8].copy_from_slice(&mix(low).to_le_bytes());
        bytes[8..].copy_from_slice(&mix(high).to_le_bytes());
        Self(Pcg64Mcg::from_seed(bytes))
    }

    /// Uniform over 0 up to, but not, `bound`; 0 if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform from 0 up to below 1.
    #[inline]
    pub fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        // 53 random bits, as many as a double holds.
        ((self.0.next_u64() >> 11) as f64) < probability * (1u64 << 53) as f64
    }
}

/// SplitMix64's finaliser (Steele, Lea, Flood 2014).
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
