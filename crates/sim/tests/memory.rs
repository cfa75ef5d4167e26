// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peak memory of many flows. A file of its own, hence a process of its own: no other test counts.
#![cfg(target_os = "linux")]

mod common;

/// 4096 flows share 10 Gbit/s for two seconds, with a queue of a bandwidth-delay product.
#[test]
fn many_flows_take_little_memory() {
    let result = common::run(
        r#"
        duration = "2s"
        [dumbbell]
        rate = "10gbit"
        rtt = "100ms"
        queue = "1bdp"
        [[flows]]
        controller = "compound"
        count = 4096
        "#,
    );
    assert!(result.data_packets > 1_000_000, "the link was used: {}", result.data_packets);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak_kib: u64 = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .and_then(|l| l.split_whitespace().next()?.parse().ok())
        .expect("the kernel reports the peak");
    assert!(peak_kib < 200 * 1024, "{peak_kib} KiB");
}
