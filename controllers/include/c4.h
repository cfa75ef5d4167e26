/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * C4 (Huitema, Nandakumar, Jennings, draft-huitema-ccwg-c4-spec, editors' copy after -04, 2026;
 * picoquic's c4.c, August 2026, PQ): low delay for media, through jitter. It knows a rate, and the
 * longest RTT that the path has without a queue.
 *
 *   nominal rate   the largest delivery rate; only congestion lowers it                 3.1
 *   max RTT        the largest of an era sent at the nominal rate or less; if smaller,
 *                  1/8 of the way down to it                                            3.2
 *   pacing rate    alpha nominal rate; cwnd = pacing rate (max RTT + margin),
 *                  margin = min(max RTT / 4, 15 ms)                                     4.1
 *   INITIAL        alpha 2, cwnd += acked / 8^eras, until three eras without growth     4.2
 *   RECOVERY       alpha 15/16, 7/8 to drain; an era                                    4.4, 5.7
 *   CRUISING       alpha 1; two eras                                                    4.5
 *   PROBING        alpha 17/16; an era                                                  4.6
 *   PUSHING        alpha 5/4, two eras, and on while an era gains 3/16; after three
 *                  gains INITIAL                                                        4.7
 *   congestion     from CRUISING: nominal rate (1 - beta); always: RECOVERY             5
 *     delay        RTT > max RTT + threshold, by sensitivity; beta by the excess        5.2
 *     loss         smoothed share > threshold, by sensitivity; beta = 1/4               5.3
 *
 * The draft contradicts itself, or is silent. How it is decided here:
 *  - 3.1's pseudo-code lowers the nominal rate to the estimate, its text raises it: raised. 4.1
 *    adds a time to a rate: added to max RTT. 4 cruises for four eras, 4.5 for two: two. 4.1 drains
 *    with 3/4, 5.7 with 7/8: 7/8. 5.5.1's beta lacks a parenthesis: (RTT - max RTT - threshold) /
 *    threshold, 1/4 at most. (All as PQ.)
 *  - Growth is by a quarter in INITIAL (PQ), by anything in PROBING.
 *  - Delay is no congestion in CRUISING by default (PQ: only where the era before was sent faster
 *    than the nominal rate); 5.2 has no such bound: `cruise_delay`.
 *  - A loss takes its beta off max RTT too (PQ), which is 1 ms at least (6.3). The smoothed loss
 *    begins at 0 after each recovery (PQ). What a timer finds lost does not count (5.3.1); a
 *    timeout's window grows from 1 until something is delivered.
 *  - INITIAL is entered anew for jitter once, from a max RTT of 50 ms and below 1 MB/s (PQ).
 *  - Draining: after INITIAL and PUSHING. A path that has become shorter is not looked for.
 *  - Eras end by delivered packets, as BBR's rounds do. A mark counts as a loss above the
 *    threshold; 5.4 needs ECT(1). No resuming state (4.3).
 */
#ifndef TANDEM_C4_H
#define TANDEM_C4_H

#include "c4_model.h"

/* See controller.h. */
#define TANDEM_OWNS_SLOW_START

TANDEM_FN void c4_begin_era(struct c4 *s, u32 delivered, u32 alpha)
{
	s->prior_alpha = s->alpha;
	s->alpha = alpha;
	s->era_end = delivered;
	s->era_max_us = 0;
	s->era_min_us = 0;
}

TANDEM_FN void c4_enter(struct c4 *s, u32 state, u32 delivered, u32 alpha)
{
	s->state = state;
	s->eras = 0;
	c4_begin_era(s, delivered, alpha);
}

/* A cycle of probing begins: what is gained counts from here. */
TANDEM_FN void c4_begin_cycle(struct c4 *s)
{
	s->before_q24 = s->nominal_q24;
	s->congested = 0;
	s->app_limited = 0;
}

/* It drains by 5.7. [draft-huitema-ccwg-c4-spec 4.4] */
TANDEM_FN void c4_recover(struct c4 *s, const struct c4_params *p, u32 delivered)
{
	u32 drains = s->state == C4_INITIAL || s->state == C4_PUSHING;

	s->probed = s->state == C4_PROBING;
	if (s->state == C4_INITIAL)
		c4_begin_cycle(s);
	c4_enter(s, C4_RECOVERY, delivered, drains ? p->drain_alpha : p->recovery_alpha);
}

/* [draft-huitema-ccwg-c4-spec 4.2] */
TANDEM_FN void c4_end_initial(struct c4 *s, const struct c4_params *p, u32 delivered)
{
	u64 rtt_us;

	if (!s->nominal_q24)
		return;
	rtt_us = ((u64)(s->initial_cwnd / 2) << 24) / s->nominal_q24;
	rtt_us = rtt_us < TANDEM_MAX_RTT_US ? rtt_us : TANDEM_MAX_RTT_US;
	s->max_rtt_us = max_u32((u32)rtt_us, C4_LEAST_RTT_US);
	s->flat_eras = 0;
	c4_recover(s, p, delivered);
}

TANDEM_FN void c4_enter_initial(struct c4 *s, const struct c4_params *p, u32 delivered)
{
	s->initial_cwnd = max_u32(c4_packets(s->nominal_q24, s->max_rtt_us), C4_LEAST);
	s->flat_eras = 0;
	s->early = 0;
	c4_begin_cycle(s);
	c4_enter(s, C4_INITIAL, delivered, p->initial_alpha);
}

/* [draft-huitema-ccwg-c4-spec 5.5] */
TANDEM_FN void c4_take_congestion(struct c4 *s, const struct c4_params *p, struct tandem_conn *c,
				  const struct tandem_ack *ack, struct c4_sample *r)
{
	if (!r->is_congested)
		return;
	if (s->state == C4_INITIAL) {
		c4_end_initial(s, p, ack->delivered);
	} else if (s->state != C4_RECOVERY) {
		if (s->state == C4_CRUISING) {
			s->nominal_q24 = max_u32(c4_scaled_q24(s->nominal_q24,
							       C4_UNIT - r->beta), 1);
			if (r->is_loss)
				s->max_rtt_us = max_u32(c4_scaled_q24(s->max_rtt_us,
								      C4_UNIT - r->beta),
							C4_LEAST_RTT_US);
		}
		c4_recover(s, p, ack->delivered);
	}
	s->congested = 1;
	r->ends_era = 0;
}
TANDEM_STEP(c4, c4_take_congestion)

/* [draft-huitema-ccwg-c4-spec 4.4] */
TANDEM_FN void c4_end_recovery(struct c4 *s, const struct c4_params *p, u32 delivered)
{
	u32 grew = s->nominal_q24 > s->before_q24, was_congested = s->congested;

	if (was_congested) {
		s->congestions = min_u32(s->congestions + 1, 2);
		/* [draft-huitema-ccwg-c4-spec 5.5] */
		if (s->congestions == 2 && s->recent_q24)
			s->nominal_q24 = min_u32(s->nominal_q24, s->recent_q24);
	} else {
		s->congestions = 0;
		/* Trimming (5.6). */
		if (!grew && !s->app_limited && s->recent_q24)
			s->nominal_q24 = (u32)(((u64)s->nominal_q24 + s->recent_q24) / 2);
	}
	s->recent_q24 = 0;
	s->loss_q16 = 0;
	c4_begin_cycle(s);
	if (s->probed && grew && !was_congested)
		c4_enter(s, C4_PUSHING, delivered, p->pushing_alpha);
	else
		c4_enter(s, C4_CRUISING, delivered, C4_UNIT);
}

/* Has the nominal rate grown to this many sixteenths since the era began? */
TANDEM_FN int c4_grew_to(const struct c4 *s, u32 sixteenths)
{
	return s->nominal_q24 && (u64)s->nominal_q24 * 16 >= (u64)s->before_q24 * sixteenths;
}

/* [draft-huitema-ccwg-c4-spec 4.2] */
TANDEM_FN void c4_end_initial_era(struct c4 *s, const struct c4_params *p, u32 delivered)
{
	if (c4_grew_to(s, 20))
		s->flat_eras = 0;
	else if (s->nominal_q24 && !s->app_limited)
		s->flat_eras++;
	if (s->flat_eras >= C4_FLAT_ERAS) {
		c4_end_initial(s, p, delivered);
		return;
	}
	c4_begin_cycle(s);
	c4_begin_era(s, delivered, s->alpha);
}

/* [draft-huitema-ccwg-c4-spec 4.7] */
TANDEM_FN void c4_end_pushing_era(struct c4 *s, const struct c4_params *p, u32 delivered)
{
	u32 is_first = !s->eras;

	s->eras = min_u32(s->eras + 1, 15);
	if (!is_first && !c4_grew_to(s, 19)) {
		c4_recover(s, p, delivered);
	} else if (s->eras > 3) {
		c4_enter_initial(s, p, delivered);
	} else {
		if (!is_first)
			s->before_q24 = s->nominal_q24;
		c4_begin_era(s, delivered, s->alpha);
	}
}

/* A path on which INITIAL saw too little of the jitter [draft-huitema-ccwg-c4-spec 4.4]. */
TANDEM_FN int c4_is_jittery(const struct c4 *s, const struct tandem_conn *c)
{
	return !s->restarted && s->max_rtt_us > 50000 && s->min_rtt_us &&
	       (u64)s->min_rtt_us * 5 < (u64)s->max_rtt_us * 2 &&
	       c4_bytes_per_s(s->nominal_q24, c) < 1000000;
}

TANDEM_FN void c4_end_era(struct c4 *s, const struct c4_params *p, struct tandem_conn *c,
			  const struct tandem_ack *ack, struct c4_sample *r)
{
	if (!r->ends_era)
		return;
	if (s->state == C4_INITIAL) {
		c4_end_initial_era(s, p, ack->delivered);
		return;
	}
	c4_update_rtts(s, p);
	if (s->state == C4_RECOVERY && c4_is_jittery(s, c)) {
		s->restarted = 1;
		c4_enter_initial(s, p, ack->delivered);
	} else if (s->state == C4_RECOVERY) {
		c4_end_recovery(s, p, ack->delivered);
	} else if (s->state == C4_PROBING) {
		c4_recover(s, p, ack->delivered);
	} else if (s->state == C4_PUSHING) {
		c4_end_pushing_era(s, p, ack->delivered);
	} else {
		s->eras = min_u32(s->eras + 1, 15);
		if (s->eras >= p->cruise_eras && !ack->is_app_limited) {
			c4_begin_cycle(s);
			c4_enter(s, C4_PROBING, ack->delivered, p->probing_alpha);
		} else {
			c4_begin_era(s, ack->delivered, C4_UNIT);
		}
	}
}
TANDEM_STEP(c4, c4_end_era)

/* [draft-huitema-ccwg-c4-spec 4.1] */
TANDEM_FN void c4_set_control(struct c4 *s, const struct c4_params *p, struct tandem_conn *c,
			      const struct tandem_ack *ack, struct c4_sample *r)
{
	u32 rate_q24 = c4_scaled_q24(s->nominal_q24, s->alpha), cwnd;
	u64 rate;

	if (!s->nominal_q24)
		return;
	cwnd = c4_packets(rate_q24, s->max_rtt_us);
	rate = c4_bytes_per_s(rate_q24, c);
	if (s->state == C4_INITIAL) {
		u32 acked = min_u32(ack->acked_sacked, TANDEM_MAX_WINDOW);

		s->initial_cwnd = min_u32(s->initial_cwnd + (acked >> 3 * s->flat_eras),
					  TANDEM_MAX_WINDOW);
		cwnd = max_u32(cwnd, s->initial_cwnd);
		s->initial_cwnd = cwnd;
		rate = rate < C4_LEAST_INITIAL ? C4_LEAST_INITIAL : rate;
	} else {
		u32 margin_us = min_u32(s->max_rtt_us / 4, p->margin);

		cwnd = c4_packets(rate_q24, s->max_rtt_us + margin_us);
	}
	cwnd = max_u32(cwnd, C4_LEAST);
	c->snd_cwnd = min_u32(cwnd, max_u32(c->snd_cwnd_clamp, 1));
	c->pacing_bytes_per_s = rate ? rate : 1;
}
TANDEM_STEP(c4, c4_set_control)

TANDEM_FN void c4_init(struct c4 *s, const struct c4_params *p, struct tandem_conn *c)
{
	*s = (struct c4){
		.initial_cwnd = c->snd_cwnd,
		.alpha = p->initial_alpha,
		.prior_alpha = p->initial_alpha,
	};
	c->pacing_bytes_per_s = c4_bytes_per_s(bbr_rate_q24(c->snd_cwnd, C4_NOMINAL_RTT_US), c) + 1;
}

/* All of it, last on each ACK: Linux's cong_control. */
TANDEM_FN void c4_pkts_acked(struct c4 *s, const struct c4_params *p, struct tandem_conn *c,
			     const struct tandem_ack *ack)
{
	struct c4_sample r = { 0 };

	TANDEM_TAKE(c4_take_ack, s, p, c, ack, &r);
	TANDEM_TAKE(c4_take_congestion, s, p, c, ack, &r);
	TANDEM_TAKE(c4_end_era, s, p, c, ack, &r);
	TANDEM_TAKE(c4_set_control, s, p, c, ack, &r);
}

TANDEM_FN void c4_cong_avoid(struct c4 *s, const struct c4_params *p, struct tandem_conn *c,
			     u32 acked)
{
}

/* Losses are judged by their share, not here. */
TANDEM_FN u32 c4_ssthresh(struct c4 *s, const struct c4_params *p, const struct tandem_conn *c,
			  u32 reason)
{
	s->marked = reason == TANDEM_FOR_MARK;
	return c->snd_ssthresh;
}

TANDEM_FN void c4_set_state(struct c4 *s, const struct c4_params *p, struct tandem_conn *c,
			    u32 state)
{
	if (state == TANDEM_LOSS)
		s->timed_out = 1;
}

TANDEM_FN void c4_restart(struct c4 *s, const struct c4_params *p, struct tandem_conn *c)
{
}

TANDEM_FN u32 c4_undo_cwnd(struct c4 *s, const struct c4_params *p, const struct tandem_conn *c)
{
	return c->snd_cwnd;
}

#define c4_PROBES(P, W) \
	W(state, "INITIAL RECOVERY CRUISING PROBING PUSHING", s->state, "of the state machine") \
	P(bw_mbps, 1000000, 8 * c4_bytes_per_s(s->nominal_q24, c), "nominal rate, payload") \
	P(max_rtt_ms, 1000, s->max_rtt_us, "nominal; without a queue") \
	P(pacing_gain, C4_UNIT, s->alpha, "alpha") \
	P(sensitivity, C4_UNIT, c4_sensitivity(s, c), "0 to 1")

TANDEM_FN void c4_view(const struct c4 *s, const struct c4_params *p, const struct tandem_conn *c,
		       struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
	v->base_rtt_us = s->min_rtt_us;
}

#endif
