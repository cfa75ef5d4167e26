/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BIC (Xu, Harfoush, Rhee, "Binary increase congestion control for fast long-distance networks",
 * INFOCOM 2004), with the constants of Linux: a binary search for the window W_max at which the
 * last loss came.
 *
 *   below W_max       w += min((W_max - w) / B, S_max) a round     additive increase, then
 *                                                                  binary search
 *   near W_max        w += B / smooth_part a round                 2 B packets below it to
 *                                                                  B packets above
 *   above             w += min((w - W_max) / (B - 1), S_max)       max probing
 *   loss              W_max = w, or w (2 - decrease) / 2 if w < W_max;  w = w (1 - decrease)
 *   up to low_window  Reno
 *
 * Open points and decisions:
 *  - Constants and the smooth part are Linux's; the paper has S_max = 32, B = 2 and a least
 *    increase of 0.01.
 *  - Before the first loss, and after a timeout, there is no W_max: S_max a round, or 5 % of the
 *    window if that is more (Linux, which below 48 packets takes a third of the window).
 *  - Packets ACKed count, so that Linux's correction for delayed ACKs is not needed.
 */
#ifndef TANDEM_BIC_H
#define TANDEM_BIC_H

#include "window.h"

#define bic_PARAMS(P) \
	P(max_increment, 1, 16, 1, 1024, "packets a round at most, S_max (Linux: 16; paper: 32)") \
	P(search, 1, 4, 2, 16, \
	  "B: a round covers 1/B of the distance to W_max (Linux: 4; paper: 2)") \
	P(smooth_part, 1, 20, 1, 1000, "rounds from B packets below W_max to it (Linux: 20)") \
	P(decrease, 1024, 205, 64, 960, \
	  "share of the window given up on loss (Linux: 1 - 819/1024; paper: 0.125)") \
	P(low_window, 1, 14, 2, 1 << 24, "packets; up to this window Reno acts (paper: 14)") \
	P(fast_convergence, 1, 1, 0, 1, \
	  "1 = a smaller window at loss than last time lowers W_max further (paper)")

struct bic_params { bic_PARAMS(TANDEM_PARAM_FIELD) };

struct bic {
	struct window window;
	u32 w_max;       /* packets; 0 = none yet */
	u32 prior_w_max; /* for undo              */
};

TANDEM_FN void bic_init(struct bic *s, const struct bic_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	s->w_max = 0;
	s->prior_w_max = 0;
}

/* See window.h: near W_max a round gains search / smooth_part packets. */
TANDEM_FN u32 bic_unit(const struct bic_params *p)
{
	return p->search < 4 || p->smooth_part > 20 ? 1 << 16 : WINDOW_UNIT;
}

/* Packets to be gained in a round at window w, in bic_unit: less than 2^24 / 20 * 2^16. */
TANDEM_FN u64 bic_gain(const struct bic *s, const struct bic_params *p, u32 w)
{
	u64 below = sub_floor0(s->w_max, w), above = sub_floor0(w, s->w_max), unit = bic_unit(p);
	u64 most = p->max_increment * unit, gain;

	if (w <= p->low_window)
		return unit;
	if (!s->w_max) {
		gain = w * unit / 20;
		return gain > most ? gain : most;
	}
	if (below >= 2 * p->search)
		gain = below * unit / p->search;
	else if (above >= p->search)
		gain = above * unit / (p->search - 1);
	else
		gain = p->search * unit / p->smooth_part;
	return gain < most ? gain : most;
}

TANDEM_FN void bic_cong_avoid(struct bic *s, const struct bic_params *p, struct tandem_conn *c,
			      u32 acked)
{
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	window_grow_by(&s->window, c, bic_gain(s, p, c->snd_cwnd), bic_unit(p), acked);
}

TANDEM_FN u32 bic_ssthresh(struct bic *s, const struct bic_params *p, const struct tandem_conn *c,
			   u32 reason)
{
	u32 w = c->snd_cwnd;

	s->prior_w_max = s->w_max;
	s->w_max = p->fast_convergence && w < s->w_max ? mul_div(w, 2048 - p->decrease, 2048) : w;
	return window_reduce(&s->window, c,
			     w > p->low_window ? window_after_loss(w, p->decrease) : w / 2);
}

TANDEM_FN void bic_set_state(struct bic *s, const struct bic_params *p, struct tandem_conn *c,
			     u32 state)
{
	if (state == TANDEM_LOSS)
		s->w_max = 0;
}

TANDEM_FN void bic_restart(struct bic *s, const struct bic_params *p, struct tandem_conn *c) { }

TANDEM_FN u32 bic_undo_cwnd(struct bic *s, const struct bic_params *p, const struct tandem_conn *c)
{
	s->w_max = s->prior_w_max;
	return window_undone(&s->window, c);
}

WINDOW_VIEW(bic)
IGNORES_RTT(bic)

#define bic_PROBES(P, W) \
	P(w_max_packets, 1, s->w_max ? s->w_max : TANDEM_NONE, "window before the last loss")

#endif
