/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Between `tandem trial` and its program. The Rust side: kernel/src/sockops/trial.rs. */
#ifndef TANDEM_KERNEL_TRIAL_H
#define TANDEM_KERNEL_TRIAL_H

#include "peer.h"

struct tandem_trial {
	char arms[2][16]; /* the controllers */
	u64 seed;         /* decides which peer gets which arm */
	u32 share;        /* of the first arm, in 2^32nds */
	u32 by_peer;      /* one peer always has the same arm */
	u32 port;         /* the only port that takes part; 0: all */
	u32 has_prefixes; /* only peers in the tries take part */
};

enum tandem_connection_flags {
	TANDEM_ESTABLISHED = 1, /* the handshake was completed */
	TANDEM_ACCEPTED = 2,    /* the other end opened it */
};

/* A connection that has ended. */
struct tandem_connection {
	struct tandem_peer peer;
	u64 began_ns; /* CLOCK_MONOTONIC */
	u64 ended_ns;
	u64 bytes_acked;
	u64 bytes_received;
	u32 srtt_us;        /* 0: none */
	u32 min_rtt_us;     /* the least of the last minutes; 0: none */
	u32 segments;       /* with data, retransmissions too */
	u32 retransmitted;
	u32 busy_jiffies;   /* while there was something to send or to be acknowledged */
	u32 rwnd_jiffies;   /* of that, limited by the receiver's window */
	u32 sndbuf_jiffies; /* of that, limited by the send buffer */
	u32 arm;
	u32 flags;
	u32 cwnd; /* the congestion window at the end, packets */
};

/* Counts of one arm. */
struct tandem_trial_counts {
	u64 started;
	u64 ended;
	u64 refused; /* the kernel did not give them their controller */
	u64 lost;    /* ended, but there was no room for the record */
};

#endif
