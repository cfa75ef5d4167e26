/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBR version 3 (draft-ietf-ccwg-bbr, as of 2026-08-03): a model of the path, as in BBR v1, and
 * two bounds that losses put on it.
 *
 *   bw       = largest delivery rate of this cycle of probing and the one before, within the
 *              short-term bound
 *   min_rtt  = smallest RTT of the last 10 s
 *   rate     = gain * bw, less 1 %
 *   window   = window gain * bw * min_rtt, and the packets that are acknowledged in excess of bw
 *              (ACKs that come in bursts), within both bounds
 *   STARTUP    gains 2.77 and 2, until the delivery rate has not grown by 1/4 for three rounds, or
 *              a round of a recovery has six losses and 2 % of all
 *   DRAIN      gain 0.5, until no more than bw * min_rtt is in flight, or for 3 rounds
 *   PROBE_BW   DOWN at 0.9 until the queue is gone, CRUISE at 1 for the most part, REFILL at 1 for
 *              a round without short-term bounds, UP at 1.25 until the path is full or 2 % is lost
 *   PROBE_RTT  half the window for 200 ms and a round, once no smaller RTT has come for 5 s
 *   bounds     long-term: what was in flight when a probe lost 2 %; UP raises it by steps that
 *              double each round. Short-term: what the last round with losses delivered, or 0.7 of
 *              what it was
 *
 * Open points, what is left out, and decisions:
 *  - Hosts note neither the losses nor what was in flight for each packet; bbr3_loss.h works both
 *    out. All that an ACK finds lost is one loss event, and one gap of STARTUP's six. The sample of
 *    the newest packet that the ACK acknowledges stands for that of the lost packets.
 *  - Volumes are packets, which the draft allows, and rates packets in time.
 *  - The draft asks for random numbers twice: here a hash of the clock decides.
 *  - bw is worked out where it is used; the draft keeps its value after the last ACK.
 *  - C.is_cwnd_limited: the window was full at an ACK of this round or of the one before. That UP
 *    reaches the long-term bound shows before the ACK, not after it.
 *  - The excess of ACKs is the largest of 5 to 10 rounds (draft: 10), in STARTUP of 1 to 2.
 *  - The first rate is renewed with the first RTT, as 5.6.2 says in words, but not in code. The
 *    draft sets no first probe_rtt_min_delay: infinite. DRAIN's losses bound only what the code of
 *    5.6.4.7 bounds, not the table of 5.6.1.
 *  - The initial window is 10 packets where the draft asks for it later.
 *  - What is sent in PROBE_RTT is taken for application-limited here, where the draft tells the
 *    host.
 *  - ECN: the draft has no response of its own (3.7). A mark counts as a loss, and ends a probe. No
 *    PLB. Losses that a timer finds count as one, with the next ACK.
 *  - snd_ssthresh is left alone.
 */
#ifndef TANDEM_BBR3_H
#define TANDEM_BBR3_H

#include "bbr3_probe_rtt.h"

/* See controller.h. */
#define TANDEM_OWNS_SLOW_START

/* [draft-ietf-ccwg-bbr 5.5.1] [draft-ietf-ccwg-bbr 5.5.5] */
TANDEM_FN void bbr3_take_rate(struct bbr3 *s, const struct tandem_ack *ack,
			      const struct bbr3_sample *r)
{
	s->round_start = r->is_valid && !seq_after(s->round_end, ack->prior_delivered);
	if (s->round_start) {
		bbr3_next_round(s, ack->delivered);
		if (s->rounds < 63)
			s->rounds++;
		if (s->drain_rounds <= BBR3_DRAIN_ROUNDS)
			s->drain_rounds++;
	}
	bbr3_take_bw(s, r);
}

/*
 * How far acknowledged packets run ahead of bw. The product of two u32 fits.
 * [draft-ietf-ccwg-bbr 5.5.9]
 */
TANDEM_FN void bbr3_take_extra(struct bbr3 *s, const struct tandem_conn *c,
			       const struct tandem_ack *ack)
{
	u64 expected = (u64)bbr3_bw(s) * seq_distance(s->extra_us, bbr_us(c)) >> 24;
	u32 delivered = s->extra_delivered, extra = s->extra;

	if (s->round_start && (!s->full || s->extra_rounds + 1 >= BBR3_EXTRA_ROUNDS)) {
		s->extra_rounds = 0;
		s->prior_extra = extra;
		extra = 0;
	} else {
		s->extra_rounds += s->round_start;
	}
	if (delivered <= expected) {
		delivered = 0;
		s->extra_us = bbr_us(c);
		expected = 0;
	}
	delivered = bbr3_packets(delivered + min_u32(ack->acked_sacked, TANDEM_MAX_WINDOW));
	s->extra_delivered = delivered;
	s->extra = max_u32(extra, min_u32(sub_floor0(delivered, (u32)expected), c->snd_cwnd));
}

/* Is the path full? [draft-ietf-ccwg-bbr 5.3.1.2] */
TANDEM_FN void bbr3_take_fullness(struct bbr3 *s, const struct bbr3_sample *r)
{
	if (s->full_now || !s->round_start || !r->bw_q24 || r->app_limited)
		return;
	if ((u64)r->bw_q24 * 4 >= (u64)s->full_bw_q24 * 5) {
		bbr3_reset_full(s, r->bw_q24);
		return;
	}
	s->full_rounds++;
	if (s->full_rounds == BBR3_FULL_ROUNDS) {
		s->full_now = 1;
		s->full = 1;
	}
}

/* A whole round of a recovery has lost too much. [draft-ietf-ccwg-bbr 5.3.1.3] */
TANDEM_FN void bbr3_take_startup_losses(struct bbr3 *s, const struct bbr3_params *p,
					const struct bbr3_sample *r)
{
	u32 inflight = s->latest_inflight;

	if (s->full || s->trouble != BBR_RECOVERY || s->gaps < p->full_losses ||
	    !bbr3_is_too_high(p, r))
		return;
	s->undo_state = BBR3_UNDO_STARTUP;
	s->full = 1;
	s->full_now = 1;
	s->long_bound = max_u32(inflight, bbr3_bdp(s, bbr3_bw(s), BBR3_UNIT));
}

/* From STARTUP to DRAIN, and on. [draft-ietf-ccwg-bbr 5.3.1.1] [draft-ietf-ccwg-bbr 5.3.2] */
TANDEM_FN void bbr3_end_startup(struct bbr3 *s, const struct bbr3_params *p,
				const struct tandem_conn *c, const struct tandem_ack *ack)
{
	if (s->state == BBR3_STARTUP && s->full) {
		s->state = BBR3_DRAIN;
		s->drain_rounds = 0;
	}
	if (s->state == BBR3_DRAIN && (ack->in_flight <= bbr3_inflight(s, p, c, bbr3_bw(s)) ||
				       s->drain_rounds > BBR3_DRAIN_ROUNDS))
		bbr3_start_down(s, c);
}

/* The bound that losses put on the window. [draft-ietf-ccwg-bbr 5.6.4.7] */
TANDEM_FN u32 bbr3_bound(const struct bbr3 *s, const struct bbr3_params *p)
{
	u32 bound = s->bound, long_bound = s->long_bound;

	if (s->state == BBR3_CRUISE || s->state == BBR3_PROBE_RTT)
		bound = min_u32(bound, bbr3_with_headroom(s, p));
	else if (bbr3_probes_bw(s))
		bound = min_u32(bound, long_bound);
	return max_u32(bound, p->min_window);
}

/* [draft-ietf-ccwg-bbr 5.6.4.6] [draft-ietf-ccwg-bbr 5.6.4.2] */
TANDEM_FN void bbr3_set_cwnd(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c,
			     const struct tandem_ack *ack)
{
	u32 cwnd = c->snd_cwnd;
	u32 grown = cwnd + min_u32(ack->acked_sacked, TANDEM_MAX_WINDOW);
	u32 target = bbr3_bdp(s, bbr3_bw(s), bbr3_window_gain(s, p));

	if (p->aggregation)
		target += bbr3_extra(s);
	target = bbr3_with_pieces(s, p, c, target);
	if (s->full)
		cwnd = min_u32(grown, target);
	else if (cwnd < target || ack->delivered < BBR_INITIAL_WINDOW)
		cwnd = grown;
	cwnd = max_u32(cwnd, p->min_window);
	if (s->state == BBR3_PROBE_RTT)
		cwnd = min_u32(cwnd, bbr3_probe_rtt_cwnd(s, p));
	cwnd = min_u32(cwnd, bbr3_bound(s, p));
	c->snd_cwnd = min_u32(cwnd, c->snd_cwnd_clamp);
}

/* [draft-ietf-ccwg-bbr 5.2.1] [draft-ietf-ccwg-bbr 5.6.2] */
TANDEM_FN void bbr3_init(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c)
{
	u32 first_q24;

	*s = (struct bbr3){
		.bw_bound_q24 = BBR3_NO_RATE_BOUND,
		.bound = BBR3_NO_BOUND,
		.long_bound = BBR3_NO_BOUND,
		.min_rtt_us = BBR3_NO_RTT,
		.min_rtt_ms = bbr3_ms(c),
		.least_rtt_us = BBR3_NO_RTT,
		.least_rtt_ms = bbr3_ms(c),
		.extra_us = bbr_us(c),
	};
	first_q24 = bbr_rate_q24(c->snd_cwnd, BBR_NOMINAL_RTT_US);
	c->pacing_bytes_per_s = bbr3_bytes_per_s(p, c, first_q24, p->high_gain);
}

/* What the ACK says: losses first, because hosts find them first. */
TANDEM_FN void bbr3_take_ack(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c,
			     const struct tandem_ack *ack, struct bbr3_sample *r)
{
	if (s->new_round)
		bbr3_start_round(s, seq_distance(ack->acked_sacked, ack->delivered));
	*r = bbr3_take_sample(s, ack);
	r->app_limited = bbr3_app_limited(s, ack);
	s->used_up |= r->was_in_flight >= c->snd_cwnd;
	bbr3_take_losses(s, p, c, ack, r);
	if (s->new_round)
		bbr3_start_round(s, ack->delivered);
}
TANDEM_STEP(bbr3, bbr3_take_ack)

/* The model of the path. */
TANDEM_FN void bbr3_update_model(struct bbr3 *s, const struct bbr3_params *p,
				 struct tandem_conn *c, const struct tandem_ack *ack,
				 struct bbr3_sample *r)
{
	r->ends_loss_round = bbr3_take_latest(s, ack, r);
	bbr3_take_rate(s, ack, r);
	if (r->ends_loss_round) {
		bbr3_lower_bounds(s, p, c);
		s->has_loss = 0;
	}
	bbr3_take_extra(s, c, ack);
	bbr3_take_fullness(s, r);
	if (r->ends_loss_round) {
		bbr3_take_startup_losses(s, p, r);
		s->gaps = 0;
	}
}
TANDEM_STEP(bbr3, bbr3_update_model)

/* The state, except for PROBE_RTT. */
TANDEM_FN void bbr3_update_state(struct bbr3 *s, const struct bbr3_params *p,
				 struct tandem_conn *c, const struct tandem_ack *ack,
				 struct bbr3_sample *r)
{
	bbr3_end_startup(s, p, c, ack);
	bbr3_cycle(s, p, c, ack, r);
}
TANDEM_STEP(bbr3, bbr3_update_state)

TANDEM_FN void bbr3_update_rtt(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c,
			       const struct tandem_ack *ack, struct bbr3_sample *r)
{
	bbr3_check_probe_rtt(s, p, c, ack, bbr3_take_rtt(s, p, c, ack));
	if (r->ends_loss_round) {
		s->latest_bw_q24 = r->bw_q24;
		s->latest_inflight = r->delivered;
	}
}
TANDEM_STEP(bbr3, bbr3_update_rtt)

/* Rate and window. */
TANDEM_FN void bbr3_set_control(struct bbr3 *s, const struct bbr3_params *p,
				struct tandem_conn *c, const struct tandem_ack *ack,
				struct bbr3_sample *r)
{
	if (s->new_round)
		bbr3_start_round(s, ack->delivered);
	bbr3_set_rate(s, p, c, bbr3_gain(s, p));
	bbr3_set_cwnd(s, p, c, ack);
}
TANDEM_STEP(bbr3, bbr3_set_control)

/* All of it, in the draft's order: Linux's cong_control. [draft-ietf-ccwg-bbr 5.2.3] */
TANDEM_FN void bbr3_pkts_acked(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c,
			       const struct tandem_ack *ack)
{
	struct bbr3_sample r = { 0 };

	TANDEM_TAKE(bbr3_take_ack, s, p, c, ack, &r);
	TANDEM_TAKE(bbr3_update_model, s, p, c, ack, &r);
	TANDEM_TAKE(bbr3_update_state, s, p, c, ack, &r);
	TANDEM_TAKE(bbr3_update_rtt, s, p, c, ack, &r);
	TANDEM_TAKE(bbr3_set_control, s, p, c, ack, &r);
}

TANDEM_FN void bbr3_cong_avoid(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c,
			       u32 acked)
{
}

/* A loss does not change ssthresh. [draft-ietf-ccwg-bbr 5.6.4.4] */
TANDEM_FN u32 bbr3_ssthresh(struct bbr3 *s, const struct bbr3_params *p,
			    const struct tandem_conn *c, u32 reason)
{
	if (reason == TANDEM_FOR_MARK)
		s->marked = 1;
	else
		bbr3_save_upon_loss(s, c);
	return c->snd_ssthresh;
}

/* [draft-ietf-ccwg-bbr 5.6.4.4] */
TANDEM_FN void bbr3_set_state(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c,
			      u32 state)
{
	u32 was = s->trouble;

	s->trouble = state == TANDEM_RECOVERY ? BBR_RECOVERY :
		     state == TANDEM_LOSS ? BBR_TIMEOUT : BBR_CALM;
	if (state == TANDEM_LOSS) {
		s->timed_out = 1;
		if (was == BBR_RECOVERY)
			bbr3_save_upon_loss(s, c);
	} else if (was != BBR_CALM && s->trouble == BBR_CALM) {
		bbr3_restore_cwnd(s, c);
	}
}

/* Sending begins again with an empty path: without a burst. [draft-ietf-ccwg-bbr 5.4.1] */
TANDEM_FN void bbr3_restart(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c)
{
	s->restarted = 1;
	s->extra_us = bbr_us(c);
	if (bbr3_probes_bw(s))
		bbr3_set_rate(s, p, c, BBR3_UNIT);
	else if (s->state == BBR3_PROBE_RTT)
		bbr3_try_end_probe_rtt(s, p, c);
}

/* The losses were spurious. [draft-ietf-ccwg-bbr 5.5.11.2] */
TANDEM_FN u32 bbr3_undo_cwnd(struct bbr3 *s, const struct bbr3_params *p,
			     const struct tandem_conn *c)
{
	u32 bound = s->bound, undo_bound = s->undo_bound, prior_cwnd = s->prior_cwnd;
	u32 long_bound = s->long_bound, undo_long_bound = s->undo_long_bound;

	s->has_loss = 0;
	bbr3_reset_full(s, 0);
	s->bw_bound_q24 = max_u32(s->bw_bound_q24, s->undo_bw_bound_q24);
	s->bound = max_u32(bound, undo_bound);
	s->long_bound = max_u32(long_bound, undo_long_bound);
	if (s->undo_state == BBR3_UNDO_STARTUP && s->state != BBR3_STARTUP) {
		s->full = 0;
		if (s->state != BBR3_PROBE_RTT)
			s->state = BBR3_STARTUP;
	} else if (s->undo_state == BBR3_UNDO_UP && s->state != BBR3_UP) {
		if (s->state != BBR3_PROBE_RTT)
			bbr3_start_refill(s);
	}
	s->undo_state = BBR3_UNDO_NONE;
	return max_u32(c->snd_cwnd, min_u32(prior_cwnd, c->snd_cwnd_clamp));
}

#define bbr3_PROBES(P, W) \
	W(state, "STARTUP DRAIN DOWN CRUISE REFILL UP PROBE_RTT", s->state, \
	  "of the state machine") \
	P(bw_mbps, 1000000, bbr_bits_per_s(bbr3_bw(s), c), "estimated rate, payload") \
	P(max_bw_mbps, 1000000, bbr_bits_per_s(bbr3_max_bw(s), c), \
	  "the same without the short-term bound") \
	P(inflight_shortterm_packets, 1, bbr3_shown_bound(s->bound), \
	  "short-term bound on packets in flight") \
	P(inflight_longterm_packets, 1, bbr3_shown_bound(s->long_bound), "long-term bound") \
	P(pacing_gain, BBR3_UNIT, bbr3_gain(s, p), "of the rate") \
	P(extra_acked_packets, 1, bbr3_extra(s), "excess of ACKs that counts") \
	P(full_bw_count, 1, s->full_rounds, "rounds without growth in this search") \
	P(full_bw_now, 1, s->full_now, "1 = the path is full in this probe") \
	P(full_bw_reached, 1, s->full, "1 = the path has been full") \
	P(bw_shortterm_mbps, 1000000, bbr3_shown_rate(s->bw_bound_q24, c), "short-term bound") \
	P(bw_latest_mbps, 1000000, bbr_bits_per_s(s->latest_bw_q24, c), "of the last round") \
	P(cwnd_gain, BBR3_UNIT, bbr3_window_gain(s, p), "of the window") \
	P(inflight_target_packets, 1, bbr3_inflight(s, p, c, bbr3_bw(s)), "that fill the path") \
	P(inflight_with_headroom_packets, 1, bbr3_shown_bound(bbr3_with_headroom(s, p)), \
	  "long-term bound, less the room left for others") \
	P(bw_probe_wait_ms, 1, p->probe_wait + s->wait * 1000 / 256, "from DOWN to next probe") \
	P(bw_probe_up_rounds, 1, s->up_rounds, "rounds that moved the bound") \
	P(round_start, 1, s->round_start, "1 = the last ACK began a round") \
	P(idle_restart, 1, s->restarted, "1 = sending resumes after a pause") \
	W(undo_state, "NONE STARTUP UP", s->undo_state, "to go back to if losses were none") \
	P(undo_bw_shortterm_mbps, 1000000, bbr3_shown_rate(s->undo_bw_bound_q24, c), \
	  "likewise") \
	P(undo_inflight_shortterm_packets, 1, bbr3_shown_bound(s->undo_bound), \
	  "likewise") \
	P(undo_inflight_longterm_packets, 1, bbr3_shown_bound(s->undo_long_bound), "likewise")

TANDEM_FN void bbr3_view(const struct bbr3 *s, const struct bbr3_params *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
	v->base_rtt_us = s->min_rtt_us == BBR3_NO_RTT ? 0 : s->min_rtt_us;
}

#endif
