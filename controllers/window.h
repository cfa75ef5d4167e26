/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What controllers with one undivided window share: growth by a fraction of a packet, the reduction and its undo.
 * They differ in how much a window of ACKs is worth and in what a loss leaves.
 */
#ifndef TANDEM_WINDOW_H
#define TANDEM_WINDOW_H

#include "reno.h"

struct window {
	u64 credit_q8;  /* gain summed over the packets ACKed: snd_cwnd << 8 of it is one packet of window */
	u32 prior_cwnd; /* the window before the last reduction, for undo                                 */
};

TANDEM_FN void window_init(struct window *w, const struct tandem_conn *c)
{
	w->credit_q8 = 0;
	w->prior_cwnd = c->snd_cwnd;
}

/*
 * Grows by gain_q8 / 256 packets for each window of packets ACKed. As in additive_increase, credit gathered under a
 * larger window is worth one packet at most. gain_q8 < 2^32 and acked <= 2^24, so the credit stays below 2^57.
 */
TANDEM_FN void window_grow(struct window *w, struct tandem_conn *c, u32 gain_q8, u32 acked)
{
	u64 packet_q8 = (u64)max_u32(c->snd_cwnd, 1) << 8;
	u64 room = sub_floor0(c->snd_cwnd_clamp, c->snd_cwnd);
	u64 grown;

	if (w->credit_q8 > packet_q8)
		w->credit_q8 = packet_q8;
	w->credit_q8 += (u64)gain_q8 * acked;
	if (w->credit_q8 < packet_q8)
		return;
	grown = w->credit_q8 / packet_q8;
	w->credit_q8 %= packet_q8;
	c->snd_cwnd += (u32)(grown < room ? grown : room);
}

/* A loss leaves `left` packets: at least two (RFC 5681 (4)), and no more than there were. */
TANDEM_FN u32 window_reduce(struct window *w, const struct tandem_conn *c, u32 left)
{
	w->credit_q8 = 0;
	w->prior_cwnd = c->snd_cwnd;
	return max_u32(min_u32(left, c->snd_cwnd), 2);
}

/* The functions that are the same for every controller NAME whose state begins with `struct window window`. */
#define WINDOW_CONTROLLER(NAME) \
	TANDEM_STATE_FITS(struct NAME); \
	TANDEM_FN u32 NAME##_undo_cwnd(struct NAME *s, const struct NAME##_params *p, struct tandem_conn *c) \
	{ \
		(void)p; \
		return max_u32(c->snd_cwnd, s->window.prior_cwnd); \
	} \
	TANDEM_FN void NAME##_view(const struct NAME *s, const struct NAME##_params *p, const struct tandem_conn *c, \
				   struct tandem_view *v) \
	{ \
		(void)s, (void)p; \
		v->loss_window = c->snd_cwnd; \
	}

/* For a NAME that RTTs do not matter to. */
#define IGNORES_RTT(NAME) \
	TANDEM_FN void NAME##_pkts_acked(struct NAME *s, const struct NAME##_params *p, struct tandem_conn *c, \
					 const struct tandem_ack *ack) \
	{ \
		(void)s, (void)p, (void)c, (void)ack; \
	}

/* For a NAME that acts in the same way in every state, and after an idle time too. */
#define IGNORES_STATES(NAME) \
	TANDEM_FN void NAME##_set_state(struct NAME *s, const struct NAME##_params *p, struct tandem_conn *c, \
					u32 state) \
	{ \
		(void)s, (void)p, (void)c, (void)state; \
	} \
	TANDEM_FN void NAME##_restart(struct NAME *s, const struct NAME##_params *p, struct tandem_conn *c) \
	{ \
		(void)s, (void)p, (void)c; \
	}

#endif
