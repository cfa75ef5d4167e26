/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * LEDBAT++ (Balasubramanian, Ertugay, Havey, draft-irtf-iccrg-ledbat-plus-plus-01, 2020; in
 * Windows): background traffic, which gives way to everything else.
 *
 *   GAIN = 1 / min(16, ceil(2 T / base))         T = 60 ms of queueing delay         4.2, 4.5
 *   slow start   cwnd += GAIN acked              from two packets; the first one ends
 *                                                with a delay above 3/4 T            4.1
 *   delay <= T   cwnd += GAIN a round                                                4.3
 *   delay >  T   cwnd += max(GAIN - cwnd (delay / T - 1), -cwnd / 2), once a round   4.3
 *   slowdown     cwnd = 2 for 2 RTT, then slow start to what it was: 2 RTT after the
 *                first slow start, and again after 9 times as long as it took        4.4
 *   delay        the smallest of the last four RTTs, less base                       4.5
 *   loss         Reno                                                                1
 *
 * What the draft leaves open, and how it is decided here:
 *  - It counts delays above T once a round, but not which round: rounds.h's, by the delay at its
 *    end. While the delay is above T, ACKs add nothing.
 *  - base is the smallest RTT of the last ten minutes, as in RFC 6817, kept for each half of them;
 *    so a longer route counts after five to ten minutes.
 *  - Before the first sample GAIN is its least. CEIL(X) is X where that is whole (the draft: "the
 *    smallest integer larger than X").
 *  - A loss ends the first slow start, too. One in a slowdown halves what it returns to, one in the
 *    slow start after that ends it. A slowdown waits for the end of a slow start.
 *  - An RTT for "2 RTT" is the smallest of the last four. There are no samples in recovery.
 */
#ifndef TANDEM_LEDBAT_PP_H
#define TANDEM_LEDBAT_PP_H

#include "rounds.h"
#include "window.h"

#define ledbat_pp_PARAMS(P) \
	P(target, 1, 60000, 1000, 1000000, "us of queueing delay to aim at (draft: 60 ms)") \
	P(gain_limit, 1, 16, 1, 64, "1 / GAIN at most (draft: 16)") \
	P(decrease, 1024, 1024, 1, 4096, "weight of the delay above the target (draft: 1)") \
	P(exit_share, 1024, 768, 1, 1024, \
	  "share of the target that ends the first slow start (draft: 3/4)") \
	P(freeze, 1, 2, 1, 16, "RTTs for which a slowdown keeps two packets (draft: 2)") \
	P(spacing, 1, 9, 0, 1000, \
	  "time to the next slowdown over the time of the last (draft: 9); 0 = no slowdowns") \
	P(base_history, 1, 600, 2, 3600, "seconds for which an RTT counts (RFC 6817: 10 minutes)") \
	P(beta, 1024, 512, 64, 960, "share of the window given up on loss (RFC 6817: 1/2)")

struct ledbat_pp_params { ledbat_pp_PARAMS(TANDEM_PARAM_FIELD) };

enum ledbat_pp_phase {
	LEDBAT_PP_FIRST,  /* slow start                                    */
	LEDBAT_PP_STEADY,
	LEDBAT_PP_FROZEN, /* two packets                                   */
	LEDBAT_PP_RAMP,   /* slow start to the window before the slowdown  */
};

#define LEDBAT_PP_LEAST 2 /* packets [draft-irtf-iccrg-ledbat-plus-plus 4.3] */

struct ledbat_pp {
	u64 grown_q38;   /* of the next packet                                        */
	u64 slowdown_us; /* when the next slowdown is due; when the present one began */
	u64 thaw_us;     /* when the window is to grow again                          */
	u64 half_us;     /* when this half of the history began                       */
	u32 base_us;     /* smallest RTT of it, ROUNDS_UNMEASURED: none               */
	u32 prior_base_us;             /* and of the half before it                   */
	u32 last_us, second_us, third_us, fourth_us; /* RTTs, newest first            */
	u32 round_end;   /* snd_nxt when the round began                              */
	u32 ramp_to;     /* window before the slowdown, packets                       */
	u32 prior_cwnd;  /* window before the last reduction, for undo                */
	/* No bit is left over: init would not write it. */
	u32 phase : 31;
	u32 is_recovering : 1;
};

/* [draft-irtf-iccrg-ledbat-plus-plus 4.5] */
TANDEM_FN u32 ledbat_pp_rtt_us(const struct ledbat_pp *s)
{
	return min_u32(min_u32(s->last_us, s->second_us), min_u32(s->third_us, s->fourth_us));
}

TANDEM_FN u32 ledbat_pp_base_us(const struct ledbat_pp *s)
{
	return min_u32(s->base_us, s->prior_base_us);
}

/* Queueing delay, us. base is the smaller of the two, or there is neither. */
TANDEM_FN u32 ledbat_pp_delay_us(const struct ledbat_pp *s)
{
	u32 rtt_us = ledbat_pp_rtt_us(s);

	return rtt_us == ROUNDS_UNMEASURED ? 0 : sub_floor0(rtt_us, ledbat_pp_base_us(s));
}

/* 1 / GAIN [draft-irtf-iccrg-ledbat-plus-plus 4.2] */
TANDEM_FN u32 ledbat_pp_slowness(const struct ledbat_pp *s, const struct ledbat_pp_params *p)
{
	u32 base_us = ledbat_pp_base_us(s);

	if (base_us == ROUNDS_UNMEASURED)
		return p->gain_limit;
	return min_u32((2 * p->target + base_us - 1) / max_u32(base_us, 1), p->gain_limit);
}

TANDEM_FN void ledbat_pp_forget(struct ledbat_pp *s)
{
	s->last_us = s->second_us = s->third_us = s->fourth_us = ROUNDS_UNMEASURED;
}

/* [draft-irtf-iccrg-ledbat-plus-plus 4.1] */
TANDEM_FN void ledbat_pp_init(struct ledbat_pp *s, const struct ledbat_pp_params *p,
			      struct tandem_conn *c)
{
	*s = (struct ledbat_pp){
		.half_us = c->now_us,
		.base_us = ROUNDS_UNMEASURED,
		.prior_base_us = ROUNDS_UNMEASURED,
		.round_end = c->snd_nxt,
		.phase = LEDBAT_PP_FIRST,
	};
	ledbat_pp_forget(s);
	c->snd_cwnd = min_u32(c->snd_cwnd, LEDBAT_PP_LEAST);
	s->prior_cwnd = c->snd_cwnd;
}

TANDEM_FN void ledbat_pp_pkts_acked(struct ledbat_pp *s, const struct ledbat_pp_params *p,
				    const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, TANDEM_MAX_RTT_US);

	if (!rtt_us || s->is_recovering)
		return;
	if (c->now_us - s->half_us >= p->base_history * 500000ull) {
		s->half_us = c->now_us;
		s->prior_base_us = s->base_us;
		s->base_us = ROUNDS_UNMEASURED;
	}
	s->base_us = min_u32(s->base_us, rtt_us);
	s->fourth_us = s->third_us;
	s->third_us = s->second_us;
	s->second_us = s->last_us;
	s->last_us = rtt_us;
}

/* The time of `count` RTTs. */
TANDEM_FN u64 ledbat_pp_rtts_us(const struct ledbat_pp *s, u32 count)
{
	u32 rtt_us = ledbat_pp_rtt_us(s);

	return rtt_us == ROUNDS_UNMEASURED ? 0 : (u64)count * rtt_us;
}

/*
 * The window that the round leaves, if the delay is above the target. Packets in 1/4096: the window
 * is below 2^36 of them, the delay at most 2^24 us, the target 1000 us at least, so that the first
 * quotient is below 2^51.
 * [draft-irtf-iccrg-ledbat-plus-plus 4.3]
 */
TANDEM_FN void ledbat_pp_give_way(struct ledbat_pp *s, const struct ledbat_pp_params *p,
				  struct tandem_conn *c)
{
	u32 excess_us = ledbat_pp_delay_us(s) - p->target;
	u32 most = c->is_cwnd_limited ? max_u32(c->snd_cwnd, c->snd_cwnd_clamp) : c->snd_cwnd;
	u64 window_q12 = (u64)c->snd_cwnd << 12;
	u64 cut_q12 = (window_q12 * excess_us / p->target) * p->decrease >> 10;

	window_q12 += (s->grown_q38 >> 26) + 4096 / ledbat_pp_slowness(s, p);
	window_q12 -= cut_q12 < window_q12 / 2 ? cut_q12 : window_q12 / 2;
	if (window_q12 >> 12 < LEDBAT_PP_LEAST)
		window_q12 = LEDBAT_PP_LEAST << 12;
	/* GAIN may be more than the cut. */
	if (window_q12 >> 12 > most)
		window_q12 = (u64)most << 12 | 4095;
	c->snd_cwnd = (u32)(window_q12 >> 12);
	s->grown_q38 = (window_q12 & 4095) << 26;
	ssthresh_follows(c);
}

/* [draft-irtf-iccrg-ledbat-plus-plus 4.4] */
TANDEM_FN void ledbat_pp_slow_down(struct ledbat_pp *s, const struct ledbat_pp_params *p,
				   struct tandem_conn *c)
{
	s->phase = LEDBAT_PP_FROZEN;
	s->ramp_to = c->snd_cwnd;
	s->slowdown_us = c->now_us;
	s->thaw_us = c->now_us + ledbat_pp_rtts_us(s, p->freeze);
	c->snd_cwnd = min_u32(c->snd_cwnd, LEDBAT_PP_LEAST);
	s->grown_q38 = 0;
	s->prior_cwnd = c->snd_cwnd;
}

/* What slow start grows to. */
TANDEM_FN u32 ledbat_pp_slow_start_end(const struct ledbat_pp *s, const struct tandem_conn *c)
{
	return s->phase == LEDBAT_PP_RAMP ? s->ramp_to : c->snd_ssthresh;
}

/*
 * From phase to phase.
 * [draft-irtf-iccrg-ledbat-plus-plus 4.1] [draft-irtf-iccrg-ledbat-plus-plus 4.4]
 */
TANDEM_FN void ledbat_pp_step(struct ledbat_pp *s, const struct ledbat_pp_params *p,
			      struct tandem_conn *c)
{
	u64 now_us = c->now_us;

	if (s->phase == LEDBAT_PP_FROZEN && now_us >= s->thaw_us)
		s->phase = LEDBAT_PP_RAMP;
	if (s->phase == LEDBAT_PP_RAMP && c->snd_cwnd >= s->ramp_to) {
		s->phase = LEDBAT_PP_STEADY;
		s->slowdown_us = now_us + p->spacing * (now_us - s->slowdown_us);
	}
	if (s->phase == LEDBAT_PP_FIRST) {
		if (ledbat_pp_delay_us(s) > mul_div(p->target, p->exit_share, 1024))
			ssthresh_follows(c);
		if (in_slow_start(c))
			return;
		s->phase = LEDBAT_PP_STEADY;
		s->slowdown_us = now_us + ledbat_pp_rtts_us(s, 2);
	}
	if (p->spacing && s->phase == LEDBAT_PP_STEADY && !in_slow_start(c) &&
	    now_us >= s->slowdown_us && ledbat_pp_rtt_us(s) != ROUNDS_UNMEASURED)
		ledbat_pp_slow_down(s, p, c);
}

/*
 * `acked` <= 2^24 packets add GAIN each in slow start, GAIN / cwnd otherwise. Rounded up, so that
 * three thirds are a packet.
 * [draft-irtf-iccrg-ledbat-plus-plus 4.1] [draft-irtf-iccrg-ledbat-plus-plus 4.3]
 */
TANDEM_FN void ledbat_pp_grow(struct ledbat_pp *s, const struct ledbat_pp_params *p,
			      struct tandem_conn *c, u32 acked)
{
	u32 end = ledbat_pp_slow_start_end(s, c), divisor = ledbat_pp_slowness(s, p), room;
	u64 grown;

	if (c->snd_cwnd >= end) {
		if (ledbat_pp_delay_us(s) > p->target)
			return;
		divisor *= max_u32(c->snd_cwnd, 1);
		end = c->snd_cwnd_clamp;
	}
	s->grown_q38 += ((u64)acked << 38) / divisor + 1;
	grown = s->grown_q38 >> 38;
	s->grown_q38 &= (1ull << 38) - 1;
	room = sub_floor0(min_u32(end, c->snd_cwnd_clamp), c->snd_cwnd);
	c->snd_cwnd += grown < room ? (u32)grown : room;
}

TANDEM_FN void ledbat_pp_cong_avoid(struct ledbat_pp *s, const struct ledbat_pp_params *p,
				    struct tandem_conn *c, u32 acked)
{
	if (!s->is_recovering && seq_after(c->snd_una, s->round_end)) {
		s->round_end = c->snd_nxt;
		if (s->phase == LEDBAT_PP_STEADY && !in_slow_start(c) &&
		    ledbat_pp_delay_us(s) > p->target) {
			ledbat_pp_give_way(s, p, c);
			return;
		}
	}
	ledbat_pp_step(s, p, c);
	if (c->is_cwnd_limited && s->phase != LEDBAT_PP_FROZEN)
		ledbat_pp_grow(s, p, c, acked);
}

/* In a slowdown the window has given way already; what it is to return to has not. */
TANDEM_FN u32 ledbat_pp_ssthresh(struct ledbat_pp *s, const struct ledbat_pp_params *p,
				 const struct tandem_conn *c, u32 reason)
{
	u32 left = window_after_loss(c->snd_cwnd, p->beta);

	s->prior_cwnd = c->snd_cwnd;
	s->grown_q38 = 0;
	left = max_u32(left, LEDBAT_PP_LEAST);
	if (s->phase == LEDBAT_PP_FROZEN)
		s->ramp_to = max_u32(window_after_loss(s->ramp_to, p->beta), LEDBAT_PP_LEAST);
	else
		s->ramp_to = min_u32(s->ramp_to, left);
	return left;
}

TANDEM_FN void ledbat_pp_set_state(struct ledbat_pp *s, const struct ledbat_pp_params *p,
				   struct tandem_conn *c, u32 state)
{
	u32 is_recovering = state > TANDEM_DISORDER;

	if (s->is_recovering && !is_recovering)
		s->round_end = c->snd_nxt;
	s->is_recovering = is_recovering;
}

/* RTTs from before the pause say nothing of the queue now. */
TANDEM_FN void ledbat_pp_restart(struct ledbat_pp *s, const struct ledbat_pp_params *p,
				 struct tandem_conn *c)
{
	ledbat_pp_forget(s);
	s->grown_q38 = 0;
	s->round_end = c->snd_nxt;
}

TANDEM_FN u32 ledbat_pp_undo_cwnd(struct ledbat_pp *s, const struct ledbat_pp_params *p,
				  const struct tandem_conn *c)
{
	s->grown_q38 = 0;
	return max_u32(c->snd_cwnd, s->prior_cwnd);
}

#define ledbat_pp_PROBES(P, W) \
	W(state, "FIRST STEADY FROZEN RAMP", s->phase, "slow start, slowdowns") \
	P(queueing_delay_ms, 1000, ledbat_pp_delay_us(s), "least of four samples, above base") \
	P(slowness, 1, ledbat_pp_slowness(s, p), "1 / GAIN") \
	P(ramp_to_packets, 1, s->phase < LEDBAT_PP_FROZEN ? TANDEM_NONE : s->ramp_to, \
	  "window that the slowdown returns to")

TANDEM_FN void ledbat_pp_view(const struct ledbat_pp *s, const struct ledbat_pp_params *p,
			      const struct tandem_conn *c, struct tandem_view *v)
{
	u32 base_us = ledbat_pp_base_us(s);

	v->loss_window = c->snd_cwnd;
	v->base_rtt_us = base_us == ROUNDS_UNMEASURED ? 0 : base_us;
}

#endif
