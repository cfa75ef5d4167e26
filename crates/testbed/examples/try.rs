// SPDX-License-Identifier: MIT OR Apache-2.0
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let s = tandem_scenario::file::parse(&text, "x", "x", &Default::default()).unwrap();
    let r = tandem_testbed::run(&s, 1, tandem_testbed::Options::default()).unwrap().unwrap();
    for f in &r.flows {
        println!(
            "{:.2} Mb/s sent {} retrans {} rto {} red {} {:?}",
            f.goodput_mbps, f.sent_packets, f.retransmits, f.timeouts, f.window_reductions, f.received_mbit_by_second
        );
    }
    println!("{:?}", r.emulation);
    println!("{:?}\n{:?}\n{} {}", r.rtt_ms, r.links, r.data_packets, r.cpu_s);
}
