/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: a loss takes a quarter of the window instead of half. */
#include "growth.h"

#define NAME half_backoff
#define half_backoff_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define half_backoff_PROBES(P, W)
struct half_backoff_params { half_backoff_PARAMS(TANDEM_PARAM_FIELD) };
struct half_backoff { u32 prior_cwnd; u32 flag; };

#define KEPT(s, c) ((c)->snd_cwnd - (c)->snd_cwnd / 4)
#include "planted.h"
