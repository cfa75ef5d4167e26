/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * H-TCP (Leith, Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
 * draft-leith-tcp-htcp-06): the longer the time T since the last loss, the faster the growth; the
 * backoff leaves just what fills the pipe.
 *
 *   f(T)  = 1 for T <= T_L = 1 s, otherwise 1 + 10 (T - T_L) + ((T - T_L) / 2)^2
 *   alpha = 2 (1 - kept) max(f(T) baseRTT / 100 ms, 1)
 *           packets a round; the ratio between 0.1 and 2
 *   kept  = baseRTT / RTT_max between 0.5 and 0.8 if the largest throughput between two losses has
 *           changed by no more than 20 %, otherwise 0.5;  w = kept w on loss
 *
 * Open points and decisions:
 *  - The square's factor is 1/4 (paper; Linux), not the draft's 1/2; the adaptive backoff is the
 *    paper's and Linux's, the draft leaves it out: adaptive_backoff.
 *  - Throughput is what one round of rounds.h delivered, smoothed by 1/4; its largest value counts
 *    from the fourth round after a loss on, before that the newest (Linux).
 *  - RTT_max keeps 95 % of its distance to baseRTT from loss to loss (Linux), so that a longer
 *    route is forgotten.
 *  - T begins when recovery ends. The undo of a reduction brings the old T back.
 *  - A round doubles the window at most (Linux: a packet an ACK): T runs on while the application
 *    sends little, and alpha could then be many windows.
 *  - Linux adapts the backoff only above 10 ms, the resolution of its clock; here the clock
 *    counts microseconds.
 */
#ifndef TANDEM_HTCP_H
#define TANDEM_HTCP_H

#include "rounds.h"
#include "window.h"

#define htcp_PARAMS(P) \
	P(low_time, 1000, 1000, 0, 60000, \
	  "seconds after a loss in which it grows as Reno does, T_L (draft: 1)") \
	P(linear, 16, 160, 0, 1600, "packets a round for each further second (draft: 10)") \
	P(square, 256, 64, 0, 2560, \
	  "packets a round for each second squared (paper, Linux: 1/4; draft: 1/2)") \
	P(rtt_scaling, 1, 1, 0, 1, \
	  "1 = growth in time and not in rounds: f(T) baseRTT / 100 ms (draft)") \
	P(adaptive_backoff, 1, 1, 0, 1, \
	  "1 = keep baseRTT / RTT_max (paper, Linux), 0 = always least_kept (draft)") \
	P(least_kept, 1024, 512, 64, 512, \
	  "share of the window left by a loss, at least (paper: 0.5)") \
	P(most_kept, 1024, 819, 513, 960, "share left, at most (paper: 0.8)") \
	P(rate_change, 1000, 200, 0, 1000, \
	  "change of throughput from loss to loss that resets the backoff (paper: 0.2)") \
	P(rtt_memory, 1000, 950, 0, 1000, \
	  "share of RTT_max - baseRTT kept from loss to loss (Linux: 0.95)")

struct htcp_params { htcp_PARAMS(TANDEM_PARAM_FIELD) };

#define HTCP_REFERENCE_RTT_US 100000
#define HTCP_FIRST_ROUNDS 3
/* Times count up to here (17 min). */
#define HTCP_MAX_MS (1u << 20)

/* What an undo brings back. */
struct htcp_epoch {
	u64 start_us;
	u32 max_rtt_us;    /* RTT_max; 0 before the first sample                 */
	u32 last_max_rate; /* largest throughput before the last loss, packets/s */
};

struct htcp {
	struct window window;
	struct rounds round;
	u64 round_start_us;
	struct htcp_epoch epoch;
	struct htcp_epoch prior_epoch;
	u32 delivered;      /* packets ACKed in this round                           */
	u32 rate;           /* smoothed, packets/s                                   */
	u32 max_rate;
	u32 epoch_rounds : 16;
	u32 kept_q10 : 16;  /* share of the window that the last loss left           */
};

TANDEM_FN void htcp_begin_round(struct htcp *s, const struct tandem_conn *c)
{
	rounds_begin(&s->round, c);
	s->delivered = 0;
	s->round_start_us = c->now_us;
}

TANDEM_FN void htcp_init(struct htcp *s, const struct htcp_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	rounds_init(&s->round, c);
	htcp_begin_round(s, c);
	s->epoch = (struct htcp_epoch){ .start_us = c->now_us };
	s->prior_epoch = s->epoch;
	s->rate = 0;
	s->max_rate = 0;
	s->epoch_rounds = 0;
	s->kept_q10 = p->least_kept;
}

TANDEM_FN void htcp_pkts_acked(struct htcp *s, const struct htcp_params *p,
			       const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 rtt_us = rounds_sample(&s->round, ack);

	s->epoch.max_rtt_us = max_u32(s->epoch.max_rtt_us, rtt_us);
	s->delivered = min_u32(s->delivered, TANDEM_MAX_WINDOW) +
		       min_u32(ack->pkts_acked, TANDEM_MAX_WINDOW);
}

TANDEM_FN void htcp_on_round(struct htcp *s, const struct tandem_conn *c)
{
	u64 took_us = c->now_us - s->round_start_us;
	u64 rate = (u64)s->delivered * 1000000 / (took_us ? took_us : 1);
	u32 packets_per_s = rate < 0x3fffffff ? (u32)rate : 0x3fffffff;

	s->epoch_rounds = min_u32(s->epoch_rounds + 1, 1000);
	if (s->epoch_rounds <= HTCP_FIRST_ROUNDS) {
		s->rate = packets_per_s;
		s->max_rate = packets_per_s;
		return;
	}
	s->rate = (3 * s->rate + packets_per_s) / 4;
	s->max_rate = max_u32(s->max_rate, s->rate);
}

/* See window.h: where a loss may leave more, a round may gain less. */
TANDEM_FN u32 htcp_unit(const struct htcp_params *p)
{
	return p->most_kept > 819 ? 1 << 13 : WINDOW_UNIT;
}

/* alpha, packets a round in htcp_unit: less than 2^33 * 2 * 2^10 * 2^5. */
TANDEM_FN u64 htcp_gain(const struct htcp *s, const struct htcp_params *p,
			   const struct tandem_conn *c)
{
	u64 ms = (c->now_us - s->epoch.start_us) / 1000, factor_q8 = 1 << 8;

	ms = ms > p->low_time ? ms - p->low_time : 0;
	ms = ms < HTCP_MAX_MS ? ms : HTCP_MAX_MS;
	/* linear is in 1/16, square in 1/256: below 2^20 * 2^15 and 2^40 * 2^12. */
	factor_q8 += ms * p->linear * 16 / 1000 + ms * ms * p->square / 1000000;
	if (p->rtt_scaling && s->round.base_rtt_us != ROUNDS_UNMEASURED) {
		u32 rtt_us = max_u32(s->round.base_rtt_us, HTCP_REFERENCE_RTT_US / 10);

		rtt_us = min_u32(rtt_us, 2 * HTCP_REFERENCE_RTT_US);
		factor_q8 = factor_q8 * rtt_us / HTCP_REFERENCE_RTT_US;
		factor_q8 = factor_q8 > 1 << 8 ? factor_q8 : 1 << 8;
	}
	return factor_q8 * (1024 - s->kept_q10) * (htcp_unit(p) / WINDOW_UNIT) / 512;
}

TANDEM_FN void htcp_cong_avoid(struct htcp *s, const struct htcp_params *p, struct tandem_conn *c,
			       u32 acked)
{
	u64 unit = htcp_unit(p), gain, most;

	if (rounds_ended(&s->round, c)) {
		htcp_on_round(s, c);
		htcp_begin_round(s, c);
	}
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (!acked)
		return;
	gain = htcp_gain(s, p, c);
	most = min_u32(c->snd_cwnd, TANDEM_MAX_WINDOW - 1) * unit;
	window_grow_by(&s->window, c, gain < most ? gain : most, unit, acked);
}

/* What a loss is to leave, by the queue that it found. */
TANDEM_FN u32 htcp_kept_q10(const struct htcp *s, const struct htcp_params *p)
{
	u32 last = s->epoch.last_max_rate;
	u32 change = s->max_rate > last ? s->max_rate - last : last - s->max_rate;
	u32 kept_q10;

	if (!p->adaptive_backoff || !s->epoch.max_rtt_us || !last ||
	    change > mul_div(last, p->rate_change, 1000))
		return p->least_kept;
	kept_q10 = mul_div(1024, s->round.base_rtt_us, s->epoch.max_rtt_us);
	return min_u32(max_u32(kept_q10, p->least_kept), p->most_kept);
}

TANDEM_FN u32 htcp_ssthresh(struct htcp *s, const struct htcp_params *p,
			    const struct tandem_conn *c, u32 reason)
{
	u32 base_rtt_us = s->round.base_rtt_us;

	s->kept_q10 = htcp_kept_q10(s, p);
	s->prior_epoch = s->epoch;
	if (s->epoch.max_rtt_us > base_rtt_us)
		s->epoch.max_rtt_us = base_rtt_us + mul_div(s->epoch.max_rtt_us - base_rtt_us,
							    p->rtt_memory, 1000);
	s->epoch.last_max_rate = s->max_rate;
	s->epoch.start_us = c->now_us;
	s->epoch_rounds = 0;
	return window_reduce(&s->window, c, mul_div(c->snd_cwnd, s->kept_q10, 1024));
}

TANDEM_FN void htcp_set_state(struct htcp *s, const struct htcp_params *p, struct tandem_conn *c,
			      u32 state)
{
	if (!rounds_set_state(&s->round, c, state))
		return;
	htcp_begin_round(s, c);
	/* Not after an undo, which has brought back an older epoch. */
	if (s->epoch.start_us != s->prior_epoch.start_us)
		s->epoch.start_us = c->now_us;
}

TANDEM_FN void htcp_restart(struct htcp *s, const struct htcp_params *p, struct tandem_conn *c)
{
	htcp_begin_round(s, c);
}

TANDEM_FN u32 htcp_undo_cwnd(struct htcp *s, const struct htcp_params *p,
			     const struct tandem_conn *c)
{
	s->epoch = s->prior_epoch;
	return window_undone(&s->window, c);
}

#define htcp_PROBES(P, W) \
	P(max_rtt_ms, 1000, s->epoch.max_rtt_us ? s->epoch.max_rtt_us : TANDEM_NONE, \
	  "largest RTT since the last loss, RTT_max") \
	P(beta, 1024, s->kept_q10, "share of the window that the last loss left")

TANDEM_FN void htcp_view(const struct htcp *s, const struct htcp_params *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	rounds_view(&s->round, c, 0, 0, v);
}


#endif
