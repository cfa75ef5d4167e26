// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions other than «what does it do here?»: `--find` and `--loss`.

use serde::Serialize;
use tandem_model::{inverse, response::Response};
use tandem_scenario::{HEADER_BYTES, units::LossRate};

use super::{Args, Find, range::Range, range::between, setup::Setup};
use crate::failure::Failure;

#[derive(Serialize)]
#[serde(tag = "find", rename_all = "lowercase")]
pub enum Found {
    Queue(inverse::EnoughBuffer),
    Rate(inverse::Fall),
    Gamma(inverse::LargestGamma),
}

pub fn find(setup: &Setup, what: Find, args: &Args) -> Result<Found, Failure> {
    let share = args.utilisation;
    if !(share > 0.0 && share <= 1.0) {
        return Err(Failure::usage(format!("--utilisation {share} is not a share of the link: give one such as 0.98")));
    }
    let one = |is_range: bool, name: &str| match is_range {
        true => Err(Failure::usage(format!("--find needs one {name}, not a range"))),
        false => Ok(()),
    };
    one(setup.rtt.is_range(), "RTT")?;
    if what != Find::Queue {
        one(setup.queue.is_range(), "queue")?;
    }
    if what != Find::Rate {
        one(setup.rate.is_range(), "rate")?;
    } else if !setup.rate.is_range() {
        return Err(Failure::usage("--find rate needs a range, such as --rate 10mbit..10gbit"));
    }
    let path = setup.path(0, 0)?;
    let (law, arithmetic) = (&setup.law, setup.arithmetic);
    let found = match what {
        Find::Queue => inverse::enough_buffer(&path, law, arithmetic, share).map(Found::Queue),
        Find::Rate => inverse::fall(&path, setup.rate.ends(), law, arithmetic, share).map(Found::Rate),
        Find::Gamma => inverse::largest_gamma(&path, law, arithmetic, share).map(Found::Gamma),
    };
    found.map_err(|e| Failure::Failed(e.into()))
}

/// A controller's response function at one or more loss rates.
#[derive(Serialize)]
pub struct Answers {
    pub controller: String,
    pub rtt_ms: f64,
    pub responses: Vec<AtLoss>,
}

#[derive(Serialize)]
pub struct AtLoss {
    pub loss: f64,
    /// Mean over time, no queue.
    pub window_packets: f64,
    /// Payload, no faster than the link.
    pub goodput_mbps: f64,
    pub utilisation: f64,
}

pub fn response(setup: &Setup, loss: Range<LossRate>) -> Result<Answers, Failure> {
    if setup.rate.is_range() || setup.rtt.is_range() {
        return Err(Failure::usage("--loss needs one rate and one RTT, not ranges"));
    }
    let name = setup.params.controller().name;
    let Some(function) = Response::of(&setup.params) else {
        let message = format!("no response function is known for `{name}`, only for reno and the Compound family");
        return Err(Failure::usage(message));
    };
    let path = setup.path(0, 0)?;
    let payload = setup.mtu - HEADER_BYTES;
    let link_mbps = path.rate.bps as f64 / 1e6 * f64::from(payload) / f64::from(setup.mtu);
    let (low, high) = loss.ends();
    if low.0 <= 0.0 || high.0 <= 0.0 {
        return Err(Failure::usage("--loss 0: a response function needs a loss above 0, such as 1e-6"));
    }
    let at = |loss: f64| {
        let goodput_mbps = (function.goodput_bps(loss, path.rtt.as_secs_f64(), payload) / 1e6).min(link_mbps);
        let window_packets = function.window_packets(loss);
        AtLoss { loss, window_packets, goodput_mbps, utilisation: goodput_mbps / link_mbps }
    };
    let steps = if loss.is_range() { setup.steps } else { 1 };
    let responses = (0..steps).map(|step| at(between((low.0, high.0), step, steps))).collect();
    Ok(Answers { controller: name.to_owned(), rtt_ms: path.rtt.as_secs_f64() * 1e3, responses })
}
