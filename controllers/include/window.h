/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What controllers with one undivided window share: growth by a fraction of a packet, the reduction
 * and its undo. They differ in how much a window of ACKs is worth and in what a loss leaves.
 */
#ifndef TANDEM_WINDOW_H
#define TANDEM_WINDOW_H

#include "growth.h"

struct window {
	/*
	 * Gain summed over the packets ACKed, in the controller's unit: snd_cwnd times as much is
	 * one packet of window.
	 */
	u64 credit;
	u32 prior_cwnd; /* the window before the last reduction, for undo */
};

TANDEM_FN void window_init(struct window *w, const struct tandem_conn *c)
{
	w->credit = 0;
	w->prior_cwnd = c->snd_cwnd;
}

/*
 * Adds what has been earned and returns the whole packets in it; `packet` is what one is worth now.
 * What was left over from when a packet was worth more (before a loss) counts as one packet at
 * most; otherwise a small window would jump.
 */
TANDEM_FN u64 take_packets(u64 *credit, u64 earned, u64 packet)
{
	u64 packets;

	if (*credit > packet)
		*credit = packet;
	*credit += earned;
	if (*credit < packet)
		return 0;
	packets = *credit / packet;
	*credit %= packet;
	return packets;
}

/*
 * The unit of a gain: 1/256 packets a round, in which published results and golden traces are.
 * Where a parameter makes the gain less than it is by default, a controller takes a finer one, so
 * that what is cut off is no larger a share of it.
 */
#define WINDOW_UNIT (1u << 8)

/*
 * Grows by gain / unit packets for each window of packets ACKed. gain * acked < 2^63 and
 * unit < 2^38, so that the credit stays below 2^64.
 */
TANDEM_FN void window_grow_by(struct window *w, struct tandem_conn *c, u64 gain, u64 unit,
			      u32 acked)
{
	u64 grown = take_packets(&w->credit, gain * acked, max_u32(c->snd_cwnd, 1) * unit);
	u64 room = sub_floor0(c->snd_cwnd_clamp, c->snd_cwnd);

	c->snd_cwnd += (u32)(grown < room ? grown : room);
}

/* The same in the usual unit. gain_q8 < 2^32 and acked <= 2^24. */
TANDEM_FN void window_grow(struct window *w, struct tandem_conn *c, u32 gain_q8, u32 acked)
{
	window_grow_by(w, c, gain_q8, WINDOW_UNIT, acked);
}

/*
 * A loss leaves `left` packets: no more than there were, but at least two: equation 4
 * [RFC 5681 3.1].
 */
TANDEM_FN u32 window_reduce(struct window *w, const struct tandem_conn *c, u32 left)
{
	w->credit = 0;
	w->prior_cwnd = c->snd_cwnd;
	return max_u32(min_u32(left, c->snd_cwnd), 2);
}

/* The reduction was a mistake. */
TANDEM_FN u32 window_undone(const struct window *w, const struct tandem_conn *c)
{
	return max_u32(c->snd_cwnd, w->prior_cwnd);
}

/* For a NAME whose window has no parts, and that measures nothing to show. */
#define WINDOW_VIEW(NAME) \
	TANDEM_FN void NAME##_view(const struct NAME *s, const struct NAME##_params *p, \
				   const struct tandem_conn *c, struct tandem_view *v) \
	{ \
		v->loss_window = c->snd_cwnd; \
	}

/* For a NAME whose state has a `struct window window`, and nothing else to restore. */
#define WINDOW_UNDO(NAME) \
	TANDEM_FN u32 NAME##_undo_cwnd(struct NAME *s, const struct NAME##_params *p, \
				       const struct tandem_conn *c) \
	{ \
		return window_undone(&s->window, c); \
	}

/* For a NAME that ignores RTTs. */
#define IGNORES_RTT(NAME) \
	TANDEM_FN void NAME##_pkts_acked(struct NAME *s, const struct NAME##_params *p, \
					 const struct tandem_conn *c, \
					 const struct tandem_ack *ack) \
	{ \
	}

/* For a NAME that acts in the same way in every state, and after an idle time too. */
#define IGNORES_STATES(NAME) \
	TANDEM_FN void NAME##_set_state(struct NAME *s, const struct NAME##_params *p, \
					struct tandem_conn *c, u32 state) \
	{ \
	} \
	TANDEM_FN void NAME##_restart(struct NAME *s, const struct NAME##_params *p, \
				      struct tandem_conn *c) \
	{ \
	}

#endif
