/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * YeAH-TCP (Baiocchi, Castellani, Vacirca, "YeAH-TCP: yet another highspeed TCP", PFLDnet 2007):
 * Scalable TCP while the queue is short, Reno while it is long, and it empties the queue that it
 * has made itself.
 *
 *   Q = w (1 - baseRTT / RTT), once a round          packets of its own in the queue
 *   Q <= Q_max and RTT - baseRTT <= baseRTT / phi    fast: as Scalable TCP; otherwise slow: as Reno
 *   Q >  Q_max and w > w_reno                        w = max(w - min(Q / gamma, epsilon w), w_reno)
 *   loss, fewer than rho slow rounds in a row        w -= max(min(Q, w / 2), delta w)
 *   loss otherwise (Reno flows compete)              w = w / 2
 *   w_reno, what a Reno flow would have: w / 2 at the first slow round, + 1 each further one;
 *   halved on loss; forgotten after zeta fast rounds
 *
 * Open points and decisions:
 *  - Rounds and Q as rounds.h says. They end in slow start too, so that a long
 *    queue ends it (Linux).
 *  - Fast growth is at least Reno's, as in Linux: 1 % of a window below 100 packets would be less.
 *  - The first slow round sets w_reno after the window's cut, and w_reno is then not
 *    yet counted up (Linux).
 *  - zeta counts fast rounds since the last loss or reset, in a row or not (Linux).
 *  - A w_reno that losses have halved to its least, 2, is still known. In Linux 2 stands for
 *    unknown, so that the next slow round would take half the window for it.
 */
#ifndef TANDEM_YEAH_H
#define TANDEM_YEAH_H

#include "rounds.h"
#include "window.h"

#define yeah_PARAMS(P) \
	P(queue, 256, 80 << 8, 1 << 8, 10000 << 8, \
	  "packets of its own in the queue at most, Q_max (paper: 80)") \
	P(phi, 1, 8, 1, 1000, "a queueing delay of baseRTT / phi ends the fast mode (paper: 8)") \
	P(gamma, 1, 1, 1, 16, "rounds in which its own queue is to be emptied (paper: 1)") \
	P(epsilon, 1024, 512, 0, 960, \
	  "share of the window at most given up to empty the queue (paper: 1/2)") \
	P(delta, 1024, 128, 1, 512, "share of the window at least given up on loss (paper: 1/8)") \
	P(rho, 1, 16, 0, 10000, \
	  "slow rounds in a row from which on Reno flows compete (paper: 16)") \
	P(zeta, 1, 50, 1, 10000, "fast rounds after which no Reno flows compete (paper: 50)") \
	P(increase, 1000, 10, 1, 100, \
	  "packets for each packet ACKed in fast mode (Scalable TCP: 0.01)")

struct yeah_params { yeah_PARAMS(TANDEM_PARAM_FIELD) };

#define YEAH_LEAST 2 /* what a Reno flow has at least, packets */

struct yeah {
	struct window window;
	struct rounds round;
	u32 queue_q8;    /* Q of the last measured round, packets */
	u32 w_reno;      /* packets; 0 = no Reno flow is known of */
	u32 slow_rounds; /* in a row; 0 = fast                    */
	u32 fast_rounds;
	u32 prior_w_reno; /* both before the last reduction, for undo */
	u32 prior_fast_rounds;
};

TANDEM_FN void yeah_init(struct yeah *s, const struct yeah_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	rounds_init(&s->round, c);
	s->queue_q8 = 0;
	s->w_reno = 0;
	s->slow_rounds = 0;
	s->fast_rounds = 0;
	s->prior_w_reno = 0;
	s->prior_fast_rounds = 0;
}

TANDEM_FN void yeah_pkts_acked(struct yeah *s, const struct yeah_params *p,
			       const struct tandem_conn *c, const struct tandem_ack *ack)
{
	rounds_sample(&s->round, ack);
}

/* Takes its own packets out of the queue, down to what a Reno flow would have. */
TANDEM_FN void yeah_empty_queue(const struct yeah *s, const struct yeah_params *p,
				struct tandem_conn *c)
{
	u32 cut = min_u32((s->queue_q8 >> 8) / p->gamma, mul_div(c->snd_cwnd, p->epsilon, 1024));
	u32 least = max_u32(s->w_reno, YEAH_LEAST);

	if (c->snd_cwnd <= least)
		return;
	c->snd_cwnd = max_u32(c->snd_cwnd - cut, least);
	ssthresh_follows(c);
}

/* A round has been measured. */
TANDEM_FN void yeah_on_round(struct yeah *s, const struct yeah_params *p, struct tandem_conn *c)
{
	u32 delay_us = s->round.rtt_us - s->round.base_rtt_us;

	s->queue_q8 = rounds_backlog_q8(&s->round, s->round.flight);
	if (s->queue_q8 <= p->queue && delay_us <= s->round.base_rtt_us / p->phi) {
		s->slow_rounds = 0;
		if (++s->fast_rounds > p->zeta) {
			s->w_reno = 0;
			s->fast_rounds = 0;
		}
		return;
	}
	if (s->queue_q8 > p->queue)
		yeah_empty_queue(s, p, c);
	if (!s->w_reno)
		s->w_reno = max_u32(c->snd_cwnd / 2, YEAH_LEAST);
	else
		s->w_reno = min_u32(s->w_reno + 1, TANDEM_MAX_WINDOW);
	s->slow_rounds = min_u32(s->slow_rounds + 1, TANDEM_MAX_WINDOW);
}

TANDEM_FN void yeah_cong_avoid(struct yeah *s, const struct yeah_params *p, struct tandem_conn *c,
			       u32 acked)
{
	u32 gain_q8 = 1 << 8;

	if (rounds_ended(&s->round, c)) {
		if (rounds_measured(&s->round))
			yeah_on_round(s, p, c);
		rounds_begin(&s->round, c);
	}
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (!s->slow_rounds)
		gain_q8 = max_u32(gain_q8, mul_div(c->snd_cwnd, p->increase * 256, 1000));
	window_grow(&s->window, c, gain_q8, acked);
}

TANDEM_FN u32 yeah_ssthresh(struct yeah *s, const struct yeah_params *p,
			    const struct tandem_conn *c, u32 reason)
{
	u32 w = c->snd_cwnd, cut = w / 2;

	if (s->slow_rounds < p->rho)
		cut = max_u32(min_u32(s->queue_q8 >> 8, w / 2), mul_div(w, p->delta, 1024));
	s->prior_w_reno = s->w_reno;
	s->prior_fast_rounds = s->fast_rounds;
	s->fast_rounds = 0;
	if (s->w_reno)
		s->w_reno = max_u32(s->w_reno / 2, YEAH_LEAST);
	return window_reduce(&s->window, c, w - cut);
}

ROUNDS_SET_STATE(yeah)

TANDEM_FN void yeah_restart(struct yeah *s, const struct yeah_params *p, struct tandem_conn *c)
{
	s->queue_q8 = 0;
	s->slow_rounds = 0;
	rounds_begin(&s->round, c);
}

#define yeah_PROBES(P, W) \
	W(mode, "FAST SLOW", s->slow_rounds > 0, "of growth") \
	P(w_reno_packets, 1, s->w_reno ? s->w_reno : TANDEM_NONE, "what a Reno flow would have")

TANDEM_FN void yeah_view(const struct yeah *s, const struct yeah_params *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	rounds_view(&s->round, c, p->queue, s->queue_q8, v);
}

TANDEM_FN u32 yeah_undo_cwnd(struct yeah *s, const struct yeah_params *p,
			     const struct tandem_conn *c)
{
	s->w_reno = s->prior_w_reno;
	s->fast_rounds = s->prior_fast_rounds;
	return window_undone(&s->window, c);
}


#endif
