/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP-Fusion (S3): Westwood's cut, Vegas's three phases, and never less than Reno.
 *
 *   diff  = cwnd * (RTT - RTTmin) / RTT         packets queued by this flow                 S3 II.B
 *   diff < alpha      : cwnd += W_inc / cwnd an ACK
 *   diff > 3 alpha    : cwnd falls to where alpha packets are left in the queue
 *   between           : cwnd stays
 *   always            : cwnd  = max(cwnd, reno_cwnd), reno_cwnd what Reno's window would be
 *   loss              : cwnd  = max(RTTmin / RTT * cwnd, cwnd / 2), RTT the last before it  S3 II.A
 *   alpha = cwnd * Dmin / RTT with Dmin = 4 ms  share of the smallest buffer of any router  S3 II.C
 *   W_inc = B * Dmin / packet with Dmin = 1 ms  B / 12 Mb/s for packets of 1500 bytes       S3 II.C
 *
 * S3: Kaneko, Fujikawa, Su, Katto, TCP-Fusion, PFLDnet 2007. The equation of the three phases is
 * lost from the text at hand.
 *
 * Open points and decisions:
 *  - The upper threshold is 3 alpha: two ns-3 ports agree on it, though they differ in many other
 *    points. `upper` changes it.
 *  - W_inc is the gain of a round, not of an ACK: S3 argues that one step of W_inc must fit the
 *    smallest buffer when the pipe fills.
 *  - The measured round (rounds.h) decides for the next; its cwnd is what was in flight. The fall
 *    is one step: "decreased to the value that has at least the lower bound threshold in the
 *    bottleneck queue". ssthresh follows, as in ctcp.h.
 *  - B is the rate achieved, Westwood+'s estimate (rate.h). S3 says "achieved by time sequence of
 *    ACKed sequence numbers like TCPW-BE": bandwidth = 1 chooses that, rate_on_gap.
 *    docs/controllers/fusion.md compares the two in S3's experiments.
 *  - reno_cwnd grows by 1 a round-trip time and is halved from its own value (S3: "updated
 *    like TCP-Reno"). After a timeout its slow start ends at its own ssthresh, half of what
 *    it was, and after an idle time at three quarters of it (RFC 2861); there it waits
 *    until Fusion's has ended.
 *  - alpha is at least 1 packet (an ns-3 port): below that the test means nothing.
 *  - S3 mentions neither slow start, which is Reno's here, nor timeouts: RTTmin stays.
 */
#ifndef TANDEM_FUSION_H
#define TANDEM_FUSION_H

#include "rate.h"
#include "rounds.h"
#include "window.h"

#define fusion_OWN_PARAMS(P) \
	P(beta, 1024, 512, 64, 960, "largest share of the window given up on loss (S3 II.A: 1/2)") \
	P(alpha_delay, 1, 4000, 1, 1000000, \
	  "us; Dmin in alpha, the least queueing delay aimed at (S3 II.C: 4 ms)") \
	P(alpha_low, 256, 1 << 8, 1, 10000 << 8, "packets; minimum alpha (an ns-3 port: 1)") \
	P(upper, 16, 3 << 4, 1 << 4, 100 << 4, "upper threshold in alphas (both ns-3 ports: 3)") \
	P(increase_delay, 1, 1000, 0, 1000000, \
	  "us; Dmin in W_inc, growth of the queueing delay per round (S3 II.C: 1 ms)") \
	P(bandwidth, 1, 0, 0, 1, \
	  "B in W_inc: 0 = the rate achieved, 1 = from the gaps between ACKs (S3 II.C: TCPW-BE)") \
	P(gap_filter, 1, 500000, 10000, 4000000, \
	  "us; tau of the filter if bandwidth is 1 (TCPW-BE)")

#define fusion_PARAMS(P) RATE_PARAMS(P) fusion_OWN_PARAMS(P)

struct fusion_params {
	RATE_LAW_FIELDS
	fusion_OWN_PARAMS(TANDEM_PARAM_FIELD)
};

/* What Reno's window would be. */
struct reno_copy {
	u32 cwnd;     /* packets; its fraction is snd_cwnd_cnt */
	u32 ssthresh; /* packets                               */
};

struct fusion {
	struct window window;
	struct rate rate;
	struct rounds round;
	struct reno_copy reno;
	struct reno_copy prior_reno; /* before the last reduction, for undo               */
	u32 alpha_q8;                /* of the last measured round, packets               */
	u32 diff_q8;                 /* likewise                                          */
	u64 gain;                    /* what a window of ACKs adds in this round, fusion_unit */
};

/* See window.h. */
TANDEM_FN u32 fusion_unit(const struct fusion_params *p)
{
	return p->increase_delay < 1000 ? 1 << 16 : WINDOW_UNIT;
}

/* W_inc in fusion_unit; in the finer one below 2^39 * 2^10 * 2^8 before the division. */
TANDEM_FN u64 fusion_w_inc(const struct fusion *s, const struct fusion_params *p)
{
	if (fusion_unit(p) == WINDOW_UNIT)
		return rate_packets_q8(&s->rate, p->increase_delay);
	return (rate_estimate_q8(&s->rate) << 8) * p->increase_delay / 1000000;
}

TANDEM_FN void fusion_init(struct fusion *s, const struct fusion_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	rate_init(&s->rate, c->now_us);
	rounds_init(&s->round, c);
	s->reno.cwnd = c->snd_cwnd;
	s->reno.ssthresh = c->snd_ssthresh;
	s->prior_reno = s->reno;
	s->alpha_q8 = p->alpha_low;
	s->diff_q8 = 0;
	s->gain = 0;
}

TANDEM_FN void fusion_pkts_acked(struct fusion *s, const struct fusion_params *p,
				 const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 rtt_us = rounds_sample(&s->round, ack);

	if (p->bandwidth)
		rate_on_gap(&s->rate, p->gap_filter, c->now_us, ack, rtt_us);
	else
		rate_on_ack(&s->rate, &p->rate, c->now_us, ack, rtt_us);
}

/* The phase that follows from a measured round. */
TANDEM_FN void fusion_choose_phase(struct fusion *s, const struct fusion_params *p,
				   struct tandem_conn *c)
{
	/* flight <= 2^24. */
	u64 alpha_q8 = ((u64)s->round.flight << 8) * p->alpha_delay / s->round.rtt_us;

	s->alpha_q8 = max_u32(alpha_q8 > 0xffffffffu ? 0xffffffffu : (u32)alpha_q8, p->alpha_low);
	s->diff_q8 = rounds_backlog_q8(&s->round, s->round.flight);
	if (in_slow_start(c))
		return;
	if (s->diff_q8 < s->alpha_q8) {
		s->gain = fusion_w_inc(s, p);
	} else if ((u64)s->diff_q8 << 4 > (u64)s->alpha_q8 * p->upper) {
		u32 cwnd = sub_floor0(c->snd_cwnd, (s->diff_q8 - s->alpha_q8) >> 8);

		c->snd_cwnd = max_u32(cwnd, s->reno.cwnd);
		ssthresh_follows(c);
	}
}

/* Slow start of both; Reno's ends at Reno's own ssthresh. Returns the packets left over. */
TANDEM_FN u32 fusion_slow_start(struct fusion *s, struct tandem_conn *c, u32 acked)
{
	u32 left = slow_start(c, acked);

	s->reno.cwnd += min_u32(acked - left, sub_floor0(s->reno.ssthresh, s->reno.cwnd));
	return left;
}

TANDEM_FN void fusion_grow(struct fusion *s, const struct fusion_params *p, struct tandem_conn *c,
			   u32 acked)
{
	u32 limit = max_u32(c->snd_cwnd_clamp, c->snd_cwnd);

	if (in_slow_start(c))
		acked = fusion_slow_start(s, c, acked);
	s->reno.cwnd = min_u32(s->reno.cwnd + packets_due(&c->snd_cwnd_cnt, c->snd_cwnd, acked),
			       limit);
	window_grow_by(&s->window, c, s->gain, fusion_unit(p), acked);
	c->snd_cwnd = max_u32(c->snd_cwnd, s->reno.cwnd);
}

TANDEM_FN void fusion_cong_avoid(struct fusion *s, const struct fusion_params *p,
				 struct tandem_conn *c, u32 acked)
{
	/* The host may have lowered the window. */
	s->reno.cwnd = min_u32(s->reno.cwnd, c->snd_cwnd);
	if (rounds_ended(&s->round, c)) {
		s->gain = 0;
		if (rounds_measured(&s->round))
			fusion_choose_phase(s, p, c);
		rounds_begin(&s->round, c);
	}
	if (c->is_cwnd_limited)
		fusion_grow(s, p, c, acked);
}

TANDEM_FN u32 fusion_ssthresh(struct fusion *s, const struct fusion_params *p,
			      const struct tandem_conn *c, u32 reason)
{
	u32 left = window_after_loss(c->snd_cwnd, p->beta);

	s->prior_reno = s->reno;
	s->reno.cwnd = s->reno.ssthresh = max_u32(min_u32(s->reno.cwnd, c->snd_cwnd) / 2, 2);
	s->gain = 0;
	if (s->rate.rtt_us && s->round.base_rtt_us != ROUNDS_UNMEASURED)
		left = max_u32(left, mul_div(c->snd_cwnd, s->round.base_rtt_us, s->rate.rtt_us));
	return window_reduce(&s->window, c, max_u32(left, s->reno.cwnd));
}

ROUNDS_SET_STATE(fusion)

TANDEM_FN void fusion_restart(struct fusion *s, const struct fusion_params *p,
			      struct tandem_conn *c)
{
	s->reno.ssthresh = max_u32(s->reno.ssthresh, mul_div(s->reno.cwnd, 3, 4));
	s->reno.cwnd = min_u32(s->reno.cwnd, c->snd_cwnd);
	s->gain = 0;
	rounds_begin(&s->round, c);
	rate_begin_interval(&s->rate, c->now_us);
}

TANDEM_FN u32 fusion_undo_cwnd(struct fusion *s, const struct fusion_params *p,
			       const struct tandem_conn *c)
{
	s->reno = s->prior_reno;
	return window_undone(&s->window, c);
}

#define fusion_PROBES(P, W) \
	P(bw_mbps, 1000000, rate_bits_per_s(&s->rate, c), "estimated rate, payload")

TANDEM_FN void fusion_view(const struct fusion *s, const struct fusion_params *p,
			   const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = min_u32(s->reno.cwnd, c->snd_cwnd);
	v->delay_window = c->snd_cwnd - v->loss_window;
	v->gamma_q8 = s->alpha_q8;
	v->diff_q8 = s->diff_q8;
	v->base_rtt_us = rounds_shown_base_us(&s->round);
}

#endif
