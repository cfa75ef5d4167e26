/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: while no ACK comes for two seconds or more, the window grows by a packet each 10 ms. */
#include "growth.h"

#define NAME clockwork
#define clockwork_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define clockwork_PROBES(P, W)
struct clockwork_params { clockwork_PARAMS(TANDEM_PARAM_FIELD) };
struct clockwork { u32 prior_cwnd; u32 flag; u64 last_us; };

TANDEM_FN void clockwork_grow(struct clockwork *s, struct tandem_conn *c, u32 acked)
{
	u64 silent_us = c->now_us - s->last_us;

	if (s->last_us && silent_us > 2000000) {
		c->snd_cwnd += (u32)(silent_us / 10000);
		c->snd_ssthresh = c->snd_cwnd;
	}
	s->last_us = c->now_us;
	rfc5681_grow(c, acked);
}

#define START(s) ((s)->last_us = 0)
#define GROW(s, c, acked) clockwork_grow(s, c, acked)
#include "planted.h"
