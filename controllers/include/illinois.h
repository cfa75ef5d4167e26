/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP-Illinois (Liu, Basar, Srikant, "TCP-Illinois: a loss and delay-based congestion control
 * algorithm for high-speed networks", Performance Evaluation 65(6-7), 2008): losses say when to
 * back off, the queueing delay says how much to grow and to give up.
 *
 *   d_a = mean RTT of a round - baseRTT, d_m = largest RTT - baseRTT              section 3
 *   alpha = alpha_max for d_a <= d_1 = 0.01 d_m, otherwise k1 / (k2 + d_a) down to alpha_min at d_m
 *   beta  = beta_min for d_a <= d_2 = 0.1 d_m, beta_max from d_3 = 0.8 d_m on, linear in between
 *   w += alpha / w for each packet ACKed, w = w (1 - beta) on loss; below win_thresh as Reno
 *   once d_a has been above d_1, alpha returns to alpha_max only after theta rounds with d_a <= d_1
 *
 * k1 and k2 are such that alpha is continuous at d_1 and alpha_min at d_m, which gives
 *   alpha = (d_m - d_1) alpha_min alpha_max /
 *           ((d_m - d_1) alpha_min + (d_a - d_1) (alpha_max - alpha_min)).
 *
 * Open points and decisions:
 *  - A round and its samples are those of rounds.h: none from recoveries.
 *  - The rounds counted for theta need not follow one another, and one above d_1 does not set the
 *    count back (Linux).
 *  - After a timeout alpha = 1 and beta = 1/2 until the next round (Linux).
 *  - The largest RTT is never forgotten (paper; Linux too).
 */
#ifndef TANDEM_ILLINOIS_H
#define TANDEM_ILLINOIS_H

#include "rounds.h"
#include "window.h"

#define illinois_PARAMS(P) \
	P(alpha_min, 1000, 300, 1, 1000, "packets a round at the largest delay (section 5: 0.3)") \
	P(alpha_max, 1000, 10000, 1001, 100000, "packets a round without delay (section 5: 10)") \
	P(beta_min, 1000, 125, 10, 499, \
	  "share of the window given up on loss without delay (section 5: 0.125)") \
	P(beta_max, 1000, 500, 500, 900, "share given up at the largest delay (section 5: 0.5)") \
	P(delay_1, 1000, 10, 0, 90, \
	  "share of the largest delay up to which alpha is alpha_max (section 5: 0.01)") \
	P(delay_2, 1000, 100, 0, 400, \
	  "share of the largest delay up to which beta is beta_min (section 5: 0.1)") \
	P(delay_3, 1000, 800, 401, 1000, \
	  "share of the largest delay from which on beta is beta_max (section 5: 0.8)") \
	P(theta, 1, 5, 1, 1000, \
	  "rounds of low delay before alpha is alpha_max again (section 5: 5)") \
	P(win_thresh, 1, 15, 2, 1 << 24, "packets; below this window as Reno (section 5: 15)")

struct illinois_params { illinois_PARAMS(TANDEM_PARAM_FIELD) };

struct illinois {
	struct window window;
	struct rounds round;
	u32 samples;    /* of this round                                       */
	u64 sum_rtt_us; /* their sum                                           */
	u32 max_rtt_us; /* largest seen; 0 before the first                    */
	u32 alpha;      /* packets a round, in illinois_unit                   */
	u32 beta_q16;   /* share given up on loss                              */
	u32 was_above;  /* 1 = the delay has been above d_1 since alpha_max    */
	u32 low_rounds; /* rounds up to d_1 since then                         */
};

/* See window.h. alpha is at most 100, in the finer unit below 2^27. */
TANDEM_FN u32 illinois_unit(const struct illinois_params *p)
{
	return p->alpha_min < 300 || p->alpha_max < 10000 ? 1 << 20 : WINDOW_UNIT;
}

/* alpha_max, in illinois_unit. */
TANDEM_FN u32 illinois_most(const struct illinois_params *p)
{
	return mul_div(p->alpha_max, illinois_unit(p), 1000);
}

TANDEM_FN void illinois_begin_round(struct illinois *s, const struct tandem_conn *c)
{
	rounds_begin(&s->round, c);
	s->samples = 0;
	s->sum_rtt_us = 0;
}

TANDEM_FN void illinois_as_reno(struct illinois *s, const struct illinois_params *p)
{
	s->alpha = illinois_unit(p);
	s->beta_q16 = 1 << 15;
}

TANDEM_FN void illinois_init(struct illinois *s, const struct illinois_params *p,
			     struct tandem_conn *c)
{
	window_init(&s->window, c);
	rounds_init(&s->round, c);
	illinois_begin_round(s, c);
	s->max_rtt_us = 0;
	s->alpha = illinois_most(p);
	s->beta_q16 = 1 << 15;
	s->was_above = 0;
	s->low_rounds = 0;
}

TANDEM_FN void illinois_pkts_acked(struct illinois *s, const struct illinois_params *p,
				   const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 rtt_us = rounds_sample(&s->round, ack);

	if (!rtt_us)
		return;
	s->max_rtt_us = max_u32(s->max_rtt_us, rtt_us);
	s->sum_rtt_us += rtt_us;
	s->samples++;
}

/* alpha for a mean delay d_a and a largest delay d_m. */
TANDEM_FN void illinois_update_alpha(struct illinois *s, const struct illinois_params *p, u32 da_us,
				     u32 dm_us)
{
	u32 d1_us = mul_div(dm_us, p->delay_1, 1000);
	u64 span, slope;

	if (da_us <= d1_us) {
		if (s->was_above && ++s->low_rounds < p->theta)
			return;
		s->was_above = 0;
		s->low_rounds = 0;
		s->alpha = illinois_most(p);
		return;
	}
	s->was_above = 1;
	/* Below 2^24 * 2^10; times alpha_max below 2^61. */
	span = (u64)(dm_us - d1_us) * p->alpha_min;
	slope = (u64)(da_us - d1_us) * (p->alpha_max - p->alpha_min);
	s->alpha = (u32)(span * illinois_most(p) / (span + slope));
}

TANDEM_FN void illinois_update_beta(struct illinois *s, const struct illinois_params *p, u32 da_us,
				    u32 dm_us)
{
	u32 d2_us = mul_div(dm_us, p->delay_2, 1000), d3_us = mul_div(dm_us, p->delay_3, 1000);
	u32 least_q16 = p->beta_min * 65536 / 1000, most_q16 = p->beta_max * 65536 / 1000;

	if (da_us <= d2_us)
		s->beta_q16 = least_q16;
	else if (da_us >= d3_us)
		s->beta_q16 = most_q16;
	else
		s->beta_q16 = least_q16 + mul_div(most_q16 - least_q16, da_us - d2_us,
						  d3_us - d2_us);
}

TANDEM_FN void illinois_on_round(struct illinois *s, const struct illinois_params *p,
				 const struct tandem_conn *c)
{
	u32 da_us, dm_us;

	if (c->snd_cwnd < p->win_thresh) {
		illinois_as_reno(s, p);
	} else if (s->samples) {
		da_us = (u32)(s->sum_rtt_us / s->samples) - s->round.base_rtt_us;
		dm_us = s->max_rtt_us - s->round.base_rtt_us;
		illinois_update_alpha(s, p, da_us, dm_us);
		illinois_update_beta(s, p, da_us, dm_us);
	}
}

TANDEM_FN void illinois_cong_avoid(struct illinois *s, const struct illinois_params *p,
				   struct tandem_conn *c, u32 acked)
{
	if (rounds_ended(&s->round, c)) {
		illinois_on_round(s, p, c);
		illinois_begin_round(s, c);
	}
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	window_grow_by(&s->window, c, s->alpha, illinois_unit(p), acked);
}

TANDEM_FN u32 illinois_ssthresh(struct illinois *s, const struct illinois_params *p,
				const struct tandem_conn *c, u32 reason)
{
	return window_reduce(&s->window, c, mul_div(c->snd_cwnd, (1 << 16) - s->beta_q16, 1 << 16));
}

TANDEM_FN void illinois_set_state(struct illinois *s, const struct illinois_params *p,
				  struct tandem_conn *c, u32 state)
{
	if (state == TANDEM_LOSS) {
		illinois_as_reno(s, p);
		s->was_above = 0;
		s->low_rounds = 0;
	}
	if (rounds_set_state(&s->round, c, state))
		illinois_begin_round(s, c);
}

TANDEM_FN void illinois_restart(struct illinois *s, const struct illinois_params *p,
				struct tandem_conn *c)
{
	illinois_begin_round(s, c);
}

#define illinois_PROBES(P, W) \
	P(alpha_packets, 1000, mul_div(s->alpha, 1000, illinois_unit(p)), "growth a round") \
	P(beta, 65536, 65536 - s->beta_q16, "share of the window that a loss would leave")

TANDEM_FN void illinois_view(const struct illinois *s, const struct illinois_params *p,
			     const struct tandem_conn *c, struct tandem_view *v)
{
	rounds_view(&s->round, c, 0, 0, v);
}

WINDOW_UNDO(illinois)

#endif
