// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hand-written Rust types against the C compiler's own account of them.

use tandem_controllers::{
    CONTROLLERS, INFINITE_SSTHRESH, MAX_PACKETS_PER_US, MAX_PROBES, MAX_RTT_US, MAX_WINDOW, Reason, STATE_BYTES, State,
    ffi::{Ack, Conn, RawController, RawParam, RawProbe, View, traits},
};

use tandem_testing::{
    describe,
    layout::{Layout, c_layout},
    run_c,
};

fn rust_layout() -> Layout {
    let mut l = Layout::new();
    describe!(l, "tandem_conn", Conn,
        now_us snd_cwnd snd_cwnd_cnt snd_ssthresh snd_cwnd_clamp snd_una snd_nxt mss is_cwnd_limited
        is_paced pacing_bytes_per_s);
    describe!(l, "tandem_ack", Ack,
        pkts_acked rtt_us delivered acked_sacked prior_delivered interval_us is_app_limited in_flight lost marked);
    describe!(l, "tandem_view", View, probes loss_window delay_window gamma_q8 diff_q8 base_rtt_us reserved);
    describe!(l, "tandem_probe", RawProbe, name words doc scale);
    describe!(l, "tandem_param", RawParam, name doc scale initial min max);
    describe!(l, "tandem_controller", RawController,
        state_bytes traits param_count params probes probe_count read_probes init pkts_acked cong_avoid usual_ack ssthresh set_state restart undo_cwnd view);
    for (name, value) in [
        ("TANDEM_STATE_BYTES", STATE_BYTES),
        ("TANDEM_MAX_WINDOW", MAX_WINDOW as usize),
        ("TANDEM_MAX_PROBES", MAX_PROBES),
        ("TANDEM_MAX_RTT_US", MAX_RTT_US as usize),
        ("TANDEM_MAX_PACKETS_PER_US", MAX_PACKETS_PER_US as usize),
        ("TANDEM_INFINITE_SSTHRESH", INFINITE_SSTHRESH as usize),
        ("TANDEM_OPEN", State::Open as usize),
        ("TANDEM_DISORDER", State::Disorder as usize),
        ("TANDEM_CWR", State::Cwr as usize),
        ("TANDEM_RECOVERY", State::Recovery as usize),
        ("TANDEM_LOSS", State::Loss as usize),
        ("TANDEM_FOR_LOSS", Reason::Loss as usize),
        ("TANDEM_FOR_MARK", Reason::Mark as usize),
        ("TANDEM_OWNS_WINDOW", traits::OWNS_WINDOW as usize),
        ("TANDEM_WANTS_RATE", traits::WANTS_RATE as usize),
        ("TANDEM_COUNTS_MARKS", traits::COUNTS_MARKS as usize),
        ("TANDEM_SENDS_ECT1", traits::SENDS_ECT1 as usize),
        ("TANDEM_HALVES_TO_SSTHRESH", traits::HALVES_TO_SSTHRESH as usize),
        ("TANDEM_NEVER_SHIPPED", traits::NEVER_SHIPPED as usize),
        ("TANDEM_EXPERIMENTAL", traits::EXPERIMENTAL as usize),
        ("TANDEM_RESPONSE_RENO", traits::RESPONSE_RENO as usize),
        ("TANDEM_RESPONSE_COMPOUND", traits::RESPONSE_COMPOUND as usize),
        ("TANDEM_RESPONSE_CUBIC", traits::RESPONSE_CUBIC as usize),
        ("TANDEM_BETA_ECN_100", 100 << traits::BETA_ECN_SHIFT),
    ] {
        l.insert(name.into(), (value, 0));
    }
    l
}

#[test]
fn rust_types_match_c() {
    assert_eq!(rust_layout(), c_layout(&run_c!("layout.c", sanitize: cfg!(feature = "sanitize"))));
}

#[test]
fn every_state_fits_the_kernels_room() {
    for c in &CONTROLLERS {
        assert!((1..=STATE_BYTES).contains(&c.state_bytes()), "{}: {} bytes", c.name, c.state_bytes());
    }
}

#[test]
fn every_name_fits_the_kernels_room() {
    // TCP_CA_NAME_MAX is 16 with the terminating zero.
    for c in &CONTROLLERS {
        assert!((1..=15).contains(&c.name.len()), "{}", c.name);
    }
}
