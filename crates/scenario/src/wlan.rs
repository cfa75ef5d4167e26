// SPDX-License-Identifier: MIT OR Apache-2.0
//! An IEEE 802.11 cell: stations and an access point that share one channel, and a wired path behind the access point.
//!
//! The shorthand makes four links: `wired` and `wired-back` between access point and server, `uplink` from the stations
//! and `downlink` to them. The last two share the channel of the [`WlanCell`]; each station has an uplink queue of its own.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::{
    scenario::{Aqm, Limit, LinkConfig, Loss, Topology},
    units::{LossRate, Rate, Span, bps},
};

/// Name of the node that stands for all stations.
pub const STATIONS_NODE: &str = "stations";
/// Name of the access point's node.
pub const AP_NODE: &str = "ap";
/// Name of the node at the far end of the wired path.
pub const SERVER_NODE: &str = "server";
/// Name of the link from the stations to the access point.
pub const UPLINK: &str = "uplink";
/// Name of the link from the access point to the stations.
pub const DOWNLINK: &str = "downlink";
/// Name of the link from the access point to the server.
pub const WIRED_LINK: &str = "wired";
/// Name of the link from the server to the access point.
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
    /// In the order in which messages list them.
    pub const ALL: [Standard; 3] = [Standard::B, Standard::G, Standard::A];

    /// The standard that scenario files call by this name.
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

    /// The highest rate that a data frame may have.
    pub fn highest_rate(self) -> Rate {
        self.rates().last().expect("every standard has rates")
    }
}

/// As scenario files write it.
impl Serialize for Standard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WlanCell {
    /// Number of stations besides the access point.
    pub stations: u32,
    /// Timing and rates.
    pub standard: Standard,
    /// Rate of data frames; all stations have the same.
    #[serde(rename = "data_rate_bps", serialize_with = "bps")]
    pub data_rate: Rate,
    /// Rate of ACK frames.
    #[serde(rename = "control_rate_bps", serialize_with = "bps")]
    pub control_rate: Rate,
    /// Use of the short preamble; 802.11b only.
    pub short_preamble: bool,
    /// How often a frame is sent before it is given up.
    pub max_tries: u32,
    /// Share of the data frames that arrive damaged though they did not collide.
    pub frame_error_rate: LossRate,
    /// Index of the link from the stations; this and `downlink` are the last two of the network's links.
    pub uplink: usize,
    /// Index of the link to the stations.
    pub downlink: usize,
}

/// A cell, its queues, and the wired path.
#[derive(Debug, Clone)]
pub struct Wlan {
    /// The channel.
    pub cell: WlanCell,
    /// Buffer of the access point.
    pub ap_limit: Limit,
    /// Buffer of each station.
    pub station_limit: Limit,
    /// Rate of the wired path, each way.
    pub wired_rate: Rate,
    /// Two-way propagation delay of the wired path.
    pub wired_rtt: Span,
    /// Buffer of the wired path, each way.
    pub wired_limit: Limit,
}

impl Wlan {
    /// Makes the nodes and the four links. The indices of uplink and downlink in `cell` are filled in here.
    pub fn network(self) -> Topology {
        let link = |name: &str, (from, to), rate, ns, limit| LinkConfig {
            name: name.into(),
            from,
            to,
            rate,
            delay: Span { ns },
            limit,
            aqm: Aqm::DropTail,
            loss: Loss::None,
            effects: None,
        };
        let (stations, ap, server) = (0, 1, 2);
        let one_way = self.wired_rtt.ns / 2;
        let air = self.cell.data_rate;
        Topology {
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
