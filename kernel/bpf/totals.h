/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What connections did, added up: by `tandem kernel watch --prometheus` from look to look, by
 * `tandem trial` at the end of each. Programs on several processors may add at the same time.
 */
#ifndef TANDEM_KERNEL_TOTALS_H
#define TANDEM_KERNEL_TOTALS_H

#include "limits.h"

#include "histograms.h"

/* The loader sets it before it loads. */
const volatile u64 jiffies_per_s SEC(".rodata.clock") = 0;

/* Of one connection in some time. */
struct activity {
	u64 bytes; /* sent and acknowledged */
	u32 segments;
	u32 retransmitted;
	u32 elapsed_jiffies; /* 0: nobody knows */
	struct limits limits;
};

/* The place of the highest bit; of 0 and 1 it is 0. */
static __always_inline u32 log2_of(u64 value)
{
	u32 log = 0;

#pragma unroll
	for (int step = 32; step; step >>= 1) {
		if (value >> step) {
			value >>= step;
			log += step;
		}
	}
	return log;
}

/* Which bucket: a value that is a bound itself belongs below it. */
static __always_inline u32 bucket(u64 value, u32 first, u32 octaves)
{
	u64 below = value ? value - 1 : 0;
	u32 log = log2_of(below), place;

	if (log < first)
		return 0;
	place = 1 + 2 * (log - first) + ((below >> (log - 1)) & 1);
	return place < 2 * octaves + 1 ? place : 2 * octaves + 1;
}

static __always_inline void add(u64 *sum, u64 value)
{
	__sync_fetch_and_add(sum, value);
}

static __always_inline void observe(struct tandem_histogram *histogram, u64 value, u32 place)
{
	/* The verifier does not see that it is less. */
	if (place >= TANDEM_BUCKETS)
		place = TANDEM_BUCKETS - 1;
	add(&histogram->sum, value);
	add(&histogram->counts[place], 1);
}

static __always_inline void observe_ratio(struct tandem_histogram *histogram, u32 part, u32 whole)
{
	u64 ratio;
	u32 place = 0;

	if (!whole)
		return;
	ratio = ((u64)part << 20) / whole;
	if (part)
		place = 1 + bucket(ratio, TANDEM_RATIO_FIRST, TANDEM_RATIO_OCTAVES);
	observe(histogram, ratio, place);
}

/* Nothing of a connection that did nothing. */
static __always_inline void add_activity(struct tandem_totals *all, const struct tcp_sock *tp,
					 const struct activity *did)
{
	const struct limits *limits = &did->limits;
	u64 window = (u64)tp->snd_cwnd * tp->mss_cache;
	u32 rtt_us = tp->srtt_us >> 3;

	if (!did->bytes && !limits->busy && !did->segments)
		return;
	add(&all->acked_bytes, did->bytes);
	add(&all->segments, did->segments);
	add(&all->retransmitted, did->retransmitted);
	add(&all->path_jiffies, limits->busy - limits->rwnd - limits->sndbuf);
	add(&all->rwnd_jiffies, limits->rwnd);
	add(&all->sndbuf_jiffies, limits->sndbuf);
	if (did->elapsed_jiffies > limits->busy)
		add(&all->idle_jiffies, did->elapsed_jiffies - limits->busy);
	if (rtt_us)
		observe(&all->rtt_us, rtt_us,
			bucket(rtt_us, TANDEM_RTT_FIRST, TANDEM_RTT_OCTAVES));
	observe(&all->window_bytes, window,
		bucket(window, TANDEM_WINDOW_FIRST, TANDEM_WINDOW_OCTAVES));
	if (did->bytes) {
		/* What is over within a jiffy took some of it: half, as crates/trial has it. */
		u32 half_jiffies = limits->busy ? 2 * limits->busy : 1;
		u64 goodput = 2 * did->bytes * jiffies_per_s / half_jiffies;

		observe(&all->goodput, goodput,
			bucket(goodput, TANDEM_GOODPUT_FIRST, TANDEM_GOODPUT_OCTAVES));
	}
	observe_ratio(&all->retransmitted_ratio, did->retransmitted, did->segments);
}

#endif
