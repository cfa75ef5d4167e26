/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: slow start never ends. */
#include "growth.h"

#define NAME endless
#define endless_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define endless_PROBES(P, W)
struct endless_params { endless_PARAMS(TANDEM_PARAM_FIELD) };
struct endless { u32 prior_cwnd; u32 flag; };

#define GROW(s, c, acked) ((c)->snd_cwnd = min_u32((c)->snd_cwnd + (acked), (c)->snd_cwnd_clamp))
#include "planted.h"
