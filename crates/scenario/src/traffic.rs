// SPDX-License-Identifier: MIT OR Apache-2.0
//! What flows send: the kinds of traffic, and what others ask of them. A new kind is a [`Kind`] in a file of its own, a variant of
//! [`Traffic`], and its endpoints in the simulator.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};
pub use tandem_controllers::host::{Ecn, Honesty, Recovery};
use tandem_controllers::{Controller, Params, find};

use crate::{
    controller::{KERNEL_PREFIX, NOQ_PREFIX},
    scenario::HEADER_BYTES,
    short_flows::ShortFlows,
    udp::UdpSource,
    units::{Rate, Span, seconds, seconds_if_any},
};

/// What a flow sends.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Traffic {
    /// Data under congestion control.
    Tcp(TcpSource),
    /// Packets at a constant rate, all the time or on and off in turn.
    Udp(UdpSource),
}

/// What a kind of traffic says of itself.
pub(crate) trait Kind {
    /// What stands for it in results and reports.
    fn name(&self) -> String;

    /// The rate that it is sent at, headers included, whatever the network does; `None`: it answers to the network.
    fn constant_rate(&self) -> Option<Rate> {
        None
    }

    /// Bytes of a full packet, headers included.
    fn packet_bytes(&self, mtu: u32) -> u32 {
        mtu
    }

    /// What sends, as in "two flows of UDP at 1 Mbit/s".
    fn in_words(&self) -> String {
        self.name()
    }
}

impl Traffic {
    fn kind(&self) -> &dyn Kind {
        match self {
            Traffic::Tcp(tcp) => tcp,
            Traffic::Udp(udp) => udp,
        }
    }

    /// The short flows that it consists of, if it does.
    pub fn short(&self) -> Option<&ShortFlows> {
        match &self.tcp()?.transfer {
            Transfer::Short(short) => Some(short),
            _ => None,
        }
    }

    /// What congestion control governs, if that is what it is.
    pub fn tcp(&self) -> Option<&TcpSource> {
        if let Traffic::Tcp(tcp) = self { Some(tcp) } else { None }
    }

    /// Whether congestion control governs it.
    pub fn is_tcp(&self) -> bool {
        self.tcp().is_some()
    }

    /// The scenario's own congestion control, if one governs it.
    pub fn params(&self) -> Option<&Arc<Params>> {
        match &self.tcp()?.controller {
            CongestionControl::Tandem(params) => Some(params),
            CongestionControl::Kernel(_) | CongestionControl::Noq(_) => None,
        }
    }

    /// The rate that it is sent at, headers included, whatever the network does; `None`: congestion control decides.
    pub fn constant_rate(&self) -> Option<Rate> {
        self.kind().constant_rate()
    }

    /// Bytes of a full packet, headers included; a full one of TCP has `mtu` bytes.
    pub fn packet_bytes(&self, mtu: u32) -> u32 {
        self.kind().packet_bytes(mtu)
    }

    /// Is it sent at a rate that its controller sets, rather than clocked by ACKs? Such a flow takes no `send_jitter`: there is no
    /// clock to break, and its controller would read the noise in the times of ACKs as bandwidth.
    pub fn sets_own_rate(&self) -> bool {
        self.params().is_some_and(|params| params.controller().owns_window())
    }

    /// Payload of a packet, of which a full one has `mss` bytes; for UDP as much as TCP would have in a packet of its size.
    pub fn payload_bytes(&self, mss: u32) -> u32 {
        self.packet_bytes(mss + HEADER_BYTES) - HEADER_BYTES
    }

    /// The controller's name, or `udp`.
    pub fn controller(&self) -> String {
        self.kind().name()
    }

    /// What sends, in words of prose: `UDP at 1 Mbit/s`, or the controller's name.
    pub fn in_words(&self) -> String {
        self.kind().in_words()
    }
}

impl Kind for TcpSource {
    fn name(&self) -> String {
        self.controller.to_string()
    }
}

/// What decides how large a flow's window is.
#[derive(Debug, Clone)]
pub enum CongestionControl {
    /// A controller of ours, which every engine has.
    Tandem(Arc<Params>),
    /// One of the kernel's own, written `kernel:NAME`, for the kernel engine only.
    Kernel(String),
    /// One of the QUIC stack's own, written `noq:NAME`, for the QUIC engine only.
    Noq(Noq),
}

/// What the QUIC stack noq has of its own. It takes no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noq {
    /// NewReno.
    Reno,
    /// CUBIC, not paced.
    Cubic,
    /// BBRv3.
    Bbr3,
}

impl Noq {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Reno, Self::Cubic, Self::Bbr3];

    /// As it is written after `noq:`. Ours of the same algorithm has the same name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr3 => "bbr3",
        }
    }
}

impl CongestionControl {
    /// What the list of controllers says of it: the kernel's own CUBIC is a CUBIC.
    pub fn listed(&self) -> Option<&'static Controller> {
        match self {
            Self::Tandem(params) => Some(params.controller()),
            Self::Kernel(name) => find(name).ok(),
            Self::Noq(noq) => find(noq.name()).ok(),
        }
    }

    /// Why only one engine has it, in words; `None`: it is one of ours.
    pub fn foreign(&self) -> Option<&'static str> {
        match self {
            Self::Tandem(_) => None,
            Self::Kernel(_) => Some("the kernel's own"),
            Self::Noq(_) => Some("the QUIC stack's own"),
        }
    }
}

/// Its name alone, as scenario files write it.
impl fmt::Display for CongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            CongestionControl::Tandem(params) => f.write_str(params.controller().name),
            CongestionControl::Kernel(name) => write!(f, "{KERNEL_PREFIX}{name}"),
            CongestionControl::Noq(noq) => write!(f, "{NOQ_PREFIX}{}", noq.name()),
        }
    }
}

impl Serialize for CongestionControl {
    /// The name, and all parameters.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_struct("CongestionControl", 2)?;
        whole.serialize_field("name", &self.to_string())?;
        if let Self::Tandem(params) = self {
            let all = params.controller().params().filter_map(|p| Some((p.name, params.get(p.name)?)));
            whole.serialize_field("parameters", &all.collect::<BTreeMap<_, _>>())?;
        }
        whole.end()
    }
}

/// How a flow with a controller sends.
#[derive(Debug, Clone, Serialize)]
pub struct TcpSource {
    /// Its congestion control.
    pub controller: CongestionControl,
    /// What carries it; `None`: whatever the engine has.
    pub transport: Option<Transport>,
    /// How much it has to send.
    pub transfer: Transfer,
    /// Whether its receiver delays ACKs (RFC 1122 section 4.2.3.2).
    pub delayed_acks: bool,
    /// Linux's internal pacing: 2 times cwnd/srtt in slow start, 1.2 times after.
    pub pacing: bool,
    /// How it finds and repairs losses.
    pub recovery: Recovery,
    /// Whether queues may mark its packets rather than drop them, and what it does then.
    pub ecn: Ecn,
    /// Window before the first ACK, packets (RFC 6928: 10).
    pub initial_window: u32,
    /// Packets that the receiver takes before it is read; `None` = as much as TCP can express (1 GiB, RFC 7323).
    pub receive_window: Option<u32>,
    /// Segments that share a delayed ACK.
    #[serde(skip_serializing_if = "is_usual")]
    pub ack_every: u32,
    /// Whether its receiver says what is true.
    #[serde(skip_serializing_if = "Honesty::is_honest")]
    pub receiver: Honesty,
}

/// As Linux does, of full segments.
pub const USUAL_ACK_EVERY: u32 = 2;

fn is_usual(ack_every: &u32) -> bool {
    *ack_every == USUAL_ACK_EVERY
}

/// What carries data under congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP.
    Tcp,
    /// QUIC (RFC 9000).
    Quic,
}

/// From a time on the application offers another rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OfferChange {
    /// From the start of the run.
    #[serde(rename = "at_s", serialize_with = "seconds")]
    pub at: Span,
    /// As of [`Transfer::Offered`]; 0: nothing.
    pub rate_bps: Option<u64>,
}

/// How much data a flow has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transfer {
    /// More than the run has time for.
    Bulk,
    /// A transfer of fixed size, once or again and again.
    Finite {
        /// Payload of one transfer.
        bytes: u64,
        /// Time without sending before the next transfer; `None`: there is no next one.
        #[serde(rename = "pause_s", serialize_with = "seconds_if_any")]
        pause: Option<Span>,
    },
    /// As much as the application offers: a piece at a time, evenly.
    Offered {
        /// Payload a second, bits; `None`: always more than the window takes.
        rate_bps: Option<u64>,
        /// Payload of a piece: a full segment.
        piece_bytes: u32,
        /// What is offered from later times on, in their order.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        changes: Vec<OfferChange>,
    },
    /// Short flows: a connection for each transfer.
    Short(Box<ShortFlows>),
}
