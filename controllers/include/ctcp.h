/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the Compound TCP controllers share: the two windows, the measurement of a round, and the
 * delay window's law. They differ only in where gamma comes from.
 *
 *   win  = cwnd + dwnd                                                     S0 (1), S1 (1)
 *   cwnd : Reno driven by the total window: +1/win an ACK, halved on loss  S0 (2), S1 (2)
 *   diff = win * (1 - baseRTT / RTT)      packets queued by this flow      S1 (3)
 *   dwnd, once a round                                                     S0 (5), S1 (4)
 *        diff <  gamma : dwnd += (alpha * win^k - 1)^+
 *        diff >= gamma : dwnd  = (dwnd - zeta * diff)^+
 *        loss          : dwnd  = (win * (1 - beta) - cwnd / 2)^+
 *        timeout       : dwnd  = 0
 *
 * S0: Tan, Song, Zhang, Sridharan, Compound TCP, 2006. S1: Tan, Song, Sridharan, Ho, CTCP-TUBE,
 * PFLDnet 2008. S2: Blanc, Collange, Avrachenkov, 2009. D02: draft-sridharan-tcpm-ctcp-02. LA:
 * L. Andrew's Linux module 1.3, 2008.
 *
 * What the papers leave open, and how it is decided here:
 *  - win^k, not the drafts' dwnd^k, which cannot leave dwnd = 0 (S0 eq. 3 and 5, S1 eq. 4).
 *  - The delay part acts when the total window is larger than low_window (S0 III.B: "when win
 *    is larger than some threshold"; D02 says "congestion window"): cwnd alone would switch it
 *    off after every halving. Otherwise dwnd is left as it is and does not take part (S0),
 *    rather than zeroed (LA).
 *  - What a round is: rounds.h. Its RTT is the smoothed RTT at its end (S0 III.B, D02: sRTT,
 *    without a gain). Each sample counts 1/8, so it covers the last eight or so ACKs; a noisy
 *    path raises it. RFC 6298's 1/8 is meant for about one sample a round trip, which rtt_per_round
 *    takes. With rtt_gain = 0 it is the round's smallest sample (both Linux modules).
 *    docs/controllers/compound.md has figures.
 *  - Its win is the flight when it began (D02 section 3 allows FlightSize). It is paired with the
 *    RTT at the end of the round, of the last packets of that flight. With fewer than
 *    some eight ACKs a round, or rtt_per_round, samples of earlier rounds, with other flights,
 *    are included. No paper says which flight belongs to sRTT.
 *  - No change of dwnd in recovery either (D02 section 6).
 *  - dwnd's growth is kept in fractions and applied in one step at the start of the round, as S0
 *    and S1 state the law. spread_gain spreads it over a share of the round (LA: half), which
 *    avoids a burst of alpha * win^k packets, but makes an overflow last longer, so that more of
 *    the neighbours lose a packet in it: docs/controllers/compound.md has figures.
 *  - A reduction is rounded down to whole packets (LA). ssthresh follows the window down; otherwise
 *    early congestion soon after a loss would send the flow back into slow start (Linux Vegas does
 *    the same; LA slow-starts).
 *  - baseRTT is the smallest RTT of the whole connection (S0 III.B: "observed so far"; both
 *    modules). forget_base_rtt has D02 section 6 instead, which measures it afresh after a timeout.
 *  - After an idle restart dwnd = 0 and baseRTT stays (LA).
 */
#ifndef TANDEM_CTCP_H
#define TANDEM_CTCP_H

#include "growth.h"
#include "rounds.h"

#define CTCP_LAW_PARAMS(P) \
	P(alpha, 1024, 128, 1, 1024, "growth of the window per round, alpha * win^k (S2 II: 1/8)") \
	P(beta, 1024, 512, 64, 960, "share of the total window given up on loss (D02 4: 1/2)") \
	P(k, 8, 6, 1, 7, "exponent of the growth, in steps of 1/8 (S0 III.C: 3/4)") \
	P(zeta, 1024, 1024, 1, 4096, \
	  "share of the backlog that dwnd gives up on early congestion (S2, D02: 1)") \
	P(low_window, 1, 41, 1, 1 << 24, \
	  "packets; up to this total window only Reno acts (S0 III.B, IV: 41; D02, LA: 38)") \
	P(spread_gain, 1024, 0, 0, 1024, \
	  "share of the round over which dwnd grows; 0 = one step (S0, S1), LA: 1/2") \
	P(forget_base_rtt, 1, 0, 0, 1, \
	  "0 = the smallest RTT so far (S0, LA), 1 = measured afresh after a timeout (D02)") \
	P(rtt_gain, 1024, 128, 0, 1024, \
	  "weight of a sample in the smoothed RTT (S0, D02: no number), " \
	  "0 = a round's smallest (LA)") \
	P(rtt_per_round, 1, 0, 0, 1, \
	  "1 = only a round's last sample enters the smoothed RTT, 0 = each")

struct ctcp_law { CTCP_LAW_PARAMS(TANDEM_PARAM_FIELD) };

/*
 * A controller's parameters begin with the law's; all are u32, so that the host sees one flat list.
 */
#define CTCP_LAW_FIELDS \
	union { \
		struct ctcp_law law; \
		struct { CTCP_LAW_PARAMS(TANDEM_PARAM_FIELD) }; \
	};

struct ctcp {
	u32 cwnd;           /* loss window, packets                                      */
	u32 dwnd;           /* delay window, packets                                     */
	u32 gamma_q8;       /* backlog that counts as early congestion, packets          */
	u32 diff_q8;        /* last completed round's backlog, packets                   */
	u32 gain_q8;        /* what dwnd is to gain in this round, packets               */
	u32 gain_span;      /* over how many packets ACKed                               */
	u32 gain_left;      /* how many of them are still to come                        */
	/* What the last reduction has forgotten, for undo; otherwise ROUNDS_UNMEASURED. */
	u32 prior_base_rtt_us;
	u32 last_rtt_us;    /* last sample                                               */
	u32 round_cwnd;     /* loss window when this round began, packets                */
	/* Smoothed RTT, us; 0 before the first sample, and without rtt_gain. */
	u64 srtt_q20;
	/* gain_q8 summed over the packets ACKed; gain_span << 8 is one packet of dwnd. */
	u64 gain_credit_q8;
	struct rounds round;
	u32 prior_cwnd;     /* both windows before the last reduction, for undo          */
	u32 prior_dwnd;
};

TANDEM_FN void ctcp_begin_round(struct ctcp *s, const struct tandem_conn *c)
{
	rounds_begin(&s->round, c);
	s->round_cwnd = s->cwnd;
}

TANDEM_FN void ctcp_stop_gain(struct ctcp *s)
{
	s->gain_q8 = 0;
	s->gain_span = 1;
	s->gain_left = 0;
	s->gain_credit_q8 = 0;
}

/*
 * Lets dwnd gain gain_q8 over the next `span` packets ACKed, with what fraction of a packet is left
 * of the last round.
 */
TANDEM_FN void ctcp_start_gain(struct ctcp *s, u32 gain_q8, u32 span)
{
	u64 fraction_q8 = s->gain_credit_q8 / s->gain_span;

	s->gain_q8 = gain_q8;
	s->gain_span = max_u32(span, 1);
	s->gain_left = s->gain_span;
	/* Below one packet, so below 2^8 * 2^24. */
	s->gain_credit_q8 = fraction_q8 * s->gain_span;
}

TANDEM_FN void ctcp_init(struct ctcp *s, struct tandem_conn *c, u32 gamma_q8)
{
	s->cwnd = c->snd_cwnd;
	s->dwnd = 0;
	s->gamma_q8 = gamma_q8;
	s->diff_q8 = 0;
	s->prior_cwnd = s->cwnd;
	s->prior_dwnd = 0;
	s->prior_base_rtt_us = ROUNDS_UNMEASURED;
	s->last_rtt_us = 0;
	s->srtt_q20 = 0;
	ctcp_stop_gain(s);
	rounds_init(&s->round, c);
	s->round_cwnd = s->cwnd;
}

/* The last sample enters the smoothed RTT. The products stay below 2^24 * 2^20 * 2^10. */
TANDEM_FN void ctcp_smooth(struct ctcp *s, const struct ctcp_law *p)
{
	u32 kept = s->srtt_q20 ? 1024 - p->rtt_gain : 0;

	if (p->rtt_gain)
		s->srtt_q20 = (s->srtt_q20 * kept +
			       ((u64)s->last_rtt_us << 20) * (1024 - kept)) >> 10;
}

/* Takes the RTT sample; returns it, or 0 if there is none now. */
TANDEM_FN u32 ctcp_sample(struct ctcp *s, const struct ctcp_law *p, const struct tandem_ack *ack)
{
	u32 rtt_us = rounds_sample(&s->round, ack);

	if (!rtt_us)
		return 0;
	s->last_rtt_us = rtt_us;
	if (!p->rtt_per_round)
		ctcp_smooth(s, p);
	return rtt_us;
}

/*
 * How many of `window` <= 2^24 packets were queued in this measured round: S1 (3) by the smoothed
 * RTT, or without one by the round's smallest.
 */
TANDEM_FN u32 ctcp_backlog_q8(const struct ctcp *s, u32 window)
{
	u64 base_q7 = (u64)s->round.base_rtt_us << 7;
	u64 rtt_q7 = s->srtt_q20 ? s->srtt_q20 >> 13 : (u64)s->round.rtt_us << 7;

	/* What was smoothed may be from before baseRTT was measured afresh. */
	if (rtt_q7 <= base_q7)
		return 0;
	return backlog_q8(window, base_q7, rtt_q7);
}

/*
 * The host changed snd_cwnd by itself (application-limited, moderated after recovery, undone by
 * another): keep the two parts in proportion. In slow start there is no delay part.
 */
TANDEM_FN void ctcp_reconcile(struct ctcp *s, const struct tandem_conn *c)
{
	u32 win = s->cwnd + s->dwnd;

	if (in_slow_start(c)) {
		s->dwnd = 0;
		ctcp_stop_gain(s);
	} else if (c->snd_cwnd < win) {
		s->dwnd = mul_div(s->dwnd, c->snd_cwnd, win);
	}
	s->cwnd = c->snd_cwnd - s->dwnd;
}

/* The delay window's law for a measured round, S0 (5), S1 (4). Returns 0 if only Reno acts now. */
TANDEM_FN int ctcp_update_dwnd(struct ctcp *s, const struct ctcp_law *p, struct tandem_conn *c)
{
	if (in_slow_start(c) || c->snd_cwnd <= p->low_window) {
		ctcp_stop_gain(s);
		return 0;
	}
	if (s->diff_q8 < s->gamma_q8) {
		/* alpha * win^k - 1: q10 * q16 = q26, down to q8. */
		u32 step_q8 = (u32)(p->alpha * pow_eighths_q16(c->snd_cwnd, p->k) >> 18);

		ctcp_start_gain(s, sub_floor0(step_q8, 1 << 8),
				mul_div(c->snd_cwnd, p->spread_gain, 1024));
	} else {
		s->dwnd = sub_floor0(s->dwnd, mul_div(s->diff_q8, p->zeta, 1024 << 8));
		/* Reno's floor: a controller never leaves fewer than one packet. */
		c->snd_cwnd = max_u32(s->cwnd + s->dwnd, 1);
		ssthresh_follows(c);
		ctcp_stop_gain(s);
	}
	return 1;
}

/*
 * Window growth for `acked` packets: slow start; then Reno on the total window and dwnd's share of
 * this round's gain.
 */
TANDEM_FN void ctcp_grow(struct ctcp *s, struct tandem_conn *c, u32 acked)
{
	u64 packet_q8 = (u64)s->gain_span << 8;
	u32 credited, grown;

	if (in_slow_start(c)) {
		acked = slow_start(c, acked);
		s->cwnd = c->snd_cwnd;
	}
	s->cwnd += additive_increase(c, c->snd_cwnd, acked);
	/* Nearly each ACK ends here: what has been credited is less than a packet. */
	if (!s->gain_left)
		return;
	credited = min_u32(acked, s->gain_left);
	s->gain_left -= credited;
	/* gain_q8 < 2^30 and credited <= 2^24. */
	s->gain_credit_q8 += (u64)s->gain_q8 * credited;
	if (s->gain_credit_q8 < packet_q8)
		return;
	grown = (u32)(s->gain_credit_q8 / packet_q8);
	s->gain_credit_q8 %= packet_q8;
	grown = min_u32(grown, sub_floor0(c->snd_cwnd_clamp, c->snd_cwnd));
	s->dwnd += grown;
	c->snd_cwnd += grown;
}

/*
 * Loss: S0 (4) for the total, the loss rule of S0 (5) for dwnd; whatever beta is, cwnd is halved.
 */
TANDEM_FN u32 ctcp_after_loss(struct ctcp *s, const struct ctcp_law *p)
{
	s->prior_cwnd = s->cwnd;
	s->prior_dwnd = s->dwnd;
	s->prior_base_rtt_us = ROUNDS_UNMEASURED;
	s->cwnd = s->cwnd / 2;
	s->dwnd = sub_floor0(window_after_loss(s->prior_cwnd + s->prior_dwnd, p->beta), s->cwnd);
	if (s->cwnd + s->dwnd < 2)
		s->cwnd = 2 - s->dwnd;
	ctcp_stop_gain(s);
	return s->cwnd + s->dwnd;
}

TANDEM_FN void ctcp_set_state(struct ctcp *s, const struct ctcp_law *p, const struct tandem_conn *c,
			      u32 state)
{
	if (state == TANDEM_LOSS) {
		s->dwnd = 0;
		ctcp_stop_gain(s);
		if (p->forget_base_rtt)
			rounds_forget_base(&s->round, &s->prior_base_rtt_us);
	}
	if (rounds_set_state(&s->round, c, state))
		s->round_cwnd = s->cwnd;
}

/* Sending resumes after an idle time: what was known of the queue is stale. */
TANDEM_FN void ctcp_restart(struct ctcp *s, const struct tandem_conn *c)
{
	s->dwnd = 0;
	s->cwnd = c->snd_cwnd;
	ctcp_stop_gain(s);
	ctcp_begin_round(s, c);
}

TANDEM_FN u32 ctcp_undo(struct ctcp *s, const struct tandem_conn *c)
{
	s->cwnd = s->prior_cwnd;
	s->dwnd = s->prior_dwnd;
	rounds_restore_base(&s->round, s->prior_base_rtt_us);
	return max_u32(c->snd_cwnd, s->cwnd + s->dwnd);
}

TANDEM_FN void ctcp_show(const struct ctcp *s, const struct tandem_conn *c, struct tandem_view *v)
{
	v->delay_window = min_u32(s->dwnd, c->snd_cwnd);
	v->loss_window = c->snd_cwnd - v->delay_window;
	v->gamma_q8 = s->gamma_q8;
	v->diff_q8 = s->diff_q8;
	v->base_rtt_us = rounds_shown_base_us(&s->round);
}

/*
 * CTCP_CONTROLLER(NAME), last in NAME.h, writes the eight functions of the contract, NAME_init to
 * NAME_view, for a Compound controller whose state begins with `struct ctcp core` and whose
 * parameters begin with CTCP_LAW_FIELDS. What sets a NAME apart are seven hooks, which it defines
 * before that line. Each function calls the hooks written under it, in this order:
 *
 *   NAME_init
 *     NAME_start(s, p)                  sets what is its own in the state, which is not zeroed;
 *                                       returns the first gamma_q8
 *   NAME_pkts_acked
 *     NAME_on_sample(s, rtt_us, acked)  an RTT sample outside recovery, and how many packets its
 *                                       ACK acknowledged
 *   NAME_cong_avoid, at the end of a measured round
 *     NAME_on_round(s, p)               diff_q8 is new, dwnd not yet changed
 *     NAME_on_dwnd(s, p, c, acted)      dwnd has changed if the delay part acted
 *   NAME_ssthresh
 *     NAME_on_loss(s, p)                a loss, a mark or a timeout, before the windows are cut
 *   NAME_set_state, which the host calls after NAME_ssthresh
 *     NAME_on_timeout(s, p)             a timeout, before dwnd becomes 0
 *   NAME_undo_cwnd
 *     NAME_on_undo(s)                   the last reduction was a mistake, before it is undone
 *
 * NAME_start is always needed. Any of the other six may be left out by one of the macros here.
 */
#define CTCP_NO_ON_SAMPLE(NAME) \
	TANDEM_FN void NAME##_on_sample(struct NAME *s, u32 rtt_us, u32 acked) { }

#define CTCP_NO_ON_ROUND(NAME) \
	TANDEM_FN void NAME##_on_round(struct NAME *s, const struct NAME##_params *p) { }

#define CTCP_NO_ON_DWND(NAME) \
	TANDEM_FN void NAME##_on_dwnd(struct NAME *s, const struct NAME##_params *p, \
				      struct tandem_conn *c, int acted) { }

#define CTCP_NO_ON_LOSS(NAME) \
	TANDEM_FN void NAME##_on_loss(struct NAME *s, const struct NAME##_params *p) { }

#define CTCP_NO_ON_TIMEOUT(NAME) \
	TANDEM_FN void NAME##_on_timeout(struct NAME *s, const struct NAME##_params *p) { }

#define CTCP_NO_ON_UNDO(NAME) \
	TANDEM_FN void NAME##_on_undo(struct NAME *s) { }

#define CTCP_CONTROLLER(NAME) \
	TANDEM_FN void NAME##_init(struct NAME *s, const struct NAME##_params *p, \
				   struct tandem_conn *c) \
	{ \
		ctcp_init(&s->core, c, NAME##_start(s, p)); \
	} \
	TANDEM_FN void NAME##_pkts_acked(struct NAME *s, const struct NAME##_params *p, \
					 const struct tandem_conn *c, \
					 const struct tandem_ack *ack) \
	{ \
		u32 rtt_us = ctcp_sample(&s->core, &p->law, ack); \
		\
		if (rtt_us) \
			NAME##_on_sample(s, rtt_us, ack->pkts_acked); \
	} \
	TANDEM_FN void NAME##_cong_avoid(struct NAME *s, const struct NAME##_params *p, \
					 struct tandem_conn *c, u32 acked) \
	{ \
		ctcp_reconcile(&s->core, c); \
		if (rounds_ended(&s->core.round, c)) { \
			if (rounds_measured(&s->core.round)) { \
				if (p->rtt_per_round) \
					ctcp_smooth(&s->core, &p->law); \
				s->core.diff_q8 = ctcp_backlog_q8(&s->core, s->core.round.flight); \
				NAME##_on_round(s, p); \
				NAME##_on_dwnd(s, p, c, ctcp_update_dwnd(&s->core, &p->law, c)); \
			} else { \
				ctcp_stop_gain(&s->core); \
			} \
			ctcp_begin_round(&s->core, c); \
		} \
		if (c->is_cwnd_limited) \
			ctcp_grow(&s->core, c, acked); \
	} \
	TANDEM_FN u32 NAME##_ssthresh(struct NAME *s, const struct NAME##_params *p, \
				      const struct tandem_conn *c, u32 reason) \
	{ \
		NAME##_on_loss(s, p); \
		ctcp_reconcile(&s->core, c); \
		return ctcp_after_loss(&s->core, &p->law); \
	} \
	TANDEM_FN void NAME##_set_state(struct NAME *s, const struct NAME##_params *p, \
					struct tandem_conn *c, u32 state) \
	{ \
		if (state == TANDEM_LOSS) \
			NAME##_on_timeout(s, p); \
		ctcp_set_state(&s->core, &p->law, c, state); \
	} \
	TANDEM_FN void NAME##_restart(struct NAME *s, const struct NAME##_params *p, \
				      struct tandem_conn *c) \
	{ \
		ctcp_restart(&s->core, c); \
	} \
	TANDEM_FN u32 NAME##_undo_cwnd(struct NAME *s, const struct NAME##_params *p, \
				       const struct tandem_conn *c) \
	{ \
		NAME##_on_undo(s); \
		return ctcp_undo(&s->core, c); \
	} \
	TANDEM_FN void NAME##_view(const struct NAME *s, const struct NAME##_params *p, \
				   const struct tandem_conn *c, struct tandem_view *v) \
	{ \
		ctcp_show(&s->core, c, v); \
	}

#endif
