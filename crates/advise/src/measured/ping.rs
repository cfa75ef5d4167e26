// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `ping` prints on any system and in any language, and `fping`. Words differ, so numbers, units and shape tell:
//!
//! - an answer has one time behind `=` or `<`: `time=30.6 ms`, `Zeit<1ms`, `время=20мс`;
//! - the summary has `least/average/largest`, or on Windows three times behind `=` in a line;
//! - the count has packets sent and received, and the share that was lost, which has to fit.

use tandem_statistics::percentile;

use super::reading::{Losses, Reading, Readings};

/// Fewer answers than this have no 95th percentile.
const FEW_ANSWERS: usize = 20;
/// 95 % of a normal distribution lie below the mean plus this many deviations.
const DEVIATIONS: f64 = 1.645;
/// Largest rounding error of the printed share.
const ROUNDED_PERCENT: f64 = 1.0;
/// No line of a ping has more numbers that count.
const MOST_NUMBERS: usize = 8;

/// The last lines of a ping, or the numbers of an mtr.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Summary {
    pub least_ms: f64,
    pub mean_ms: f64,
    pub most_ms: f64,
    /// Not all print it.
    pub deviation_ms: Option<f64>,
}

/// All that is in a file.
#[derive(Debug, Default)]
struct Pings {
    times_ms: Vec<f64>,
    summary: Option<Summary>,
    losses: Option<Losses>,
    summaries: usize,
}

pub fn is_ping(text: &str) -> bool {
    let pings = pings(text);
    !pings.times_ms.is_empty() || pings.summary.is_some() || pings.losses.is_some()
}

pub(super) fn readings(text: &str) -> Result<Readings, String> {
    let Pings { mut times_ms, summary, losses, summaries } = pings(text);
    times_ms.sort_by(f64::total_cmp);
    let of_summary = summary.filter(|summary| summary.least_ms > 0.0);
    let least = match (of_summary, times_ms.first()) {
        (Some(summary), _) => Reading::new(summary.least_ms, "smallest of min/avg/max"),
        (None, Some(&ms)) => Reading::new(ms, "smallest time="),
        (None, None) => return Err("it is the output of `ping`, but has no answer in it: did HOST answer?".to_owned()),
    };
    let percentile = percentile(&times_ms, 0.95).filter(|_| times_ms.len() >= FEW_ANSWERS);
    let answers = losses.map_or(0.0, |losses| losses.packets - losses.lost);
    let of_summary = of_summary.filter(|_| answers >= FEW_ANSWERS as f64).map(Summary::busy_ms);
    let busy = percentile.map(|ms| Reading::new(ms, "95th percentile of time="));
    let mut cautions = Vec::new();
    if summaries > 1 {
        cautions.push(format!("The file has {summaries} pings, which are assumed to be of one path."));
    }
    Ok(Readings {
        least_rtt_ms: Some(least),
        busy_rtt_ms: busy.or_else(|| of_summary.map(|ms| Reading::new(ms, "avg, max and mdev of the summary"))),
        losses: losses.map(|losses| Reading::new(losses, "packets transmitted, received")),
        cautions,
        ..Readings::default()
    })
}

impl Summary {
    /// The 95th percentile of the answers. A single late answer raises the deviation, but not the mean: it shows no queue.
    pub fn busy_ms(self) -> f64 {
        let is_raised = self.mean_ms - self.least_ms > 0.1 * self.least_ms;
        let deviations_ms = self.deviation_ms.filter(|_| is_raised).map_or(0.0, |ms| DEVIATIONS * ms);
        (self.mean_ms + deviations_ms).min(self.most_ms)
    }

    /// Of several pings.
    fn with(self, other: Self) -> Self {
        let larger = if other.mean_ms > self.mean_ms { other } else { self };
        Self { least_ms: self.least_ms.min(other.least_ms), ..larger }
    }
}

fn pings(text: &str) -> Pings {
    let mut pings = Pings::default();
    for line in text.lines() {
        let times_ms = times_ms(line);
        let summary = of_slashes(line).or_else(|| of_windows(&times_ms));
        if let Some(summary) = summary {
            pings.summaries += 1;
            pings.summary = Some(pings.summary.map_or(summary, |s| s.with(summary)));
        } else {
            let answer = times_ms.last().copied().filter(|_| is_answer(line));
            pings.times_ms.extend(answer.or_else(|| of_fping(line)).filter(|ms| *ms > 0.0));
        }
        if let Some(losses) = losses(line) {
            let sum = pings.losses.unwrap_or(Losses { lost: 0.0, packets: 0.0 });
            pings.losses = Some(Losses { lost: sum.lost + losses.lost, packets: sum.packets + losses.packets });
        }
    }
    pings
}

/// These words are the same in all languages. Windows leaves them out with IPv6, whose addresses have colons.
fn is_answer(line: &str) -> bool {
    ["ttl", "TTL", "seq", "hlim"].iter().any(|word| line.contains(word)) || line.matches(':').nth(2).is_some()
}

/// Milliseconds behind each `=` and `<`.
fn times_ms(line: &str) -> Vec<f64> {
    let behind = line.match_indices(['=', '<']).map(|(at, _)| &line[at + 1..]);
    behind.filter_map(milliseconds).take(MOST_NUMBERS).collect()
}

/// `20ms`, `20 ms`, `20,5 ms`, `20мс`, and with letters of an unknown encoding; but not the 32 of `bytes=32 time=20ms`.
fn milliseconds(text: &str) -> Option<f64> {
    let is_space = |c: char| [' ', '\u{a0}', '\u{202f}'].contains(&c);
    let text = text.trim_start_matches(is_space);
    let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let (number, rest) = text.split_at(text.find(|c| !is_number(c))?);
    let rest = rest.strip_prefix(is_space).unwrap_or(rest);
    let ends = |c: char| c.is_whitespace() || ",;:=<>()，".contains(c);
    let (unit, rest) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
    let is_name = rest.trim_start_matches(is_space).starts_with(['=', '<']);
    let is_foreign = |c: char| c == char::REPLACEMENT_CHARACTER || (!c.is_ascii() && c.is_alphabetic());
    let is_unit = unit.starts_with("ms") || (unit.starts_with(is_foreign) && !is_name);
    if is_unit { decimal(number) } else { None }
}

/// With a comma or a point.
fn decimal(text: &str) -> Option<f64> {
    let is_digit = |c: char| c.is_ascii_digit();
    text.starts_with(is_digit).then(|| text.replace(',', ".").parse().ok()).flatten().filter(|n: &f64| n.is_finite())
}

/// `rtt min/avg/max/mdev = 30.173/30.285/30.564/0.144 ms`. BSD says `stddev`, BusyBox has three.
fn of_slashes(line: &str) -> Option<Summary> {
    line.split('=').skip(1).find_map(|text| {
        let mut numbers = text.split_whitespace().next()?.trim_end_matches(',').split('/').map(decimal);
        let (least_ms, mean_ms, most_ms) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let deviation_ms = numbers.next().flatten();
        let is_ordered = least_ms <= mean_ms && mean_ms <= most_ms;
        is_ordered.then_some(Summary { least_ms, mean_ms, most_ms, deviation_ms })
    })
}

/// `Minimum = 20ms, Maximum = 21ms, Average = 20ms`, in any order.
fn of_windows(times_ms: &[f64]) -> Option<Summary> {
    let mut sorted: [f64; 3] = times_ms.try_into().ok()?;
    sorted.sort_by(f64::total_cmp);
    let [least_ms, mean_ms, most_ms] = sorted;
    Some(Summary { least_ms, mean_ms, most_ms, deviation_ms: None })
}

/// `h : [0], 64 bytes, 146 ms (146 avg, 0% loss)`, `h is alive (146 ms)`.
fn of_fping(line: &str) -> Option<f64> {
    let (start, _) = line.split_once(" ms (").or_else(|| line.rsplit_once(" ms)"))?;
    let (_, number) = start.rsplit_once([' ', '('])?;
    decimal(number)
}

/// `5 packets transmitted, 4 received, 20% packet loss`; `Sent = 5, Received = 4, Lost = 1`; fping's `xmt/rcv/%loss = 5/4/20%`.
fn losses(line: &str) -> Option<Losses> {
    let of_fping = line.split_once("%loss = ").map(|(_, text)| text);
    let words = of_fping.unwrap_or(line).split(|c: char| c.is_whitespace() || "/,;:=()，、".contains(c));
    let mut counts = Vec::new();
    let mut lost_percent = None;
    for word in words {
        let digits = word.trim_end_matches(['.', '。']);
        if let Some(percent) = digits.split_once('%').and_then(|(number, _)| decimal(number)) {
            lost_percent = Some(percent);
            break;
        }
        counts.extend(digits.parse::<u64>().ok().filter(|_| word.starts_with(|c: char| c.is_ascii_digit())));
        if counts.len() == MOST_NUMBERS {
            break;
        }
    }
    let [sent, received, rest @ ..] = counts.as_slice() else { return None };
    let lost = sent.checked_sub(*received).filter(|_| *sent > 0)? as f64;
    let packets = *sent as f64;
    let fits = |percent: f64| (100.0 * lost / packets - percent).abs() <= ROUNDED_PERCENT;
    let is_count = match lost_percent {
        Some(percent) => fits(percent),
        None => is_windows(line) && rest == [sent - received],
    };
    is_count.then_some(Losses { lost, packets })
}

/// Three numbers, each behind `=`, and none before; an answer has some before.
fn is_windows(line: &str) -> bool {
    let mut parts = line.split('=');
    let starts_without = parts.next().is_some_and(|start| !start.contains(|c: char| c.is_ascii_digit()));
    starts_without && parts.count() == 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Readings {
        assert!(is_ping(text), "{text}");
        readings(text).unwrap()
    }

    #[test]
    fn bsd_and_busybox_write_it_otherwise() {
        let text = "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: seq=0 ttl=64 time=1.237 ms\n\n\
                    --- 192.0.2.1 ping statistics ---\n4 packets transmitted, 3 packets received, 25% packet loss\n\
                    round-trip min/avg/max = 1.230/1.233/1.237 ms\n";
        let readings = read(text);
        assert_eq!(readings.least_rtt_ms.unwrap().value, 1.23);
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 1.0, packets: 4.0 });
        // One answer is no distribution.
        assert!(readings.busy_rtt_ms.is_none());
    }

    #[test]
    fn an_interrupted_ping_has_no_summary() {
        let text: String = (1..=20).map(|i| format!("64 bytes from h: icmp_seq={i} ttl=64 time={i}.5 ms\n")).collect();
        let readings = read(&text);
        assert_eq!(readings.least_rtt_ms.unwrap().value, 1.5);
        // The 19th of 20.
        assert_eq!(readings.busy_rtt_ms.unwrap().value, 19.5);
    }

    #[test]
    fn an_answer_has_its_time_in_every_language() {
        for (line, ms) in [
            ("Reply from 192.0.2.9: bytes=32 time=48ms TTL=53", 48.0),
            ("Reply from 2001:db8::9: time=48ms ", 48.0),
            ("Antwort von 192.0.2.9: Bytes=32 Zeit<1ms TTL=53", 1.0),
            ("Réponse de 192.0.2.9 : octets=32 temps=48 ms TTL=53", 48.0),
            ("Respuesta desde 192.0.2.9: bytes=32 tiempo=48ms TTL=53", 48.0),
            ("192.0.2.9 からの応答: バイト数 =32 時間 =48ms TTL=53", 48.0),
            ("来自 192.0.2.9 的回复: 字节=32 时间=48ms TTL=53", 48.0),
            ("Ответ от 192.0.2.9: число байт=32 время=48мс TTL=53", 48.0),
            // The same in a code page of old.
            ("\u{fffd}\u{fffd} 192.0.2.9: \u{fffd}\u{fffd}=32 \u{fffd}\u{fffd}=48\u{fffd}\u{fffd} TTL=53", 48.0),
            ("64 Bytes von 192.0.2.9: icmp_seq=1 ttl=52 Zeit=31,4 ms\r", 31.4),
            ("64 bytes from h: icmp_seq=1 ttl=52 time=212 ms (DUP!)", 212.0),
        ] {
            assert_eq!(read(line).least_rtt_ms.map(|r| r.value), Some(ms), "{line}");
        }
        for line in [
            "GET / took: time=48ms",
            "From 192.0.2.1 icmp_seq=3 Destination Host Unreachable",
            "PING h (192.0.2.9) 56(84) bytes of data.",
        ] {
            assert!(!is_ping(line), "{line}");
        }
    }

    #[test]
    fn counts_and_summaries_are_known_by_their_numbers() {
        for (text, losses) in [
            ("8 Pakete übertragen, 6 empfangen, 25% packet loss, time 7012ms", Some((2.0, 8.0))),
            ("7 packets transmitted, 6 packets received, 14.3% packet loss", Some((1.0, 7.0))),
            (
                "8 packets transmitted, 6 received, +2 duplicates, +1 errors, 25% packet loss, time 7004ms",
                Some((2.0, 8.0)),
            ),
            ("    Pakete: Gesendet = 8, Empfangen = 6, Verloren = 2", Some((2.0, 8.0))),
            ("    数据包: 已发送 = 8，已接收 = 6，丢失 = 2 (25% 丢失)，", Some((2.0, 8.0))),
            ("h : xmt/rcv/%loss = 8/6/25%, min/avg/max = 4.0/5.5/7.5", Some((2.0, 8.0))),
            ("8 of 6 are 30% of something", None),
            ("18 hosts, 6 of them, 25% up", None),
        ] {
            let read = super::losses(text).map(|l| (l.lost, l.packets));
            assert_eq!(read, losses, "{text}");
        }
        // The second is in a code page of old, which has an `A` in its comma.
        for windows in [
            "    Minimum = 4ms, Maximum = 9ms, Mittelwert = 6ms",
            "\u{fffd} = 4ms\u{fffd}A\u{fffd} = 9ms\u{fffd}A\u{fffd} = 6ms",
        ] {
            assert_eq!(read(windows).least_rtt_ms.unwrap(), Reading::new(4.0, "smallest of min/avg/max"));
        }
        let fping = of_slashes("h : xmt/rcv/%loss = 8/6/25%, min/avg/max = 4.0/5.5/7.5").unwrap();
        assert_eq!((fping.least_ms, fping.mean_ms, fping.most_ms), (4.0, 5.5, 7.5));
        assert_eq!(read("h : [0], 64 bytes, 4.25 ms (4.25 avg, 0% loss)").least_rtt_ms.unwrap().value, 4.25);
        assert_eq!(read("h is alive (4.5 ms)").least_rtt_ms.unwrap().value, 4.5);
    }

    #[test]
    fn a_summary_alone_tells_a_queue() {
        let quiet = |summary: &str| {
            read(&format!("400 packets transmitted, 400 received, 0% packet loss\nrtt min/avg/max/mdev = {summary} ms"))
        };
        // 150 + 1.645 * 40.
        assert!((quiet("20.0/150.0/400.0/40.0").busy_rtt_ms.unwrap().value - 215.8).abs() < 1e-9);
        // No more than the largest.
        assert_eq!(quiet("20.0/150.0/200.0/40.0").busy_rtt_ms.unwrap().value, 200.0);
        // A mean of 21 is near the least: what raised the deviation was one answer.
        assert_eq!(quiet("20.0/21.0/1020.0/50.0").busy_rtt_ms.unwrap().value, 21.0);
        // Too few.
        let few = "4 packets transmitted, 4 received, 0% packet loss\nrtt min/avg/max/mdev = 20.0/150.0/400.0/40.0 ms";
        assert!(read(few).busy_rtt_ms.is_none());
    }

    #[test]
    fn nobody_answered() {
        for text in [
            "5 packets transmitted, 0 received, 100% packet loss",
            "    Packets: Sent = 5, Received = 0, Lost = 5 (100% loss),",
        ] {
            assert!(readings(text).unwrap_err().contains("no answer"));
        }
    }
}
