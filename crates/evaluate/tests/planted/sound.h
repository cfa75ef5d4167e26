/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: nothing. It is Reno. */
#include "growth.h"

#define NAME sound
#define sound_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define sound_PROBES(P, W)
struct sound_params { sound_PARAMS(TANDEM_PARAM_FIELD) };
struct sound { u32 prior_cwnd; u32 flag; };

#include "planted.h"
