// SPDX-License-Identifier: MIT OR Apache-2.0
//! From arguments to paths and a law.

use std::sync::Arc;

use clap::ValueEnum;
use tandem_controllers::Params;
use tandem_model::{Arithmetic, Law, Path, asked};
use tandem_scenario::{
    DEFAULT_MTU, HEADER_BYTES,
    units::{QueueSize, Rate, Span},
};

use super::{Args, Find, range::Range, range::between};
use crate::failure::Failure;

/// What a path and the arithmetic have besides rate, RTT and queue.
#[derive(clap::Args)]
pub struct Constants {
    /// Bytes of a packet on the wire: the MSS of the model's paper
    #[arg(long, default_value_t = DEFAULT_MTU)]
    mtu: u32,

    /// Rate of the sender's own link, above --rate [default: a burst reaches the bottleneck at once]
    #[arg(long, value_name = "RATE")]
    access_rate: Option<Rate>,

    /// The arithmetic for the window
    #[arg(long, value_enum, default_value = "tandem")]
    arithmetic: Choice,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    /// Tandem's own controller, called as a host calls it
    Tandem,
    /// Lachlan Andrew's Linux module, release 1.3, which the model's paper used
    #[value(name = "linux-1.3")]
    Linux13,
    /// The first Linux module, 2006
    #[value(name = "linux-2006")]
    Linux2006,
    /// Real numbers
    Exact,
}

/// What is to be worked out.
pub struct Setup {
    pub rate: Range<Rate>,
    pub rtt: Range<Span>,
    pub queue: Range<QueueSize>,
    pub steps: usize,
    pub mtu: u32,
    pub access_rate: Option<Rate>,
    /// What the controller is set to.
    pub params: Arc<Params>,
    /// Its law; of the response function of another controller the usual one, which is not used.
    pub law: Law,
    pub arithmetic: Arithmetic,
}

impl Setup {
    pub fn new(args: &Args) -> Result<Self, Failure> {
        let given = &args.constants;
        let params = asked(&args.controller, args.loss.is_some()).map_err(Failure::usage)?;
        let law = Law::of(&params).unwrap_or_default();
        let arithmetic = match given.arithmetic {
            Choice::Tandem => Arithmetic::Tandem,
            Choice::Linux13 => Arithmetic::Linux13,
            Choice::Linux2006 => Arithmetic::Linux2006,
            Choice::Exact => Arithmetic::Exact,
        };
        law.check(arithmetic).map_err(Failure::usage)?;
        if given.mtu <= HEADER_BYTES {
            return Err(Failure::usage(format!(
                "--mtu {} leaves no room for data: give more than {HEADER_BYTES} bytes",
                given.mtu
            )));
        }
        let (rate, rtt, queue) = (args.rate, args.rtt, args.queue);
        if rtt.ends().0.ns == 0 || rtt.ends().1.ns == 0 {
            return Err(Failure::usage("--rtt 0s: the model needs a propagation delay, such as 50ms"));
        }
        if rate.is_range() && rtt.is_range() {
            return Err(Failure::usage("--rate and --rtt both have a range: a plane is one of them and --queue"));
        }
        Ok(Self {
            rate,
            rtt,
            queue,
            steps: args.steps as usize,
            mtu: given.mtu,
            access_rate: given.access_rate,
            params,
            law,
            arithmetic,
        })
    }

    /// What is asked of the response function, in one line.
    pub fn response_title(&self) -> String {
        format!("{} alone on {}, RTT {}; random loss, no queue", self.params.controller().name, self.rate, self.rtt)
    }

    /// What is asked of flows that share the link, in one line.
    pub fn steady_title(&self, flows: usize) -> String {
        let plural = if flows == 1 { "" } else { "s" };
        format!("{flows} flow{plural} of {} on {}, queue {}", self.params.controller().name, self.rate, self.queue)
    }

    /// What is asked, in one line.
    /// Without the part that `find` looks for.
    pub fn title(&self, find: Option<Find>) -> String {
        let law = &self.law;
        let queue = if find == Some(Find::Queue) { String::new() } else { format!(", queue {}", self.queue) };
        let gamma = if find == Some(Find::Gamma) { String::new() } else { format!("gamma {}, ", law.gamma_packets) };
        let arithmetic = serde_json::to_value(self.arithmetic).map(|v| v.as_str().unwrap_or_default().to_owned());
        format!(
            "compound alone on {}, RTT {}{queue}; {gamma}alpha {}, k {}, zeta {}, beta {}; {} arithmetic",
            self.rate,
            self.rtt,
            law.alpha,
            law.k,
            law.zeta,
            law.beta,
            arithmetic.unwrap_or_default(),
        )
    }

    pub fn is_plane(&self) -> bool {
        self.queue.is_range() && (self.rate.is_range() || self.rtt.is_range())
    }

    /// The path at one step of each range.
    pub fn path(&self, rate_step: usize, queue_step: usize) -> Result<Path, Failure> {
        let (low, high) = self.rate.ends();
        let rate = between((low.bps as f64, high.bps as f64), rate_step, self.steps);
        let (shortest, longest) = self.rtt.ends();
        let rtt = between((shortest.ns as f64, longest.ns as f64), rate_step, self.steps);
        let (rate, rtt) = (Rate { bps: rate.round() as u64 }, Span { ns: rtt.round() as u64 });
        let packets = |queue: QueueSize| -> Result<f64, Failure> {
            Ok(queue.limit(rate, rtt, self.mtu).map_err(Failure::usage)?.whole_packets(self.mtu) as f64)
        };
        let (small, large) = self.queue.ends();
        let buffer_packets = between((packets(small)?, packets(large)?), queue_step, self.steps).round();
        Ok(Path { rate, rtt, buffer_packets, packet_bytes: self.mtu, access_rate: self.access_rate })
    }

    /// One path, or those of the one range that there is.
    pub fn paths(&self) -> Result<Vec<Path>, Failure> {
        let is_sweep = self.rate.is_range() || self.rtt.is_range() || self.queue.is_range();
        (0..if is_sweep { self.steps } else { 1 }).map(|step| self.path(step, step)).collect()
    }

    /// A path for each row of the plane, and the queues of its columns.
    pub fn plane(&self) -> Result<(Vec<Path>, Vec<f64>), Failure> {
        if matches!(
            self.queue.ends(),
            (QueueSize::Bdp(_) | QueueSize::Time(_), _) | (_, QueueSize::Bdp(_) | QueueSize::Time(_))
        ) {
            return Err(Failure::usage(
                "the queues of a plane are packets or bytes, because a row has one BDP and a column one queue",
            ));
        }
        let rows = (0..self.steps).map(|step| self.path(step, 0)).collect::<Result<_, _>>()?;
        let queues =
            (0..self.steps).map(|step| self.path(0, step).map(|p| p.buffer_packets)).collect::<Result<_, _>>()?;
        Ok((rows, queues))
    }
}
