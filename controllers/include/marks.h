/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The moving average of the share of packets that carry an ECN mark (RFC 8257 section 3.3), which
 * the scalable controllers share.
 */
#ifndef TANDEM_MARKS_H
#define TANDEM_MARKS_H

#include "growth.h"

#define MARKS_ONE (1u << 24) /* alpha = 1 */

struct marks {
	u64 acked;     /* packets acknowledged in this round                           */
	u64 marked;    /* packets reported as marked in this round                     */
	u32 alpha_q24; /* the average, 0 to MARKS_ONE                                  */
	u32 round_end; /* snd_nxt when this round began                                */
};

TANDEM_FN void marks_begin_round(struct marks *m, const struct tandem_conn *c)
{
	m->acked = 0;
	m->marked = 0;
	m->round_end = c->snd_nxt;
}

TANDEM_FN void marks_init(struct marks *m, const struct tandem_conn *c, u32 alpha_q10)
{
	m->alpha_q24 = alpha_q10 << 14;
	marks_begin_round(m, c);
}

TANDEM_FN void marks_count(struct marks *m, const struct tandem_ack *ack)
{
	m->acked += ack->acked_sacked;
	m->marked += ack->marked;
}

TANDEM_FN int marks_round_ended(const struct marks *m, const struct tandem_conn *c)
{
	return seq_after(c->snd_una, m->round_end);
}

/*
 * The round's share goes into the average with the weight g. Copies count as marked, too, so
 * there may be more marks than packets. A round has less than 2^40 packets, so that its
 * share stays below 2^64.
 * [RFC 8257 3.3] [RFC 9331 4.4]
 */
TANDEM_FN void marks_update(struct marks *m, u32 g_q10)
{
	u64 marked = m->marked < m->acked ? m->marked : m->acked;
	u32 share_q24;

	if (!m->acked)
		return;
	share_q24 = (u32)((marked << 24) / m->acked);
	m->alpha_q24 = m->alpha_q24 - mul_div(m->alpha_q24, g_q10, 1024) +
		       mul_div(share_q24, g_q10, 1024);
}

/*
 * What marks leave of a window: the share 1 - alpha / 2, in any unit up to 2^40,
 * rounded to the nearest.
 * [RFC 8257 3.3]
 */
TANDEM_FN u64 marks_leave(const struct marks *m, u64 window)
{
	/* In two steps, so that no product exceeds 2^60. */
	u64 whole = window >> 4, rest = window & 15;
	u64 cut_q4 = whole * m->alpha_q24 + (rest * m->alpha_q24 >> 4);

	return window - ((cut_q4 + (1u << 20)) >> 21);
}

#endif
