/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A connection as `tandem kernel watch` reads it. The Rust side: kernel/src/flow.rs. */
#ifndef TANDEM_KERNEL_FLOW_H
#define TANDEM_KERNEL_FLOW_H

#include "contract.h"

/* Linux's enum sk_pacing, whose numbers kernels may change. */
enum tandem_pacing {
	TANDEM_PACED_BY_NOTHING,
	TANDEM_PACED_BY_SOCKET, /* its own timer */
	TANDEM_PACED_BY_FQ,     /* the qdisc fq */
};

struct tandem_flow {
	unsigned char local_addr[16]; /* IPv4: the first four bytes */
	unsigned char remote_addr[16];
	uint16_t local_port; /* host's byte order */
	uint16_t remote_port;
	uint16_t family; /* AF_INET, AF_INET6 */
	uint16_t state;  /* TCP_ESTABLISHED = 1 ... */
	u32 snd_cwnd;      /* packets */
	u32 snd_ssthresh;  /* packets */
	u32 packets_out;   /* packets sent and not yet acknowledged cumulatively */
	u32 mss;           /* bytes */
	u32 srtt_us;
	u32 lost;          /* packets, since the connection began */
	u32 retransmitted; /* packets, since the connection began */
	u32 pacing;        /* what paces: enum tandem_pacing */
	struct tandem_view view;
	u64 bytes_acked; /* since the connection began */
	u64 pacing_bytes_per_s; /* of payload; counts only while something paces */
};

#endif
