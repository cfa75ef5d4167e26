/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: below 60 packets who has more gets more, so that only several flows are unfair. */
#include "growth.h"

#define NAME third
#define third_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define third_PROBES(P, W)
struct third_params { third_PARAMS(TANDEM_PARAM_FIELD) };
struct third { u32 prior_cwnd; u32 flag; };

TANDEM_FN void third_grow(struct tandem_conn *c, u32 acked)
{
	u32 w = c->snd_cwnd < 60 ? max_u32(800 / c->snd_cwnd, 8) : c->snd_cwnd;

	if (in_slow_start(c))
		acked = slow_start(c, acked);
	if (acked && c->is_cwnd_limited)
		additive_increase(c, w, acked);
}

#define GROW(s, c, acked) third_grow(c, acked)
#include "planted.h"
