/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reno (RFC 5681; recovery by the host: RFC 6582, RFC 6675).
 *
 *   slow start            snd_cwnd += packets ACKed                      RFC 5681 (2), counted in packets (RFC 3465)
 *   congestion avoidance  snd_cwnd += 1 each snd_cwnd packets ACKed      RFC 5681 (3)
 *   loss                  ssthresh = max(snd_cwnd / 2, 2)                RFC 5681 (4)
 *
 * RFC 5681 halves FlightSize; like Linux we halve snd_cwnd, which the host keeps from growing while it is not the limit.
 */
#ifndef TANDEM_RENO_H
#define TANDEM_RENO_H

#include "fixed.h"

#define reno_PARAMS(P) \
	P(beta, 1024, 512, 64, 960, "share of the window given up on loss (RFC 5681: 1/2)")

struct reno_params { reno_PARAMS(TANDEM_PARAM_FIELD) };

struct reno {
	u32 prior_cwnd; /* the window before the last reduction, for undo */
};

/* (1 - beta) of a window, rounded down; beta in 1/1024. */
TANDEM_FN u32 window_after_loss(u32 window, u32 beta_q10)
{
	return mul_div(window, 1024 - beta_q10, 1024);
}

TANDEM_FN int in_slow_start(const struct tandem_conn *c) { return c->snd_cwnd < c->snd_ssthresh; }

/* The controller has lowered snd_cwnd of its own accord: it does not grow back at once by slow start. */
TANDEM_FN void ssthresh_follows(struct tandem_conn *c)
{
	c->snd_ssthresh = min_u32(c->snd_ssthresh, max_u32(c->snd_cwnd, 2));
}

/* Slow start for up to `acked` packets [RFC 3465 2.2]; returns those left over when ssthresh is reached. */
TANDEM_FN u32 slow_start(struct tandem_conn *c, u32 acked)
{
	u32 room = sub_floor0(min_u32(c->snd_ssthresh, c->snd_cwnd_clamp), c->snd_cwnd);
	u32 used = min_u32(acked, room);

	c->snd_cwnd += used;
	return acked - used;
}

/*
 * One packet is due for each `w` packets ACKed; returns how many, and counts in *count those ACKed towards the next.
 * Credit gathered under a larger w (before a loss) is worth one packet at most; otherwise a small window would jump.
 */
TANDEM_FN u32 packets_due(u32 *count, u32 w, u32 acked)
{
	u32 due = 0;

	w = max_u32(w, 1);
	if (*count >= w) {
		*count = 0;
		due = 1;
	}
	*count += acked;
	if (*count >= w) {
		due += *count / w;
		*count %= w;
	}
	return due;
}

/* Additive increase: one packet for each `w` packets ACKed [RFC 3465 2.1]. Returns how many packets snd_cwnd has grown. */
TANDEM_FN u32 additive_increase(struct tandem_conn *c, u32 w, u32 acked)
{
	u32 grown = min_u32(packets_due(&c->snd_cwnd_cnt, w, acked), sub_floor0(c->snd_cwnd_clamp, c->snd_cwnd));

	c->snd_cwnd += grown;
	return grown;
}

/* Equations 2 and 3 [RFC 5681 3.1]. */
TANDEM_FN void reno_grow(struct tandem_conn *c, u32 acked)
{
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (acked)
		additive_increase(c, c->snd_cwnd, acked);
}

TANDEM_FN void reno_init(struct reno *s, const struct reno_params *p, struct tandem_conn *c)
{
	(void)p;
	s->prior_cwnd = c->snd_cwnd;
}

TANDEM_FN void reno_pkts_acked(struct reno *s, const struct reno_params *p, const struct tandem_conn *c,
			       const struct tandem_ack *ack)
{
	(void)s, (void)p, (void)c, (void)ack;
}

TANDEM_FN void reno_cong_avoid(struct reno *s, const struct reno_params *p, struct tandem_conn *c, u32 acked)
{
	(void)s, (void)p;
	reno_grow(c, acked);
}

TANDEM_FN u32 reno_ssthresh(struct reno *s, const struct reno_params *p, const struct tandem_conn *c,
			    u32 reason)
{
	s->prior_cwnd = c->snd_cwnd;
	return max_u32(window_after_loss(c->snd_cwnd, p->beta), 2);
}

TANDEM_FN void reno_set_state(struct reno *s, const struct reno_params *p, struct tandem_conn *c, u32 state)
{
	(void)s, (void)p, (void)c, (void)state;
}

TANDEM_FN void reno_restart(struct reno *s, const struct reno_params *p, struct tandem_conn *c)
{
	(void)s, (void)p, (void)c;
}

TANDEM_FN u32 reno_undo_cwnd(struct reno *s, const struct reno_params *p, const struct tandem_conn *c)
{
	(void)p;
	return max_u32(c->snd_cwnd, s->prior_cwnd);
}

TANDEM_FN void reno_view(const struct reno *s, const struct reno_params *p, const struct tandem_conn *c,
			 struct tandem_view *v)
{
	(void)s, (void)p;
	v->loss_window = c->snd_cwnd;
}

#endif
