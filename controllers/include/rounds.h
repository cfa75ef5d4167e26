/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Measurement by rounds, which controllers that steer by delay share (Vegas: Brakmo,
 * Peterson 1995, section 4.2).
 *
 *   backlog = window * (1 - baseRTT / RTT)      packets that the flow itself has queued
 *
 * What the papers leave open, and how it is decided here:
 *  - RTT of a round = its smallest sample (Linux's Vegas, S2 eq. 3): delayed ACKs and jitter only
 *    ever lengthen one.
 *  - window of a round = the packets in flight when it began, because those are the packets
 *    whose RTTs were measured. With today's window instead, a growing flow overestimates
 *    its backlog (S2 eq. 3).
 *  - A round ends with the first ACK beyond what had been sent when it began, so that its samples
 *    include the first packet sent after the decision at its beginning (Linux's Vegas; S2's
 *    oscillation types rest on it).
 *  - No samples from the start of a recovery to its end; then a fresh round (D02 section 6).
 *
 * S2: Blanc, Collange, Avrachenkov, 2009. D02: draft-sridharan-tcpm-ctcp-02.
 */
#ifndef TANDEM_ROUNDS_H
#define TANDEM_ROUNDS_H

#include "fixed.h"

#define ROUNDS_UNMEASURED 0xffffffffu /* a backlog or RTT without a sample */

struct rounds {
	u32 base_rtt_us; /* smallest RTT seen; ROUNDS_UNMEASURED before the first */
	u32 rtt_us;      /* smallest RTT of this round, likewise                  */
	u32 end;         /* snd_nxt when this round began                         */
	u32 flight : 31; /* packets in flight when this round began               */
	u32 sampling : 1; /* 1 in Open and Disorder, 0 in recovery                */
};

TANDEM_FN u32 packets_in_flight(const struct tandem_conn *c)
{
	u32 packets = seq_distance(c->snd_una, c->snd_nxt) / max_u32(c->mss, 1);

	return min_u32(packets, TANDEM_MAX_WINDOW);
}

TANDEM_FN void rounds_begin(struct rounds *r, const struct tandem_conn *c)
{
	r->end = c->snd_nxt;
	r->flight = packets_in_flight(c);
	r->rtt_us = ROUNDS_UNMEASURED;
}

TANDEM_FN void rounds_init(struct rounds *r, const struct tandem_conn *c)
{
	r->base_rtt_us = ROUNDS_UNMEASURED;
	r->sampling = 1;
	rounds_begin(r, c);
}

/*
 * Takes the RTT sample; returns it bounded, which keeps every product below 2^64, or 0 if there is
 * none now.
 */
TANDEM_FN u32 rounds_sample(struct rounds *r, const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, TANDEM_MAX_RTT_US);

	if (!r->sampling || !rtt_us)
		return 0;
	r->base_rtt_us = min_u32(r->base_rtt_us, rtt_us);
	r->rtt_us = min_u32(r->rtt_us, rtt_us);
	return rtt_us;
}

/*
 * A timeout: the path may have changed, so baseRTT is measured afresh. What it was goes to
 * *prior_base_rtt_us, for undo.
 */
TANDEM_FN void rounds_forget_base(struct rounds *r, u32 *prior_base_rtt_us)
{
	*prior_base_rtt_us = min_u32(*prior_base_rtt_us, r->base_rtt_us);
	r->base_rtt_us = ROUNDS_UNMEASURED;
}

/* The timeout was spurious: what has been measured since comes with a full window's queue. */
TANDEM_FN void rounds_restore_base(struct rounds *r, u32 prior_base_rtt_us)
{
	r->base_rtt_us = min_u32(r->base_rtt_us, prior_base_rtt_us);
}

TANDEM_FN int rounds_ended(const struct rounds *r, const struct tandem_conn *c)
{
	return r->sampling && seq_after(c->snd_una, r->end);
}

/* Does this round have a sample and a packet in flight? */
TANDEM_FN int rounds_measured(const struct rounds *r)
{
	return r->rtt_us != ROUNDS_UNMEASURED && r->flight;
}

/*
 * How many of `window` <= 2^24 packets are queued at an RTT not below baseRTT: Vegas's Diff,
 * S1 (3). Both are in one unit and 2^31 at most, so that the product stays below 2^63.
 */
TANDEM_FN u32 backlog_q8(u32 window, u64 base_rtt, u64 rtt)
{
	return (u32)(((u64)window << 8) * (rtt - base_rtt) / rtt);
}

/* How many of them were queued in this measured round. */
TANDEM_FN u32 rounds_backlog_q8(const struct rounds *r, u32 window)
{
	return backlog_q8(window, r->base_rtt_us, r->rtt_us);
}

/* Returns 1 if the connection leaves a recovery, so that a fresh round has begun. */
TANDEM_FN int rounds_set_state(struct rounds *r, const struct tandem_conn *c, u32 state)
{
	u32 sampling = state <= TANDEM_DISORDER;
	int fresh = sampling && !r->sampling;

	if (fresh)
		rounds_begin(r, c);
	r->sampling = sampling;
	return fresh;
}

/* What a view shows as base_rtt_us. */
TANDEM_FN u32 rounds_shown_base_us(const struct rounds *r)
{
	return r->base_rtt_us == ROUNDS_UNMEASURED ? 0 : r->base_rtt_us;
}

/*
 * The view of a controller whose window has no parts: its backlog, and the bound that
 * it compares that with.
 */
TANDEM_FN void rounds_view(const struct rounds *r, const struct tandem_conn *c, u32 gamma_q8,
			   u32 diff_q8, struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
	v->gamma_q8 = gamma_q8;
	v->diff_q8 = diff_q8;
	v->base_rtt_us = rounds_shown_base_us(r);
}

/* For a NAME to which states matter only as its rounds do. */
#define ROUNDS_SET_STATE(NAME) \
	TANDEM_FN void NAME##_set_state(struct NAME *s, const struct NAME##_params *p, \
					struct tandem_conn *c, u32 state) \
	{ \
		rounds_set_state(&s->round, c, state); \
	}

#endif
