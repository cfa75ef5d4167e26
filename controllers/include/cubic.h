/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * CUBIC (RFC 9438): the window follows a cubic function of the time since the last loss, flat
 * around the window at which that loss came.
 *
 *   W(t)    = C (t - K)^3 + W_max, K = cbrt((W_max - w_epoch) / C)             Fig. 1, 2
 *   target  = W(t + RTT), at least w and at most 1.5 w                         section 4.2
 *   growth  : w += (target - w) / w for each packet ACKed                      sections 4.4, 4.5
 *   W_est  += alpha / w for each packet ACKed, from w_epoch on;                Fig. 4
 *             alpha = 3 (1 - beta) / (1 + beta), 1 once W_est is the window before the loss;
 *             alpha_rises
 *   W(t) < W_est : w = W_est, what Reno would have                             section 4.3
 *   loss    : W_max = w, or w (1 + beta) / 2 if w < W_max;  w = beta w         sections 4.6, 4.7
 *   timeout : then K = 0 and W_max = w where congestion avoidance begins       section 4.8
 *
 * What the RFC leaves open, and how it is decided here:
 *  - The window never falls because W_est is smaller than it.
 *  - t leaves out the time in which the window did not limit the sending (section 4.2 asks for it;
 *    Linux leaves out only idle times).
 *  - The window and not the flight size is reduced, as in reno.h.
 *  - An undo brings back the epoch with the window (section 4.9). Time since then counts.
 *  - Linux looks at W_est at most 32 times a second; est_interval does so. The RFC's mean windows
 *    at 10 ms (Table 2) need each ACK.
 *  - Linux keeps alpha as it is (RFC 8312 section 4.2); alpha_rises = 0 does so.
 *  - Early Linux limited the packets of growth a second; max_growth does so, the
 *    RFC has no such limit.
 * Slow start ends as in Linux, by HyStart (hystart.h), unless `hystart` says otherwise. The RFC
 * asks for HyStart++ (section 4.10, "SHOULD").
 */
#ifndef TANDEM_CUBIC_H
#define TANDEM_CUBIC_H

#include "window.h"

/* See slow_start_exit.h [RFC 9438 4.10]. */
#define SLOW_START_EXIT_DEFAULT SLOW_START_EXIT_HYSTART

/* C and beta [RFC 9438 5.1]. */
#define cubic_PARAMS(P) \
	P(c, 1000, 400, 10, 10000, "C, packets per cubic second (RFC 9438 section 5.1: 0.4)") \
	P(decrease, 1000, 300, 50, 900, \
	  "share of the window given up on loss, 1 - beta (RFC 9438 section 4.6: 0.3)") \
	P(fast_convergence, 1, 1, 0, 1, \
	  "1 = a smaller window at loss than last time lowers W_max further (section 4.7)") \
	P(reno_friendly, 1, 1, 0, 1, "1 = never less than Reno would have (RFC 9438 section 4.3)") \
	P(est_interval, 1, 0, 0, 1000, \
	  "ms between two looks at W_est (the RFC: 0, at each ACK; Linux: 1/32 s)") \
	P(alpha_rises, 1, 1, 0, 1, \
	  "1 = alpha is 1 once W_est is the window before the loss (section 4.3); 0 = never (RFC " \
	  "8312, Linux)") \
	P(max_growth, 1, 0, 0, 100000, \
	  "packets a second that the curve gains at most; 0 = no limit (Linux 2.6.15: 20)")

struct cubic_params { cubic_PARAMS(TANDEM_PARAM_FIELD) };

/* A stage of congestion avoidance. */
struct cubic_epoch {
	u32 w_max_q8;  /* at small windows whole packets would shift K by much              */
	u32 w_est;     /* what Reno would have, packets                                     */
	u32 k_ms : 30; /* when W(t) is W_max again; below 2^21                              */
	u32 stage : 2; /* enum cubic_stage                                                  */
};

enum cubic_stage {
	CUBIC_RUNNING = 0,
	CUBIC_WAITING = 1,      /* for congestion avoidance to begin                          */
	CUBIC_WITHOUT_PEAK = 2, /* likewise; W_max is then the window (sections 4.8 and 4.10) */
};

struct cubic {
	struct window window;
	struct cubic_epoch epoch;
	struct cubic_epoch prior_epoch; /* the one that the last loss ended, for undo             */
	u64 start_us;                   /* when the epoch began                                   */
	u64 prior_start_us;
	u64 est_credit_q16;             /* of w_est: snd_cwnd << 16 is one packet                 */
	u64 est_seen_us;                /* when the window was last compared with w_est           */
	u64 seen_us;                    /* when the last ACK outside recovery came                */
	u32 srtt_us_q3;                 /* smoothed RTT (RFC 6298: 1/8), 1/8 us; 0 = none yet     */
	u32 min_rtt_us;                 /* smallest RTT, likewise; for max_growth                 */
};

/*
 * Times from the plateau count up to here (17 min): C t^3 is then more than the largest window for
 * C >= 0.015, and 11 million packets for the least C.
 */
#define CUBIC_MAX_MS (1u << 20)

/*
 * C t^3 in 1/256 packets: t^3 < 2^60, / 10^6 < 2^41, times C in 1/1000 (2^14) and 2^8 below 2^63.
 */
TANDEM_FN u64 cubic_rise_q8(u32 c, u64 ms)
{
	ms = ms < CUBIC_MAX_MS ? ms : CUBIC_MAX_MS;
	return ms * ms * ms / 1000000 * c * 256 / 1000000;
}

/* W(t) in 1/256 packets, Fig. 1 [RFC 9438 4.2]; at most the largest window. */
TANDEM_FN u64 cubic_window_q8(const struct cubic_epoch *e, u32 c, u64 t_us)
{
	u64 t_ms = t_us / 1000, distance_q8;

	if (t_ms < e->k_ms) {
		distance_q8 = cubic_rise_q8(c, e->k_ms - t_ms);
		return e->w_max_q8 > distance_q8 ? e->w_max_q8 - distance_q8 : 0;
	}
	distance_q8 = cubic_rise_q8(c, t_ms - e->k_ms);
	if (distance_q8 > (u64)TANDEM_MAX_WINDOW << 8)
		distance_q8 = (u64)TANDEM_MAX_WINDOW << 8;
	return e->w_max_q8 + distance_q8;
}

TANDEM_FN void cubic_init(struct cubic *s, const struct cubic_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	s->epoch = (struct cubic_epoch){ .stage = CUBIC_WITHOUT_PEAK };
	s->prior_epoch = s->epoch;
	s->start_us = 0;
	s->prior_start_us = 0;
	s->est_credit_q16 = 0;
	s->est_seen_us = c->now_us;
	s->seen_us = c->now_us;
	s->srtt_us_q3 = 0;
	s->min_rtt_us = 0;
}

TANDEM_FN void cubic_pkts_acked(struct cubic *s, const struct cubic_params *p,
				const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, TANDEM_MAX_RTT_US);

	if (rtt_us && (!s->min_rtt_us || rtt_us < s->min_rtt_us))
		s->min_rtt_us = rtt_us;
	if (!s->srtt_us_q3)
		s->srtt_us_q3 = rtt_us << 3;
	else if (rtt_us)
		s->srtt_us_q3 = s->srtt_us_q3 - (s->srtt_us_q3 >> 3) + rtt_us;
}

/* The largest window is 2^24 packets, 2^32 in 1/256. */
TANDEM_FN u32 cubic_q8(u32 packets) { return mul_div(packets, 256, 1); }

/* Congestion avoidance begins. */
TANDEM_FN void cubic_begin_epoch(struct cubic *s, const struct cubic_params *p,
				 const struct tandem_conn *c)
{
	struct cubic_epoch *e = &s->epoch;
	u32 window_q8 = cubic_q8(c->snd_cwnd);

	if (e->stage == CUBIC_WITHOUT_PEAK) {
		e->w_max_q8 = window_q8;
		/*
		 * cwnd_prior (section 4.1.2): the window before a timeout, or at the end of a first
		 * slow start without a loss.
		 */
		s->window.prior_cwnd = max_u32(s->window.prior_cwnd, c->snd_cwnd);
	}
	e->w_max_q8 = max_u32(e->w_max_q8, window_q8);
	/* Seconds cubed are packets / C, so ms^3 are packets * 10^12 / c: 2^24 * 10^12 < 2^64. */
	e->k_ms = icbrt((u64)(e->w_max_q8 - window_q8) * 1000000000 / 256 * 1000 / p->c);
	e->w_est = c->snd_cwnd;
	s->start_us = c->now_us;
	e->stage = CUBIC_RUNNING;
	s->est_credit_q16 = 0;
	s->est_seen_us = c->now_us;
}

/* Time that the window did not limit [RFC 9438 4.2]. */
TANDEM_FN void cubic_skip_time(struct cubic *s, const struct tandem_conn *c)
{
	s->start_us += c->now_us - s->seen_us;
	s->seen_us = c->now_us;
}

/* Fig. 4 [RFC 9438 4.3]. */
TANDEM_FN void cubic_update_est(struct cubic *s, const struct cubic_params *p,
				const struct tandem_conn *c, u32 acked)
{
	u32 alpha_q16 = 1 << 16;

	if (!p->alpha_rises || s->epoch.w_est < s->window.prior_cwnd)
		alpha_q16 = 3 * p->decrease * 65536 / (2000 - p->decrease);
	s->epoch.w_est = min_u32(s->epoch.w_est + (u32)take_packets(&s->est_credit_q16,
								    (u64)alpha_q16 * acked,
								    (u64)c->snd_cwnd << 16),
				 TANDEM_MAX_WINDOW);
}

/*
 * See window.h: with max_growth a round may bring that much in the smallest RTT, at short RTTs a
 * small part of 1/256 packet. Packets a second times microseconds are exact in this unit.
 */
TANDEM_FN u32 cubic_unit(const struct cubic_params *p)
{
	return p->max_growth ? 1000000 : WINDOW_UNIT;
}

/*
 * The curve's growth, for a gain of half a window at most. In the finer unit that is below 2^43, so
 * that no more than 2^20 packets may count at once: a million with one ACK.
 */
TANDEM_FN void cubic_follow(struct cubic *s, const struct cubic_params *p, struct tandem_conn *c,
			    u64 gain_q8, u32 acked)
{
	u64 unit = cubic_unit(p), gain = gain_q8 * unit / WINDOW_UNIT;
	u64 limit = (u64)p->max_growth * s->min_rtt_us;

	if (p->max_growth) {
		acked = min_u32(acked, 1 << 20);
		if (s->min_rtt_us && gain > limit)
			gain = limit;
	}
	window_grow_by(&s->window, c, gain, unit, acked);
}

/* Congestion avoidance for `acked` packets [RFC 9438 4.2] [RFC 9438 4.4] [RFC 9438 4.5]. */
TANDEM_FN void cubic_grow(struct cubic *s, const struct cubic_params *p, struct tandem_conn *c,
			  u32 acked)
{
	u64 t_us = c->now_us - s->start_us;
	u64 window_q8 = (u64)c->snd_cwnd << 8, most_q8 = window_q8 + window_q8 / 2;
	u64 target_q8 = cubic_window_q8(&s->epoch, p->c, t_us + (s->srtt_us_q3 >> 3));

	cubic_update_est(s, p, c, acked);
	target_q8 = target_q8 < most_q8 ? target_q8 : most_q8;
	if (target_q8 > window_q8)
		cubic_follow(s, p, c, target_q8 - window_q8, acked);
	if (!p->reno_friendly || c->now_us - s->est_seen_us < (u64)p->est_interval * 1000)
		return;
	s->est_seen_us = c->now_us;
	if (cubic_window_q8(&s->epoch, p->c, t_us) < (u64)s->epoch.w_est << 8)
		c->snd_cwnd = max_u32(c->snd_cwnd, min_u32(s->epoch.w_est, c->snd_cwnd_clamp));
}

TANDEM_FN void cubic_cong_avoid(struct cubic *s, const struct cubic_params *p,
				struct tandem_conn *c, u32 acked)
{
	if (!c->is_cwnd_limited) {
		cubic_skip_time(s, c);
		return;
	}
	s->seen_us = c->now_us;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (!acked)
		return;
	if (s->epoch.stage != CUBIC_RUNNING)
		cubic_begin_epoch(s, p, c);
	cubic_grow(s, p, c, acked);
}

/* [RFC 9438 4.6] [RFC 9438 4.7] */
TANDEM_FN u32 cubic_ssthresh(struct cubic *s, const struct cubic_params *p,
			     const struct tandem_conn *c, u32 reason)
{
	u32 w = c->snd_cwnd;

	s->prior_epoch = s->epoch;
	s->prior_start_us = s->start_us;
	if (p->fast_convergence && cubic_q8(w) < s->epoch.w_max_q8)
		s->epoch.w_max_q8 = mul_div(cubic_q8(w), 2000 - p->decrease, 2000);
	else
		s->epoch.w_max_q8 = cubic_q8(w);
	s->epoch.stage = CUBIC_WAITING;
	return window_reduce(&s->window, c, mul_div(w, 1000 - p->decrease, 1000));
}

TANDEM_FN void cubic_set_state(struct cubic *s, const struct cubic_params *p, struct tandem_conn *c,
			       u32 state)
{
	/* W_max is set when congestion avoidance begins [RFC 9438 4.8]. */
	if (state == TANDEM_LOSS)
		s->epoch.stage = CUBIC_WITHOUT_PEAK;
}

TANDEM_FN void cubic_restart(struct cubic *s, const struct cubic_params *p, struct tandem_conn *c)
{
	cubic_skip_time(s, c);
}

/* [RFC 9438 4.9.1] [RFC 9438 4.9.2] */
TANDEM_FN u32 cubic_undo_cwnd(struct cubic *s, const struct cubic_params *p,
			      const struct tandem_conn *c)
{
	s->epoch = s->prior_epoch;
	s->start_us = s->prior_start_us;
	return window_undone(&s->window, c);
}

WINDOW_VIEW(cubic)

#define cubic_PROBES(P, W) \
	P(w_max_packets, 256, s->epoch.w_max_q8, "window before the last loss, W_max") \
	P(w_est_packets, 1, s->epoch.w_est, "what Reno would have, W_est") \
	P(k_ms, 1, s->epoch.k_ms, "from the epoch's start to W_max, K")

#endif
