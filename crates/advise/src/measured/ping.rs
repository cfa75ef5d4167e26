// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `ping` prints, in any language: that of iputils (Linux), of BSD and macOS, of BusyBox, of Windows. Numbers, units and shapes are read, for
//! the words differ.

use tandem_statistics::percentile;

use super::{Losses, Reading, Readings};

/// Fewer answers than this have no 95th percentile.
const FEW_ANSWERS: usize = 20;

pub fn is_ping(text: &str) -> bool {
    text.lines().any(|line| time_ms(line).is_some() || summary(line).is_some())
        || text.lines().any(|line| line.contains(" packets transmitted"))
}

pub fn readings(text: &str) -> Result<Readings, String> {
    let mut times_ms: Vec<f64> = text.lines().filter_map(time_ms).collect();
    times_ms.sort_by(f64::total_cmp);
    let summary = text.lines().find_map(summary);
    let least = match (summary, times_ms.first()) {
        (Some(summary), _) => Reading::new(summary.least_ms, "smallest of the summary"),
        (None, Some(&ms)) => Reading::new(ms, "smallest time"),
        (None, None) => return Err("it is the output of `ping`, but has no answer in it".to_owned()),
    };
    let of_answers = percentile(&times_ms, 0.95).filter(|_| times_ms.len() >= FEW_ANSWERS);
    let busy = match (of_answers, summary) {
        (Some(ms), _) => Some(Reading::new(ms, "95th percentile of the times")),
        // `ping -q` prints no answers.
        (None, Some(Summary { high_ms: Some(ms), .. })) if times_ms.is_empty() => {
            Some(Reading::new(ms, "mean and twice the deviation of the summary"))
        }
        _ => None,
    };
    Ok(Readings {
        least_rtt_ms: Some(least),
        busy_rtt_ms: busy,
        losses: text.lines().find_map(losses).map(|losses| Reading::new(losses, "packets sent and received")),
        ..Readings::default()
    })
}

/// `64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=30.6 ms`, `Antwort von ...: Bytes=32 Zeit<1ms TTL=118`; BusyBox says `seq`.
fn time_ms(line: &str) -> Option<f64> {
    let is_answer = line.to_ascii_lowercase().contains("ttl=");
    milliseconds(line).last().copied().filter(|_| is_answer)
}

/// The numbers that have `ms` after them.
fn milliseconds(line: &str) -> Vec<f64> {
    let before_ms = |(i, _): (usize, &str)| {
        let before = line[..i].trim_end();
        let digits = before.rsplit(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').next()?;
        digits.replace(',', ".").parse().ok().filter(|ms: &f64| ms.is_finite() && *ms > 0.0)
    };
    line.match_indices("ms").filter_map(before_ms).collect()
}

#[derive(Clone, Copy)]
struct Summary {
    least_ms: f64,
    /// What 95 of 100 are below, as far as mean and deviation tell.
    high_ms: Option<f64>,
}

/// `rtt min/avg/max/mdev = 30.173/30.285/30.564/0.144 ms`, or Windows' three times in one line.
fn summary(line: &str) -> Option<Summary> {
    let numbers = |part: &str| part.split('/').map(|n| n.trim().parse().ok()).collect::<Option<Vec<f64>>>();
    let with_slashes = line.split_once('=').and_then(|(_, rest)| numbers(rest.trim().strip_suffix("ms")?));
    if let Some(&[least_ms, mean_ms, most_ms, ref deviation_ms @ ..]) = with_slashes.as_deref() {
        let high_ms = deviation_ms.first().map(|deviation_ms| (mean_ms + 2.0 * deviation_ms).min(most_ms));
        return (least_ms > 0.0).then_some(Summary { least_ms, high_ms });
    }
    let times = milliseconds(line);
    let least_ms = times.iter().copied().reduce(f64::min)?;
    (times.len() == 3 && line.matches('=').count() == 3).then_some(Summary { least_ms, high_ms: None })
}

/// `5 packets transmitted, 5 received, 0% packet loss`; Windows breaks the line before the share in some languages.
fn losses(line: &str) -> Option<Losses> {
    let is_answer = line.to_ascii_lowercase().contains("ttl=");
    let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<f64>().ok());
    let (sent, received) = (numbers.next()?, numbers.next()?);
    let parts = line.split(',').filter(|part| part.contains(|c: char| c.is_ascii_digit())).count();
    let is_count = line.contains('%') || line.matches('=').count() == 3;
    (is_count && !is_answer && parts >= 2 && milliseconds(line).len() < 3 && received <= sent)
        .then_some(Losses { lost: sent - received, packets: sent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bsd_and_busybox_write_it_otherwise() {
        let text = "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: seq=0 ttl=64 time=1.237 ms\n\n\
                    --- 192.0.2.1 ping statistics ---\n4 packets transmitted, 3 packets received, 25% packet loss\n\
                    round-trip min/avg/max = 1.230/1.233/1.237 ms\n";
        assert!(is_ping(text));
        let readings = readings(text).unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap().value, 1.23);
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 1.0, packets: 4.0 });
        // One answer is no distribution.
        assert!(readings.busy_rtt_ms.is_none());
    }

    #[test]
    fn an_interrupted_ping_has_no_summary() {
        let text: String = (1..=20).map(|i| format!("64 bytes from h: icmp_seq={i} ttl=64 time={i}.5 ms\n")).collect();
        let readings = readings(&text).unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap().value, 1.5);
        // The 19th of 20.
        assert_eq!(readings.busy_rtt_ms.unwrap().value, 19.5);
    }

    #[test]
    fn windows_in_other_languages() {
        let french = "Réponse de 192.0.2.7 : octets=32 temps=43 ms TTL=57\r\nRéponse de 192.0.2.7 : octets=32 temps=41 ms TTL=57\r\n\r\n\
                      Statistiques Ping pour 192.0.2.7:\r\n    Paquets : envoyés = 3, reçus = 2, perdus = 1 (perte 33%),\r\n\
                      Durée approximative des boucles en millisecondes :\r\n    Minimum = 41ms, Maximum = 43ms, Moyenne = 42ms\r\n";
        assert!(is_ping(french));
        let found = readings(french).unwrap();
        assert_eq!(found.least_rtt_ms.unwrap().value, 41.0);
        assert_eq!(found.losses.unwrap().value, Losses { lost: 1.0, packets: 3.0 });
        let russian = "Ответ от 192.0.2.7: число байт=32 время=12мс TTL=57\n    Минимальное = 12 ms, Максимальное = 14 ms, Среднее = 13 ms\n";
        assert_eq!(readings(russian).unwrap().least_rtt_ms.unwrap().value, 12.0);
        let german = "    Pakete: Gesendet = 9, Empfangen = 7, Verloren = 2\n    (22% Verlust),\n    Minimum = 5ms, Maximum = 7ms, Mittelwert = 6ms";
        assert_eq!(readings(german).unwrap().losses.unwrap().value, Losses { lost: 2.0, packets: 9.0 });
    }

    /// 100 and twice 40 are less than the largest, 300.
    #[test]
    fn a_quiet_ping_tells_of_a_queue_by_its_summary() {
        let text = "2000 packets transmitted, 1998 received, 0.1% packet loss, time 20011ms\nrtt min/avg/max/mdev = 20/100/300/40 ms\n";
        let found = readings(text).unwrap();
        assert_eq!((found.least_rtt_ms.unwrap().value, found.busy_rtt_ms.unwrap().value), (20.0, 180.0));
        assert_eq!(found.losses.unwrap().value, Losses { lost: 2.0, packets: 2000.0 });
    }
}
