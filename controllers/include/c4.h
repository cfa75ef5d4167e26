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

/* Of BBR v1 only the clock and the delivery rate. */
#include "bbr_model.h"

/* See controller.h. */
#define TANDEM_OWNS_SLOW_START

#define c4_PARAMS(P) \
	P(initial_alpha, 1024, 2048, 1024, 4095, "gain of the rate in INITIAL (draft: 2)") \
	P(recovery_alpha, 1024, 960, 256, 1024, "in RECOVERY (draft: 15/16)") \
	P(drain_alpha, 1024, 896, 256, 1024, "in RECOVERY that is to drain a queue (draft: 7/8)") \
	P(probing_alpha, 1024, 1088, 1024, 4095, "in PROBING (draft: 17/16)") \
	P(pushing_alpha, 1024, 1280, 1024, 4095, "in PUSHING (draft: 5/4)") \
	P(cruise_eras, 1, 2, 1, 15, "eras of CRUISING (draft: 2)") \
	P(margin, 1, 15000, 0, 1000000, \
	  "us by which max RTT may be too short; a quarter of it at most (draft: 15 ms)") \
	P(max_jitter, 1, 250000, 0, 10000000, "us of max RTT over min RTT (draft: 250 ms)") \
	P(max_threshold, 1, 25000, 1000, 1000000, "us of delay that is let pass (draft: 25 ms)") \
	P(beta, 1024, 256, 0, 512, "share of the rate given up at most (draft: 1/4)") \
	P(cruise_delay, 1, 0, 0, 1, "1 = delay is congestion in CRUISING (draft), 0 = not (PQ)")

struct c4_params { c4_PARAMS(TANDEM_PARAM_FIELD) };

enum c4_state { C4_INITIAL, C4_RECOVERY, C4_CRUISING, C4_PROBING, C4_PUSHING };

#define C4_UNIT 1024u
#define C4_LEAST 2                /* packets [draft-huitema-ccwg-c4-spec 4.1]            */
#define C4_LEAST_RTT_US 1000      /* max RTT                                             */
#define C4_LEAST_INITIAL 131072   /* bytes a second                                      */
#define C4_NOMINAL_RTT_US 1000    /* before the first sample                             */
#define C4_EARLY_PACKETS 20       /* losses among these say nothing                      */
#define C4_FLAT_ERAS 3            /* without growth end INITIAL                          */
#define C4_LOSS_UNIT 65536u

struct c4 {
	u32 nominal_q24;     /* packets a us                                             */
	u32 before_q24;      /* nominal rate when this era, or probe, began              */
	u32 recent_q24;      /* largest sample since the last recovery; 0 = none         */
	u32 max_rtt_us;      /* 0 = not measured                                         */
	u32 min_rtt_us;      /* running; 0 = not measured                                */
	u32 era_max_us, era_min_us; /* of this era; 0 = no sample                        */
	u32 era_end;         /* delivered count that ends it                             */
	u32 initial_cwnd;    /* packets                                                  */
	u32 loss_q16;        /* smoothed share                                           */
	u32 alpha : 12;      /* 1/1024; of this era                                      */
	u32 prior_alpha : 12; /* of the one before                                       */
	u32 state : 3;
	u32 flat_eras : 3;
	u32 congested : 1;   /* in this cycle                                            */
	u32 timed_out : 1;
	u32 : 0;
	u32 eras : 4;        /* in this state, 15 at most                                */
	u32 congestions : 2; /* recoveries in a row with one                             */
	u32 probed : 1;      /* the last state was PROBING                               */
	u32 drains : 1;      /* the next RECOVERY does                                   */
	u32 restarted : 1;   /* INITIAL, for jitter                                      */
	u32 app_limited : 1; /* something in this cycle was                              */
	u32 marked : 1;      /* a mark has come                                          */
	u32 early : 21;      /* packets delivered, C4_EARLY_PACKETS + 1 at most          */
};

/* What this ACK says, and the step that follows. */
struct c4_sample {
	u32 is_congested;
	u32 beta; /* 1/1024 */
	u32 ends_era;
	u32 is_loss;
};

/* 2^32 * 2^16 * 15625 is below 2^62. */
TANDEM_FN u64 c4_bytes_per_s(u32 rate_q24, const struct tandem_conn *c)
{
	return (u64)rate_q24 * min_u32(c->mss, 65535) * 15625 >> 18;
}

/* 0 to 1024 (5.1) */
TANDEM_FN u32 c4_sensitivity(const struct c4 *s, const struct tandem_conn *c)
{
	u64 rate = c4_bytes_per_s(s->nominal_q24, c);

	if (rate < 50000)
		return 0;
	if (rate < 1000000)
		return (u32)((rate - 50000) * 942 / 950000);
	return rate < 10000000 ? 942 + (u32)((rate - 1000000) * 82 / 9000000) : C4_UNIT;
}

/* us [draft-huitema-ccwg-c4-spec 5.2] */
TANDEM_FN u32 c4_threshold_us(const struct c4 *s, const struct c4_params *p,
			      const struct tandem_conn *c)
{
	u32 share_q14 = C4_UNIT + 3 * (C4_UNIT - c4_sensitivity(s, c));
	u32 us = (u32)((u64)s->max_rtt_us * share_q14 >> 14);

	return max_u32(min_u32(us, p->max_threshold), 1);
}

/* rate_q24 * alpha / 1024, saturated. */
TANDEM_FN u32 c4_scaled_q24(u32 rate_q24, u32 alpha) { return mul_div(rate_q24, alpha, C4_UNIT); }

/* Packets in a time below 2^25. */
TANDEM_FN u32 c4_packets(u32 rate_q24, u32 us)
{
	u64 packets = (u64)rate_q24 * us >> 24;

	return packets < TANDEM_MAX_WINDOW ? (u32)packets : TANDEM_MAX_WINDOW;
}

/* x times factor / 65536, if this bit is set. Without a branch, as the verifier likes it. */
TANDEM_FN u32 c4_times(u32 x, u32 bit, u32 factor)
{
	return x - (u32)((u64)x * (C4_LOSS_UNIT - factor) * (bit & 1) >> 16);
}

/* x (15/16)^packets for x <= 2^16. The factors are (15/16)^(2^k). */
TANDEM_FN u32 c4_decay(u32 x, u32 packets)
{
	if (packets > 127)
		return 0;
	x = c4_times(x, packets, 61440);
	x = c4_times(x, packets >> 1, 57600);
	x = c4_times(x, packets >> 2, 50625);
	x = c4_times(x, packets >> 3, 39107);
	x = c4_times(x, packets >> 4, 23336);
	x = c4_times(x, packets >> 5, 8309);
	return c4_times(x, packets >> 6, 1053);
}

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

/* Only upwards [draft-huitema-ccwg-c4-spec 3.1]. */
TANDEM_FN void c4_take_rate(struct c4 *s, const struct tandem_ack *ack)
{
	u32 rate_q24;

	if (!ack->interval_us)
		return;
	rate_q24 = bbr_rate_q24(seq_distance(ack->prior_delivered, ack->delivered),
				ack->interval_us);
	s->recent_q24 = max_u32(s->recent_q24, rate_q24);
	s->app_limited |= ack->is_app_limited != 0;
	if (s->state != C4_RECOVERY || !s->congested)
		s->nominal_q24 = max_u32(s->nominal_q24, rate_q24);
}

TANDEM_FN void c4_notice(struct c4_sample *r, u32 beta, u32 is_loss)
{
	r->is_congested = 1;
	r->beta = max_u32(r->beta, beta);
	r->is_loss |= is_loss;
}

TANDEM_FN void c4_take_rtt(struct c4 *s, const struct c4_params *p, const struct tandem_conn *c,
			   u32 rtt_us, struct c4_sample *r)
{
	u32 threshold_us, excess_us;

	if (!rtt_us)
		return;
	s->era_max_us = max_u32(s->era_max_us, rtt_us);
	s->era_min_us = s->era_min_us ? min_u32(s->era_min_us, rtt_us) : rtt_us;
	if (!s->max_rtt_us)
		s->max_rtt_us = max_u32(rtt_us, C4_LEAST_RTT_US);
	threshold_us = c4_threshold_us(s, p, c);
	excess_us = sub_floor0(rtt_us, s->max_rtt_us + threshold_us);
	if (!excess_us || (!p->cruise_delay && s->prior_alpha <= C4_UNIT))
		return;
	if (s->state == C4_INITIAL && s->flat_eras < 2)
		return;
	c4_notice(r, min_u32(mul_div(excess_us, C4_UNIT, threshold_us), p->beta), 0);
}

/* [draft-huitema-ccwg-c4-spec 5.3] */
TANDEM_FN void c4_take_losses(struct c4 *s, const struct c4_params *p, const struct tandem_conn *c,
			      const struct tandem_ack *ack, struct c4_sample *r)
{
	/* 2 % for fast flows, 50 % more for the slowest. */
	u32 threshold_q16 = 1311 + 32 * (C4_UNIT - c4_sensitivity(s, c));

	s->early = min_u32(s->early + min_u32(ack->acked_sacked, 31), C4_EARLY_PACKETS + 1);
	if (s->timed_out || s->state == C4_RECOVERY)
		return;
	s->loss_q16 = c4_decay(s->loss_q16, ack->acked_sacked);
	if (ack->lost) {
		s->loss_q16 = C4_LOSS_UNIT - c4_decay(C4_LOSS_UNIT - s->loss_q16, ack->lost);
		if (s->loss_q16 > threshold_q16 &&
		    (s->state != C4_INITIAL || s->early > C4_EARLY_PACKETS))
			c4_notice(r, p->beta, 1);
	}
	if (s->marked)
		c4_notice(r, p->beta, 1);
}

/* What the ACK measures. */
TANDEM_FN void c4_take_ack(struct c4 *s, const struct c4_params *p, struct tandem_conn *c,
			   const struct tandem_ack *ack, struct c4_sample *r)
{
	c4_take_rate(s, ack);
	c4_take_rtt(s, p, c, min_u32(ack->rtt_us, TANDEM_MAX_RTT_US), r);
	c4_take_losses(s, p, c, ack, r);
	s->marked = 0;
	if (ack->acked_sacked)
		s->timed_out = 0;
	r->ends_era = ack->interval_us && !seq_after(s->era_end, ack->prior_delivered);
}
TANDEM_STEP(c4, c4_take_ack)

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

/* The end of an era that was sent at the nominal rate or less [draft-huitema-ccwg-c4-spec 3.2]. */
TANDEM_FN void c4_update_rtts(struct c4 *s, const struct c4_params *p)
{
	u32 max_us = s->era_max_us;

	if (s->prior_alpha > C4_UNIT || !max_us)
		return;
	if (!s->min_rtt_us || s->era_min_us < s->min_rtt_us)
		s->min_rtt_us = s->era_min_us;
	else
		s->min_rtt_us = (7 * s->min_rtt_us + s->era_min_us) / 8;
	max_us = min_u32(max_us, s->min_rtt_us + p->max_jitter);
	if (max_us <= s->max_rtt_us)
		max_us = (7 * s->max_rtt_us + max_us) / 8;
	s->max_rtt_us = max_u32(max_us, C4_LEAST_RTT_US);
}

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
