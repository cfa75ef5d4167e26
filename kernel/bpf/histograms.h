/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Between `tandem kernel watch --prometheus` and the programs that add up what connections did. The
 * Rust side: kernel/src/histograms.rs.
 */
#ifndef TANDEM_KERNEL_HISTOGRAMS_H
#define TANDEM_KERNEL_HISTOGRAMS_H

#include "contract.h"

#define TANDEM_BUCKETS 50
/* More controllers than any machine has. */
#define TANDEM_MOST_CONTROLLERS 64

/*
 * Two buckets per octave: values up to 2^first, 1.5 * 2^first, 2 * 2^first ...; the last holds all
 * larger values.
 */
struct tandem_histogram {
	u64 sum;
	u64 counts[TANDEM_BUCKETS];
};

/* For each histogram, log2 of its first bound, and the number of octaves. */
enum tandem_bounds {
	TANDEM_RTT_FIRST = 6, /* 64 us to 8.4 s */
	TANDEM_RTT_OCTAVES = 17,
	TANDEM_WINDOW_FIRST = 10, /* 1 kB to 1 GB */
	TANDEM_WINDOW_OCTAVES = 20,
	TANDEM_GOODPUT_FIRST = 10, /* 1 kB/s to 17 GB/s */
	TANDEM_GOODPUT_OCTAVES = 24,
	TANDEM_RATIO_FIRST = 10, /* in 2^20ths: 0.1 % to all; none at all has a bucket of its own */
	TANDEM_RATIO_OCTAVES = 10,
};

/*
 * Of all connections of one controller and all looks at them, or of those of a trial's arm that
 * have ended.
 */
struct tandem_totals {
	u64 connections; /* one for each connection and look; of an arm: 0 */
	u64 acked_bytes;
	u64 segments; /* with data, retransmissions too */
	u64 retransmitted;
	u64 idle_jiffies;   /* of connections that sent something: nothing to send */
	u64 path_jiffies;   /* limited by the congestion window, or by the path */
	u64 rwnd_jiffies;   /* by the receiver's window */
	u64 sndbuf_jiffies; /* by the send buffer */
	/* Of the connections that sent something. */
	struct tandem_histogram rtt_us;
	struct tandem_histogram window_bytes;
	struct tandem_histogram goodput; /* bytes a second, while busy */
	struct tandem_histogram retransmitted_ratio; /* in 2^20ths */
};

#endif
