/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Copa (Arun, Balakrishnan, "Copa: practical delay-based congestion control for the Internet", NSDI
 * 2018; the authors' genericCC): steers at a rate of 1 / (delta dq).
 *
 *   standing RTT   the smallest of the last srtt / 2; dq = standing RTT - smallest RTT of 10 s  2.1
 *   cwnd / standing <= 1 / (delta dq)    cwnd += v / (delta cwnd) for each packet ACKed,
 *                                        otherwise that much less                               2.1
 *   v              1; doubles each window after three in one direction, back to 1 when that
 *                  changes                                                                      2.1
 *   slow start     cwnd doubles each RTT until the rate exceeds the target                      2.1
 *   pacing         2 cwnd / standing RTT                                                        2.1
 *   default mode   delta = 1/2                                                                  2.2
 *   competitive    no dq below 0.1 (largest RTT of 4 RTTs - smallest) in 5 RTTs: 1/delta += 1 an
 *                  RTT, halved at a loss, 2 at least                                            2.2
 *
 * What is open, and how it is decided here (GC: genericCC):
 *  - Each smallest or largest RTT of a time T is kept for halves of it, so it counts for T/2 to T.
 *  - A dq of exactly a tenth is "nearly empty", otherwise a path without any queue would not be.
 *  - v / delta is no more than the window (GC); v up to 2^16.
 *  - The direction of a window that ends as it began is that of the one before.
 *  - Losses do nothing else, but a window in which more than 20 packets were sent and 3 of 10 lost
 *    leaves 0.7 of the window (GC, each two RTTs), ends slow start, and begins v anew: where the
 *    RTT stays at that of a full queue, nothing else would stop it. ECN marks count as losses in
 *    competition. In a recovery that lasts, packets for two windows, delivered or lost, are one.
 *  - A timeout begins slow start again, and v with it. Two packets are the least (GC).
 */
#ifndef TANDEM_COPA_H
#define TANDEM_COPA_H

#include "growth.h"

/* See controller.h. */
#define TANDEM_OWNS_SLOW_START

#define copa_PARAMS(P) \
	P(delta, 1024, 512, 16, 10240, "1/packets; 1/delta packets are aimed at (NSDI 2018: 1/2)") \
	P(competitive, 1, 1, 0, 1, "1 = compete where a queue stays (NSDI 2018), 0 = never") \
	P(min_rtt_time, 1000, 10000, 100, 600000, \
	  "seconds for which the smallest RTT counts (NSDI 2018: 10)") \
	P(empty, 1024, 102, 0, 1024, \
	  "share of the RTT's range that is nearly empty (NSDI 2018: 0.1)") \
	P(steady_rounds, 1, 3, 1, 100, \
	  "windows in one direction before v doubles (NSDI 2018: 3)") \
	P(pacing_gain, 256, 512, 256, 2560, \
	  "of the rate over cwnd / standing RTT (NSDI 2018: 2)")

struct copa_params { copa_PARAMS(TANDEM_PARAM_FIELD) };

#define COPA_MAX_VELOCITY (1u << 16)
#define COPA_LEAST 2           /* packets                                              */
#define COPA_INVERSE_MAX (1u << 24) /* of 1 / delta, in 1/1024                         */
#define COPA_NOMINAL_RTT_US 1000 /* for the rate before the first sample               */
#define COPA_FEW 20 /* packets, of which a share lost says nothing                   */
#define COPA_EMPTY_RTTS 5
#define COPA_RANGE_RTTS 4

/* An extreme value of this half of a time, and of the half before it; 0 = none. */
struct copa_extreme {
	u32 now, before, since_us;
};

struct copa {
	struct copa_extreme min_rtt, standing, max_rtt;
	u32 srtt_q7;
	u32 inverse_q10;   /* 1 / delta                                        */
	u32 velocity;
	u32 begin_cwnd;    /* window when this window of packets began         */
	u32 round_end;     /* snd_nxt then                                     */
	u32 fraction_q24;  /* of the window, beyond snd_cwnd                   */
	u32 cwnd;          /* snd_cwnd as it was left                          */
	u32 empty_us;      /* when the queue was last nearly empty; wraps      */
	u32 delivered, lost; /* packets, in this window                        */
	u32 same_rounds : 28; /* in this direction                             */
	u32 is_down : 1;
	u32 slow_start : 1;
	u32 competes : 1;
	u32 reduced : 1;     /* in this window                                 */
};

TANDEM_FN u32 copa_us(const struct tandem_conn *c) { return (u32)(c->now_us & 0xffffffffu); }

/* Smoothed as by RFC 6298, rounded: a steady RTT is its own mean. */
TANDEM_FN u32 copa_srtt_us(const struct copa *s) { return (s->srtt_q7 + 64) >> 7; }

/* The half is over: whatever comes begins another one. */
TANDEM_FN void copa_turn(struct copa_extreme *e, u32 now_us, u64 half_q2)
{
	u64 age_q2 = (u64)seq_distance(e->since_us, now_us) << 2;

	if (e->now && age_q2 < half_q2)
		return;
	e->before = age_q2 < 2 * half_q2 ? e->now : 0;
	e->now = 0;
	e->since_us = now_us;
}

TANDEM_FN void copa_keep_least(struct copa_extreme *e, u32 rtt_us, u32 now_us, u64 half_q2)
{
	copa_turn(e, now_us, half_q2);
	e->now = e->now ? min_u32(e->now, rtt_us) : rtt_us;
}

TANDEM_FN void copa_keep_most(struct copa_extreme *e, u32 rtt_us, u32 now_us, u64 half_q2)
{
	copa_turn(e, now_us, half_q2);
	e->now = max_u32(e->now, rtt_us);
}

TANDEM_FN u32 copa_least(const struct copa_extreme *e)
{
	return e->before ? min_u32(e->now, e->before) : e->now;
}

TANDEM_FN u32 copa_most(const struct copa_extreme *e) { return max_u32(e->now, e->before); }

/* dq of the paper, us. What is old is forgotten sooner in the one than in the other. */
TANDEM_FN u32 copa_delay_us(const struct copa *s)
{
	return sub_floor0(copa_least(&s->standing), copa_least(&s->min_rtt));
}

/* 1 / delta of default mode */
TANDEM_FN u32 copa_default_q10(const struct copa_params *p) { return 1024 * 1024 / p->delta; }

/* Below 2^24 * 2^16 * 2^20 * 2^4 = 2^64 with its gain: cwnd * mss is below 2^40. */
TANDEM_FN void copa_set_rate(const struct copa *s, const struct copa_params *p,
			     struct tandem_conn *c)
{
	u32 rtt_us = copa_least(&s->standing);
	u64 bytes = (u64)c->snd_cwnd * min_u32(c->mss, 65535);
	u64 rate = bytes * 1000000 / (rtt_us ? rtt_us : COPA_NOMINAL_RTT_US);

	/* At most 2^60, so that the gain comes first where it loses nothing. */
	rate = rate < 1ull << 48 ? rate * p->pacing_gain >> 8 : (rate >> 8) * p->pacing_gain;
	c->pacing_bytes_per_s = rate ? rate : 1;
}

TANDEM_FN void copa_begin_round(struct copa *s, const struct tandem_conn *c)
{
	s->round_end = c->snd_nxt;
	s->begin_cwnd = c->snd_cwnd;
	s->reduced = 0;
	s->delivered = 0;
	s->lost = 0;
}

TANDEM_FN void copa_init(struct copa *s, const struct copa_params *p, struct tandem_conn *c)
{
	*s = (struct copa){
		.inverse_q10 = copa_default_q10(p),
		.velocity = 1,
		.cwnd = c->snd_cwnd,
		.empty_us = copa_us(c),
		.slow_start = 1,
	};
	copa_begin_round(s, c);
	copa_set_rate(s, p, c);
}

TANDEM_FN void copa_take_rtt(struct copa *s, const struct copa_params *p,
			     const struct tandem_conn *c, u32 rtt_us)
{
	u32 now_us = copa_us(c);
	u64 srtt_us;

	/* Below 2^32. */
	s->srtt_q7 = s->srtt_q7 ? s->srtt_q7 - (s->srtt_q7 >> 3) + (rtt_us << 4) : rtt_us << 7;
	srtt_us = copa_srtt_us(s);
	copa_keep_least(&s->min_rtt, rtt_us, now_us, (u64)p->min_rtt_time * 500 << 2);
	copa_keep_least(&s->standing, rtt_us, now_us, srtt_us);
	copa_keep_most(&s->max_rtt, rtt_us, now_us, srtt_us * COPA_RANGE_RTTS * 2);
}

/* Does the queue become nearly empty? Slow start fills it by itself. */
TANDEM_FN void copa_choose_mode(struct copa *s, const struct copa_params *p,
				const struct tandem_conn *c)
{
	u32 now_us = copa_us(c);
	u32 range_us = sub_floor0(copa_most(&s->max_rtt), copa_least(&s->min_rtt));
	u32 competes;

	if (s->slow_start || copa_delay_us(s) <= mul_div(range_us, p->empty, 1024))
		s->empty_us = now_us;
	competes = p->competitive &&
		   seq_distance(s->empty_us, now_us) > COPA_EMPTY_RTTS * copa_srtt_us(s);
	if (s->competes && !competes)
		s->inverse_q10 = copa_default_q10(p);
	s->competes = competes;
}

/* Is the rate at most 1 / (delta dq)? Below 2^48 and 2^48. */
TANDEM_FN int copa_is_below(const struct copa *s, const struct tandem_conn *c)
{
	return ((u64)c->snd_cwnd << 10) * copa_delay_us(s) <=
	       (u64)s->inverse_q10 * copa_least(&s->standing);
}

/* A window of packets is answered: its direction, and what follows for v. */
TANDEM_FN void copa_end_round(struct copa *s, const struct copa_params *p,
			      const struct tandem_conn *c)
{
	u32 is_down = s->is_down;

	if (c->snd_cwnd != s->begin_cwnd)
		is_down = c->snd_cwnd < s->begin_cwnd;
	if (is_down != s->is_down) {
		s->is_down = is_down;
		s->same_rounds = 1;
		s->velocity = 1;
	} else {
		s->same_rounds = min_u32(s->same_rounds + 1, 255);
		if (s->same_rounds > p->steady_rounds)
			s->velocity = min_u32(2 * s->velocity, COPA_MAX_VELOCITY);
	}
	if (s->competes && !s->reduced)
		s->inverse_q10 = min_u32(s->inverse_q10 + 1024, COPA_INVERSE_MAX);
	copa_begin_round(s, c);
}

/*
 * What `acked` packets, no more than a window, change: packets in 1/2^24. v / delta is at most the
 * window, which makes the product less than 2^58.
 */
TANDEM_FN u64 copa_step_q24(const struct copa *s, const struct tandem_conn *c, u32 acked)
{
	u32 cwnd = max_u32(c->snd_cwnd, 1);
	u64 step_q10 = (u64)s->velocity * s->inverse_q10, window_q10 = (u64)cwnd << 10, product;

	step_q10 = step_q10 < window_q10 ? step_q10 : window_q10;
	product = step_q10 * min_u32(acked, cwnd);
	if (product < 1ull << 48)
		return (product << 14) / cwnd;
	return (product / cwnd) << 14;
}

TANDEM_FN void copa_steer(struct copa *s, struct tandem_conn *c, u32 acked)
{
	u64 window_q24 = (u64)c->snd_cwnd << 24 | s->fraction_q24, step_q24;
	u64 least_q24 = (u64)COPA_LEAST << 24, clamp_q24 = (u64)c->snd_cwnd_clamp << 24;

	step_q24 = copa_step_q24(s, c, acked);
	if (!copa_is_below(s, c)) {
		if (window_q24 <= least_q24)
			return;
		window_q24 = window_q24 - least_q24 > step_q24 ? window_q24 - step_q24 : least_q24;
	} else {
		if (!c->is_cwnd_limited || window_q24 >= clamp_q24)
			return;
		window_q24 += step_q24;
		window_q24 = window_q24 < clamp_q24 ? window_q24 : clamp_q24;
	}
	c->snd_cwnd = (u32)(window_q24 >> 24);
	s->fraction_q24 = (u32)(window_q24 & 0xffffff);
}

TANDEM_FN void copa_move(struct copa *s, const struct copa_params *p, struct tandem_conn *c,
			 u32 acked)
{
	if (s->slow_start && !copa_is_below(s, c)) {
		s->slow_start = 0;
		s->same_rounds = 0;
		copa_begin_round(s, c);
	}
	if (!s->slow_start) {
		copa_steer(s, c, acked);
	} else if (c->is_cwnd_limited) {
		u32 room = sub_floor0(c->snd_cwnd_clamp, c->snd_cwnd);

		c->snd_cwnd += min_u32(acked, room);
	}
}

/* A third of a window lost: the path holds far less. */
TANDEM_FN void copa_take_losses(struct copa *s, struct tandem_conn *c)
{
	u64 sent = (u64)s->delivered + s->lost;

	if (sent <= COPA_FEW || s->lost * 10ull <= sent * 3)
		return;
	c->snd_cwnd = min_u32(c->snd_cwnd, max_u32(mul_div(c->snd_cwnd, 7, 10), COPA_LEAST));
	s->fraction_q24 = 0;
	s->slow_start = 0;
	s->velocity = 1;
	s->same_rounds = 0;
}

/* A loss or a mark, once in a window of packets: it counts in competition. */
TANDEM_FN void copa_reduce(struct copa *s, const struct copa_params *p)
{
	if (!s->competes || s->reduced)
		return;
	s->inverse_q10 = max_u32(s->inverse_q10 / 2, copa_default_q10(p));
	s->reduced = 1;
}

/* All of it, last on each ACK: Linux's cong_control. */
TANDEM_FN void copa_pkts_acked(struct copa *s, const struct copa_params *p, struct tandem_conn *c,
			       const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, TANDEM_MAX_RTT_US);

	/* The host has changed the window. */
	if (c->snd_cwnd != s->cwnd)
		s->fraction_q24 = 0;
	if (rtt_us) {
		copa_take_rtt(s, p, c, rtt_us);
		copa_choose_mode(s, p, c);
	}
	if (ack->lost)
		copa_reduce(s, p);
	s->delivered += min_u32(ack->acked_sacked, TANDEM_MAX_WINDOW);
	s->delivered = min_u32(s->delivered, TANDEM_MAX_WINDOW);
	s->lost = min_u32(s->lost + min_u32(ack->lost, TANDEM_MAX_WINDOW), TANDEM_MAX_WINDOW);
	if (seq_after(c->snd_una, s->round_end) ||
	    (u64)s->delivered + s->lost > 2ull * s->begin_cwnd) {
		copa_take_losses(s, c);
		if (s->slow_start)
			copa_begin_round(s, c);
		else
			copa_end_round(s, p, c);
	}
	copa_move(s, p, c, min_u32(ack->acked_sacked, TANDEM_MAX_WINDOW));
	s->cwnd = c->snd_cwnd;
	copa_set_rate(s, p, c);
}

TANDEM_FN void copa_cong_avoid(struct copa *s, const struct copa_params *p, struct tandem_conn *c,
			       u32 acked)
{
}

/* The threshold is for the host alone; what a loss changes is delta, and only in competition. */
TANDEM_FN u32 copa_ssthresh(struct copa *s, const struct copa_params *p,
			    const struct tandem_conn *c, u32 reason)
{
	if (reason == TANDEM_FOR_MARK)
		copa_reduce(s, p);
	return max_u32(c->snd_cwnd / 2, COPA_LEAST);
}

TANDEM_FN void copa_set_state(struct copa *s, const struct copa_params *p, struct tandem_conn *c,
			      u32 state)
{
	if (state != TANDEM_LOSS)
		return;
	s->slow_start = 1;
	s->velocity = 1;
}

/* What the RTTs said of the queue is old. */
TANDEM_FN void copa_restart(struct copa *s, const struct copa_params *p, struct tandem_conn *c)
{
	s->standing.now = s->standing.before = 0;
	s->max_rtt.now = s->max_rtt.before = 0;
	s->empty_us = copa_us(c);
	s->velocity = 1;
	copa_begin_round(s, c);
}

TANDEM_FN u32 copa_undo_cwnd(struct copa *s, const struct copa_params *p,
			     const struct tandem_conn *c)
{
	return c->snd_cwnd;
}

#define copa_PROBES(P, W) \
	W(mode, "DEFAULT COMPETITIVE SLOW_START", s->slow_start ? 2 : s->competes, "of delta") \
	P(inverse_delta_packets, 1024, s->inverse_q10, "1 / delta, to be kept in the queue") \
	P(velocity, 1, s->velocity, "factor of the window's steps") \
	P(queueing_delay_ms, 1000, copa_delay_us(s), "of the standing queue")

TANDEM_FN void copa_view(const struct copa *s, const struct copa_params *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
	v->gamma_q8 = s->inverse_q10 >> 2;
	v->base_rtt_us = copa_least(&s->min_rtt);
}

#endif
