/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * HighSpeed TCP (RFC 3649): AIMD whose two numbers depend on the window w.
 *
 *   congestion avoidance   w += a(w) / w for each packet ACKed                        section 2
 *   loss                   w  = w (1 - b(w))
 *   b(w) = 1/2 + (b_high - 1/2) (log w - log W_low) / (log W_high - log W_low)        section 5
 *   a(w) = w^2 p(w) 2 b(w) / (2 - b(w)),  p(w) = 0.078 / w^1.2                        section 5
 *   w <= W_low             Reno: a = 1, b = 1/2
 *
 * What the RFC leaves open, and how it is decided here:
 *  - a(w) and b(w) are the formulas themselves, not steps through a table of appendix B as in
 *    Linux; 0.078 is 1/12.8, as in appendix B's program, which gives that table.
 *  - Just above W_low the formula gives a = 0.956: Reno's 1 is the minimum.
 *  - Above W_high both stay what they are there. The formula would make b negative at 2^23; Linux's
 *    table ends near by.
 *  - Packets ACKed count (RFC 3465). Linux's tcp_highspeed counts ACKs, so delayed ACKs halve its
 *    growth: count_acks.
 */
#ifndef TANDEM_HIGHSPEED_H
#define TANDEM_HIGHSPEED_H

#include "window.h"

#define highspeed_PARAMS(P) \
	P(low_window, 1, 38, 2, 10000, \
	  "packets; up to this window Reno acts (RFC 3649 section 5: 38)") \
	P(high_window, 1, 83000, 10001, 1 << 24, \
	  "packets; where the loss rate is to be 1e-7 (RFC 3649 section 5: 83000)") \
	P(high_decrease, 1000, 100, 10, 500, \
	  "share of the window given up at high_window (RFC 3649 section 5: 0.1)") \
	P(response, 1024, 80, 1, 1024, \
	  "p(w) w^1.2 of the response function (RFC 3649 appendix B: 1/12.8)") \
	P(count_acks, 1, 0, 0, 1, \
	  "1: an ACK counts once, whatever it acknowledges, as in Linux; " \
	  "0: each packet ACKed counts")

struct highspeed_params { highspeed_PARAMS(TANDEM_PARAM_FIELD) };

struct highspeed {
	struct window window;
	u32 growth_q8;  /* a(w), packets per round-trip time */
	u32 growth_for; /* the w that it was worked out for  */
};

/* b(w) in 1/65536; w is above low_window. [RFC 3649 5] [RFC 3649 B] */
TANDEM_FN u32 highspeed_decrease_q16(const struct highspeed_params *p, u32 w)
{
	u32 low = log2_q16(p->low_window);
	u32 position = log2_q16(min_u32(w, p->high_window)) - low;

	/* (1/2 - b_high) * position / span: below 2^16 * 2^21 / 2^16. */
	return (1u << 15) - mul_div((1u << 15) - p->high_decrease * 65536 / 1000, position,
				    log2_q16(p->high_window) - low);
}

/* a(w) in 1/256 packets. [RFC 3649 5] [RFC 3649 B] */
TANDEM_FN u32 highspeed_growth_q8(const struct highspeed_params *p, u32 w)
{
	u64 w2p_q16, b_q16;

	if (w <= p->low_window)
		return 1 << 8;
	w = min_u32(w, p->high_window);
	b_q16 = highspeed_decrease_q16(p, w);
	/* w^2 p(w) = response w^0.8, below 2^(19.2 + 16 + 10). */
	w2p_q16 = exp2_q16(log2_q16(w) * 4 / 5) * p->response / 1024;
	return max_u32((u32)((w2p_q16 >> 8) * 2 * b_q16 / ((2u << 16) - b_q16)), 1 << 8);
}

/* What a loss leaves of w. */
TANDEM_FN u32 highspeed_after_loss(const struct highspeed_params *p, u32 w)
{
	if (w <= p->low_window)
		return w / 2;
	return (u32)((u64)w * ((1u << 16) - highspeed_decrease_q16(p, w)) >> 16);
}

TANDEM_FN void highspeed_init(struct highspeed *s, const struct highspeed_params *p,
			      struct tandem_conn *c)
{
	window_init(&s->window, c);
	s->growth_q8 = 1 << 8;
	s->growth_for = 0;
}

TANDEM_FN void highspeed_cong_avoid(struct highspeed *s, const struct highspeed_params *p,
				    struct tandem_conn *c, u32 acked)
{
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (!acked)
		return;
	if (p->count_acks)
		acked = 1;
	/* The logarithms cost more than all the rest, and w changes only now and then. */
	if (s->growth_for != c->snd_cwnd) {
		s->growth_q8 = highspeed_growth_q8(p, c->snd_cwnd);
		s->growth_for = c->snd_cwnd;
	}
	window_grow(&s->window, c, s->growth_q8, acked);
}

TANDEM_FN u32 highspeed_ssthresh(struct highspeed *s, const struct highspeed_params *p,
				 const struct tandem_conn *c, u32 reason)
{
	return window_reduce(&s->window, c, highspeed_after_loss(p, c->snd_cwnd));
}

WINDOW_VIEW(highspeed)
WINDOW_UNDO(highspeed)
IGNORES_RTT(highspeed)
IGNORES_STATES(highspeed)

#define highspeed_PROBES(P, W) \
	P(increase_packets, 256, s->growth_q8, "growth a round, a(w)")

#endif
