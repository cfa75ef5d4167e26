/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP Veno (Fu, Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks",
 * IEEE JSAC 21(2), 2003): Reno that asks Vegas's backlog N whether a loss was congestion.
 *
 *   N = w (1 - baseRTT / RTT)                           section III.A
 *   N <  beta : +1 a round; a loss takes 1/5            the loss was random       III.B, III.C
 *   N >= beta : +1 every other round; a loss takes 1/2  it was congestion
 *
 * Open points and decisions:
 *  - RTT is the newest sample, as in Linux: what tells congestion from chance is the queue that the
 *    loss came with. A whole round's smallest sample is up to two rounds old, and takes slow
 *    start's overshoot for chance.
 *  - w is what is in flight then: the window of a sender that the application limits
 *    says nothing of a queue.
 *  - "+1 every other round" is half a packet a round.
 *  - Before the first sample there is no sign of congestion: N = 0.
 */
#ifndef TANDEM_VENO_H
#define TANDEM_VENO_H

#include "rounds.h"
#include "window.h"

#define veno_PARAMS(P) \
	P(beta, 256, 3 << 8, 1, 10000 << 8, \
	  "backlog in packets from which on the path counts as congested (III.A: 3)") \
	P(random_decrease, 1000, 200, 10, 900, \
	  "share of the window given up on a random loss (III.C: 1/5)") \
	P(decrease, 1000, 500, 10, 900, "share given up on a loss in congestion (III.C: 1/2)") \
	P(congested_increase, 256, 128, 1, 256, "packets a round in congestion (III.B: 1/2)")

struct veno_params { veno_PARAMS(TANDEM_PARAM_FIELD) };

struct veno {
	struct window window;
	struct rounds round;
	u32 backlog_q8; /* N, packets */
};

TANDEM_FN void veno_init(struct veno *s, const struct veno_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	rounds_init(&s->round, c);
	s->backlog_q8 = 0;
}

TANDEM_FN void veno_pkts_acked(struct veno *s, const struct veno_params *p,
			       const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 rtt_us = rounds_sample(&s->round, ack);

	if (rtt_us)
		s->backlog_q8 = backlog_q8(packets_in_flight(c), s->round.base_rtt_us, rtt_us);
}

TANDEM_FN void veno_cong_avoid(struct veno *s, const struct veno_params *p, struct tandem_conn *c,
			       u32 acked)
{
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	window_grow(&s->window, c, s->backlog_q8 < p->beta ? 1 << 8 : p->congested_increase, acked);
}

TANDEM_FN u32 veno_ssthresh(struct veno *s, const struct veno_params *p,
			    const struct tandem_conn *c, u32 reason)
{
	u32 decrease = s->backlog_q8 < p->beta ? p->random_decrease : p->decrease;

	return window_reduce(&s->window, c, mul_div(c->snd_cwnd, 1000 - decrease, 1000));
}

ROUNDS_SET_STATE(veno)

TANDEM_FN void veno_restart(struct veno *s, const struct veno_params *p, struct tandem_conn *c)
{
	s->backlog_q8 = 0;
	rounds_begin(&s->round, c);
}

#define veno_PROBES(P, W) /* none */

TANDEM_FN void veno_view(const struct veno *s, const struct veno_params *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	rounds_view(&s->round, c, p->beta, s->backlog_q8, v);
}

WINDOW_UNDO(veno)

#endif
