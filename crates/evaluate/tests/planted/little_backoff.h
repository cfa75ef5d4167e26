/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: a loss takes a sixteenth of the window, and a round trip gives eight packets. */
#include "growth.h"

#define NAME little_backoff
#define little_backoff_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define little_backoff_PROBES(P, W)
struct little_backoff_params { little_backoff_PARAMS(TANDEM_PARAM_FIELD) };
struct little_backoff { u32 prior_cwnd; u32 flag; };

#define KEPT(s, c) ((c)->snd_cwnd - (c)->snd_cwnd / 16)
#define GROW(s, c, acked) additive_increase(c, max_u32((c)->snd_cwnd / 8, 1), acked)
#include "planted.h"
