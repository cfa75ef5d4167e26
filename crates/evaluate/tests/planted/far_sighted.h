/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: above 30 ms the window grows by the square of the smallest RTT more slowly. */
#include "growth.h"

#define NAME far_sighted
#define far_sighted_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define far_sighted_PROBES(P, W)
struct far_sighted_params { far_sighted_PARAMS(TANDEM_PARAM_FIELD) };
struct far_sighted { u32 prior_cwnd; u32 flag; u32 base_us; };

#define START(s) ((s)->base_us = 0xffffffffu)
#define SEEN(s, c, ack) \
	do { if ((ack)->rtt_us) (s)->base_us = min_u32((s)->base_us, (ack)->rtt_us); } while (0)

TANDEM_FN void far_sighted_grow(struct far_sighted *s, struct tandem_conn *c, u32 acked)
{
	u32 rounds = s->base_us < 30000 ? 1 : min_u32(s->base_us / 15000, 10);

	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (acked && c->is_cwnd_limited)
		additive_increase(c, c->snd_cwnd * rounds * rounds, acked);
}

#define GROW(s, c, acked) far_sighted_grow(s, c, acked)
#include "planted.h"
