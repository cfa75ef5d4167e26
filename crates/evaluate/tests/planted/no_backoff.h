/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: a loss leaves the window as it is. */
#include "growth.h"

#define NAME no_backoff
#define no_backoff_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define no_backoff_PROBES(P, W)
struct no_backoff_params { no_backoff_PARAMS(TANDEM_PARAM_FIELD) };
struct no_backoff { u32 prior_cwnd; u32 flag; };

#define KEPT(s, c) ((c)->snd_cwnd)
#include "planted.h"
