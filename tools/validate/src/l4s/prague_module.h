/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The window of Linux's tcp_prague as it was in 2020 (L4STeam/linux), without RTT independence. It
 * separates what the kernel's arithmetic does from what Prague's law does. Do not use it elsewhere.
 *
 *  - The window is whole segments. Growth and reductions go to an account. Once that holds a whole
 *    segment, an ACK changes the window by one.
 *  - The rate counts headers: it is 3.6 % above w / srtt.
 *  - A packet of the scenario is a unit of segmentation offload. With `segments = 2` it stands for
 *    two segments that stay together, through the queue and up to one ACK (tcp_min_tso_segs).
 */
#ifndef TANDEM_PRAGUE_MODULE_H
#define TANDEM_PRAGUE_MODULE_H

#include "marks.h"

#define TANDEM_TRAITS (TANDEM_OWNS_WINDOW | TANDEM_COUNTS_MARKS | TANDEM_SENDS_ECT1)
#define TANDEM_SIGNAL L4S
#define TANDEM_OWNS_SLOW_START

#define prague_module_PARAMS(P) \
	P(segments, 1, 1, 1, 2, "segments that go as one packet")

struct prague_module_params { prague_module_PARAMS(TANDEM_PARAM_FIELD) };

#define MODULE_SEGMENT (1 << 20) /* the account's unit */
#define MODULE_LEAST 2           /* segments */
#define MODULE_HEADERS 52        /* bytes of a segment that are no payload */

struct prague_module {
	struct marks marks;
	u32 window;       /* segments */
	int account_q20;  /* growth that makes no segment yet; below 0: a reduction */
	u32 srtt_q3;      /* us; 0 = none yet */
	u32 cut_end;      /* snd_nxt when a mark last reduced the window */
	u32 has_cut : 1;
	u32 in_recovery : 1;
};

/* An odd window's last segment goes alone. */
TANDEM_FN void prague_module_set(struct prague_module *s, const struct prague_module_params *p,
				 struct tandem_conn *c, u32 window)
{
	s->window = max_u32(window, MODULE_LEAST);
	c->snd_cwnd = (s->window + p->segments - 1) / p->segments;
}

TANDEM_FN void prague_module_set_rate(const struct prague_module *s,
				      const struct prague_module_params *p, struct tandem_conn *c)
{
	u32 rtt_us = s->srtt_q3 ? max_u32(s->srtt_q3 >> 3, 1) : 1000;
	u64 bytes = (u64)s->window * (c->mss / p->segments + MODULE_HEADERS);

	if (c->snd_cwnd < c->snd_ssthresh / 2)
		bytes *= 2;
	c->pacing_bytes_per_s = bytes * 1000000 / rtt_us;
}

TANDEM_FN void prague_module_init(struct prague_module *s, const struct prague_module_params *p,
				  struct tandem_conn *c)
{
	*s = (struct prague_module){ 0 };
	prague_module_set(s, p, c, c->snd_cwnd * p->segments);
	marks_init(&s->marks, c, 1024);
	prague_module_set_rate(s, p, c);
}

TANDEM_FN void prague_module_reduce(struct prague_module *s, struct tandem_conn *c, u32 marked)
{
	if (!marked || s->in_recovery || (s->has_cut && !seq_after(c->snd_una, s->cut_end)))
		return;
	if (in_slow_start(c))
		c->snd_ssthresh = c->snd_cwnd;
	s->account_q20 -= (int)(((u64)s->marks.alpha_q24 * s->window + 16) >> 5);
	s->has_cut = 1;
	s->cut_end = c->snd_nxt;
}

TANDEM_FN void prague_module_grow(struct prague_module *s, const struct prague_module_params *p,
				  struct tandem_conn *c, u32 acked)
{
	if (s->in_recovery)
		return;
	if (in_slow_start(c))
		prague_module_set(s, p, c, s->window + acked * p->segments);
	else
		s->account_q20 += (int)((u64)acked * p->segments * MODULE_SEGMENT / s->window);
}

TANDEM_FN void prague_module_settle(struct prague_module *s, const struct prague_module_params *p,
				    struct tandem_conn *c)
{
	if (s->account_q20 <= -MODULE_SEGMENT) {
		s->account_q20 += MODULE_SEGMENT;
		if (s->window == MODULE_LEAST)
			s->account_q20 = 0;
		prague_module_set(s, p, c, s->window - 1);
		c->snd_ssthresh = c->snd_cwnd;
	} else if (s->account_q20 >= MODULE_SEGMENT) {
		s->account_q20 -= MODULE_SEGMENT;
		prague_module_set(s, p, c, s->window + 1);
	}
}

TANDEM_FN void prague_module_pkts_acked(struct prague_module *s,
					const struct prague_module_params *p,
					struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 marked = min_u32(ack->marked, ack->acked_sacked);

	/* A timeout or an undo has changed the window. */
	if (c->snd_cwnd != (s->window + p->segments - 1) / p->segments)
		prague_module_set(s, p, c, c->snd_cwnd * p->segments);
	if (ack->rtt_us)
		s->srtt_q3 = s->srtt_q3 ? s->srtt_q3 - (s->srtt_q3 >> 3) + ack->rtt_us :
					  ack->rtt_us << 3;
	marks_count(&s->marks, ack);
	prague_module_reduce(s, c, ack->marked);
	prague_module_grow(s, p, c, ack->acked_sacked - marked);
	prague_module_settle(s, p, c);
	if (marks_round_ended(&s->marks, c)) {
		if (s->has_cut)
			marks_update(&s->marks, 64);
		marks_begin_round(&s->marks, c);
	}
	prague_module_set_rate(s, p, c);
}

TANDEM_FN void prague_module_cong_avoid(struct prague_module *s,
					const struct prague_module_params *p,
					struct tandem_conn *c, u32 acked)
{
}

TANDEM_FN u32 prague_module_ssthresh(struct prague_module *s, const struct prague_module_params *p,
				     const struct tandem_conn *c, u32 reason)
{
	return reason == TANDEM_FOR_MARK ? max_u32(c->snd_cwnd, 2) : max_u32(c->snd_cwnd / 2, 2);
}

TANDEM_FN void prague_module_set_state(struct prague_module *s,
				       const struct prague_module_params *p, struct tandem_conn *c,
				       u32 state)
{
	if (state == TANDEM_RECOVERY && !s->in_recovery)
		prague_module_set(s, p, c, s->window / 2);
	s->in_recovery = state == TANDEM_RECOVERY;
}

TANDEM_FN void prague_module_restart(struct prague_module *s, const struct prague_module_params *p,
				     struct tandem_conn *c)
{
}

TANDEM_FN u32 prague_module_undo_cwnd(struct prague_module *s,
				      const struct prague_module_params *p,
				      const struct tandem_conn *c)
{
	return c->snd_cwnd;
}

#define prague_module_PROBES(P, W) \
	P(alpha, MARKS_ONE, s->marks.alpha_q24, "average share of packets that are marked")

TANDEM_FN void prague_module_view(const struct prague_module *s,
				  const struct prague_module_params *p, const struct tandem_conn *c,
				  struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
}

#endif
