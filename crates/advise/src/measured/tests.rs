// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole files, from bytes to the path.

use super::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn fixture_text(name: &str) -> String {
    std::fs::read_to_string(fixture(name)).unwrap()
}

fn measured(names: &[&str]) -> Measured {
    let files: Vec<PathBuf> = names.iter().map(|name| fixture(name)).collect();
    read(&files).unwrap_or_else(|_| panic!("{names:?} can be read"))
}

fn of(bytes: impl AsRef<[u8]>) -> Result<Measured, MeasuredError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.txt");
    std::fs::write(&file, bytes).unwrap();
    read(&[file])
}

/// The fixtures were made over an emulated path of 50 Mb/s and 30 ms, with a queue of 150 packets, which are 36 ms.
#[test]
fn all_together_tell_the_path_that_they_were_made_on() {
    let path = measured(&["iperf3.json", "ping-idle.txt", "ping-loaded.txt", "ss.txt"]);
    // delivery_rate 48.2Mbps * 1500 / 1448 = 49.93.
    assert_eq!(path.rate.unwrap().to_string(), "49.9mbit");
    assert_eq!(path.rtt.unwrap().to_string(), "30.142ms");
    // The longest of the loaded pings is 65.7 ms; the 95th percentile of 30 is the 29th: 63.1 ms.
    let Some(QueueSize::Time(queue)) = path.queue else { panic!() };
    assert!((30.0..36.0).contains(&(queue.as_secs_f64() * 1e3)), "{queue}");
    // 21 losses, all by the queue.
    assert_eq!(path.loss, Some(LossRate(0.0)));
    let sources: Vec<&str> = path.inferred.iter().map(|i| &*i.source).collect();
    assert!(sources[0].starts_with("ss.txt: delivery_rate") && sources[1] == "ss.txt: minrtt", "{sources:?}");
    // The queue stood, so the rate is the path's; one connection of CUBIC sent.
    assert!(!path.rate_at_least && matches!(path.limited_by, Some(LimitedBy::Path(_))));
    assert_eq!((path.direction, path.flows, path.mtu), (Some(Direction::Sends), Some(1), None));
    assert_eq!(path.controller.as_deref(), Some("cubic"));
    assert_eq!(path.cautions, Vec::<String>::new());
}

#[test]
fn iperf3_alone_sees_a_queue_that_was_never_empty() {
    let path = measured(&["iperf3.json"]);
    // 47535591 b/s * 1500 / 1448 = 49.24 Mb/s.
    assert_eq!(path.rate.unwrap().to_string(), "49.2mbit");
    assert_eq!(path.rtt.unwrap().to_string(), "46.249ms");
    // 62.561 - 46.249 ms.
    assert_eq!(path.queue.unwrap().to_string(), "16.3ms");
}

#[test]
fn an_idle_ping_tells_the_rtt_alone() {
    let path = measured(&["ping-idle.txt"]);
    assert_eq!(path.rtt.unwrap().to_string(), "30.173ms");
    assert!(path.rate.is_none() && path.queue.is_none() && path.loss.is_none());
}

#[test]
fn the_encoding_does_not_matter() {
    let ping = "Antwort von 192.0.2.9: Bytes=32 Zeit=17ms TTL=53\r\n";
    let utf16: Vec<u8> = ping.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [ping.as_bytes().to_vec(), utf16.clone(), [&[0xff, 0xfe][..], &utf16].concat()] {
        assert_eq!(of(bytes).unwrap().rtt.unwrap().to_string(), "17ms");
    }
}

#[test]
fn a_jumbo_frame_is_larger() {
    let run = r#"{"start": {"tcp_mss_default": 8948}, "end": {"sum_received": {"bits_per_second": 4474e6}}}"#;
    let path = of(run).unwrap();
    // 4.474 Gb/s * 9000 / 8948.
    assert_eq!((path.rate.unwrap().to_string().as_str(), path.mtu), ("4.5gbit", Some(9000)));
    assert!(path.rate_at_least);
}

#[test]
fn too_much_udp_tells_the_rate_and_nothing_else() {
    let run = r#"{"start": {"test_start": {"protocol": "UDP", "blksize": 1372}},
        "end": {"sum": {"bits_per_second": 98e6, "lost_packets": 500, "packets": 1000}}}"#;
    let path = of(run).unwrap();
    // 49 Mb/s * 1400 / 1372.
    assert_eq!(path.rate.unwrap().to_string(), "50mbit");
    assert!(!path.rate_at_least && path.loss.is_none() && path.queue.is_none() && path.mtu.is_none());
}

#[test]
fn bbr_is_not_limited_by_loss() {
    let ss = "ESTAB 0 9 192.0.2.1:1 192.0.2.2:2\n\t bbr wscale:7,7 rto:300 rtt:82.0/1 mss:1448 cwnd:900 bytes_acked:90000000 \
              data_segs_out:60000 delivery_rate 28.96Mbps busy:20000ms retrans:0/600 minrtt:80\n";
    let path = of(ss).unwrap();
    // Mean: 90 MB in 20 s = 36 Mb/s; * 1500 / 1448 = 37.3. 600 of 60000.
    assert_eq!((path.rate.unwrap().to_string().as_str(), path.loss), ("37.3mbit", Some(LossRate(0.01))));
    assert!(path.rate_at_least && path.limited_by.is_none());
    // Reno reaches 12.2 packets of 1448 bytes in 82 ms, which are 1.7 Mb/s: these losses came together.
    let path = of(ss.replace("bbr", "reno")).unwrap();
    assert!(path.loss.is_none() && path.limited_by.is_none() && path.cautions[0].contains("lost together"));
}

#[test]
fn other_files_are_refused() {
    let refused = |text: &str| match of(text) {
        Err(e) => e.to_string(),
        Ok(_) => panic!("`{text}` was taken"),
    };
    assert!(refused("hello").contains("x.txt`: it is none of these: `iperf3 --json`"));
    assert!(refused("").contains("none of these"));
    assert!(refused("rate = \"45ms\"\nmtu = 1500\n").contains("none of these"));
    assert!(refused("{\"a\": 1}").contains("no `end`"));
    assert!(refused("{").contains("no valid JSON"));
    assert!(refused("{\"start\": {}, \"error\": \"unable to connect\"}").contains("iperf3 failed: unable to connect"));
    assert!(refused("5 packets transmitted, 0 received, 100% packet loss").contains("no answer"));
    assert!(refused("[ ID] Interval           Transfer     Bitrate\n").contains("run it with `--json`"));
}

/// A file may end anywhere and hold anything.
#[test]
fn no_part_of_a_file_panics() {
    for name in ["iperf3.json", "ping-loaded.txt", "ss.txt"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for end in (0..bytes.len()).step_by(37) {
            let text = decode::text(&bytes[..end]);
            let _ = readings(&text).map(infer::infer);
            let text = decode::text(&bytes[end..]);
            let _ = readings(&text).map(infer::infer);
        }
    }
}

/// Megabytes of what makes a careless reader look again and again.
#[test]
fn no_file_takes_more_than_linear_time() {
    for part in [
        "{",
        "{\"a\":",
        "[",
        "=1",
        "= ",
        "<1m",
        "a:1 ",
        "rtt:1 cwnd:1 ",
        "rtt:1 cwnd:1\n",
        "{\"",
        "(",
        " ms (",
        "%",
        "0% ",
    ] {
        let _ = readings(&part.repeat(200_000)).map(infer::infer);
    }
}

/// The run was simulated on a path of 400 Mb/s and 32 ms behind a policer of 60 Mb/s with a bucket of 40 MB.
#[test]
fn a_burst_and_then_losses_without_a_queue_are_a_policers() {
    let path = measured(&["iperf3-policed.json"]);
    let bucket = path.policer.unwrap();
    assert!((57e6..63e6).contains(&(bucket.rate.bps as f64)), "{}", bucket.rate);
    assert!((36e6..44e6).contains(&(bucket.burst.0 as f64)), "{}", bucket.burst);
    assert!(matches!(path.limited_by, Some(LimitedBy::Policer(_))));
    // The link was seen at 308 Mb/s of payload.
    assert_eq!((path.rate.unwrap().to_string().as_str(), path.rate_at_least), ("319mbit", false));
    assert_eq!(path.loss, Some(LossRate(0.0)));
    let inferred: Vec<&str> = path.inferred.iter().map(|i| i.what).collect();
    assert_eq!(inferred, ["rate", "policer", "rtt", "queue", "loss"]);
    // A queue that stood is the path's: it, and not a policer, made the packets late.
    let late = fixture_text("iperf3-policed.json")
        .replace("\"rtt\": 32", "\"rtt\": 52")
        .replace("\"mean_rtt\": 32", "\"mean_rtt\": 52");
    assert!(of(late).unwrap().policer.is_none());
}

#[test]
fn a_full_port_and_a_full_core_are_named() {
    let path = measured(&["iperf3-port.json"]);
    assert!(matches!(&path.limited_by, Some(LimitedBy::Port(e)) if e.words.contains("an Ethernet of 1gbit")));
    assert!(!path.rate_at_least);
    let path = measured(&["iperf3-processor.json"]);
    assert!(matches!(&path.limited_by, Some(LimitedBy::Processor(e)) if e.words.contains("99 % of a core here")));
    assert!(path.rate_at_least);
    // From 3.16 on each of several streams has a core.
    let threads =
        |text: &str| text.replace("iperf 3.12", "iperf 3.17").replace("\"num_streams\": 1", "\"num_streams\": 8");
    let path = of(threads(&fixture_text("iperf3-processor.json"))).unwrap();
    assert!(!matches!(path.limited_by, Some(LimitedBy::Processor(_))), "{:?}", path.limited_by);
}

#[test]
fn losses_that_are_too_many_for_the_rate_came_in_bursts() {
    let path = measured(&["iperf3-bursts.json"]);
    assert!(path.bursts.unwrap().words.contains("1300 of"));
    assert!(path.loss.is_none() && path.policer.is_none() && path.queue.is_none());
}
