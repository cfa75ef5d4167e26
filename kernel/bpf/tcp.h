/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The few kernel types that the eBPF host needs, written by hand. Only names matter: libbpf finds
 * where the running kernel keeps each member and which number it gives each enumerator (CO-RE), so
 * one object serves all kernels. Members that we do not use are left out.
 */
#ifndef TANDEM_KERNEL_TCP_H
#define TANDEM_KERNEL_TCP_H

#include "contract.h"

typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;
typedef uint32_t __wsum;

/*
 * <linux/bpf.h> has many more. The number is part of the system call's interface,
 * so it never changes.
 */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};

/* Likewise part of that interface. */
enum {
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_SK_STORAGE_GET_F_CREATE = 1,
};

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	__u16 skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct kernfs_node {
	u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent; /* 0: this is the root's */
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct sock_cgroup_data {
	struct cgroup *cgroup; /* of cgroup v2; 0: not known */
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate; /* of payload, bytes a second */
	unsigned long sk_max_pacing_rate; /* SO_MAX_PACING_RATE; all ones: none */
	u32 sk_pacing_status; /* enum sk_pacing */
	struct sock_cgroup_data sk_cgrp_data;
};

struct ack_sample {
	u32 pkts_acked;
	__s32 rtt_us; /* negative: none */
};

/* An ACK's delivery rate, and the packets newly delivered and newly lost. */
struct rate_sample {
	u32 prior_delivered; /* tcp_sock's `delivered` when the newest packet delivered was sent */
	__s32 delivered;     /* packets since then; negative: unknown */
	long interval_us;    /* in which they were delivered; not positive: unknown */
	long rtt_us;         /* of the newest packet delivered; negative: none */
	int losses;          /* packets */
	u32 acked_sacked;    /* packets */
	_Bool is_app_limited;
};

/*
 * libbpf matches members by name, so the order is free: the name comes first, where the loader
 * writes it. Members that the running kernel lacks must stay 0.
 */
struct tcp_congestion_ops {
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, int event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	/* (sk, rs) before Linux 6.10. */
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	/* In place of cwnd_event with CA_EVENT_TX_START in the newest kernels. */
	void (*cwnd_event_tx_start)(struct sock *sk);
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u8 icsk_ca_setsockopt : 1; /* the controller was chosen for this socket */
	u64 icsk_ca_priv[TANDEM_STATE_BYTES / sizeof(u64)];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 tcp_mstamp; /* us, when the last packet was sent or received */
	u64 bytes_acked;
	u32 snd_una;
	u32 snd_nxt;
	u32 mss_cache;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 max_packets_out;
	u32 packets_out;
	u32 sacked_out;
	u32 retrans_out;
	u32 data_segs_out; /* data segments sent since the connection began */
	u32 srtt_us; /* 1/8 us */
	u32 lost;    /* packets, since the connection began */
	u32 lost_out;     /* packets, lost and not sent again yet */
	u32 delivered; /* packets, cumulatively or selectively, since the connection began; wraps */
	u32 delivered_ce; /* packets reported as marked, since the connection began; wraps */
	u32 total_retrans;
	u32 is_cwnd_limited : 1;
	__u8 chrono_type : 2; /* enum tcp_chrono: what is waited for now */
	u32 chrono_start;    /* jiffies, since when */
	u32 chrono_stat[3];  /* jiffies that each kind took: busy, receive window, send buffer */
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

/*
 * Lets child network namespaces choose the controller too. A macro in the kernel, so
 * CO-RE cannot look it up.
 */
#define TCP_CONG_NON_RESTRICTED 1
/* The kernel asks for ECN, and sends ECT(0), without being told to. Likewise a macro. */
#define TCP_CONG_NEEDS_ECN 2

/*
 * The numbers of these two are part of the interface to programs (<sys/socket.h>, <netinet/tcp.h>),
 * so they never change.
 */
#define AF_INET 2
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_LISTEN 10

/* These numbers are placeholders: bpf_core_enum_value() gives the running kernel's. */
enum tcp_ca_event {
	/* Sending begins or resumes with nothing in flight. */
	CA_EVENT_TX_START,
	/*
	 * Sending resumes after an idle time longer than the RTO, and the window is about to be
	 * cut.
	 */
	CA_EVENT_CWND_RESTART,
};

enum sk_pacing {
	SK_PACING_NONE,
	SK_PACING_NEEDED, /* by the socket's own timer */
	SK_PACING_FQ,     /* by the qdisc fq */
};

#endif
