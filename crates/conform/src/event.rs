// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log: one event for each call, as JSON one object a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_controllers::{Conn, State};

/// What the host shows of the connection before a call. What is left out stays as it was.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Shown {
    /// The host's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now_us: Option<u64>,
    /// `snd_una`, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub una: Option<u32>,
    /// `snd_nxt`, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nxt: Option<u32>,
    /// `is_cwnd_limited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited: Option<bool>,
    /// `is_paced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paced: Option<bool>,
}

impl Shown {
    /// All that a connection shows.
    pub fn all_of(conn: &Conn) -> Self {
        Self {
            now_us: Some(conn.now_us),
            una: Some(conn.snd_una),
            nxt: Some(conn.snd_nxt),
            limited: Some(conn.is_cwnd_limited != 0),
            paced: Some(conn.is_paced != 0),
        }
    }

    pub(crate) fn show(&self, conn: &mut Conn) {
        conn.now_us = self.now_us.unwrap_or(conn.now_us);
        conn.snd_una = self.una.unwrap_or(conn.snd_una);
        conn.snd_nxt = self.nxt.unwrap_or(conn.snd_nxt);
        conn.is_cwnd_limited = self.limited.map_or(conn.is_cwnd_limited, u16::from);
        conn.is_paced = self.paced.map_or(conn.is_paced, u16::from);
    }
}

/// The connection after a call, as in the log. What is left out is not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expected {
    /// `snd_cwnd`, packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<u32>,
    /// `snd_ssthresh`, packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<u32>,
    /// The rate that the controller sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_bytes_per_s: Option<u64>,
}

impl Expected {
    /// All that may be compared.
    pub fn all_of(conn: &Conn) -> Self {
        Self {
            cwnd: Some(conn.snd_cwnd),
            ssthresh: Some(conn.snd_ssthresh),
            pacing_bytes_per_s: Some(conn.pacing_bytes_per_s),
        }
    }
}

/// What a probe says in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Probed {
    /// In the unit of the probe's name.
    Number(f64),
    /// Such as a state.
    Word(String),
    /// `null`: there is no such value now.
    Nothing,
}

/// A call, or what the host does without one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// **init**: a connection begins.
    Init {
        /// The initial window, packets.
        cwnd: u32,
        /// Infinite if it is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        ssthresh: Option<u32>,
        /// The bound of the window; the contract's if it is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        clamp: Option<u32>,
        /// Bytes of a full packet's payload.
        mss: u32,
        /// Before the call.
        #[serde(flatten)]
        shown: Shown,
    },
    /// **pkts_acked**, and at once **cong_avoid** unless `grow` is false.
    Ack {
        /// Packets that left the front of the window.
        packets: u32,
        /// 0: no sample.
        #[serde(default)]
        rtt_us: u32,
        /// Was **cong_avoid** called? If it is left out: outside CWR and Recovery.
        #[serde(skip_serializing_if = "Option::is_none")]
        grow: Option<bool>,
        /// The delivery rate, losses and marks.
        #[serde(flatten)]
        rate: Rate,
        /// The controller's probes after the calls, by name; those that are left out are not compared.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        probes: BTreeMap<String, Probed>,
        /// Before the calls.
        #[serde(flatten)]
        shown: Shown,
        /// After them.
        #[serde(flatten)]
        expected: Expected,
    },
    /// **cong_avoid** alone: between **pkts_acked** and it the host has done something else.
    Grow {
        /// Packets that the window may grow for.
        packets: u32,
        /// Before the call.
        #[serde(flatten)]
        shown: Shown,
        /// After it.
        #[serde(flatten)]
        expected: Expected,
    },
    /// **ssthresh**; the host takes its value, and sets `snd_cwnd_cnt` to 0.
    Ssthresh {
        /// Is an ECN mark the reason, and no loss?
        #[serde(default)]
        for_mark: bool,
        /// Before the call.
        #[serde(flatten)]
        shown: Shown,
        /// After it.
        #[serde(flatten)]
        expected: Expected,
    },
    /// **set_state**.
    State {
        /// The state that is entered.
        state: StateName,
        /// Before the call.
        #[serde(flatten)]
        shown: Shown,
        /// After it.
        #[serde(flatten)]
        expected: Expected,
    },
    /// **restart**.
    Restart {
        /// Before the call.
        #[serde(flatten)]
        shown: Shown,
        /// After it.
        #[serde(flatten)]
        expected: Expected,
    },
    /// **undo_cwnd**; the host takes its value as the window.
    Undo {
        /// Before the call.
        #[serde(flatten)]
        shown: Shown,
        /// After it.
        #[serde(flatten)]
        expected: Expected,
    },
    /// The host changes values by itself.
    Window {
        /// `snd_cwnd`, packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwnd: Option<u32>,
        /// `snd_ssthresh`, packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        ssthresh: Option<u32>,
        /// `snd_cwnd_cnt`, packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        cnt: Option<u32>,
        /// `snd_cwnd_clamp`, packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        clamp: Option<u32>,
        /// Bytes of a full packet's payload.
        #[serde(skip_serializing_if = "Option::is_none")]
        mss: Option<u32>,
    },
}

impl Event {
    /// What the host shows before the call; `None`: there is no call.
    pub fn shown(&self) -> Option<&Shown> {
        match self {
            Self::Init { shown, .. }
            | Self::Ack { shown, .. }
            | Self::Grow { shown, .. }
            | Self::Ssthresh { shown, .. }
            | Self::State { shown, .. }
            | Self::Restart { shown, .. }
            | Self::Undo { shown, .. } => Some(shown),
            Self::Window { .. } => None,
        }
    }
}

/// What an ACK says besides packets and RTT, for controllers whose traits ask for it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rate {
    /// Packets newly delivered, by number or by SACK; as many as `packets` if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acked_sacked: Option<u32>,
    /// Packets delivered since the connection began; the sum of `acked_sacked` if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<u32>,
    /// The same when the newest packet acknowledged was sent.
    #[serde(skip_serializing_if = "is_0")]
    pub prior_delivered: u32,
    /// Time in which the difference was delivered.
    #[serde(skip_serializing_if = "is_0")]
    pub interval_us: u32,
    /// Did the application leave the path idle when that packet was sent?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub app_limited: bool,
    /// Packets in flight after the ACK.
    #[serde(skip_serializing_if = "is_0")]
    pub in_flight: u32,
    /// Packets that the ACK showed to be lost.
    #[serde(skip_serializing_if = "is_0")]
    pub lost: u32,
    /// Packets newly reported as marked.
    #[serde(skip_serializing_if = "is_0")]
    pub marked: u32,
}

fn is_0(value: &u32) -> bool {
    *value == 0
}

/// A congestion state as the log names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateName {
    /// Nothing is wrong.
    Open,
    /// Signs of reordering or loss.
    Disorder,
    /// The window is being reduced without a retransmission.
    Cwr,
    /// Fast retransmit and recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

impl From<StateName> for State {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Open => State::Open,
            StateName::Disorder => State::Disorder,
            StateName::Cwr => State::Cwr,
            StateName::Recovery => State::Recovery,
            StateName::Loss => State::Loss,
        }
    }
}

impl From<State> for StateName {
    fn from(state: State) -> Self {
        match state {
            State::Open => StateName::Open,
            State::Disorder => StateName::Disorder,
            State::Cwr => StateName::Cwr,
            State::Recovery => StateName::Recovery,
            State::Loss => StateName::Loss,
        }
    }
}
