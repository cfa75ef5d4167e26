// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection as `ss -ti` prints it, for those who read that: `tandem advise --from`.

use std::fmt::Write;

use crate::{PeerNames, Record};

/// Both lines. Values that a trial does not know are left out, except the scale of the windows after the controller's name: without it,
/// readers would not recognise the name.
pub fn as_ss(connection: &Record, controller: &str, names: &PeerNames) -> String {
    let ms = |us: u32| f64::from(us) / 1e3;
    let mut text = format!(
        "This connection of a trial sent most with {controller}.\nESTAB 0 0 here:0 {}:{}\n\t {controller} wscale:0,0",
        names.of(connection.peer),
        connection.port
    );
    // The deviation is not known.
    let _ = write!(text, " rtt:{:.3}/0", connection.srtt_us.map_or(0.0, ms));
    let _ = write!(text, " cwnd:{} bytes_acked:{}", connection.cwnd_packets, connection.bytes);
    let _ = write!(text, " bytes_received:{} data_segs_out:{}", connection.bytes_received, connection.segments);
    let limits = [
        ("busy", connection.busy_s),
        ("rwnd_limited", connection.rwnd_limited_s),
        ("sndbuf_limited", connection.sndbuf_limited_s),
    ];
    for (name, seconds) in limits.iter().filter(|(_, seconds)| *seconds > 0.0) {
        let _ = write!(text, " {name}:{:.0}ms", seconds * 1e3);
    }
    if connection.retransmitted > 0 {
        let _ = write!(text, " retrans:0/{}", connection.retransmitted);
    }
    if let Some(us) = connection.min_rtt_us {
        let _ = write!(text, " minrtt:{:.3}", ms(us));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_as_ss_prints_it() {
        let connection = Record { min_rtt_us: Some(18_500), ..crate::record::tests::record() };
        let text = as_ss(&connection, "cubic", &PeerNames::Plain);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "ESTAB 0 0 here:0 192.0.2.7:443",
                "\t cubic wscale:0,0 rtt:20.000/0 cwnd:25 bytes_acked:1000000 bytes_received:100 data_segs_out:800 busy:2000ms \
                 rwnd_limited:500ms retrans:0/8 minrtt:18.500",
            ]
        );
        assert!(!as_ss(&connection, "cubic", &PeerNames::Hashed([1; 32])).contains("192"));
    }
}
