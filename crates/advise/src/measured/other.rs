// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tools whose output is not read: their names, and what to run instead.

const SCENARIO: &str = "it is a scenario, which nobody measured: `tandem run FILE` simulates it";

/// What only this tool prints, and what to do.
const TOOLS: [(&str, &str); 16] = [
    ("TCP window size", "it is the text of `iperf`, which lacks the RTT and the losses: run `iperf3 -c HOST --json`"),
    ("UDP buffer size", "it is the text of `iperf`, which lacks the RTT and the losses: run `iperf3 -c HOST --json`"),
    ("[ ID] Interval", "it is the text of `iperf3`, which lacks the RTT and the losses: run it with `--json`"),
    ("iperf Done.", "it is the text of `iperf3`, which lacks the RTT and the losses: run it with `--json`"),
    ("iperf3: error", "`iperf3` failed and measured nothing: run it again, with `--json`"),
    ("WinMTR", "it is the text of WinMTR, which is not read: run `ping -n 20 HOST`"),
    ("<MTR", "it is the XML of `mtr`, which is not read: run `mtr --report HOST` or `mtr --json HOST`"),
    (
        "traceroute to ",
        "it is the output of `traceroute`, which has no RTT of the whole path for sure: run `ping -c 20 HOST`",
    ),
    (
        "traceroute6 to ",
        "it is the output of `traceroute`, which has no RTT of the whole path for sure: run `ping -c 20 HOST`",
    ),
    (
        "Tracing route to ",
        "it is the output of `tracert`, which has no RTT of the whole path for sure: run `ping -n 20 HOST`",
    ),
    (
        "tracepath",
        "it is the output of `tracepath`, which has no RTT of the whole path for sure: run `ping -c 20 HOST`",
    ),
    ("MIGRATED TCP", "it is the output of `netperf`, which has no RTT and no losses: run `iperf3 -c HOST --json`"),
    ("Speedtest", "it is the output of a speed test, whose servers are not your peer: run `iperf3 -c HOST --json`"),
    ("[[flows]]", SCENARIO),
    ("[dumbbell]", SCENARIO),
    ("Time(ms)", "it is the output of `Test-Connection`, which is not read: run `ping -n 20 HOST`"),
];

/// Why it is not read, if its tool is known.
pub fn refusal(text: &str) -> Option<String> {
    TOOLS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, why)| (*why).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_tool_is_named_with_what_to_run_instead() {
        let text =
            "[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-1.00   sec  1.0 MBytes  8.4 Mbits/sec\n";
        assert!(refusal(text).unwrap().contains("run it with `--json`"));
        assert!(refusal("traceroute to h (192.0.2.1), 30 hops max\n").unwrap().contains("ping -c 20"));
        assert!(refusal("[dumbbell]\nrate = \"1gbit\"\n").unwrap().contains("`tandem run FILE`"));
        assert!(refusal("64 bytes from h: icmp_seq=1 ttl=64 time=2 ms").is_none());
    }
}
