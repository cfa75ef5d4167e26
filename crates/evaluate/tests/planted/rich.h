/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: growth and reduction are shares of the window: who has more gets more. */
#include "growth.h"

#define NAME rich
#define rich_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define rich_PROBES(P, W)
struct rich_params { rich_PARAMS(TANDEM_PARAM_FIELD) };
struct rich { u32 prior_cwnd; u32 flag; };

#define KEPT(s, c) ((c)->snd_cwnd - (c)->snd_cwnd / 8)
#define GROW(s, c, acked) additive_increase(c, 50, acked)
#include "planted.h"
