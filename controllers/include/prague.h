/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Prague (De Schepper, Tilmans, Briscoe, Goel, draft-briscoe-iccrg-prague-congestion-control-04),
 * for L4S (RFC 9330): DCTCP made fit for the Internet. Fractions of a packet count, and the window
 * grows while it gives way.
 *
 *   each round    alpha = (1 - g) alpha + g marked / acked
 *   mark          w = w (1 - alpha / 2) at once, once in a round
 *   growth        a / w for each packet ACKed without a mark
 *   loss          w = w / 2 at once, once in a round
 *   rate          w / srtt, twice that in slow start
 *
 * Flows with a short RTT grow as slowly as one with the virtual RTT of 25 ms: after 500 rounds
 * a = (srtt / 25 ms)^2, and alpha and the window change once in 25 ms at most. Without that a short
 * RTT would get the larger rate, because L4S queues add no delay to speak of.
 *
 * Open points and decisions:
 *  - alpha stays at 1 until the first mark (Linux), which halves the window and ends slow start.
 *  - A loss halves what a mark in the same round has left.
 *  - Left out: detection of a queue that marks by RFC 3168 (not in the draft's default),
 *    and windows below 2.
 */
#ifndef TANDEM_PRAGUE_H
#define TANDEM_PRAGUE_H

#include "marks.h"

/* See controller.h. */
#define TANDEM_OWNS_SLOW_START

#define prague_PARAMS(P) \
	P(g, 1024, 64, 1, 1024, "weight of a round's share of marks in alpha (draft: 1/16)") \
	P(beta, 1024, 512, 64, 960, "share of the window given up on loss (draft: 1/2)") \
	P(virtual_rtt, 1, 25000, 0, 100000, \
	  "us; shorter RTTs act as this one; 0 = none (draft: 25 ms)") \
	P(transition, 1, 500, 0, 100000, "rounds after slow start before that (Linux: 500)")

struct prague_params { prague_PARAMS(TANDEM_PARAM_FIELD) };

#define PRAGUE_PACKET (1u << 16) /* the window's unit */
#define PRAGUE_INCREASE_ONE (1ull << 32) /* a packet a round */
#define PRAGUE_LEAST (2ull * PRAGUE_PACKET)
/* The first packets leave as if the RTT were this, as with Linux's pacing. */
#define PRAGUE_NOMINAL_RTT_US 1000

struct prague {
	struct marks marks;
	u64 window_q16;  /* packets                                                       */
	u64 credit_q32;  /* growth that does not make 1/65536 packet yet, times the window */
	u64 updated_us;  /* when alpha was last updated                                   */
	u64 cut_us;      /* when a mark last cut the window                               */
	u32 cut_end;     /* snd_nxt then                                                  */
	u32 srtt_q3;     /* us; 0 = none yet                                              */
	u32 prior_cwnd;  /* the window before the last loss, for undo                     */
	u32 rounds : 29; /* since slow start ended, up to `transition`                    */
	u32 has_cut : 1; /* a mark has cut the window: cut_us and cut_end are valid       */
	u32 saw_mark : 1;
	u32 in_recovery : 1;
};

/* Does the virtual RTT take the place of a shorter one? */
TANDEM_FN int prague_is_virtual(const struct prague *s, const struct prague_params *p,
				const struct tandem_conn *c)
{
	return !in_slow_start(c) && s->rounds >= p->transition && s->srtt_q3 >> 3 < p->virtual_rtt;
}

/* Has enough time passed since the last change of this kind? */
TANDEM_FN int prague_is_time(const struct prague *s, const struct prague_params *p,
			     const struct tandem_conn *c, u64 since_us)
{
	return !prague_is_virtual(s, p, c) || c->now_us - since_us >= p->virtual_rtt;
}

/* RFC 6298's, without its first rule for the variance. */
TANDEM_FN void prague_take_rtt(struct prague *s, const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, TANDEM_MAX_RTT_US);

	if (!rtt_us)
		return;
	s->srtt_q3 = s->srtt_q3 ? s->srtt_q3 - (s->srtt_q3 >> 3) + rtt_us : rtt_us << 3;
}

TANDEM_FN void prague_set_window(struct prague *s, struct tandem_conn *c, u64 window_q16)
{
	s->window_q16 = window_q16;
	c->snd_cwnd = (u32)(window_q16 >> 16);
}

/* A loss or a mark has left this window. */
TANDEM_FN void prague_cut(struct prague *s, struct tandem_conn *c, u64 left_q16)
{
	if (left_q16 < PRAGUE_LEAST)
		left_q16 = PRAGUE_LEAST;
	if (left_q16 < s->window_q16)
		prague_set_window(s, c, left_q16);
	ssthresh_follows(c);
}

/* [RFC 9331 4.3] */
TANDEM_FN void prague_take_marks(struct prague *s, const struct prague_params *p,
				 struct tandem_conn *c, u32 marked)
{
	int is_next_round = !s->has_cut || (seq_after(c->snd_una, s->cut_end) &&
					    prague_is_time(s, p, c, s->cut_us));

	if (!marked)
		return;
	s->saw_mark = 1;
	if (s->in_recovery || !is_next_round)
		return;
	prague_cut(s, c, marks_leave(&s->marks, s->window_q16));
	s->has_cut = 1;
	s->cut_us = c->now_us;
	s->cut_end = c->snd_nxt;
}

/*
 * What a round of ACKs adds, 1/2^32 packets: the same rate in the same time as with the virtual
 * RTT. The ratio of the RTTs is below 1 then, so 2^28 keeps it exact to 1/100000 at 100 us, and its
 * square is below 2^56.
 * [RFC 9331 4.3] [draft-briscoe-iccrg-prague-congestion-control 2.4.4]
 */
TANDEM_FN u64 prague_increase_q32(const struct prague *s, const struct prague_params *p,
				  const struct tandem_conn *c)
{
	u64 ratio_q28;

	if (!prague_is_virtual(s, p, c))
		return PRAGUE_INCREASE_ONE;
	ratio_q28 = ((u64)s->srtt_q3 << 25) / p->virtual_rtt;
	return ratio_q28 * ratio_q28 >> 24;
}

/*
 * `acked` <= 2^24 packets were ACKed that no mark was reported for: the window grows by a / w for
 * each. With a short RTT that is less than the window's unit for many ACKs in a row, so what makes
 * no unit yet is kept. The credit stays below 2^56 + 2^40. A mark or a loss leaves half of the
 * window at least, so that credit from before it makes two units at most.
 */
TANDEM_FN void prague_grow(struct prague *s, const struct prague_params *p, struct tandem_conn *c,
			   u32 acked)
{
	u64 clamp_q16 = (u64)c->snd_cwnd_clamp << 16, window_q16;

	if (!c->is_cwnd_limited || s->in_recovery || s->window_q16 >= clamp_q16)
		return;
	if (in_slow_start(c)) {
		u32 left = slow_start(c, acked);

		s->window_q16 += (u64)(acked - left) << 16;
		acked = left;
	}
	s->credit_q32 += acked * prague_increase_q32(s, p, c);
	window_q16 = s->window_q16 + s->credit_q32 / s->window_q16;
	s->credit_q32 %= s->window_q16;
	prague_set_window(s, c, window_q16 < clamp_q16 ? window_q16 : clamp_q16);
}

/* [draft-briscoe-iccrg-prague-congestion-control 2.3.2] */
TANDEM_FN void prague_end_round(struct prague *s, const struct prague_params *p,
				const struct tandem_conn *c)
{
	if (!marks_round_ended(&s->marks, c) || !prague_is_time(s, p, c, s->updated_us))
		return;
	if (s->saw_mark)
		marks_update(&s->marks, p->g);
	marks_begin_round(&s->marks, c);
	s->updated_us = c->now_us;
	if (!in_slow_start(c) && s->rounds < p->transition)
		s->rounds++;
}

/* w / srtt, twice that in slow start; below 2^62. */
TANDEM_FN void prague_set_rate(const struct prague *s, struct tandem_conn *c)
{
	u32 rtt_us = s->srtt_q3 ? max_u32(s->srtt_q3 >> 3, 1) : PRAGUE_NOMINAL_RTT_US;
	u64 rate = (u64)c->snd_cwnd * c->mss * 1000000 / rtt_us;

	if (c->snd_cwnd < c->snd_ssthresh / 2)
		rate *= 2;
	c->pacing_bytes_per_s = rate ? rate : 1;
}

TANDEM_FN void prague_init(struct prague *s, const struct prague_params *p, struct tandem_conn *c)
{
	*s = (struct prague){
		.window_q16 = (u64)c->snd_cwnd << 16,
		.updated_us = c->now_us,
		.prior_cwnd = c->snd_cwnd,
	};
	marks_init(&s->marks, c, 1024);
	prague_set_rate(s, c);
}

/* All of it, last on each ACK: Linux's cong_control. */
TANDEM_FN void prague_pkts_acked(struct prague *s, const struct prague_params *p,
				 struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 marked = min_u32(ack->marked, ack->acked_sacked);

	/*
	 * The host has changed the window: a timeout, an undo. The credit was earned under another
	 * one, and would be paid out at once.
	 */
	if (s->window_q16 >> 16 != c->snd_cwnd) {
		s->window_q16 = (u64)c->snd_cwnd << 16;
		s->credit_q32 = 0;
	}
	prague_take_rtt(s, ack);
	marks_count(&s->marks, ack);
	prague_take_marks(s, p, c, ack->marked);
	prague_grow(s, p, c, min_u32(ack->acked_sacked - marked, TANDEM_MAX_WINDOW));
	prague_end_round(s, p, c);
	prague_set_rate(s, c);
}

TANDEM_FN void prague_cong_avoid(struct prague *s, const struct prague_params *p,
				 struct tandem_conn *c, u32 acked)
{
}

/* At a mark slow start is over; what the window loses then, pkts_acked decides. */
TANDEM_FN u32 prague_ssthresh(struct prague *s, const struct prague_params *p,
			      const struct tandem_conn *c, u32 reason)
{
	if (reason == TANDEM_FOR_MARK)
		return max_u32(c->snd_cwnd, 2);
	s->prior_cwnd = c->snd_cwnd;
	return max_u32(window_after_loss(c->snd_cwnd, p->beta), 2);
}

TANDEM_FN void prague_set_state(struct prague *s, const struct prague_params *p,
				struct tandem_conn *c, u32 state)
{
	u32 begins = state == TANDEM_RECOVERY && !s->in_recovery;

	s->in_recovery = state == TANDEM_RECOVERY;
	if (!begins)
		return;
	s->window_q16 = (u64)c->snd_cwnd << 16;
	prague_cut(s, c, (u64)window_after_loss(c->snd_cwnd, p->beta) << 16);
}

TANDEM_FN void prague_restart(struct prague *s, const struct prague_params *p,
			      struct tandem_conn *c)
{
}

TANDEM_FN u32 prague_undo_cwnd(struct prague *s, const struct prague_params *p,
			       const struct tandem_conn *c)
{
	return max_u32(c->snd_cwnd, s->prior_cwnd);
}

#define prague_PROBES(P, W) \
	P(alpha, MARKS_ONE, s->marks.alpha_q24, "average share of packets that are marked")

TANDEM_FN void prague_view(const struct prague *s, const struct prague_params *p,
			   const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
}

#endif
