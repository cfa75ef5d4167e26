/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: packets out of order leave two packets of window. */
#include "growth.h"

#define NAME disorder
#define disorder_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define disorder_PROBES(P, W)
struct disorder_params { disorder_PARAMS(TANDEM_PARAM_FIELD) };
struct disorder { u32 prior_cwnd; u32 flag; };

#define ENTER(s, c, state) do { if ((state) == TANDEM_DISORDER) (c)->snd_cwnd = 2; } while (0)
#include "planted.h"
