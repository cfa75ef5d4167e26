/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * mine: additive increase, multiplicative decrease.
 *
 *   slow start            snd_cwnd += packets ACKed
 *   congestion avoidance  snd_cwnd += step each round trip
 *   loss                  ssthresh = kept * snd_cwnd
 *
 * Written by `tandem new`. See it on a path, and again after each change:
 *
 *   tandem compare --rate 100mbit --rtt 40ms --queue 1bdp ./mine.h reno
 *
 * Windows are packets, times microseconds; integers only, and no division by 0. The same header
 * runs in the simulator, in QUIC and in Linux, whose verifier is the strictest: no loop without a
 * constant bound.
 */
#ifndef MINE_H
#define MINE_H

/* Tandem's own: growth and reduction of a window, and what that includes, integer arithmetic. */
#include "growth.h"

/*
 * What hosts must know of it; without these lines LOSS and 0. It listens to LOSS, DELAY, BOTH,
 * MODEL or MARKS. Traits, joined with |: TANDEM_COUNTS_MARKS reads ack->marked;
 * TANDEM_OWNS_WINDOW sets the window and a pacing rate in mine_pkts_acked, in recovery, too (then
 * define TANDEM_OWNS_SLOW_START, and take c there without `const`).
 */
#define TANDEM_SIGNAL LOSS
#define TANDEM_TRAITS 0

/*
 * Each constant, so that it can be tried: ./mine.h@step=4,kept=0.7. A value is kept as an integer,
 * times scale: P(name, scale, default, least, most, "what it is; whose value"), the three numbers
 * times scale.
 */
#define mine_PARAMS(P) \
	P(step, 1, 1, 1, 64, "packets that the window grows each round trip (RFC 5681: 1)") \
	P(kept, 1024, 512, 64, 1023, "share of the window kept on loss (RFC 5681: 1/2)")

struct mine_params { mine_PARAMS(TANDEM_PARAM_FIELD) };

/* What it remembers of a connection: at most 88 bytes, not zeroed. */
struct mine {
	u32 prior_cwnd; /* the window before the last reduction, for undo */
};

/* Once, when the initial window is set: set the whole state. */
TANDEM_FN void mine_init(struct mine *s, const struct mine_params *p, struct tandem_conn *c)
{
	s->prior_cwnd = c->snd_cwnd;
}

/* Each ACK, before all else: take ack->rtt_us, which is 0 where there is no sample. */
TANDEM_FN void mine_pkts_acked(struct mine *s, const struct mine_params *p,
			       const struct tandem_conn *c, const struct tandem_ack *ack)
{
}

/* Each ACK for `acked` new packets outside recovery: the window may grow. */
TANDEM_FN void mine_cong_avoid(struct mine *s, const struct mine_params *p,
			       struct tandem_conn *c, u32 acked)
{
	/* The application sends less than the window: nothing was learnt of the path. */
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	/* A packet for each snd_cwnd / step packets ACKed makes `step` a round trip. */
	if (acked)
		additive_increase(c, c->snd_cwnd / p->step, acked);
}

/* A packet is lost or marked: return the window after it. */
TANDEM_FN u32 mine_ssthresh(struct mine *s, const struct mine_params *p,
			    const struct tandem_conn *c, u32 reason)
{
	s->prior_cwnd = c->snd_cwnd;
	return max_u32(mul_div(c->snd_cwnd, p->kept, 1024), 2);
}

/* Before the connection enters TANDEM_OPEN, _DISORDER, _CWR, _RECOVERY or _LOSS. */
TANDEM_FN void mine_set_state(struct mine *s, const struct mine_params *p,
			      struct tandem_conn *c, u32 state)
{
}

/* Sending resumes after a pause: forget what is stale. */
TANDEM_FN void mine_restart(struct mine *s, const struct mine_params *p, struct tandem_conn *c)
{
}

/* The last reduction was a mistake, no packet was lost: return the window to go back to. */
TANDEM_FN u32 mine_undo_cwnd(struct mine *s, const struct mine_params *p,
			     const struct tandem_conn *c)
{
	return max_u32(c->snd_cwnd, s->prior_cwnd);
}

/*
 * What else is worth a look, at most ten: P(name_with_unit, scale, value, "what it is"), without
 * commas between. None here.
 */
#define mine_PROBES(P, W)

/* Whenever somebody looks: what traces and `tandem kernel watch` show. */
TANDEM_FN void mine_view(const struct mine *s, const struct mine_params *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
}

#endif
