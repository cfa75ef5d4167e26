/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the draft's test cases look at in the state of bbr3, in the draft's words, and as much of it
 * as bbr has. The Rust side: src/bbr_state.rs.
 */
#include "contract.h"
/* As controller.h has it: controllers take what the contract gives them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bbr.h"
#include "bbr3.h"

#define NOTHING 0xffffffffffffffffull

struct tandem_bbr_state {
	u64 state; /* enum bbr3_state */
	u64 full_bw_now, full_bw_reached, full_bw_count;
	u64 max_bw_q24, bw_q24, bw_shortterm_q24;
	u64 inflight_shortterm, inflight_longterm;
	u64 bw_latest_q24, inflight_latest;
	u64 min_rtt_us, probe_rtt_min_delay_us;
	u64 extra_acked, idle_restart, round_start, drain_rounds;
	u64 pacing_gain, cwnd_gain; /* percent */
	u64 inflight_target, inflight_with_headroom;
	u64 bw_probe_wait_ms, step_rounds;
	u64 undo_state; /* enum bbr3_undo */
	u64 undo_bw_shortterm_q24, undo_inflight_shortterm, undo_inflight_longterm;
};

_Static_assert(sizeof(struct tandem_bbr_state) == 27 * sizeof(u64), "VALUES in bbr_state.rs");

static u64 bound(u32 packets) { return packets == BBR3_NO_BOUND ? NOTHING : packets; }

static u64 rate_bound(u32 bw_q24) { return bw_q24 == BBR3_NO_RATE_BOUND ? NOTHING : bw_q24; }

void tandem_bbr3_state(const void *state, const u32 *params, const struct tandem_conn *c,
		       struct tandem_bbr_state *to);
void tandem_bbr3_state(const void *state, const u32 *params, const struct tandem_conn *c,
		       struct tandem_bbr_state *to)
{
	const struct bbr3 *s = (const struct bbr3 *)state;
	const struct bbr3_params *p = (const struct bbr3_params *)params;
	u32 extra = s->extra, prior_extra = s->prior_extra;

	*to = (struct tandem_bbr_state){
		.state = s->state,
		.full_bw_now = s->full_now,
		.full_bw_reached = s->full,
		.full_bw_count = s->full_rounds,
		.max_bw_q24 = bbr3_max_bw(s),
		.bw_q24 = bbr3_bw(s),
		.bw_shortterm_q24 = rate_bound(s->bw_bound_q24),
		.inflight_shortterm = bound(s->bound),
		.inflight_longterm = bound(s->long_bound),
		.bw_latest_q24 = s->latest_bw_q24,
		.inflight_latest = s->latest_inflight,
		.min_rtt_us = s->min_rtt_us == BBR3_NO_RTT ? NOTHING : s->min_rtt_us,
		.probe_rtt_min_delay_us =
			s->least_rtt_us == BBR3_NO_RTT ? NOTHING : s->least_rtt_us,
		.extra_acked = max_u32(extra, prior_extra),
		.idle_restart = s->restarted,
		.round_start = s->round_start,
		.drain_rounds = s->drain_rounds,
		.pacing_gain = bbr3_gain(s, p),
		.cwnd_gain = bbr3_window_gain(s, p),
		.inflight_target = bbr3_inflight(s, p, c, bbr3_bw(s)),
		.inflight_with_headroom = bound(bbr3_with_headroom(s, p)),
		.bw_probe_wait_ms = p->probe_wait + s->wait * 1000 / 256,
		.step_rounds = s->up_rounds,
		.undo_state = s->undo_state,
		.undo_bw_shortterm_q24 = rate_bound(s->undo_bw_bound_q24),
		.undo_inflight_shortterm = bound(s->undo_bound),
		.undo_inflight_longterm = bound(s->undo_long_bound),
	};
}

void tandem_bbr_state(const void *state, const u32 *params, const struct tandem_conn *c,
		      struct tandem_bbr_state *to);
void tandem_bbr_state(const void *state, const u32 *params, const struct tandem_conn *c,
		      struct tandem_bbr_state *to)
{
	const struct bbr *s = (const struct bbr *)state;
	const struct bbr_params *p = (const struct bbr_params *)params;
	u32 gain = bbr_gain(s, p);

	*to = (struct tandem_bbr_state){
		.state = s->mode == BBR_STARTUP	  ? BBR3_STARTUP :
			 s->mode == BBR_DRAIN	  ? BBR3_DRAIN :
			 s->mode == BBR_PROBE_RTT ? BBR3_PROBE_RTT :
			 gain > BBR_UNIT	  ? BBR3_UP :
			 gain < BBR_UNIT	  ? BBR3_DOWN :
						    BBR3_CRUISE,
		.full_bw_now = s->full,
		.full_bw_reached = s->full,
		.full_bw_count = s->full_rounds,
		.max_bw_q24 = s->best.bw_q24,
		.bw_q24 = bbr_bw(s),
		.bw_shortterm_q24 = NOTHING,
		.inflight_shortterm = NOTHING,
		.inflight_longterm = NOTHING,
		.min_rtt_us = s->min_rtt_us == BBR_UNMEASURED ? NOTHING : s->min_rtt_us,
		.probe_rtt_min_delay_us =
			s->min_rtt_us == BBR_UNMEASURED ? NOTHING : s->min_rtt_us,
		.extra_acked = max_u32(s->extra_acked, s->prior_extra_acked),
		.idle_restart = s->restarted,
		.round_start = s->round_start,
		.pacing_gain = gain * 100 / BBR_UNIT,
		.inflight_target = bbr_inflight(s, p, c, BBR_UNIT),
		.inflight_with_headroom = NOTHING,
		.undo_bw_shortterm_q24 = NOTHING,
		.undo_inflight_shortterm = NOTHING,
		.undo_inflight_longterm = NOTHING,
	};
}
