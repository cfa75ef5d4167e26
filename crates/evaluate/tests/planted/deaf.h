/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: after a timeout the window is what it was before. */
#include "growth.h"

#define NAME deaf
#define deaf_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define deaf_PROBES(P, W)
struct deaf_params { deaf_PARAMS(TANDEM_PARAM_FIELD) };
struct deaf { u32 prior_cwnd; u32 flag; };

#define ENTER(s, c, state) \
	do { if ((state) == TANDEM_LOSS) (c)->snd_cwnd = (s)->prior_cwnd; } while (0)
#include "planted.h"
