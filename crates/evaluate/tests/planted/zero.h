/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: growth divides by half of the window, which is nothing after a timeout. */
#include "growth.h"

#define NAME zero
#define zero_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define zero_PROBES(P, W)
struct zero_params { zero_PARAMS(TANDEM_PARAM_FIELD) };
struct zero { u32 prior_cwnd; u32 flag; };

#define GROW(s, c, acked) ((c)->snd_cwnd += (acked) / ((c)->snd_cwnd / 2))
#include "planted.h"
