/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP Vegas (Brakmo, Peterson, IEEE JSAC 1995; Linux's tcp_vegas): holds alpha to beta
 * packets in the queue.
 *
 *   diff = window * (1 - baseRTT / RTT), once a round               section 4.2: Diff times baseRTT
 *   diff < alpha : cwnd += 1        diff > beta : cwnd -= 1        between : stays
 *   slow start   : ends when diff > gamma, at what the path holds and one packet
 *                  more                                             section 4.3, Linux
 *   loss         : Reno
 *
 * Open points and decisions:
 *  - Slow start doubles each round, as in Linux; the paper doubles every other round.
 *  - A round with fewer than three samples says nothing, and Reno acts in the next (Linux).
 *  - The paper's finer retransmission timer belongs to the host, as does its cut by a quarter: a
 *    loss halves, as in Linux.
 *  - diff as in the paper; Linux has (since 2.6.26) window * (RTT / baseRTT - 1), which is the same
 *    to first order.
 *  - ssthresh follows the window down, as in Linux.
 */
#ifndef TANDEM_VEGAS_H
#define TANDEM_VEGAS_H

#include "rounds.h"
#include "window.h"

#define vegas_PARAMS(P) \
	P(alpha, 256, 2 << 8, 1, 10000 << 8, \
	  "packets; with less in the queue the window grows (Linux: 2; 1995: 1 to 3)") \
	P(beta, 256, 4 << 8, 1, 10000 << 8, \
	  "packets; with more in the queue the window shrinks (Linux: 4; 1995: 3 to 6)") \
	P(gamma, 256, 1 << 8, 1, 10000 << 8, \
	  "packets; with more in the queue slow start ends (1995, Linux: 1)") \
	P(least_samples, 1, 3, 1, 1000, \
	  "RTT samples without which a round says nothing (Linux: 3)") \
	P(loss_beta, 1024, 512, 64, 960, "share of the window given up on loss (Linux: 1/2)")

struct vegas_params { vegas_PARAMS(TANDEM_PARAM_FIELD) };

struct vegas {
	struct window window;
	struct rounds round;
	u32 samples; /* of this round                             */
	u32 steered; /* 1 if the last round was measured          */
	u32 diff_q8; /* backlog of the last measured one, packets */
};

TANDEM_FN void vegas_begin_round(struct vegas *s, const struct tandem_conn *c)
{
	rounds_begin(&s->round, c);
	s->samples = 0;
}

TANDEM_FN void vegas_init(struct vegas *s, const struct vegas_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	rounds_init(&s->round, c);
	s->samples = 0;
	s->steered = 0;
	s->diff_q8 = 0;
}

TANDEM_FN void vegas_pkts_acked(struct vegas *s, const struct vegas_params *p,
				const struct tandem_conn *c, const struct tandem_ack *ack)
{
	if (rounds_sample(&s->round, ack))
		s->samples = min_u32(s->samples + 1, 1000);
}

/* Lowers the window to `cwnd`, at least two packets, and ssthresh below it: slow start is over. */
TANDEM_FN void vegas_lower(struct tandem_conn *c, u32 cwnd)
{
	c->snd_cwnd = min_u32(c->snd_cwnd, max_u32(cwnd, 2));
	c->snd_ssthresh = min_u32(c->snd_ssthresh, max_u32(c->snd_cwnd - 1, 2));
}

TANDEM_FN void vegas_steer(struct vegas *s, const struct vegas_params *p, struct tandem_conn *c)
{
	s->diff_q8 = rounds_backlog_q8(&s->round, s->round.flight);
	if (in_slow_start(c)) {
		if (s->diff_q8 > p->gamma)
			vegas_lower(c, 1 + mul_div(c->snd_cwnd, s->round.base_rtt_us,
						   s->round.rtt_us));
	} else if (s->diff_q8 > p->beta) {
		vegas_lower(c, c->snd_cwnd - 1);
	} else if (s->diff_q8 < p->alpha && c->is_cwnd_limited && c->snd_cwnd < c->snd_cwnd_clamp) {
		c->snd_cwnd++;
	}
}

TANDEM_FN void vegas_cong_avoid(struct vegas *s, const struct vegas_params *p,
				struct tandem_conn *c, u32 acked)
{
	if (rounds_ended(&s->round, c)) {
		s->steered = rounds_measured(&s->round) && s->samples >= p->least_samples;
		if (s->steered)
			vegas_steer(s, p, c);
		vegas_begin_round(s, c);
	}
	if (!s->steered)
		rfc5681_grow(c, acked);
	else if (c->is_cwnd_limited && in_slow_start(c))
		slow_start(c, acked);
}

TANDEM_FN u32 vegas_ssthresh(struct vegas *s, const struct vegas_params *p,
			     const struct tandem_conn *c, u32 reason)
{
	return window_reduce(&s->window, c, window_after_loss(c->snd_cwnd, p->loss_beta));
}

TANDEM_FN void vegas_set_state(struct vegas *s, const struct vegas_params *p, struct tandem_conn *c,
			       u32 state)
{
	if (rounds_set_state(&s->round, c, state))
		vegas_begin_round(s, c);
}

TANDEM_FN void vegas_restart(struct vegas *s, const struct vegas_params *p, struct tandem_conn *c)
{
	vegas_begin_round(s, c);
}

WINDOW_UNDO(vegas)

#define vegas_PROBES(P, W) /* none */

TANDEM_FN void vegas_view(const struct vegas *s, const struct vegas_params *p,
			  const struct tandem_conn *c, struct tandem_view *v)
{
	rounds_view(&s->round, c, p->alpha, s->diff_q8, v);
}

#endif
