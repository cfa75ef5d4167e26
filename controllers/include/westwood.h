/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP Westwood+ (Mascolo, Casetti, Gerla, Sanadidi, Wang 2001; Mascolo, Grieco 2004;
 * Linux's tcp_westwood).
 *
 *   growth   Reno
 *   loss     ssthresh = rate * RTTmin, what the path holds without a queue;
 *            the window is at most that                                   2001, section 3.1
 *   timeout  the same ssthresh, then slow start                           2001, section 3.2
 *
 * The rate is that of rate.h.
 *
 * Open points and decisions:
 *  - A loss never raises the window (2001: "if cwin > ssthresh"); Linux sets it to ssthresh whether
 *    that is more or less.
 *  - Before there is an estimate a loss halves, as Reno's does; Linux would leave two packets.
 *  - RTTmin is measured afresh after a timeout, as in Linux: forget_base_rtt.
 */
#ifndef TANDEM_WESTWOOD_H
#define TANDEM_WESTWOOD_H

#include "rate.h"
#include "rounds.h"
#include "window.h"

#define westwood_OWN_PARAMS(P) \
	P(forget_base_rtt, 1, 1, 0, 1, \
	  "1 = measure RTTmin afresh after a timeout (Linux), 0 = keep it")

#define westwood_PARAMS(P) RATE_PARAMS(P) westwood_OWN_PARAMS(P)

struct westwood_params {
	RATE_LAW_FIELDS
	westwood_OWN_PARAMS(TANDEM_PARAM_FIELD)
};

struct westwood {
	struct window window;
	struct rate rate;
	struct rounds round;
	/* What the last reduction has forgotten, for undo; otherwise ROUNDS_UNMEASURED. */
	u32 prior_base_rtt_us;
};

TANDEM_FN void westwood_init(struct westwood *s, const struct westwood_params *p,
			     struct tandem_conn *c)
{
	window_init(&s->window, c);
	rate_init(&s->rate, c->now_us);
	rounds_init(&s->round, c);
	s->prior_base_rtt_us = ROUNDS_UNMEASURED;
}

TANDEM_FN void westwood_pkts_acked(struct westwood *s, const struct westwood_params *p,
				   const struct tandem_conn *c, const struct tandem_ack *ack)
{
	rate_on_ack(&s->rate, &p->rate, c->now_us, ack, rounds_sample(&s->round, ack));
}

TANDEM_FN void westwood_cong_avoid(struct westwood *s, const struct westwood_params *p,
				   struct tandem_conn *c, u32 acked)
{
	rfc5681_grow(c, acked);
}

TANDEM_FN u32 westwood_ssthresh(struct westwood *s, const struct westwood_params *p,
				const struct tandem_conn *c, u32 reason)
{
	u32 left = c->snd_cwnd / 2;

	s->prior_base_rtt_us = ROUNDS_UNMEASURED;
	if (s->rate.packets_per_s_q8 && s->round.base_rtt_us != ROUNDS_UNMEASURED)
		left = rate_packets_q8(&s->rate, s->round.base_rtt_us) >> 8;
	return window_reduce(&s->window, c, left);
}

TANDEM_FN void westwood_set_state(struct westwood *s, const struct westwood_params *p,
				  struct tandem_conn *c, u32 state)
{
	if (state == TANDEM_LOSS && p->forget_base_rtt)
		rounds_forget_base(&s->round, &s->prior_base_rtt_us);
	rounds_set_state(&s->round, c, state);
}

TANDEM_FN void westwood_restart(struct westwood *s, const struct westwood_params *p,
				struct tandem_conn *c)
{
	rate_begin_interval(&s->rate, c->now_us);
}

TANDEM_FN u32 westwood_undo_cwnd(struct westwood *s, const struct westwood_params *p,
				 const struct tandem_conn *c)
{
	rounds_restore_base(&s->round, s->prior_base_rtt_us);
	return window_undone(&s->window, c);
}

#define westwood_PROBES(P, W) \
	P(bw_mbps, 1000000, rate_bits_per_s(&s->rate, c), "estimated rate, payload")

TANDEM_FN void westwood_view(const struct westwood *s, const struct westwood_params *p,
			     const struct tandem_conn *c, struct tandem_view *v)
{
	rounds_view(&s->round, c, 0, 0, v);
}

#endif
