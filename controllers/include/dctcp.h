/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * DCTCP (RFC 8257): the window gives way by the share of packets that were marked, and not by half
 * for a single mark.
 *
 *   each round    alpha = (1 - g) alpha + g marked / acked         section 3.3
 *   mark          w = w (1 - alpha / 2), once in a round           section 3.3
 *   growth, loss  Reno                                             sections 3.4 and 3.5
 *
 * Open points and decisions:
 *  - A round ends with the first ACK beyond what had been sent when it began
 *    (section 3.3, WindowEnd).
 *  - Packets count, where the RFC counts bytes: all but the last of a transfer are full.
 *  - alpha begins with 1, so that the first mark halves the window (Linux).
 *  - The reduction is rounded to the nearest packet. Linux rounds it down, so that a small window
 *    does not give way to few marks.
 *  - The host spreads the reduction over a round and lets nothing grow meanwhile,
 *    as Linux does in CWR.
 */
#ifndef TANDEM_DCTCP_H
#define TANDEM_DCTCP_H

#include "marks.h"
#include "window.h"

#define dctcp_PARAMS(P) \
	P(g, 1024, 64, 1, 1024, "weight of a round's share of marks in alpha (RFC 8257: 1/16)") \
	P(initial_alpha, 1024, 1024, 0, 1024, "alpha before the first round (Linux: 1)") \
	P(beta, 1024, 512, 64, 960, "share of the window given up on loss (RFC 5681: 1/2)")

struct dctcp_params { dctcp_PARAMS(TANDEM_PARAM_FIELD) };

struct dctcp {
	struct marks marks;
	u32 prior_cwnd; /* the window before the last reduction, for undo */
};

TANDEM_FN void dctcp_init(struct dctcp *s, const struct dctcp_params *p, struct tandem_conn *c)
{
	marks_init(&s->marks, c, p->initial_alpha);
	s->prior_cwnd = c->snd_cwnd;
}

TANDEM_FN void dctcp_pkts_acked(struct dctcp *s, const struct dctcp_params *p,
				const struct tandem_conn *c, const struct tandem_ack *ack)
{
	marks_count(&s->marks, ack);
	if (marks_round_ended(&s->marks, c)) {
		marks_update(&s->marks, p->g);
		marks_begin_round(&s->marks, c);
	}
}

TANDEM_FN void dctcp_cong_avoid(struct dctcp *s, const struct dctcp_params *p,
				struct tandem_conn *c, u32 acked)
{
	/* [RFC 8257 3.4] */
	rfc5681_grow(c, acked);
}

TANDEM_FN u32 dctcp_ssthresh(struct dctcp *s, const struct dctcp_params *p,
			     const struct tandem_conn *c, u32 reason)
{
	s->prior_cwnd = c->snd_cwnd;
	/* [RFC 8257 3.5] */
	if (reason != TANDEM_FOR_MARK)
		return max_u32(window_after_loss(c->snd_cwnd, p->beta), 2);
	return max_u32((u32)marks_leave(&s->marks, c->snd_cwnd), 2);
}

TANDEM_FN u32 dctcp_undo_cwnd(struct dctcp *s, const struct dctcp_params *p,
			      const struct tandem_conn *c)
{
	return max_u32(c->snd_cwnd, s->prior_cwnd);
}

WINDOW_VIEW(dctcp)
IGNORES_STATES(dctcp)

#define dctcp_PROBES(P, W) \
	P(alpha, MARKS_ONE, s->marks.alpha_q24, "average share of packets that are marked")

#endif
