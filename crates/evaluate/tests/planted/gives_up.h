/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: after a timeout the window never grows again. */
#include "growth.h"

#define NAME gives_up
#define gives_up_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define gives_up_PROBES(P, W)
struct gives_up_params { gives_up_PARAMS(TANDEM_PARAM_FIELD) };
struct gives_up { u32 prior_cwnd; u32 flag; };

#define ENTER(s, c, state) do { if ((state) == TANDEM_LOSS) (s)->flag = 1; } while (0)
#define GROW(s, c, acked) do { if (!(s)->flag) rfc5681_grow(c, acked); } while (0)
#include "planted.h"
