/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What C4 measures: the nominal rate, max RTT, and what each ACK says of congestion. Sources and
 * decisions: c4.h.
 */
#ifndef TANDEM_C4_MODEL_H
#define TANDEM_C4_MODEL_H

/* Of BBR v1 only the clock and the delivery rate. */
#include "bbr_model.h"

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

#endif
