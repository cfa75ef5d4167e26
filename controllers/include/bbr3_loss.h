/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBRv3 and losses: how many there were while a packet was under way, what they say of the packets
 * in flight, and the short-term bounds. Sources and decisions: bbr3.h.
 */
#ifndef TANDEM_BBR3_LOSS_H
#define TANDEM_BBR3_LOSS_H

#include "bbr3_model.h"

/* Rounds, and what was lost in them. [draft-ietf-ccwg-bbr 5.5.1] */
TANDEM_FN void bbr3_next_round(struct bbr3 *s, u32 delivered)
{
	s->prior_lost = s->lost;
	s->prior_round = bbr3_packets(seq_distance(s->round_end, delivered));
	s->lost = 0;
	s->round_end = delivered;
	s->prior_used_up = s->used_up;
	s->used_up = 0;
}

/*
 * A state begins its own round. What was sent before it is yet to be acknowledged: the round before
 * this one becomes longer.
 */
TANDEM_FN void bbr3_start_round(struct bbr3 *s, u32 delivered)
{
	u32 prior_lost = s->prior_lost, lost = s->lost, prior_round = s->prior_round;
	u32 more = bbr3_packets(seq_distance(s->round_end, delivered));

	s->prior_lost = min_u32(prior_lost + lost, BBR3_MAX_LOST);
	s->prior_round = bbr3_packets(prior_round + more);
	s->lost = 0;
	s->round_end = delivered;
	s->new_round = 0;
}

/* `part` of `whole` packets saw that many of `lost`, if they were lost evenly. Below 2^41. */
TANDEM_FN u32 bbr3_share(u32 lost, u32 part, u32 whole)
{
	if (part >= whole)
		return lost;
	return (u32)(((u64)lost * part + whole / 2) / whole);
}

/*
 * Packets found lost, before this ACK, since the newest packet that it acknowledges was sent. Hosts
 * do not note it for each packet. Known are the losses of this round and of the one before, in
 * which that packet was sent; within a round they count as spread evenly.
 */
TANDEM_FN u32 bbr3_lost_since(const struct bbr3 *s, const struct tandem_ack *ack)
{
	u32 lost = s->lost, prior_lost = s->prior_lost, prior_round = s->prior_round;
	u32 was_delivered = seq_distance(ack->acked_sacked, ack->delivered);
	u32 sent = ack->prior_delivered;

	if (seq_after(s->round_end, sent))
		return lost + bbr3_share(prior_lost, seq_distance(sent, s->round_end), prior_round);
	return bbr3_share(lost, seq_distance(sent, was_delivered),
			  seq_distance(s->round_end, was_delivered));
}

/*
 * The sample of an ACK. What was in flight when a packet was sent has been delivered or lost by the
 * time when it is acknowledged, if nothing overtakes it: that is how much was in flight. Without a
 * rate that can be believed the ACK still tells when the packet was sent.
 * [draft-ietf-ccwg-bbr 4.1.2.4]
 */
TANDEM_FN struct bbr3_sample bbr3_take_sample(const struct bbr3 *s, const struct tandem_ack *ack)
{
	u32 lost = min_u32(ack->lost, TANDEM_MAX_WINDOW);
	u32 acked = min_u32(ack->acked_sacked, TANDEM_MAX_WINDOW);
	struct bbr3_sample r = {
		.is_valid = ack->interval_us || ack->prior_delivered,
		.was_in_flight = min_u32(ack->in_flight, TANDEM_MAX_WINDOW) + acked + lost,
	};

	if (!r.is_valid)
		return r;
	r.delivered = bbr3_packets(seq_distance(ack->prior_delivered, ack->delivered));
	if (ack->interval_us)
		r.bw_q24 = bbr_rate_q24(r.delivered, ack->interval_us);
	r.lost = lost + bbr3_lost_since(s, ack);
	r.tx_in_flight = bbr3_packets(r.delivered + r.lost);
	return r;
}

/* Was more lost than a probe may cost? [draft-ietf-ccwg-bbr 5.5.10.2] */
TANDEM_FN int bbr3_is_too_high(const struct bbr3_params *p, const struct bbr3_sample *r)
{
	return (u64)r->lost * 1000 > (u64)r->tx_in_flight * p->loss_threshold;
}

/*
 * What was in flight when losses passed the threshold, somewhere among the last `size` of them: the
 * draft's equation, solved for packets. Not less than without them.
 * [draft-ietf-ccwg-bbr 5.5.10.2]
 */
TANDEM_FN u32 bbr3_inflight_at_loss(const struct bbr3_params *p, const struct bbr3_sample *r,
				    u32 size)
{
	u32 before = sub_floor0(r->tx_in_flight, size);
	u64 allowed = (u64)before * p->loss_threshold;
	u64 lost = (u64)sub_floor0(r->lost, size) * 1000;

	if (allowed <= lost)
		return before;
	return before + (u32)((allowed - lost) / (1000 - p->loss_threshold));
}

/* [draft-ietf-ccwg-bbr 5.5.10.3] */
TANDEM_FN void bbr3_forget_losses(struct bbr3 *s)
{
	s->has_loss = 0;
	s->latest_bw_q24 = 0;
	s->latest_inflight = 0;
}

/* [draft-ietf-ccwg-bbr 5.5.10.3] */
TANDEM_FN void bbr3_forget_short_term(struct bbr3 *s)
{
	s->bw_bound_q24 = BBR3_NO_RATE_BOUND;
	s->bound = BBR3_NO_BOUND;
}

/*
 * Notes the window to return to: not one that a recovery or PROBE_RTT has cut.
 * [draft-ietf-ccwg-bbr 5.6.4.4]
 */
TANDEM_FN void bbr3_save_cwnd(struct bbr3 *s, const struct tandem_conn *c)
{
	u32 cwnd = min_u32(c->snd_cwnd, BBR3_NO_BOUND), prior = s->prior_cwnd;

	if (s->trouble == BBR_CALM && s->state != BBR3_PROBE_RTT)
		prior = 0;
	s->prior_cwnd = max_u32(prior, cwnd);
}

TANDEM_FN void bbr3_restore_cwnd(const struct bbr3 *s, struct tandem_conn *c)
{
	u32 prior = s->prior_cwnd;

	c->snd_cwnd = max_u32(c->snd_cwnd, min_u32(prior, c->snd_cwnd_clamp));
}

/* What is restored if the losses turn out to be spurious. [draft-ietf-ccwg-bbr 5.5.11.1] */
TANDEM_FN void bbr3_save_upon_loss(struct bbr3 *s, const struct tandem_conn *c)
{
	bbr3_save_cwnd(s, c);
	s->undo_state = BBR3_UNDO_NONE;
	s->undo_bw_bound_q24 = s->bw_bound_q24;
	s->undo_bound = s->bound;
	s->undo_long_bound = s->long_bound;
}

/* [draft-ietf-ccwg-bbr 5.5.10.2] */
TANDEM_FN void bbr3_note_loss(struct bbr3 *s, const struct tandem_conn *c,
			      const struct tandem_ack *ack)
{
	if (!s->has_loss) {
		s->loss_round_end = ack->delivered;
		bbr3_save_upon_loss(s, c);
	}
	s->has_loss = 1;
}

/*
 * The most that has been delivered in the round of losses, and whether this ACK ends it.
 * [draft-ietf-ccwg-bbr 5.5.10.3]
 */
TANDEM_FN u32 bbr3_take_latest(struct bbr3 *s, const struct tandem_ack *ack,
			       const struct bbr3_sample *r)
{
	u32 inflight = s->latest_inflight;

	s->latest_bw_q24 = max_u32(s->latest_bw_q24, r->bw_q24);
	s->latest_inflight = max_u32(inflight, r->delivered);
	if (!r->is_valid || seq_after(s->loss_round_end, ack->prior_delivered))
		return 0;
	s->loss_round_end = ack->delivered;
	return 1;
}

/*
 * A round with losses is over: the short-term bounds come down to what was delivered in it, but not
 * by more than beta. A probe has its own answer.
 * [draft-ietf-ccwg-bbr 5.5.10.3]
 */
TANDEM_FN void bbr3_lower_bounds(struct bbr3 *s, const struct bbr3_params *p,
				 const struct tandem_conn *c)
{
	u32 bw_q24 = s->bw_bound_q24, bound = s->bound, latest = s->latest_inflight;

	if (!s->has_loss || s->state == BBR3_STARTUP || s->state == BBR3_REFILL ||
	    s->state == BBR3_UP)
		return;
	if (bw_q24 == BBR3_NO_RATE_BOUND)
		bw_q24 = bbr3_max_bw(s);
	if (bound == BBR3_NO_BOUND)
		bound = bbr3_packets(c->snd_cwnd);
	s->bw_bound_q24 = max_u32(s->latest_bw_q24, (u32)((u64)bw_q24 * p->beta / 100));
	s->bound = max_u32(latest, bound * p->beta / 100);
}

#endif
