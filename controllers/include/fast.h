/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * FAST TCP (Jin, Wei, Low, INFOCOM 2004): steers straight at alpha packets in the queue.
 *
 *   w = min(2 w, (1 - gamma) w + gamma (baseRTT / RTT w + alpha))        every other round
 *   alpha = w instead while there is no queue: by 1 + gamma              "multiplicative increase"
 *   RTT   : average with weight min(3 / w, 1/4) of a sample
 *   loss  : Reno
 *
 * In equilibrium w (1 - baseRTT / RTT) = alpha, whatever the rate and the RTT.
 *
 * Open points and decisions (NS: ns-2's TCP/Fast; not checked
 * against the paper's text):
 *  - alpha is 100 packets, as in NS; the paper's prototype chose 8, 20 or 200 by the rate.
 *  - The cap of the averaging weight, 1/4, is the paper's; NS has 1/256, which averages a small
 *    window over many rounds.
 *  - RTT of "no queue" and of diff is the smallest of the round (rounds.h), that of the law the
 *    average at the round's end.
 *  - Multiplicative increase is off (`multiply`): a window just short of the BDP is taken half a
 *    BDP beyond it before its queue shows. Where the buffer is smaller than that, each loss leads
 *    to the next; docs/controllers/fast.md has figures.
 *  - Slow start, which doubles each round, ends with a queueing delay of 0.75 ms (NS) or half of
 *    alpha in the queue, whichever is first: on a fast link alpha packets may take less than
 *    0.75 ms. Less than both counts as no queue.
 *  - An update's gain is spread over the round that follows it and the next round shows its effect.
 *    A gain of g packets ends at sqrt(w^2 + 2 g w), for the window by which window_grow divides
 *    grows meanwhile: less than w + g where g is not small against w. A cut is one step, and
 *    ssthresh follows.
 */
#ifndef TANDEM_FAST_H
#define TANDEM_FAST_H

#include "rounds.h"
#include "window.h"

#define fast_PARAMS(P) \
	P(alpha, 256, 100 << 8, 1 << 8, 10000 << 8, "packets to be kept in the queue (NS: 100)") \
	P(gamma, 1024, 512, 1, 1024, \
	  "share of the way to the target taken in an update (INFOCOM 2004: 1/2)") \
	P(average_weight, 1024, 256, 1, 1024, \
	  "maximum weight of an RTT sample in the average (INFOCOM 2004: 1/4; NS: 1/256)") \
	P(idle_delay, 1, 750, 0, 1000000, "us; less queueing delay is no queue (NS: 750)") \
	P(multiply, 1, 0, 0, 1, \
	  "1 = multiplicative increase while there is no queue (INFOCOM 2004, NS), " \
	  "0 = in slow start only") \
	P(beta, 1024, 512, 64, 960, "share of the window given up on loss (INFOCOM 2004, NS: 1/2)")

struct fast_params { fast_PARAMS(TANDEM_PARAM_FIELD) };

struct fast {
	struct window window;
	struct rounds round;
	u64 average_rtt_q16; /* us; 0 before the first sample                     */
	u32 gain;            /* what a window of ACKs adds in this round, fast_unit */
	u32 diff_q8;         /* backlog of the last measured round, packets       */
	u32 is_update_due;   /* 1 every other round                               */
};

/*
 * See window.h. A gain is at most alpha * gamma, below 2^31 in the finer unit, where it is exact;
 * with `multiply` it is a share of the window.
 */
TANDEM_FN u32 fast_unit(const struct fast_params *p)
{
	return p->gamma < 512 && !p->multiply ? 1 << 18 : WINDOW_UNIT;
}

TANDEM_FN void fast_init(struct fast *s, const struct fast_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	rounds_init(&s->round, c);
	s->average_rtt_q16 = 0;
	s->gain = 0;
	s->diff_q8 = 0;
	s->is_update_due = 1;
}

TANDEM_FN void fast_pkts_acked(struct fast *s, const struct fast_params *p,
			       const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u64 rtt_q16 = (u64)rounds_sample(&s->round, ack) << 16;
	u32 weight_q20 = min_u32((3u << 20) / max_u32(c->snd_cwnd, 1), p->average_weight << 10);

	if (!rtt_q16)
		return;
	if (!s->average_rtt_q16)
		s->average_rtt_q16 = rtt_q16;
	/* Differences are at most 2^40. */
	if (rtt_q16 > s->average_rtt_q16)
		s->average_rtt_q16 += (rtt_q16 - s->average_rtt_q16) * weight_q20 >> 20;
	else
		s->average_rtt_q16 -= (s->average_rtt_q16 - rtt_q16) * weight_q20 >> 20;
}

TANDEM_FN int fast_sees_no_queue(const struct fast *s, const struct fast_params *p)
{
	return s->round.rtt_us - s->round.base_rtt_us < p->idle_delay && s->diff_q8 < p->alpha / 2;
}

/* The law's next window without its bound 2 w. w <= 2^24 packets. */
TANDEM_FN u64 fast_target_q18(const struct fast *s, const struct fast_params *p, u64 w_q8)
{
	u64 unqueued_q8;

	if (p->multiply && fast_sees_no_queue(s, p))
		return w_q8 * (1024 + p->gamma);
	/*
	 * 2^(32 + 24 + 7) before the division; rounding the average up keeps the
	 * quotient at w or below.
	 */
	unqueued_q8 = (w_q8 * s->round.base_rtt_us << 7) / ((s->average_rtt_q16 + 511) >> 9);
	return w_q8 * (1024 - p->gamma) + (unqueued_q8 + p->alpha) * p->gamma;
}

TANDEM_FN void fast_update(struct fast *s, const struct fast_params *p, struct tandem_conn *c)
{
	u64 w_q8 = (u64)c->snd_cwnd << 8, target_q18 = fast_target_q18(s, p, w_q8);
	u64 unit = fast_unit(p), most = c->snd_cwnd * unit - 1, gain;

	if (target_q18 >= w_q8 << 10) {
		gain = (target_q18 - (w_q8 << 10)) / ((1 << 18) / unit);
		s->gain = (u32)(gain < most ? gain : most);
		return;
	}
	c->snd_cwnd = min_u32(c->snd_cwnd, max_u32((u32)(target_q18 >> 18), 2));
	ssthresh_follows(c);
}

TANDEM_FN void fast_end_round(struct fast *s, const struct fast_params *p, struct tandem_conn *c)
{
	u32 is_due = s->is_update_due;

	s->gain = 0;
	s->is_update_due = 1;
	if (!rounds_measured(&s->round))
		return;
	s->diff_q8 = rounds_backlog_q8(&s->round, s->round.flight);
	if (in_slow_start(c)) {
		if (!fast_sees_no_queue(s, p))
			ssthresh_follows(c);
	} else if (is_due) {
		fast_update(s, p, c);
		s->is_update_due = 0;
	}
}

TANDEM_FN void fast_cong_avoid(struct fast *s, const struct fast_params *p, struct tandem_conn *c,
			       u32 acked)
{
	if (rounds_ended(&s->round, c)) {
		fast_end_round(s, p, c);
		rounds_begin(&s->round, c);
	}
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	window_grow_by(&s->window, c, s->gain, fast_unit(p), acked);
}

TANDEM_FN u32 fast_ssthresh(struct fast *s, const struct fast_params *p,
			    const struct tandem_conn *c, u32 reason)
{
	s->gain = 0;
	s->is_update_due = 1;
	return window_reduce(&s->window, c, window_after_loss(c->snd_cwnd, p->beta));
}

ROUNDS_SET_STATE(fast)

TANDEM_FN void fast_restart(struct fast *s, const struct fast_params *p, struct tandem_conn *c)
{
	s->gain = 0;
	rounds_begin(&s->round, c);
}

WINDOW_UNDO(fast)

#define fast_PROBES(P, W) /* none */

TANDEM_FN void fast_view(const struct fast *s, const struct fast_params *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	rounds_view(&s->round, c, p->alpha, s->diff_q8, v);
}

#endif
