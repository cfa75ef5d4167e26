/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: there is no slow start: one packet each round trip from the beginning. */
#include "growth.h"

#define NAME crawl
#define crawl_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define crawl_PROBES(P, W)
struct crawl_params { crawl_PARAMS(TANDEM_PARAM_FIELD) };
struct crawl { u32 prior_cwnd; u32 flag; };

#define GROW(s, c, acked) \
	do { if ((c)->is_cwnd_limited) additive_increase(c, (c)->snd_cwnd, acked); } while (0)
#include "planted.h"
