/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP-Africa (King, Baraniuk, Riedi, INFOCOM 2005): HighSpeed TCP while the path is idle, Reno once
 * a queue builds.
 *
 *   backlog = window * (RTT - RTTmin) / RTT
 *   backlog < alpha  : fast mode, w += a(w) / w per ACK, a loss takes b(w) of the window
 *   backlog >= alpha : slow mode, w += 1 / w an ACK, a loss takes a half
 *
 * a and b are those of RFC 3649: highspeed.h.
 *
 * Not checked against the paper's text: this is what its abstract and a Linux port
 * of the increase say.
 *
 * Open points and decisions:
 *  - alpha is 1 packet; the paper's constant is not known to us (1 or 2).
 *  - RTT is the smallest of the round (rounds.h), not the paper's average: with an alpha of one
 *    packet, the jitter of an average would look like a queue at high rates.
 *  - In slow mode a loss halves; the port takes b(w) always. always_b = 1 does that.
 *  - The mode applies to the next round; a round without samples, and the first
 *    after a loss, is slow.
 */
#ifndef TANDEM_AFRICA_H
#define TANDEM_AFRICA_H

#include "highspeed.h"
#include "rounds.h"

#define africa_OWN_PARAMS(P) \
	P(alpha, 256, 1 << 8, 1, 10000 << 8, \
	  "packets queued from which on the path is not idle (1: no published value found)") \
	P(always_b, 1, 0, 0, 1, "1 = a loss takes b(w) in slow mode too (a Linux port), 0 = a half")

#define africa_PARAMS(P) highspeed_PARAMS(P) africa_OWN_PARAMS(P)

struct africa_params {
	union {
		struct highspeed_params highspeed;
		struct { highspeed_PARAMS(TANDEM_PARAM_FIELD) };
	};
	africa_OWN_PARAMS(TANDEM_PARAM_FIELD)
};

struct africa {
	struct highspeed highspeed; /* its window, and a(w) remembered */
	struct rounds round;
	u32 diff_q8;                /* backlog of the last measured round, packets */
	u32 is_fast;
};

TANDEM_FN void africa_init(struct africa *s, const struct africa_params *p, struct tandem_conn *c)
{
	highspeed_init(&s->highspeed, &p->highspeed, c);
	rounds_init(&s->round, c);
	s->diff_q8 = 0;
	s->is_fast = 0;
}

TANDEM_FN void africa_pkts_acked(struct africa *s, const struct africa_params *p,
				 const struct tandem_conn *c, const struct tandem_ack *ack)
{
	rounds_sample(&s->round, ack);
}

TANDEM_FN void africa_cong_avoid(struct africa *s, const struct africa_params *p,
				 struct tandem_conn *c, u32 acked)
{
	if (rounds_ended(&s->round, c)) {
		s->is_fast = 0;
		if (rounds_measured(&s->round)) {
			s->diff_q8 = rounds_backlog_q8(&s->round, s->round.flight);
			s->is_fast = s->diff_q8 < p->alpha;
		}
		rounds_begin(&s->round, c);
	}
	if (s->is_fast)
		highspeed_cong_avoid(&s->highspeed, &p->highspeed, c, acked);
	else
		rfc5681_grow(c, acked);
}

TANDEM_FN u32 africa_ssthresh(struct africa *s, const struct africa_params *p,
			      const struct tandem_conn *c, u32 reason)
{
	u32 left = s->is_fast || p->always_b ? highspeed_after_loss(&p->highspeed, c->snd_cwnd) :
					       c->snd_cwnd / 2;

	s->is_fast = 0;
	return window_reduce(&s->highspeed.window, c, left);
}

ROUNDS_SET_STATE(africa)

TANDEM_FN void africa_restart(struct africa *s, const struct africa_params *p,
			      struct tandem_conn *c)
{
	s->is_fast = 0;
	rounds_begin(&s->round, c);
}

TANDEM_FN u32 africa_undo_cwnd(struct africa *s, const struct africa_params *p,
			       const struct tandem_conn *c)
{
	return window_undone(&s->highspeed.window, c);
}

#define africa_PROBES(P, W) \
	W(mode, "SLOW FAST", s->is_fast, "of growth")

TANDEM_FN void africa_view(const struct africa *s, const struct africa_params *p,
			   const struct tandem_conn *c, struct tandem_view *v)
{
	rounds_view(&s->round, c, p->alpha, s->diff_q8, v);
}

#endif
