/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area networks",
 * 2003): the time to recover from a loss does not depend on the window.
 *
 *   congestion avoidance   w += 0.01 for each packet ACKed
 *   loss                   w -= w / 8
 *   w <= legacy window     Reno
 *
 * Open points and decisions:
 *  - Packets ACKed count, not ACKs; Linux counted ACKs and doubled the increase to make
 *    up for delayed ones.
 *  - Up to the legacy window of 16 packets, where both response functions meet, Reno acts in growth
 *    and in loss (Kelly). Linux has no legacy window: it grows by one packet a round at least and
 *    always gives up 1/8.
 */
#ifndef TANDEM_SCALABLE_H
#define TANDEM_SCALABLE_H

#include "window.h"

#define scalable_PARAMS(P) \
	P(increase, 1000, 10, 1, 100, "packets for each packet ACKed (Kelly: 0.01)") \
	P(decrease, 1024, 128, 64, 960, "share of the window given up on loss (Kelly: 1/8)") \
	P(low_window, 1, 16, 2, 1 << 24, "packets; up to this window Reno acts (Kelly: 16)")

struct scalable_params { scalable_PARAMS(TANDEM_PARAM_FIELD) };

struct scalable {
	struct window window;
};

TANDEM_FN void scalable_init(struct scalable *s, const struct scalable_params *p,
			     struct tandem_conn *c)
{
	window_init(&s->window, c);
}

/* With 1/1000 nothing is cut off; see window.h. */
TANDEM_FN u32 scalable_unit(const struct scalable_params *p)
{
	return p->increase < 10 ? 1000 : WINDOW_UNIT;
}

TANDEM_FN void scalable_cong_avoid(struct scalable *s, const struct scalable_params *p,
				   struct tandem_conn *c, u32 acked)
{
	u32 unit = scalable_unit(p), gain = unit;

	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (c->snd_cwnd > p->low_window)
		gain = mul_div(c->snd_cwnd, p->increase * unit, 1000);
	window_grow_by(&s->window, c, gain, unit, acked);
}

TANDEM_FN u32 scalable_ssthresh(struct scalable *s, const struct scalable_params *p,
				const struct tandem_conn *c, u32 reason)
{
	u32 w = c->snd_cwnd;

	return window_reduce(&s->window, c,
			     w > p->low_window ? window_after_loss(w, p->decrease) : w / 2);
}

WINDOW_VIEW(scalable)
WINDOW_UNDO(scalable)
IGNORES_RTT(scalable)
IGNORES_STATES(scalable)

#define scalable_PROBES(P, W) /* none */

#endif
