/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reno (RFC 5681; recovery by the host: RFC 6582, RFC 6675).
 *
 *   slow start            snd_cwnd += packets ACKed                  RFC 5681 (2), RFC 3465
 *   congestion avoidance  snd_cwnd += 1 each snd_cwnd packets ACKed  RFC 5681 (3)
 *   loss                  ssthresh = max(snd_cwnd / 2, 2)            RFC 5681 (4)
 *
 * RFC 5681 halves FlightSize; like Linux we halve snd_cwnd, which the host keeps from growing while
 * it is not the limit.
 *
 * The shortest controller there is: a new one begins as a copy, with `reno` replaced by its name.
 */
#ifndef TANDEM_RENO_H
#define TANDEM_RENO_H

#include "growth.h"

#define reno_PARAMS(P) \
	P(beta, 1024, 512, 64, 960, "share of the window given up on loss (RFC 5681: 1/2)")

struct reno_params { reno_PARAMS(TANDEM_PARAM_FIELD) };

struct reno {
	u32 prior_cwnd; /* the window before the last reduction, for undo */
};

TANDEM_FN void reno_init(struct reno *s, const struct reno_params *p, struct tandem_conn *c)
{
	s->prior_cwnd = c->snd_cwnd;
}

TANDEM_FN void reno_pkts_acked(struct reno *s, const struct reno_params *p,
			       const struct tandem_conn *c, const struct tandem_ack *ack)
{
}

TANDEM_FN void reno_cong_avoid(struct reno *s, const struct reno_params *p,
			       struct tandem_conn *c, u32 acked)
{
	rfc5681_grow(c, acked);
}

TANDEM_FN u32 reno_ssthresh(struct reno *s, const struct reno_params *p,
			    const struct tandem_conn *c, u32 reason)
{
	s->prior_cwnd = c->snd_cwnd;
	return max_u32(window_after_loss(c->snd_cwnd, p->beta), 2);
}

TANDEM_FN void reno_set_state(struct reno *s, const struct reno_params *p,
			      struct tandem_conn *c, u32 state)
{
}

TANDEM_FN void reno_restart(struct reno *s, const struct reno_params *p, struct tandem_conn *c)
{
}

TANDEM_FN u32 reno_undo_cwnd(struct reno *s, const struct reno_params *p,
			     const struct tandem_conn *c)
{
	return max_u32(c->snd_cwnd, s->prior_cwnd);
}

#define reno_PROBES(P, W) /* none */

TANDEM_FN void reno_view(const struct reno *s, const struct reno_params *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
}

#endif
