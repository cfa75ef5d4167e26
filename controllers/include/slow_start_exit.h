/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How slow start ends, other than by a loss or ssthresh: the same for every controller with a
 * window, which knows nothing of it. It lowers ssthresh to the window before the controller grows
 * the window, or passes on fewer packets ACKed.
 */
#ifndef TANDEM_SLOW_START_EXIT_H
#define TANDEM_SLOW_START_EXIT_H

#include "hystart.h"
#include "hystart_plus.h"

/* Values of `hystart`. */
enum slow_start_exit_kind {
	SLOW_START_EXIT_NONE = 0,
	SLOW_START_EXIT_HYSTART = 1,
	SLOW_START_EXIT_HYSTART_PLUS = 2,
};

/* A controller's header may define another default. */
#ifndef SLOW_START_EXIT_DEFAULT
#define SLOW_START_EXIT_DEFAULT SLOW_START_EXIT_NONE
#endif

#define SLOW_START_EXIT_PARAMS(P) \
	P(hystart, 1, SLOW_START_EXIT_DEFAULT, 0, 2, \
	  "slow start also ends by 0 = nothing more, 1 = Linux's HyStart, 2 = HyStart++ (RFC 9406)")

struct slow_start_exit {
	union {
		struct hystart hystart;
		struct hystart_plus plus;
	};
};

_Static_assert(sizeof(struct slow_start_exit) == 16, "the controllers' own states leave 16 bytes");

TANDEM_FN void slow_start_exit_init(struct slow_start_exit *s, u32 kind,
				    const struct tandem_conn *c)
{
	if (kind == SLOW_START_EXIT_HYSTART_PLUS)
		hystart_plus_init(&s->plus, c);
	else
		hystart_init(&s->hystart, c);
}

TANDEM_FN void slow_start_exit_on_ack(struct slow_start_exit *s, u32 kind,
				      const struct tandem_conn *c, const struct tandem_ack *ack)
{
	if (kind == SLOW_START_EXIT_HYSTART)
		hystart_on_ack(&s->hystart, c, ack);
	else if (kind == SLOW_START_EXIT_HYSTART_PLUS)
		hystart_plus_on_ack(&s->plus, c, ack);
}

/* Before the controller's cong_avoid; returns the packets ACKed that it is to see. */
TANDEM_FN u32 slow_start_exit_before_growth(struct slow_start_exit *s, u32 kind,
					    struct tandem_conn *c, u32 acked)
{
	if (kind == SLOW_START_EXIT_NONE || !in_slow_start(c))
		return acked;
	if (kind == SLOW_START_EXIT_HYSTART_PLUS)
		return hystart_plus_before_growth(&s->plus, c, acked);
	hystart_before_growth(&s->hystart, c);
	return acked;
}

TANDEM_FN void slow_start_exit_set_state(struct slow_start_exit *s, u32 kind,
					 const struct tandem_conn *c, u32 state)
{
	if (kind == SLOW_START_EXIT_HYSTART)
		hystart_set_state(&s->hystart, c, state);
}

#endif
