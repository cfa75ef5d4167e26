/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Growth and reduction of a window counted in packets, which most controllers build on (RFC 5681).
 */
#ifndef TANDEM_GROWTH_H
#define TANDEM_GROWTH_H

#include "fixed.h"

/* (1 - beta) of a window, rounded down; beta in 1/1024. */
TANDEM_FN u32 window_after_loss(u32 window, u32 beta_q10)
{
	return mul_div(window, 1024 - beta_q10, 1024);
}

TANDEM_FN int in_slow_start(const struct tandem_conn *c) { return c->snd_cwnd < c->snd_ssthresh; }

/* The controller has lowered snd_cwnd of its own accord: slow start does not bring it back. */
TANDEM_FN void ssthresh_follows(struct tandem_conn *c)
{
	c->snd_ssthresh = min_u32(c->snd_ssthresh, max_u32(c->snd_cwnd, 2));
}

/* Slow start for up to `acked` packets [RFC 3465 2.2]; returns those left over at ssthresh. */
TANDEM_FN u32 slow_start(struct tandem_conn *c, u32 acked)
{
	u32 room = sub_floor0(min_u32(c->snd_ssthresh, c->snd_cwnd_clamp), c->snd_cwnd);
	u32 used = min_u32(acked, room);

	c->snd_cwnd += used;
	return acked - used;
}

/*
 * One packet is due for each `w` packets ACKed; returns how many, and counts in *count those ACKed
 * towards the next. Credit gathered under a larger w (before a loss) is worth one packet at most;
 * otherwise a small window would jump.
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

/*
 * Additive increase: one packet for each `w` packets ACKed [RFC 3465 2.1]. Returns how many packets
 * snd_cwnd has grown.
 */
TANDEM_FN u32 additive_increase(struct tandem_conn *c, u32 w, u32 acked)
{
	u32 grown = packets_due(&c->snd_cwnd_cnt, w, acked);

	/* Nearly each ACK ends here. */
	if (!grown)
		return 0;
	grown = min_u32(grown, sub_floor0(c->snd_cwnd_clamp, c->snd_cwnd));
	c->snd_cwnd += grown;
	return grown;
}

/* Equations 2 and 3 [RFC 5681 3.1]: all that a controller of this kind does on an ACK. */
TANDEM_FN void rfc5681_grow(struct tandem_conn *c, u32 acked)
{
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (acked)
		additive_increase(c, c->snd_cwnd, acked);
}

#endif
