// SPDX-License-Identifier: MIT OR Apache-2.0
//! An IEEE 802.11 cell: stations and an access point that share one channel, and a wired path behind the access point.
//!
//! The shorthand makes four links: `wired` and `wired-back` between access point and server, `uplink` from the stations
//! and `downlink` to them. The last two share the channel of the [`WlanCell`]; each station has an uplink queue of its own.

use std::fmt;

use crate::{
    scenario::{Aqm, Limit, Link, Loss, Network},
    units::{LossRate, Rate, Span},
};

pub const STATIONS_NODE: &str = "stations";
pub const AP_NODE: &str = "ap";
pub const SERVER_NODE: &str = "server";
pub const UPLINK: &str = "uplink";
pub const DOWNLINK: &str = "downlink";
pub const WIRED_LINK: &str = "wired";
pub const WIRED_BACK_LINK: &str = "wired-back";

/// Which amendment's timing and rates the cell has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// DSSS and CCK, 2.4 GHz.
    B,
    /// ERP-OFDM without any 802.11b station about, 2.4 GHz: short slots, no protection.
    G,
    /// OFDM, 5 GHz.
    A,
}

/// Rates in units of 100 kbit/s, as beacons list them in halves of a megabit.
const DSSS_RATES: [u64; 4] = [10, 20, 55, 110];
const OFDM_RATES: [u64; 8] = [60, 90, 120, 180, 240, 360, 480, 540];
/// For control frames: what every 802.11 DSSS station has (IEEE Std 802.11-1997), and the mandatory OFDM rates (IEEE Std
/// 802.11-2016, table 17-4).
const DSSS_BASIC_RATES: [u64; 2] = [10, 20];
const OFDM_BASIC_RATES: [u64; 3] = [60, 120, 240];

impl Standard {
    pub const ALL: [Standard; 3] = [Standard::B, Standard::G, Standard::A];

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.to_string() == name)
    }

    /// The rates that a data frame may have, in ascending order.
    pub fn rates(self) -> impl Iterator<Item = Rate> {
        let rates: &[u64] = if self == Standard::B { &DSSS_RATES } else { &OFDM_RATES };
        rates.iter().map(|&r| Rate { bps: r * 100_000 })
    }

    /// The rate of the ACK to a data frame: the highest basic rate that is not above the frame's (IEEE Std 802.11-2016,
    /// 10.7.6.5.2).
    pub fn control_rate(self, data_rate: Rate) -> Rate {
        let basic: &[u64] = if self == Standard::B { &DSSS_BASIC_RATES } else { &OFDM_BASIC_RATES };
        let mut rates = basic.iter().map(|&r| Rate { bps: r * 100_000 });
        rates.rfind(|r| r.bps <= data_rate.bps).unwrap_or(data_rate)
    }

    pub fn highest_rate(self) -> Rate {
        self.rates().last().expect("every standard has rates")
    }
}

/// As scenario files write it.
impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Standard::B => "802.11b",
            Standard::G => "802.11g",
            Standard::A => "802.11a",
        })
    }
}

/// One channel, and who is on it.
#[derive(Debug, Clone, PartialEq)]
pub struct WlanCell {
    /// Besides the access point.
    pub stations: u32,
    pub standard: Standard,
    /// Of data frames; all stations have the same.
    pub data_rate: Rate,
    /// Of ACK frames.
    pub control_rate: Rate,
    /// 802.11b only.
    pub short_preamble: bool,
    /// How often a frame is sent before it is given up.
    pub max_tries: u32,
    /// Of data frames that nobody else disturbs, the share that arrives damaged.
    pub frame_error_rate: LossRate,
    /// These two are the last of the network's links.
    pub uplink: usize,
    pub downlink: usize,
}

/// A cell, its queues, and the wired path.
#[derive(Debug, Clone)]
pub struct Wlan {
    pub cell: WlanCell,
    pub ap_limit: Limit,
    pub station_limit: Limit,
    pub wired_rate: Rate,
    /// Two-way propagation delay.
    pub wired_rtt: Span,
    pub wired_limit: Limit,
}

impl Wlan {
    pub fn network(self) -> Network {
        let link = |name: &str, (from, to), rate, ns, limit| Link {
            name: name.into(),
            from,
            to,
            rate,
            delay: Span { ns },
            limit,
            aqm: Aqm::DropTail,
            loss: Loss::None,
        };
        let (stations, ap, server) = (0, 1, 2);
        let one_way = self.wired_rtt.ns / 2;
        let air = self.cell.data_rate;
        Network {
            nodes: [STATIONS_NODE, AP_NODE, SERVER_NODE].map(str::to_owned).into(),
            links: vec![
                link(WIRED_LINK, (ap, server), self.wired_rate, one_way, self.wired_limit),
                link(WIRED_BACK_LINK, (server, ap), self.wired_rate, self.wired_rtt.ns - one_way, self.wired_limit),
                link(UPLINK, (stations, ap), air, 0, self.station_limit),
                link(DOWNLINK, (ap, stations), air, 0, self.ap_limit),
            ],
            cell: Some(WlanCell { uplink: 2, downlink: 3, ..self.cell }),
        }
    }
}
