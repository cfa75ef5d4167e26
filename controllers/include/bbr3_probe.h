/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBRv3's probes for bandwidth: the cycle of PROBE_BW, the long-term bound that it moves, and the
 * answer to a probe that loses too much. Sources and decisions: bbr3.h.
 */
#ifndef TANDEM_BBR3_PROBE_H
#define TANDEM_BBR3_PROBE_H

#include "bbr3_loss.h"

/* [draft-ietf-ccwg-bbr 5.3.1.2] */
TANDEM_FN void bbr3_reset_full(struct bbr3 *s, u32 full_bw_q24)
{
	s->full_bw_q24 = full_bw_q24;
	s->full_rounds = 0;
	s->full_now = 0;
}

/*
 * How long until the next probe: a round more or less and up to a second, by a hash of the clock,
 * because hosts provide no random numbers.
 * [draft-ietf-ccwg-bbr 5.3.3.8.3]
 */
TANDEM_FN void bbr3_pick_wait(struct bbr3 *s, const struct tandem_conn *c)
{
	u32 hash = (u32)((u64)bbr_us(c) * 2654435769u & 0xffffffffu);

	s->rounds = hash >> 23 & 1;
	s->wait = hash >> 24;
}

/* [draft-ietf-ccwg-bbr 5.3.3.9] for the four states. */
TANDEM_FN void bbr3_start_down(struct bbr3 *s, const struct tandem_conn *c)
{
	bbr3_forget_losses(s);
	bbr3_pick_wait(s, c);
	s->since_ms = bbr3_ms(c);
	s->acks = BBR3_ACKS_STOPPING;
	s->new_round = 1;
	s->state = BBR3_DOWN;
}

TANDEM_FN void bbr3_start_refill(struct bbr3 *s)
{
	bbr3_forget_short_term(s);
	s->up_rounds = 0;
	s->cautious = 0;
	s->acks = BBR3_ACKS_REFILLING;
	s->new_round = 1;
	s->state = BBR3_REFILL;
}

/* The step of the long-term bound doubles each round. */
TANDEM_FN void bbr3_steepen(struct bbr3 *s, const struct tandem_conn *c)
{
	s->up_step = bbr3_packets(max_u32(c->snd_cwnd >> s->up_rounds, 1));
	if (s->up_rounds < 30)
		s->up_rounds++;
}

TANDEM_FN void bbr3_start_up(struct bbr3 *s, const struct tandem_conn *c,
			     const struct bbr3_sample *r)
{
	s->probe_rtt_marks = 0;
	s->up_acked = 0;
	s->acks = BBR3_ACKS_STARTING;
	s->new_round = 1;
	bbr3_reset_full(s, r->bw_q24);
	s->state = BBR3_UP;
	bbr3_steepen(s, c);
}

/*
 * The probe has put too much in flight. The bound is what had been in flight when too much was
 * lost, but not less than CUBIC would leave.
 * [draft-ietf-ccwg-bbr 5.5.10.2]
 */
TANDEM_FN void bbr3_answer_too_high(struct bbr3 *s, const struct bbr3_params *p,
				    const struct tandem_conn *c, const struct bbr3_sample *r,
				    u32 inflight)
{
	s->too_high = 1;
	s->probe_sample = 0;
	if (!r->app_limited)
		s->long_bound = max_u32(inflight, (u32)((u64)bbr3_target(s, c) * p->beta / 100));
	if (s->state == BBR3_UP) {
		s->undo_state = BBR3_UNDO_UP;
		bbr3_start_down(s, c);
	}
}

/*
 * What this ACK found lost, once for all of it. The same for a timeout, whose losses hosts do not
 * count, and for an ECN mark, which ends a probe.
 * [draft-ietf-ccwg-bbr 5.5.10.2] [draft-ietf-ccwg-bbr 3.7]
 */
TANDEM_FN void bbr3_take_losses(struct bbr3 *s, const struct bbr3_params *p,
				const struct tandem_conn *c, const struct tandem_ack *ack,
				const struct bbr3_sample *r)
{
	u32 lost = min_u32(ack->lost, TANDEM_MAX_WINDOW), known = s->lost, marked = s->marked;

	s->lost = min_u32(known + lost, BBR3_MAX_LOST);
	if (lost || marked || s->timed_out)
		bbr3_note_loss(s, c, ack);
	if (lost && s->gaps < 7)
		s->gaps++;
	s->marked = 0;
	s->timed_out = 0;
	if (!s->probe_sample || !r->is_valid)
		return;
	if (lost && bbr3_is_too_high(p, r))
		bbr3_answer_too_high(s, p, c, r, bbr3_inflight_at_loss(p, r, lost));
	else if (marked)
		bbr3_answer_too_high(s, p, c, r, r->tx_in_flight);
}

/* [draft-ietf-ccwg-bbr 5.5.5] [draft-ietf-ccwg-bbr 5.5.4] */
TANDEM_FN void bbr3_take_bw(struct bbr3 *s, const struct bbr3_sample *r)
{
	if (r->bw_q24 && (!r->app_limited || r->bw_q24 >= bbr3_max_bw(s)))
		s->bw_q24 = max_u32(s->bw_q24, r->bw_q24);
}

/* A cycle that has seen no rate does not count. [draft-ietf-ccwg-bbr 5.5.6] */
TANDEM_FN void bbr3_next_cycle(struct bbr3 *s)
{
	if (!s->bw_q24)
		return;
	s->prior_bw_q24 = s->bw_q24;
	s->bw_q24 = 0;
}

/* Has the window been full in the last round? */
TANDEM_FN u32 bbr3_is_window_limited(const struct bbr3 *s)
{
	return s->used_up || s->prior_used_up;
}

/* [draft-ietf-ccwg-bbr 5.3.3.5] */
TANDEM_FN void bbr3_raise_long_bound(struct bbr3 *s, const struct tandem_conn *c,
				     const struct tandem_ack *ack)
{
	u32 bound = s->long_bound, acked = s->up_acked, step = s->up_step;

	if (!bbr3_is_window_limited(s) || c->snd_cwnd < bound)
		return;
	acked += min_u32(ack->acked_sacked, TANDEM_MAX_WINDOW);
	if (acked >= step) {
		s->long_bound = bbr3_packets(bound + acked / step);
		acked %= step;
	}
	s->up_acked = acked;
	if (s->round_start)
		bbr3_steepen(s, c);
}

/* Returns 1 if another state begins. [draft-ietf-ccwg-bbr 5.3.3.9] [draft-ietf-ccwg-bbr 5.3.3.6] */
TANDEM_FN u32 bbr3_adapt_long_term(struct bbr3 *s, const struct bbr3_params *p,
				   const struct tandem_conn *c, const struct tandem_ack *ack,
				   const struct bbr3_sample *r)
{
	u32 bound;

	if (s->acks == BBR3_ACKS_STARTING && s->round_start)
		s->acks = BBR3_ACKS_FEEDBACK;
	if (s->acks == BBR3_ACKS_STOPPING && s->round_start) {
		s->probe_sample = 0;
		s->acks = BBR3_ACKS_INIT;
		if (bbr3_probes_bw(s) && !r->app_limited)
			bbr3_next_cycle(s);
		if (bbr3_probes_bw(s) && s->cautious && !s->too_high) {
			bbr3_start_refill(s);
			return 1;
		}
	}
	bound = s->long_bound;
	if (bbr3_is_too_high(p, r) || bound == BBR3_NO_BOUND)
		return 0;
	s->long_bound = max_u32(bound, r->tx_in_flight);
	if (s->state == BBR3_UP)
		bbr3_raise_long_bound(s, c, ack);
	return 0;
}

/* [draft-ietf-ccwg-bbr 5.3.3.8.3] */
TANDEM_FN u32 bbr3_is_time_to_probe(const struct bbr3 *s, const struct bbr3_params *p,
				    const struct tandem_conn *c)
{
	u32 wait_ms = p->probe_wait + s->wait * 1000 / 256, since_ms = s->since_ms;
	u32 rounds = s->rounds;

	return bbr3_ms_since(since_ms, c) > wait_ms ||
	       rounds >= min_u32(bbr3_target(s, c), p->reno_rounds);
}

/* Is the queue gone, and room left for others? [draft-ietf-ccwg-bbr 5.3.3.1] */
TANDEM_FN u32 bbr3_is_time_to_cruise(const struct bbr3 *s, const struct bbr3_params *p,
				     const struct tandem_conn *c, const struct tandem_ack *ack)
{
	return ack->in_flight <= bbr3_with_headroom(s, p) &&
	       ack->in_flight <= bbr3_inflight(s, p, c, bbr3_max_bw(s));
}

/*
 * Is the path full, or is what the last probe lost too much at in flight again?
 * [draft-ietf-ccwg-bbr 5.3.3.7] [draft-ietf-ccwg-bbr 5.3.3.6]
 */
TANDEM_FN u32 bbr3_is_time_to_go_down(struct bbr3 *s, const struct tandem_conn *c,
				      const struct bbr3_sample *r)
{
	u32 bound = s->long_bound;

	if (s->too_high && r->was_in_flight >= bound) {
		s->cautious = 1;
		return 1;
	}
	if (!bbr3_is_window_limited(s) || c->snd_cwnd < bound)
		return s->full_now;
	bbr3_reset_full(s, r->bw_q24);
	return 0;
}

/* The cycle of PROBE_BW. [draft-ietf-ccwg-bbr 5.3.3.9] */
TANDEM_FN void bbr3_cycle(struct bbr3 *s, const struct bbr3_params *p, const struct tandem_conn *c,
			  const struct tandem_ack *ack, const struct bbr3_sample *r)
{
	if (!s->full || bbr3_adapt_long_term(s, p, c, ack, r))
		return;
	if (s->state == BBR3_DOWN || s->state == BBR3_CRUISE) {
		if (bbr3_is_time_to_probe(s, p, c))
			bbr3_start_refill(s);
		else if (s->state == BBR3_DOWN && bbr3_is_time_to_cruise(s, p, c, ack))
			s->state = BBR3_CRUISE;
	} else if (s->state == BBR3_REFILL) {
		if (s->round_start) {
			s->probe_sample = 1;
			bbr3_start_up(s, c, r);
		}
	} else if (s->state == BBR3_UP && bbr3_is_time_to_go_down(s, c, r)) {
		s->too_high = 0;
		bbr3_start_down(s, c);
	}
}

#endif
