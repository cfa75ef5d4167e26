/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: a loss leaves two packets of window. */
#include "growth.h"

#define NAME panic
#define panic_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define panic_PROBES(P, W)
struct panic_params { panic_PARAMS(TANDEM_PARAM_FIELD) };
struct panic { u32 prior_cwnd; u32 flag; };

#define KEPT(s, c) 2
#include "planted.h"
