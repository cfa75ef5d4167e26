/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What a host compiles, with -DCONTROLLER=NAME: the controller NAME.h with what all controllers
 * share, the end of slow start.
 *   struct controller, struct controller_params, CONTROLLER_PARAMS(P), controller_init() and the
 *   other seven calls.
 */
#ifndef TANDEM_CONTROLLER_H
#define TANDEM_CONTROLLER_H

#define TANDEM_PASTE_(a, b) a##b
#define TANDEM_PASTE(a, b) TANDEM_PASTE_(a, b)
#define TANDEM_QUOTE_(x) #x
#define TANDEM_QUOTE(x) TANDEM_QUOTE_(x)
#define TANDEM_HEADER_(name) TANDEM_QUOTE_(name.h)
#define TANDEM_HEADER(name) TANDEM_HEADER_(name)
/* OP(_init) is NAME_init. */
#define OP(suffix) TANDEM_PASTE(CONTROLLER, suffix)

#include "contract.h"

/*
 * A function of the contract need not use all that it is given. Linux's build does not warn of that
 * either.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include TANDEM_HEADER(CONTROLLER)

/* Its probes have their places by the order of its list. */
#define TANDEM_PLACE_PROBE(name, scale, value, doc) TANDEM_PROBE_##name,
enum { OP(_PROBES)(TANDEM_PLACE_PROBE, TANDEM_PLACE_PROBE) TANDEM_PROBES };

#define TANDEM_SHOW_PROBE(name, scale, value, doc) \
	if (TANDEM_PROBE_##name < TANDEM_MAX_PROBES) \
		v->probes[TANDEM_PROBE_##name] = (value);
TANDEM_FN void controller_show_probes(const struct CONTROLLER *s, const struct OP(_params) *p,
				      const struct tandem_conn *c, struct tandem_view *v)
{
	OP(_PROBES)(TANDEM_SHOW_PROBE, TANDEM_SHOW_PROBE)
}
#pragma GCC diagnostic pop

/*
 * A controller that owns the window ends its slow start itself, if it has one, and its
 * header says so.
 */
#ifdef TANDEM_OWNS_SLOW_START
#define CONTROLLER_PARAMS(P) OP(_PARAMS)(P)
#else
#include "slow_start_exit.h"
#define CONTROLLER_PARAMS(P) OP(_PARAMS)(P) SLOW_START_EXIT_PARAMS(P)
#endif

struct controller {
	struct CONTROLLER law;
#ifndef TANDEM_OWNS_SLOW_START
	struct slow_start_exit exit;
#endif
};
TANDEM_CHECK_STATE(struct controller);

/* All are u32, so that the host sees one flat list. */
struct controller_params {
	union {
		struct OP(_params) law;
		struct { OP(_PARAMS)(TANDEM_PARAM_FIELD) };
	};
#ifndef TANDEM_OWNS_SLOW_START
	SLOW_START_EXIT_PARAMS(TANDEM_PARAM_FIELD)
#endif
};

TANDEM_FN void controller_init(struct controller *s, const struct controller_params *p,
			       struct tandem_conn *c)
{
#ifndef TANDEM_OWNS_SLOW_START
	slow_start_exit_init(&s->exit, p->hystart, c);
#endif
	OP(_init)(&s->law, &p->law, c);
}

TANDEM_FN void controller_pkts_acked(struct controller *s, const struct controller_params *p,
				     struct tandem_conn *c,
				     const struct tandem_ack *ack)
{
#ifndef TANDEM_OWNS_SLOW_START
	slow_start_exit_on_ack(&s->exit, p->hystart, c, ack);
#endif
	OP(_pkts_acked)(&s->law, &p->law, c, ack);
}

TANDEM_FN void controller_cong_avoid(struct controller *s, const struct controller_params *p,
				     struct tandem_conn *c, u32 acked)
{
#ifndef TANDEM_OWNS_SLOW_START
	acked = slow_start_exit_before_growth(&s->exit, p->hystart, c, acked);
#endif
	OP(_cong_avoid)(&s->law, &p->law, c, acked);
}

TANDEM_FN u32 controller_ssthresh(struct controller *s, const struct controller_params *p,
				  const struct tandem_conn *c,
				  u32 reason)
{
	return OP(_ssthresh)(&s->law, &p->law, c, reason);
}

TANDEM_FN void controller_set_state(struct controller *s, const struct controller_params *p,
				    struct tandem_conn *c, u32 state)
{
#ifndef TANDEM_OWNS_SLOW_START
	slow_start_exit_set_state(&s->exit, p->hystart, c, state);
#endif
	OP(_set_state)(&s->law, &p->law, c, state);
}

TANDEM_FN void controller_restart(struct controller *s, const struct controller_params *p,
				  struct tandem_conn *c)
{
	OP(_restart)(&s->law, &p->law, c);
}

TANDEM_FN u32 controller_undo_cwnd(struct controller *s, const struct controller_params *p,
				   const struct tandem_conn *c)
{
	return OP(_undo_cwnd)(&s->law, &p->law, c);
}

TANDEM_FN void controller_view(const struct controller *s, const struct controller_params *p,
			       const struct tandem_conn *c,
			       struct tandem_view *v)
{
	OP(_view)(&s->law, &p->law, c, v);
	controller_show_probes(&s->law, &p->law, c, v);
}

#endif
