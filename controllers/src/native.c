/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The native host's view of one controller: compiled once for each line of controllers.def with
 * -DCONTROLLER=name, it exports `const struct tandem_controller tandem_NAME`.
 */
#include <stddef.h>

#include "controller.h"

/* The Rust side: src/ffi.rs. */
struct tandem_controller {
	u32 state_bytes;
	u32 traits;
	u32 param_count;
	const struct tandem_param *params;
	const struct tandem_probe *probes;
	u32 probe_count;
	void (*read_probes)(const void *s, const u32 *p, const struct tandem_conn *c, u64 *to);
	void (*init)(void *s, const u32 *p, struct tandem_conn *c);
	void (*pkts_acked)(void *s, const u32 *p, struct tandem_conn *c,
			   const struct tandem_ack *ack);
	void (*cong_avoid)(void *s, const u32 *p, struct tandem_conn *c, u32 acked);
	void (*usual_ack)(void *s, const u32 *p, struct tandem_conn *c, u32 acked, u32 rtt_us,
			  u32 delivered);
	u32 (*ssthresh)(void *s, const u32 *p, const struct tandem_conn *c, u32 reason);
	void (*set_state)(void *s, const u32 *p, struct tandem_conn *c, u32 state);
	void (*restart)(void *s, const u32 *p, struct tandem_conn *c);
	u32 (*undo_cwnd)(void *s, const u32 *p, const struct tandem_conn *c);
	void (*view)(const void *s, const u32 *p, const struct tandem_conn *c,
		     struct tandem_view *v);
};

static const struct tandem_param params[] = {
#define DESCRIBE(name, scale, initial, min, max, doc) { #name, doc, scale, initial, min, max },
	CONTROLLER_PARAMS(DESCRIBE)
};

/* Without those of a controller that has none the array would be empty. */
static const struct tandem_probe probes[] = {
#define DESCRIBE_NUMBER(name, scale, value, doc) { #name, 0, doc, scale },
#define DESCRIBE_WORD(name, words, value, doc) { #name, words, doc, 1 },
	OP(_PROBES)(DESCRIBE_NUMBER, DESCRIBE_WORD)
	{ 0, 0, 0, 0 },
};

typedef struct controller state_t;
typedef struct controller_params params_t;
_Static_assert(sizeof(params_t) == sizeof(u32) * sizeof(params) / sizeof(params[0]),
	       "parameters must be a list of u32");

/* Expands the whole list, so that a misspelt signal or trait does not compile. */
enum {
#define TANDEM_CONTROLLER(name, family, signal, traits, look, source) \
	name##_signal = TANDEM_SIGNAL_##signal, name##_traits = (traits),
#include "controllers.def"
	owns_window = (OP(_traits) & TANDEM_OWNS_WINDOW) != 0,
};

/*
 * The kernel ignores changes that pkts_acked makes to the connection, so only a controller that
 * owns the window may make any.
 */
typedef void (*only_reads)(struct CONTROLLER *s, const struct OP(_params) *p,
			   const struct tandem_conn *c, const struct tandem_ack *ack);
_Static_assert(owns_window || _Generic(&OP(_pkts_acked), only_reads : 1, default : 0),
	       "pkts_acked must take `const struct tandem_conn *`, unless it owns the window");

#ifdef TANDEM_OWNS_SLOW_START
_Static_assert(owns_window,
	       "only a header with the trait OWNS_WINDOW defines TANDEM_OWNS_SLOW_START");
#else
_Static_assert(!owns_window, "a header with the trait OWNS_WINDOW defines TANDEM_OWNS_SLOW_START");
#endif

static void init(void *s, const u32 *p, struct tandem_conn *c)
{
	controller_init((state_t *)s, (const params_t *)p, c);
}

static void pkts_acked(void *s, const u32 *p, struct tandem_conn *c, const struct tandem_ack *ack)
{
	controller_pkts_acked((state_t *)s, (const params_t *)p, c, ack);
}

static void cong_avoid(void *s, const u32 *p, struct tandem_conn *c, u32 acked)
{
	controller_cong_avoid((state_t *)s, (const params_t *)p, c, acked);
}

/*
 * Both of the above for the same packets: a call less for nearly each ACK. Lint compiles this file
 * for eBPF, too, where five arguments are the most, and nobody calls this.
 */
#ifndef __bpf__
static void usual_ack(void *s, const u32 *p, struct tandem_conn *c, u32 acked, u32 rtt_us,
		      u32 delivered)
{
	const struct tandem_ack ack = {
		.pkts_acked = acked,
		.rtt_us = rtt_us,
		.delivered = delivered,
		.acked_sacked = acked,
	};

	controller_pkts_acked((state_t *)s, (const params_t *)p, c, &ack);
	controller_cong_avoid((state_t *)s, (const params_t *)p, c, acked);
}
#endif

static u32 ssthresh(void *s, const u32 *p, const struct tandem_conn *c, u32 reason)
{
	return controller_ssthresh((state_t *)s, (const params_t *)p, c, reason);
}

static void set_state(void *s, const u32 *p, struct tandem_conn *c, u32 state)
{
	controller_set_state((state_t *)s, (const params_t *)p, c, state);
}

static void restart(void *s, const u32 *p, struct tandem_conn *c)
{
	controller_restart((state_t *)s, (const params_t *)p, c);
}

static u32 undo_cwnd(void *s, const u32 *p, const struct tandem_conn *c)
{
	return controller_undo_cwnd((state_t *)s, (const params_t *)p, c);
}

static void view(const void *s, const u32 *p, const struct tandem_conn *c, struct tandem_view *v)
{
	controller_view((const state_t *)s, (const params_t *)p, c, v);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
static void read_law(const struct CONTROLLER *s, const struct OP(_params) *p,
		     const struct tandem_conn *c, u64 *to)
{
#define READ_PROBE(name, scale, value, doc) to[TANDEM_PROBE_##name] = (value);
	OP(_PROBES)(READ_PROBE, READ_PROBE)
}
#pragma GCC diagnostic pop

/* All of its probes, also those for which a view has no room. */
static void read_probes(const void *s, const u32 *p, const struct tandem_conn *c, u64 *to)
{
	read_law(&((const state_t *)s)->law, &((const params_t *)p)->law, c, to);
}

const struct tandem_controller TANDEM_PASTE(tandem_, CONTROLLER) = {
	.state_bytes = sizeof(state_t),
	.traits = OP(_traits),
	.param_count = sizeof(params) / sizeof(params[0]),
	.params = params,
	.probes = probes,
	.probe_count = TANDEM_PROBES,
	.read_probes = read_probes,
	.init = init,
	.pkts_acked = pkts_acked,
	.cong_avoid = cong_avoid,
#ifndef __bpf__
	.usual_ack = usual_ack,
#endif
	.ssthresh = ssthresh,
	.set_state = set_state,
	.restart = restart,
	.undo_cwnd = undo_cwnd,
	.view = view,
};
