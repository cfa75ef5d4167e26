// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario's wireless cell.

use super::SpecError;
use crate::{
    scenario::{Limit, Topology},
    spec::WlanSpec,
    units::{QueueSize, Rate},
    wlan::{Standard, Wlan, WlanCell},
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

fn wrong(key: &str, message: impl std::fmt::Display) -> SpecError {
    SpecError::at(format!("wlan.{key}"), message)
}

impl WlanSpec {
    /// For packets of `mtu` bytes.
    pub(super) fn network(&self, mtu: u32) -> Result<Topology, SpecError> {
        let station_limit = self.station_queue.map(|queue| self.air_limit("station_queue", queue, mtu)).transpose()?;
        let wired_limit = self.wired_queue.map(|queue| self.limit("wired_queue", queue, mtu)).transpose()?;
        let wlan = Wlan {
            cell: self.cell()?,
            ap_limit: self.air_limit("queue", self.queue, mtu)?,
            station_limit: station_limit.unwrap_or(DEFAULT_STATION_LIMIT),
            wired_rate: self.wired_rate,
            wired_rtt: self.rtt,
            wired_limit: wired_limit.unwrap_or(DEFAULT_WIRED_LIMIT),
        };
        Ok(wlan.network())
    }

    fn cell(&self) -> Result<WlanCell, SpecError> {
        let standard = self.standard()?;
        let data_rate = rate(standard, "rate", self.rate)?.unwrap_or(standard.highest_rate());
        let control_rate = match rate(standard, "control_rate", self.control_rate)? {
            Some(rate) if rate > data_rate => {
                let message = format!("ACKs cannot be faster than data, which goes at {data_rate}");
                return Err(wrong("control_rate", message));
            }
            Some(rate) => rate,
            None => standard.control_rate(data_rate),
        };
        if !(1..=MAX_STATIONS).contains(&self.stations) {
            return Err(wrong("stations", format!("stations must be 1 to {MAX_STATIONS}")));
        }
        let short_preamble = self.short_preamble.unwrap_or(false);
        if short_preamble && standard != Standard::B {
            return Err(wrong("short_preamble", "short_preamble is for 802.11b only"));
        }
        let max_tries = self.max_tries.unwrap_or(DEFAULT_MAX_TRIES);
        if !(1..=MAX_TRIES).contains(&max_tries) {
            return Err(wrong("max_tries", format!("max_tries must be 1 to {MAX_TRIES}")));
        }
        Ok(WlanCell {
            stations: self.stations,
            standard,
            data_rate,
            control_rate,
            short_preamble,
            max_tries,
            frame_error_rate: self.frame_error_rate,
            uplink: 0,
            downlink: 0,
        })
    }

    /// A queue before the air. How long it takes to empty depends on who else is on the channel, so neither a time nor a
    /// bandwidth-delay product says how much it holds.
    fn air_limit(&self, key: &str, queue: QueueSize, mtu: u32) -> Result<Limit, SpecError> {
        match queue {
            QueueSize::Packets(_) | QueueSize::Bytes(_) => self.limit(key, queue, mtu),
            QueueSize::Time(_) | QueueSize::Bdp(_) => {
                Err(wrong(key, "a queue before a shared channel has no rate of its own: write packets or bytes"))
            }
        }
    }

    fn limit(&self, key: &str, queue: QueueSize, mtu: u32) -> Result<Limit, SpecError> {
        queue.limit(self.wired_rate, self.rtt, mtu).map_err(|e| wrong(key, e))
    }

    fn standard(&self) -> Result<Standard, SpecError> {
        Standard::find(&self.phy).ok_or_else(|| {
            let known = Standard::ALL.map(|s| format!("`{s}`")).join(", ");
            wrong("phy", format!("there is no phy `{}`; there are {known}", self.phy))
        })
    }
}

fn rate(standard: Standard, key: &str, given: Option<Rate>) -> Result<Option<Rate>, SpecError> {
    match given {
        Some(rate) if standard.rates().all(|known| known != rate) => {
            let known: Vec<_> = standard.rates().map(|r| r.to_string()).collect();
            Err(wrong(key, format!("{standard} has no rate {rate}; it has {}", known.join(", "))))
        }
        given => Ok(given),
    }
}
