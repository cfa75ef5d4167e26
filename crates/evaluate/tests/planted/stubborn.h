/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: the window is never below 16 packets. */
#include "growth.h"

#define NAME stubborn
#define stubborn_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define stubborn_PROBES(P, W)
struct stubborn_params { stubborn_PARAMS(TANDEM_PARAM_FIELD) };
struct stubborn { u32 prior_cwnd; u32 flag; };

#define KEPT(s, c) max_u32((c)->snd_cwnd / 2, 16)
#define GROW(s, c, acked) \
	do { rfc5681_grow(c, acked); (c)->snd_cwnd = max_u32((c)->snd_cwnd, 16); } while (0)
#include "planted.h"
