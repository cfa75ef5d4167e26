/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: the window never exceeds eight packets. */
#include "growth.h"

#define NAME timid
#define timid_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define timid_PROBES(P, W)
struct timid_params { timid_PARAMS(TANDEM_PARAM_FIELD) };
struct timid { u32 prior_cwnd; u32 flag; };

#define GROW(s, c, acked) ((c)->snd_cwnd = min_u32((c)->snd_cwnd + (acked), 8))
#include "planted.h"
