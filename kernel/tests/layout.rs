// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hand-written Rust types against C, and C for this machine against C for eBPF.

use std::{path::Path, sync::LazyLock};

use libbpf_rs::{
    Btf,
    btf::{
        HasSize,
        types::{MemberAttr, Struct},
    },
};
use tandem_kernel::{
    BUCKETS, Bounds, Flow, Pacer, RawTotals, loadable,
    replay::{Call, Replay},
    sockops::{Connection, Peer},
};

use tandem_testing::{
    describe,
    layout::{Layout, c_layout},
    run_c,
};

static C_LAYOUT: LazyLock<Layout> = LazyLock::new(|| c_layout(&run_c!("layout.c", sanitize: false)));

fn rust_layout() -> Layout {
    let mut l = Layout::new();
    describe!(l, "tandem_flow", Flow,
        local_addr remote_addr local_port remote_port family state snd_cwnd snd_ssthresh packets_out mss srtt_us lost
        retransmitted view bytes_acked pacing_bytes_per_s pacing);
    for (name, pacer) in [("TANDEM_PACED_BY_SOCKET", Pacer::Socket), ("TANDEM_PACED_BY_FQ", Pacer::Fq)] {
        l.insert(name.into(), (pacer as usize, 0));
    }
    describe!(l, "tandem_peer", Peer, family port addr);
    describe!(l, "tandem_connection", Connection,
        peer began_ns ended_ns bytes_acked bytes_received srtt_us min_rtt_us segments retransmitted busy_jiffies rwnd_jiffies
        sndbuf_jiffies arm flags cwnd);
    describe!(l, "tandem_totals", RawTotals,
        connections acked_bytes segments retransmitted idle_jiffies path_jiffies rwnd_jiffies sndbuf_jiffies rtt_us
        window_bytes goodput retransmitted_ratio);
    l.insert("TANDEM_BUCKETS".into(), (BUCKETS, 0));
    for (name, bounds) in
        [("RTT", Bounds::RTT), ("WINDOW", Bounds::WINDOW), ("GOODPUT", Bounds::GOODPUT), ("RATIO", Bounds::RATIO)]
    {
        l.insert(format!("TANDEM_{name}_FIRST"), (bounds.first, 0));
        l.insert(format!("TANDEM_{name}_OCTAVES"), (bounds.octaves, 0));
    }
    describe!(l, "tandem_replay", Replay, state conn ack call argument result view reserved);
    for (name, call) in [
        ("TANDEM_CALL_INIT", Call::Init),
        ("TANDEM_CALL_PKTS_ACKED", Call::PktsAcked),
        ("TANDEM_CALL_CONG_AVOID", Call::CongAvoid),
        ("TANDEM_CALL_SSTHRESH", Call::Ssthresh),
        ("TANDEM_CALL_SET_STATE", Call::SetState),
        ("TANDEM_CALL_RESTART", Call::Restart),
        ("TANDEM_CALL_UNDO_CWND", Call::UndoCwnd),
    ] {
        l.insert(name.into(), (call as usize, 0));
    }
    l
}

#[test]
fn rust_types_match_c() {
    assert_eq!(rust_layout(), *C_LAYOUT);
}

/// The objects' type information (BTF) has the types of their programs' arguments.
#[test]
fn c_types_are_the_same_in_ebpf() {
    for controller in loadable() {
        let object = Path::new(env!("OUT_DIR")).join(format!("{}.bpf.o", controller.name));
        let btf = Btf::from_path(&object).unwrap();
        let replay: Struct<'_> = btf.type_by_name("tandem_replay").expect("the program `replay` takes it");
        assert_eq!(replay.size(), C_LAYOUT["tandem_replay"].1);
        for member in replay.iter() {
            let MemberAttr::Normal { offset } = member.attr else { panic!("a bit field: {member:?}") };
            let name = format!("tandem_replay.{}", member.name.unwrap().to_str().unwrap());
            assert_eq!(offset as usize, 8 * C_LAYOUT[&name].0, "{controller:?}: {name}");
        }
    }
}

/// The hand-written beginning of a structure of the system call's interface, against the kernel's.
#[test]
fn what_sockops_programs_are_called_with_is_the_kernel_s() {
    let Ok(kernel) = Btf::from_vmlinux() else {
        return tandem_testing::skip("this kernel does not describe its types");
    };
    let members = |btf: &Btf<'_>| -> Vec<(String, u32)> {
        let found: Struct<'_> = btf.type_by_name("bpf_sock_ops").expect("the programs' argument");
        let offset = |attr| if let MemberAttr::Normal { offset } = attr { offset } else { panic!("a bit field") };
        found
            .iter()
            .map(|m| (m.name.map_or_else(String::new, |n| n.to_str().unwrap().into()), offset(m.attr)))
            .collect()
    };
    let theirs = members(&kernel);
    for object in ["policy", "trial"] {
        let ours = members(&Btf::from_path(Path::new(env!("OUT_DIR")).join(format!("{object}.bpf.o"))).unwrap());
        assert!(ours.len() > 15, "{ours:?}");
        // The kernel has the arguments and the socket in unions without a name; what is between is not used.
        for (name, offset) in ours.iter().filter(|(name, _)| !["between", "args", "sk"].contains(&&**name)) {
            assert!(theirs.contains(&(name.clone(), *offset)), "{name} at {offset}: {theirs:?}");
        }
        for (unnamed, before) in [("args", "op"), ("sk", "bytes_acked")] {
            let at = |list: &[(String, u32)], name: &str| list.iter().position(|(n, _)| n == name).unwrap();
            assert_eq!(ours[at(&ours, unnamed)].1, theirs[at(&theirs, before) + 1].1, "{unnamed}");
        }
    }
}
