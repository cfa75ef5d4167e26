// SPDX-License-Identifier: MIT OR Apache-2.0
//! The raw values of one run in a file: the common form into which all kinds of files are read.

use tandem_scenario::{DEFAULT_MTU, HEADER_BYTES, units::Rate};

use super::{Direction, Evidence, LimitedBy};

/// A number, and where in which file it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    pub value: T,
    pub source: String,
}

/// Packets sent again, or lost, of how many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    pub lost: f64,
    pub packets: f64,
}

/// How much of a packet is payload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Packet {
    pub mtu_bytes: f64,
    pub payload_bytes: f64,
}

/// What may have held a sender back, as far as the file tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Windows {
    /// The largest congestion window, of one connection.
    pub congestion_bytes: Option<f64>,
    /// The largest window that the receiver granted.
    pub receive_bytes: Option<f64>,
    /// The sender's buffer, where the user has fixed it.
    pub send_bytes: Option<f64>,
    /// Rate or window were still growing when the run ended.
    pub is_growing: bool,
}

/// A run whose rate fell to a lower one and stayed there, while packets were lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fall {
    /// Payload of its fastest interval, bits a second.
    pub peak_bps: f64,
    /// The mean of its later half.
    pub later_bps: f64,
    /// What the earlier half carried above that.
    pub excess_bytes: f64,
}

/// What one run says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Readings {
    /// Payload that arrived, bits a second.
    pub payload_bps: Option<Reading<f64>>,
    /// How long that went on, from the start.
    pub seconds: Option<f64>,
    /// The packets it came in.
    pub packet: Packet,
    /// What is known of the packets' size.
    pub is_packet_known: bool,
    /// More was offered than arrived, so that what arrived is the path's rate: how the file tells it.
    pub overload: Option<Evidence>,
    /// A core of one of the ends had no time left: how the file tells it.
    pub processor: Option<Evidence>,
    /// See [`Fall`].
    pub fall: Option<Fall>,
    pub least_rtt_ms: Option<Reading<f64>>,
    /// The largest RTT that shows the state of a busy path.
    pub busy_rtt_ms: Option<Reading<f64>>,
    /// Distinguishes a standing queue from a momentary one.
    pub mean_rtt_ms: Option<f64>,
    pub losses: Option<Reading<Losses>>,
    /// What was lost is all that this machine lost, on whatever path.
    pub is_of_all_paths: bool,
    pub direction: Option<Direction>,
    pub flows: Option<u32>,
    pub controller: Option<String>,
    /// The queue discipline of this machine's uplink, as the kernel spells it.
    pub aqm: Option<Reading<String>>,
    /// What the file itself says.
    pub limited_by: Option<LimitedBy>,
    pub windows: Windows,
    pub cautions: Vec<String>,
}

/// No path has a longer RTT, not to the moon and back a hundred times.
const LONGEST_RTT_MS: f64 = 1e6;
/// The kernel's longest name of a controller or a queue discipline has 15 characters.
const LONGEST_NAME: usize = 16;
/// Number of characters of a message that are shown.
const SHOWN_CHARACTERS: usize = 120;

impl<T> Reading<T> {
    pub fn new(value: T, field: impl Into<String>) -> Self {
        Self { value, source: field.into() }
    }

    fn of_file(self, file: &str) -> Self {
        Self { source: in_file(file, &self.source), ..self }
    }
}

impl Default for Packet {
    fn default() -> Self {
        Self { mtu_bytes: f64::from(DEFAULT_MTU), payload_bytes: f64::from(DEFAULT_MTU - HEADER_BYTES) }
    }
}

impl Packet {
    /// The smallest MSS that TCP has to take, and the largest that fits into a packet of IP. Others are no MSS.
    const MSS: std::ops::RangeInclusive<f64> = 536.0..=65_495.0;
    /// MTUs of Ethernet, of jumbo frames there and of clouds. With a header of 40 bytes they tell a connection without time stamps.
    const USUAL_MTUS: [f64; 3] = [1500.0, 9000.0, 9001.0];
    /// IP and TCP without options.
    const BARE_HEADER: f64 = 40.0;
    /// What IPv6's header has more than IPv4's; as much as MPTCP's option.
    const MORE_HEADER: f64 = 20.0;
    /// IPv6, time stamps and MPTCP's option. A path MTU further above the MSS is not what the packets have.
    const MOST_HEADER: f64 = 92.0;

    /// Of TCP. `more_headers` counts IPv6 and MPTCP.
    pub fn of_tcp(mss_bytes: f64, path_mtu_bytes: Option<f64>, more_headers: u32) -> Option<Self> {
        if !Self::MSS.contains(&mss_bytes) {
            return None;
        }
        let least = mss_bytes + Self::BARE_HEADER;
        let known = path_mtu_bytes.filter(|mtu| (least..=mss_bytes + Self::MOST_HEADER).contains(mtu));
        let bare = Self::USUAL_MTUS.into_iter().find(|mtu| *mtu == least);
        let usual = mss_bytes + f64::from(HEADER_BYTES) + Self::MORE_HEADER * f64::from(more_headers);
        Some(Self { mtu_bytes: known.or(bare).unwrap_or(usual), payload_bytes: mss_bytes })
    }

    /// Of UDP over IPv4: a datagram that is larger than a packet is sent in fragments.
    pub fn of_udp(datagram_bytes: f64) -> Self {
        let (ip_bytes, udp_bytes) = (20.0, 8.0);
        let of_ip = datagram_bytes + udp_bytes;
        let fragments = (of_ip / (f64::from(DEFAULT_MTU) - ip_bytes)).ceil();
        Self { mtu_bytes: of_ip + ip_bytes * fragments, payload_bytes: datagram_bytes }
    }
}

impl Readings {
    /// What arrived, with headers, bits a second.
    pub fn wire_bps(&self) -> Option<f64> {
        self.payload_bps.as_ref().map(|payload| payload.value * self.packet.mtu_bytes / self.packet.payload_bytes)
    }

    /// With the file's name at each value, and without values that no path has.
    pub fn of_file(self, file: &str) -> Self {
        let is_rtt = |ms: &f64| *ms > 0.0 && *ms <= LONGEST_RTT_MS;
        let rtt = |rtt: Option<Reading<f64>>| rtt.filter(|r| is_rtt(&r.value)).map(|r| r.of_file(file));
        Self {
            payload_bps: self.payload_bps.filter(|bps| bps.value > 0.0).map(|r| r.of_file(file)),
            seconds: self.seconds.filter(|seconds| *seconds > 0.0 && seconds.is_finite()),
            overload: self.overload.map(|evidence| evidence.of_file(file)),
            processor: self.processor.map(|evidence| evidence.of_file(file)),
            least_rtt_ms: rtt(self.least_rtt_ms),
            busy_rtt_ms: rtt(self.busy_rtt_ms),
            mean_rtt_ms: self.mean_rtt_ms.filter(is_rtt),
            aqm: self.aqm.map(|r| r.of_file(file)),
            losses: self.losses.filter(|l| l.value.packets > 0.0).map(|r| r.of_file(file)),
            limited_by: self.limited_by.map(|limit| limit.of_file(file)),
            cautions: self.cautions.iter().map(|caution| in_file(file, caution)).collect(),
            ..self
        }
    }
}

impl Evidence {
    pub(super) fn new(words: impl Into<String>, field: impl Into<String>) -> Self {
        Self { words: words.into(), source: field.into() }
    }

    fn of_file(self, file: &str) -> Self {
        Self { source: in_file(file, &self.source), ..self }
    }
}

impl LimitedBy {
    fn of_file(self, file: &str) -> Self {
        match self {
            Self::Loss(e) => Self::Loss(e.of_file(file)),
            Self::ReceiveWindow(e) => Self::ReceiveWindow(e.of_file(file)),
            Self::SendBuffer(e) => Self::SendBuffer(e.of_file(file)),
            Self::Application(e) => Self::Application(e.of_file(file)),
            Self::Processor(e) => Self::Processor(e.of_file(file)),
            Self::Policer(e) => Self::Policer(e.of_file(file)),
            Self::Port(e) => Self::Port(e.of_file(file)),
            Self::Path(e) => Self::Path(e.of_file(file)),
        }
    }
}

fn in_file(file: &str, text: &str) -> String {
    format!("{file}: {text}")
}

/// The name of a controller or a queue discipline, if it can be one.
pub fn kernel_name(text: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(is_name)).then(|| text.to_owned())
}

/// The name of a controller. One of Tandem's that was loaded as `tandem_NAME`, because the kernel has another of its name, goes by its own.
pub fn controller_name(text: &str) -> Option<String> {
    kernel_name(text.strip_prefix("tandem_").unwrap_or(text))
}

/// No tool counts further than 64 bits do. Rust also reads `nan` and `inf`, which no tool means.
pub fn is_countable(number: f64) -> bool {
    number.abs() <= u64::MAX as f64
}

/// What a tool counts or times.
pub fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(is_count)
}

/// Is it one?
pub fn is_count(number: &f64) -> bool {
    is_countable(*number) && *number >= 0.0
}

/// A message from a file, fit for a terminal.
pub fn shown(message: &str) -> String {
    message.trim().chars().take(SHOWN_CHARACTERS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A rate in three digits; nobody measures more.
pub fn rate(bps: f64) -> Option<Rate> {
    let scale = 10f64.powf((bps.log10().floor() - 2.0).max(0.0));
    let rounded = ((bps / scale).round() * scale) as u64;
    format!("{rounded}bit").parse().ok()
}

/// The same in words.
pub fn rate_words(bps: f64) -> String {
    rate(bps).map_or_else(|| "more than any path".to_owned(), |rate| rate.to_string())
}

/// A number above 0.
pub fn positive(number: f64) -> Option<f64> {
    (number.is_finite() && number > 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mss_tells_the_packet() {
        let mtu = |mss, path_mtu, more| Packet::of_tcp(mss, path_mtu, more).map(|p| p.mtu_bytes);
        // Time stamps take 12 bytes beside the 40 of IPv4 and TCP.
        assert_eq!(mtu(1448.0, None, 0), Some(1500.0));
        assert_eq!(mtu(1460.0, None, 0), Some(1500.0));
        assert_eq!(mtu(8948.0, None, 0), Some(9000.0));
        assert_eq!(mtu(8960.0, None, 0), Some(9000.0));
        assert_eq!(mtu(8949.0, Some(9001.0), 0), Some(9001.0));
        // IPv6: 20 more.
        assert_eq!(mtu(1428.0, None, 1), Some(1500.0));
        // The peer asked for less than the path carries: 1388 + 52.
        assert_eq!(mtu(1388.0, Some(1500.0), 0), Some(1440.0));
        assert_eq!(mtu(0.0, None, 0), None);
    }

    #[test]
    fn a_large_datagram_has_a_header_in_each_fragment() {
        // 1448 + 8 + 20, and 8192 + 8 + 6 * 20.
        assert_eq!(Packet::of_udp(1448.0).mtu_bytes, 1476.0);
        assert_eq!(Packet::of_udp(8192.0).mtu_bytes, 8320.0);
    }

    #[test]
    fn names_and_messages_are_harmless() {
        assert_eq!(kernel_name("bbr"), Some("bbr".to_owned()));
        assert_eq!(kernel_name("a\u{1b}[31m"), None);
        assert_eq!(["tandem_bbr3", "cubic"].map(controller_name), ["bbr3", "cubic"].map(|name| Some(name.to_owned())));
        assert_eq!(controller_name("tandem_"), None);
        assert_eq!(kernel_name(&"x".repeat(17)), None);
        assert_eq!(shown(" a\u{1b}b\n"), "a b");
        assert_eq!((rate_words(49_934_000.0).as_str(), rate(f64::INFINITY)), ("49.9mbit", None));
    }
}
