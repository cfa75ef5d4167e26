/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: a round trip gives 64 packets. */
#include "growth.h"

#define NAME greedy
#define greedy_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define greedy_PROBES(P, W)
struct greedy_params { greedy_PARAMS(TANDEM_PARAM_FIELD) };
struct greedy { u32 prior_cwnd; u32 flag; };

#define GROW(s, c, acked) additive_increase(c, max_u32((c)->snd_cwnd / 64, 1), acked)
#include "planted.h"
