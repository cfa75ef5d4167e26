/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * HyStart (Ha, Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55, 2011) as
 * Linux's CUBIC runs it: slow start ends at the first sign that the window has filled the path. Two
 * signs are looked for, from a window of 16 packets on:
 *
 *   ACK train : the ACKs of a round that follow each other within 2 ms span
 *               (RTTmin + 1 ms) / 2, or RTTmin + 1 ms if the host paces
 *   delay     : a round's smallest RTT is larger than RTTmin + RTTmin / 8, where that eighth is
 *               held between 4 and 16 ms
 *
 * Facts of Linux (6.x) that the paper does not settle, followed here:
 *  - A round ends with the first ACK beyond what had been sent when it began. That ACK
 *    belongs to the next one.
 *  - An ACK without an RTT sample does not count, nor does one below the low window. A train that
 *    has a gap is over for this round.
 *  - The delay is looked at from the ninth sample of a round on, and the ninth counts.
 *  - Once found, nothing is looked for until a timeout, after which RTTmin is measured afresh, too.
 * Linux's slack of 1 ms is less at rates above 2 Gb/s (four GSO bursts); here it is 1 ms always.
 */
#ifndef TANDEM_HYSTART_H
#define TANDEM_HYSTART_H

#include "growth.h"

/*
 * Linux's defaults: hystart_low_window, hystart_ack_delta_us, hystart_ack_delay, HYSTART_DELAY_MIN
 * and _MAX, HYSTART_MIN_SAMPLES.
 */
#define HYSTART_LOW_WINDOW 16
#define HYSTART_ACK_DELTA_US 2000
#define HYSTART_TRAIN_SLACK_US 1000
#define HYSTART_DELAY_MIN_US 4000
#define HYSTART_DELAY_MAX_US 16000
#define HYSTART_DELAY_DIVISOR 8
#define HYSTART_MIN_SAMPLES 8

/* Values of `samples` beyond a count. */
#define HYSTART_DUE 14  /* a sign has been seen; cong_avoid is to end slow start */
#define HYSTART_OVER 15 /* nothing is looked for any more                        */

/* RTTs and trains count up to here (16.8 s). */
#define HYSTART_MAX_US 0xffffffu
#define HYSTART_CLOCK_MASK 0xfffffffu

struct hystart {
	u32 round_end;           /* snd_nxt when this round began                                 */
	u32 round_start_us : 28; /* the clock then; wraps                                         */
	u32 samples : 4;         /* RTTs in this round, HYSTART_DUE or HYSTART_OVER               */
	u64 base_rtt_us : 24;    /* RTTmin; 0 before the first sample                             */
	u64 train_us : 24;       /* from the round's start to the last ACK of its train           */
	/* Smallest RTT of this round less RTTmin; saturates, which is more than any threshold. */
	u64 delay_us : 16;
};

#define HYSTART_MAX_DELAY_US 0xffffu

TANDEM_FN void hystart_begin_round(struct hystart *h, const struct tandem_conn *c)
{
	h->round_end = c->snd_nxt;
	h->round_start_us = (u32)(c->now_us & HYSTART_CLOCK_MASK);
	h->samples = 0;
	h->train_us = 0;
	h->delay_us = HYSTART_MAX_DELAY_US;
}

TANDEM_FN void hystart_init(struct hystart *h, const struct tandem_conn *c)
{
	h->base_rtt_us = 0;
	hystart_begin_round(h, c);
}

/* Takes the ACK into the train; does that now span the path? */
TANDEM_FN int hystart_train_fills_path(struct hystart *h, const struct tandem_conn *c)
{
	u32 clock_us = (u32)(c->now_us & HYSTART_CLOCK_MASK);
	u32 since_us = seq_distance(h->round_start_us, clock_us) & HYSTART_CLOCK_MASK;
	u32 train_us = h->train_us, span_us = (u32)h->base_rtt_us + HYSTART_TRAIN_SLACK_US;

	if (sub_floor0(since_us, train_us) > HYSTART_ACK_DELTA_US)
		return 0;
	h->train_us = min_u32(since_us, HYSTART_MAX_US);
	return since_us > (c->is_paced ? span_us : span_us / 2);
}

/* Takes the sample into the round's smallest RTT; has the delay grown? */
TANDEM_FN int hystart_delay_grew(struct hystart *h, u32 rtt_us)
{
	u32 base_us = h->base_rtt_us, delay_us = h->delay_us;
	u32 threshold_us = max_u32(base_us / HYSTART_DELAY_DIVISOR, HYSTART_DELAY_MIN_US);

	threshold_us = min_u32(threshold_us, HYSTART_DELAY_MAX_US);
	delay_us = min_u32(delay_us, rtt_us - base_us);
	h->delay_us = delay_us;
	if (h->samples < HYSTART_MIN_SAMPLES) {
		h->samples++;
		return 0;
	}
	return delay_us > threshold_us;
}

TANDEM_FN void hystart_on_ack(struct hystart *h, const struct tandem_conn *c,
			      const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, HYSTART_MAX_US), base_us = h->base_rtt_us, found;

	if (!rtt_us)
		return;
	if (!base_us || rtt_us < base_us)
		h->base_rtt_us = rtt_us;
	if (h->samples >= HYSTART_DUE || !in_slow_start(c))
		return;
	if (seq_after(c->snd_una, h->round_end))
		hystart_begin_round(h, c);
	if (c->snd_cwnd < HYSTART_LOW_WINDOW)
		return;
	found = (u32)hystart_train_fills_path(h, c);
	found |= (u32)hystart_delay_grew(h, rtt_us);
	if (found)
		h->samples = HYSTART_DUE;
}

/* Ends slow start if that is due. */
TANDEM_FN void hystart_before_growth(struct hystart *h, struct tandem_conn *c)
{
	if (h->samples != HYSTART_DUE)
		return;
	h->samples = HYSTART_OVER;
	ssthresh_follows(c);
}

TANDEM_FN void hystart_set_state(struct hystart *h, const struct tandem_conn *c, u32 state)
{
	if (state == TANDEM_LOSS)
		hystart_init(h, c);
	else if (state >= TANDEM_CWR && h->samples == HYSTART_DUE)
		h->samples = HYSTART_OVER;
}

#endif
