// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario file's table `[wlan]`.

use serde::Deserialize;
use toml::Spanned;

use super::Problem;
use crate::{
    scenario::{Limit, Network},
    units::{LossRate, QueueSize, Rate, Span},
    wlan::{Cell, Standard, Wlan},
};

/// So that a slip of the finger does not take all memory; an access point of its own has no more (AIDs end at 2007).
const MAX_STATIONS: u32 = 2007;
/// dot11ShortRetryLimit, and the most that it can be (IEEE Std 802.11-2016, annex C).
const DEFAULT_MAX_TRIES: u32 = 7;
const MAX_TRIES: u32 = 255;
/// What a station holds back if nothing is said: Linux's `txqueuelen`.
const DEFAULT_STATION_LIMIT: Limit = Limit::Packets(1000);
/// More than TCP at such rates ever queues, so that the wired path loses nothing.
const DEFAULT_WIRED_LIMIT: Limit = Limit::Packets(10_000);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WlanTable {
    phy: Spanned<String>,
    stations: Spanned<u32>,
    /// The access point's.
    queue: Spanned<QueueSize>,
    station_queue: Option<Spanned<QueueSize>>,
    /// Of data frames.
    rate: Option<Spanned<Rate>>,
    /// Of ACK frames.
    control_rate: Option<Spanned<Rate>>,
    short_preamble: Option<Spanned<bool>>,
    max_tries: Option<Spanned<u32>>,
    #[serde(default)]
    frame_error_rate: LossRate,
    /// Of the wired path, each way.
    wired_rate: Rate,
    /// Two-way propagation delay of the wired path.
    rtt: Span,
    wired_queue: Option<Spanned<QueueSize>>,
}

impl WlanTable {
    pub(super) fn network(&self, mtu: u32) -> Result<Network, Problem> {
        let standard = self.standard()?;
        let data_rate = rate(standard, self.rate.as_ref())?.unwrap_or(standard.highest_rate());
        let control_rate = match rate(standard, self.control_rate.as_ref())? {
            Some(rate) if rate > data_rate => {
                let place = self.control_rate.as_ref().expect("it was just read");
                return Err(Problem::at(place, format!("ACKs cannot be faster than data, which goes at {data_rate}")));
            }
            Some(rate) => rate,
            None => standard.control_rate(data_rate),
        };
        if !(1..=MAX_STATIONS).contains(self.stations.get_ref()) {
            return Err(Problem::at(&self.stations, format!("stations must be 1 to {MAX_STATIONS}")));
        }
        let short_preamble = match &self.short_preamble {
            Some(given) if *given.get_ref() && standard != Standard::B => {
                return Err(Problem::at(given, "short_preamble is for 802.11b only"));
            }
            given => given.as_ref().is_some_and(|given| *given.get_ref()),
        };
        let max_tries = match &self.max_tries {
            Some(tries) if !(1..=MAX_TRIES).contains(tries.get_ref()) => {
                return Err(Problem::at(tries, format!("max_tries must be 1 to {MAX_TRIES}")));
            }
            tries => tries.as_ref().map_or(DEFAULT_MAX_TRIES, |tries| *tries.get_ref()),
        };
        let cell = Cell {
            stations: *self.stations.get_ref(),
            standard,
            data_rate,
            control_rate,
            short_preamble,
            max_tries,
            frame_error_rate: self.frame_error_rate,
            uplink: 0,
            downlink: 0,
        };
        let wlan = Wlan {
            cell,
            ap_limit: self.air_limit(&self.queue, mtu)?,
            station_limit: match &self.station_queue {
                Some(queue) => self.air_limit(queue, mtu)?,
                None => DEFAULT_STATION_LIMIT,
            },
            wired_rate: self.wired_rate,
            wired_rtt: self.rtt,
            wired_limit: match &self.wired_queue {
                Some(queue) => self.limit(queue, mtu)?,
                None => DEFAULT_WIRED_LIMIT,
            },
        };
        Ok(wlan.network())
    }

    /// A queue before the air. How long it takes to empty depends on who else is on the channel, so neither a time nor a
    /// bandwidth-delay product says how much it holds.
    fn air_limit(&self, queue: &Spanned<QueueSize>, mtu: u32) -> Result<Limit, Problem> {
        match queue.get_ref() {
            QueueSize::Packets(_) | QueueSize::Bytes(_) => self.limit(queue, mtu),
            QueueSize::Time(_) | QueueSize::Bdp(_) => Err(Problem::at(
                queue,
                "a queue before a shared channel has no rate of its own: write packets or bytes",
            )),
        }
    }

    fn limit(&self, queue: &Spanned<QueueSize>, mtu: u32) -> Result<Limit, Problem> {
        queue.get_ref().limit(self.wired_rate, self.rtt, mtu).map_err(|e| Problem::at(queue, e))
    }

    fn standard(&self) -> Result<Standard, Problem> {
        let name = self.phy.get_ref();
        Standard::find(name).ok_or_else(|| {
            let known = Standard::ALL.map(|s| format!("`{s}`")).join(", ");
            Problem::at(&self.phy, format!("there is no phy `{name}`; there are {known}"))
        })
    }
}

fn rate(standard: Standard, given: Option<&Spanned<Rate>>) -> Result<Option<Rate>, Problem> {
    let Some(given) = given else { return Ok(None) };
    let rate = *given.get_ref();
    if standard.rates().any(|known| known == rate) {
        return Ok(Some(rate));
    }
    let known: Vec<_> = standard.rates().map(|r| r.to_string()).collect();
    Err(Problem::at(given, format!("{standard} has no rate {rate}; it has {}", known.join(", "))))
}
