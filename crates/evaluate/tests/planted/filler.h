/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: a loss takes one packet, so that no queue is ever empty. */
#include "growth.h"

#define NAME filler
#define filler_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define filler_PROBES(P, W)
struct filler_params { filler_PARAMS(TANDEM_PARAM_FIELD) };
struct filler { u32 prior_cwnd; u32 flag; };

#define KEPT(s, c) ((c)->snd_cwnd - 1)
#include "planted.h"
