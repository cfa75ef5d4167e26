/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: a mark leaves the window as it is. */
#include "growth.h"

#define NAME blind_to_marks
#define blind_to_marks_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define blind_to_marks_PROBES(P, W)
struct blind_to_marks_params { blind_to_marks_PARAMS(TANDEM_PARAM_FIELD) };
struct blind_to_marks { u32 prior_cwnd; u32 flag; };

#define KEPT(s, c) (reason == TANDEM_FOR_MARK ? (c)->snd_cwnd : (c)->snd_cwnd / 2)
#include "planted.h"
