/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Rate estimation as in TCP Westwood+ (Mascolo, Grieco 2004) and Linux's tcp_westwood, which fusion
 * and areno use as well.
 *
 *   sample     packets acknowledged in an interval of one RTT, 50 ms at least, over its length
 *   estimate   the samples through two low-pass filters in a row, each x += (sample - x) / 8
 *
 * The first Westwood's estimate (Casetti, Gerla, Mascolo, Sanadidi, Wang 2001, section 2.2), later
 * called TCPW-BE, is rate_on_gap's:
 *
 *   sample     b = packets / gap, from each gap between two ACKs
 *   estimate   x += ((b + last b) / 2 - x) * 2 gap / (2 tau + gap), a low-pass filter with the
 *              cut-off frequency 1 / tau
 *
 * Decisions:
 *  - Where gaps are microseconds, jitter and compressed ACKs, not the bottleneck, decide
 *    TCPW-BE's samples; Westwood+ was made to fix that. ACKs of the same microsecond count in
 *    the next gap. Before a gap of more than tau / 2 the last b is 0: that stands for the
 *    virtual samples of 2001.
 *  - Packets acknowledged in recovery count, as in Linux: they were delivered. RTTs of a recovery
 *    do not (rounds.h).
 *  - After an idle time a fresh interval begins. Nothing more is done for an application that sends
 *    less than it may.
 */
#ifndef TANDEM_RATE_H
#define TANDEM_RATE_H

#include "fixed.h"

#define RATE_PARAMS(P) \
	P(rate_interval, 1, 50000, 1000, 10000000, \
	  "us; minimum span of a rate sample, if not an RTT (Linux: 50 ms)") \
	P(rate_gain, 1024, 128, 1, 1024, \
	  "weight of a new sample in each of the rate's two filters (Linux: 1/8)")

struct rate_law { RATE_PARAMS(TANDEM_PARAM_FIELD) };

/*
 * For the parameters of a controller that estimates a rate; all are u32, so that the
 * host sees one flat list.
 */
#define RATE_LAW_FIELDS \
	union { \
		struct rate_law rate; \
		struct { RATE_PARAMS(TANDEM_PARAM_FIELD) }; \
	};

/*
 * Packets a second that the estimate never exceeds: times an RTT or a second in us, in 1/256, it
 * stays below 2^64.
 */
#define RATE_MAX_Q8 ((1ull << 39) - 1)

struct rate {
	u64 since_us : 39;         /* when this interval began, modulo 2^39 (six days)      */
	u64 told : 25;             /* packets delivered up to the last ACK, modulo 2^25     */
	u64 filtered_q8 : 39;      /* packets/s after the first filter                      */
	u64 acked : 25;            /* packets acknowledged in this interval                 */
	u64 packets_per_s_q8 : 39; /* after the second: the estimate; 0 = none yet          */
	u64 rtt_us : 25;           /* last RTT outside recovery, 33 s at most; 0 = none yet */
};

/* The estimate, for arithmetic: a compiler may compute with as few bits as a field has. */
TANDEM_FN u64 rate_estimate_q8(const struct rate *r) { return r->packets_per_s_q8; }

/* For probes. Below 2^51. */
TANDEM_FN u64 rate_bits_per_s(const struct rate *r, const struct tandem_conn *c)
{
	return rate_estimate_q8(r) * min_u32(c->mss, 65535) >> 5;
}

#define RATE_MAX_RTT_US ((1u << 25) - 1)

/* Takes note of a sample; 0 is none. */
TANDEM_FN void rate_note_rtt(struct rate *r, u32 rtt_us)
{
	if (rtt_us)
		r->rtt_us = min_u32(rtt_us, RATE_MAX_RTT_US);
}

#define RATE_SINCE_MASK ((1ull << 39) - 1)
#define RATE_TOLD_MASK ((1u << 25) - 1)

/* Since this interval began. */
TANDEM_FN u64 rate_elapsed_us(const struct rate *r, u64 now_us)
{
	return (now_us & RATE_SINCE_MASK) >= r->since_us ?
		       (now_us & RATE_SINCE_MASK) - r->since_us :
		       (now_us & RATE_SINCE_MASK) + (RATE_SINCE_MASK + 1 - r->since_us);
}

/*
 * Packets newly delivered. A packet counts when it is SACKed, as Westwood counts duplicate ACKs: if
 * the ACK that fills a hole counted all that had arrived behind it, it would be a burst that the
 * path never carried. A connection may be older than its controller: up to the first sample it is
 * not known what `delivered` counts from.
 */
TANDEM_FN u32 rate_newly(struct rate *r, const struct tandem_ack *ack)
{
	u32 packets = seq_distance((u32)r->told, ack->delivered) & RATE_TOLD_MASK;

	r->told = ack->delivered & RATE_TOLD_MASK;
	return r->rtt_us ? packets : ack->pkts_acked;
}

/* An interval of a round trip has no more than the largest window. */
TANDEM_FN void rate_count(struct rate *r, u32 acked)
{
	r->acked = min_u32((u32)r->acked + min_u32(acked, TANDEM_MAX_WINDOW), TANDEM_MAX_WINDOW);
}

TANDEM_FN void rate_begin_interval(struct rate *r, u64 now_us)
{
	r->since_us = now_us & RATE_SINCE_MASK;
	r->acked = 0;
}

TANDEM_FN void rate_init(struct rate *r, u64 now_us)
{
	r->filtered_q8 = 0;
	r->packets_per_s_q8 = 0;
	r->rtt_us = 0;
	r->told = 0;
	rate_begin_interval(r, now_us);
}

/* x += (sample - x) * gain; both below 2^39, gain in 1/1024. */
TANDEM_FN u64 rate_filter(u64 x, u64 sample, u32 gain)
{
	return sample > x ? x + (sample - x) * gain / 1024 : x - (x - sample) * gain / 1024;
}

/* The packets of the ACK that ends an interval count in the next one: its gap is theirs. */
TANDEM_FN void rate_on_ack(struct rate *r, const struct rate_law *p, u64 now_us,
			   const struct tandem_ack *ack, u32 rtt_us)
{
	u64 elapsed_us = rate_elapsed_us(r, now_us);
	u32 acked = rate_newly(r, ack);

	rate_note_rtt(r, rtt_us);
	if (r->rtt_us && elapsed_us > max_u32((u32)r->rtt_us, p->rate_interval)) {
		/* acked <= 2^24: below 2^53. */
		u64 sample_q8 = ((u64)r->acked << 8) * 1000000 / elapsed_us;

		sample_q8 = sample_q8 < RATE_MAX_Q8 ? sample_q8 : RATE_MAX_Q8;
		if (!r->packets_per_s_q8)
			r->filtered_q8 = r->packets_per_s_q8 = sample_q8;
		r->filtered_q8 = rate_filter(r->filtered_q8, sample_q8, p->rate_gain);
		r->packets_per_s_q8 = rate_filter(r->packets_per_s_q8, r->filtered_q8,
						  p->rate_gain);
		rate_begin_interval(r, now_us);
	}
	rate_count(r, acked);
}

/*
 * TCPW-BE's filter for a gap; its gain is 2 gap / (2 tau + gap), for 2 tau at most. The products
 * stay below 2^39 * 2^24.
 */
TANDEM_FN u64 rate_filter_gap(u64 x, u64 sample, u64 gap_us, u32 tau_us)
{
	u64 most_us = 2 * (u64)tau_us, num, den;

	gap_us = gap_us < most_us ? gap_us : most_us;
	num = 2 * gap_us;
	den = most_us + gap_us;
	return sample > x ? x + (sample - x) * num / den : x - (x - sample) * num / den;
}

/*
 * TCPW-BE instead of rate_on_ack: each gap between two ACKs is a sample. tau_us < 2^22. filtered_q8
 * is the last sample here.
 */
TANDEM_FN void rate_on_gap(struct rate *r, u32 tau_us, u64 now_us, const struct tandem_ack *ack,
			   u32 rtt_us)
{
	u64 gap_us = rate_elapsed_us(r, now_us);
	u32 acked = rate_newly(r, ack);

	rate_note_rtt(r, rtt_us);
	rate_count(r, acked);
	if (acked && gap_us) {
		/* r->acked <= 2^24: below 2^53. */
		u64 sample_q8 = ((u64)r->acked << 8) * 1000000 / gap_us;

		sample_q8 = sample_q8 < RATE_MAX_Q8 ? sample_q8 : RATE_MAX_Q8;
		if (!r->packets_per_s_q8)
			r->filtered_q8 = r->packets_per_s_q8 = sample_q8;
		if (gap_us > tau_us / 2)
			r->filtered_q8 = 0;
		r->packets_per_s_q8 = rate_filter_gap(r->packets_per_s_q8,
						      (sample_q8 + r->filtered_q8) / 2,
						      gap_us, tau_us);
		r->filtered_q8 = sample_q8;
		rate_begin_interval(r, now_us);
	}
}

/*
 * What passes in `span_us` <= 2^24 at the estimated rate: packets in 1/256, saturated to 32 bits.
 */
TANDEM_FN u32 rate_packets_q8(const struct rate *r, u32 span_us)
{
	u64 packets_q8 = rate_estimate_q8(r) * span_us / 1000000;

	return packets_q8 > 0xffffffffu ? 0xffffffffu : (u32)packets_q8;
}

#endif
