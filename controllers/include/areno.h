/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP-Adaptive Reno (Shimonishi, Hama, Murase, Globecom 2005 and PFLDnet 2006; S3's ARENO): Reno
 * plus a probing window that fills an idle path fast and goes away as the path becomes congested.
 *
 *   c        = min((RTT - RTTmin) / (RTTcong - RTTmin), 1)     how near the queue is to overflowing
 *   RTTcong  = a * RTTcong + (1 - a) * RTT at each loss
 *   W        = W_base + W_probe;  W_base += 1 / W an ACK
 *   W_probe  = max(W_probe + increase / W, 0) an ACK
 *   W_inc(c) = W_max e^(-10 c) + beta c + gamma,   W_max = B / M packets a round, M = 10 Mb/s
 *              beta  = 2 W_max (1/10 - (1/10 + 1) / e^10)
 *              gamma = 1 - 2 W_max (1/10 - (1/10 + 1/2) / e^10)
 *   loss     : W_base = W / (1 + c),  W_probe = 0
 *
 * Not checked against the paper's text: the equations are those that several ports agree on, and M
 * is 10 Mb/s in one port's quotation of it.
 *
 * Open points and decisions:
 *  - `increase` is W_inc(c) - 1, so that the total grows by W_inc(c). beta and gamma are chosen
 *    such that W_inc(1) = 1 and the mean of W_inc over c is 1, which is Reno's growth; the ports
 *    add W_inc to Reno's 1 and grow by 2 packets a round when the path is congested.
 *    docs/controllers/areno.md has what either does to Reno: on_top = 1 does as the ports.
 *  - c and W_inc are worked out once a measured round (rounds.h), from its smallest
 *    RTT; W_probe decreases in one step, and ssthresh follows. At a loss the
 *    RTT is the last before it.
 *  - A loss updates RTTcong before c is computed. The first loss gives RTTcong its value,
 *    so c = 1: the window is halved, as in Reno. Before it c is also 1. A path without any queue,
 *    RTTcong = RTTmin, has c = 1.
 *  - B is rate.h's estimate, in bits of payload.
 */
#ifndef TANDEM_ARENO_H
#define TANDEM_ARENO_H

#include "rate.h"
#include "rounds.h"
#include "window.h"

#define areno_OWN_PARAMS(P) \
	P(rate_per_packet, 1, 10, 1, 100000, \
	  "M: Mb/s of estimated rate for each packet a round that is probed with (10)") \
	P(decay, 1, 10, 2, 11, "exponent of W_inc's decay from an idle to a congested path (10)") \
	P(memory, 1000, 850, 0, 999, "a: weight of the older losses in RTTcong (ports: 0.85)") \
	P(on_top, 1, 0, 0, 1, \
	  "0 = the window grows by W_inc in all, 1 = by W_inc and Reno's 1 (ports)")

#define areno_PARAMS(P) RATE_PARAMS(P) areno_OWN_PARAMS(P)

struct areno_params {
	RATE_LAW_FIELDS
	areno_OWN_PARAMS(TANDEM_PARAM_FIELD)
};

struct areno {
	struct window window;
	struct rate rate;
	struct rounds round;
	u64 cong_rtt_q16;       /* RTTcong, us; 0 before the first loss              */
	u64 prior_cong_rtt_q16; /* both before the last reduction, for undo          */
	u32 prior_probe_q8;
	u32 probe_q8;           /* W_probe, packets                                  */
	u32 gain_q8;            /* what a window of ACKs adds to it in this round    */
	u32 diff_q8;            /* backlog of the last measured round, packets       */
};

/* W_max is held below 2^20 packets, W_probe below 2^24 - 1. */
#define ARENO_MAX_PROBE_Q8 ((TANDEM_MAX_WINDOW - 1) << 8)

/* e^-x in 1/2^32 for x <= 11 in 1/65536. 94548 / 65536 = 1 / ln 2. */
TANDEM_FN u64 areno_exp_neg_q32(u32 x_q16)
{
	return exp2_q16((16 << 16) - mul_div(x_q16, 94548, 65536));
}

/* c for this RTT, in 1/65536. */
TANDEM_FN u32 areno_congestion_q16(const struct areno *s, u32 rtt_us)
{
	u64 rtt_q16 = (u64)rtt_us << 16, base_q16 = (u64)s->round.base_rtt_us << 16;

	if (!rtt_us || !s->cong_rtt_q16 || s->round.base_rtt_us == ROUNDS_UNMEASURED ||
	    rtt_q16 >= s->cong_rtt_q16)
		return 1 << 16;
	/* base <= RTT < RTTcong; RTTs are at most 2^24. */
	return (u32)(((rtt_q16 - base_q16) << 16) / (s->cong_rtt_q16 - base_q16));
}

/* W_max in packets, below 2^20. */
TANDEM_FN u64 areno_max_inc_q8(const struct areno *s, const struct areno_params *p, u32 mss)
{
	/* 2^39 * 2^16 * 2^3. */
	u64 inc_q8 = rate_estimate_q8(&s->rate) * min_u32(mss, 1 << 16) * 8 /
		     (p->rate_per_packet * 1000000ull);

	return inc_q8 < 1 << 28 ? inc_q8 : 1 << 28;
}

/*
 * The probing window's increase in the round to come, at congestion c; what it is to
 * lose is taken at once.
 */
TANDEM_FN void areno_probe(struct areno *s, const struct areno_params *p, u32 mss, u32 c_q16)
{
	u64 max_q8 = areno_max_inc_q8(s, p, mss);
	u64 inverse_q32 = (1ull << 32) / p->decay, end_q32 = areno_exp_neg_q32(p->decay << 16);
	/* 1/10 - (1/10) / e^10, to which beta and gamma add their last terms. */
	u64 both_q32 = inverse_q32 - (inverse_q32 * end_q32 >> 32);
	u64 beta_q32 = 2 * (both_q32 - end_q32), gamma_q32 = 2 * both_q32 - end_q32;
	u64 up_q32 = areno_exp_neg_q32(p->decay * c_q16) + (beta_q32 * c_q16 >> 16);
	/* max < 2^28 and the factors < 2^34. */
	u64 up_q8 = (max_q8 * up_q32 >> 32) + (p->on_top << 8), down_q8 = max_q8 * gamma_q32 >> 32;

	s->gain_q8 = up_q8 > down_q8 ? (u32)(up_q8 - down_q8) : 0;
	s->probe_q8 = sub_floor0(s->probe_q8, down_q8 > up_q8 ? (u32)(down_q8 - up_q8) : 0);
}

TANDEM_FN void areno_init(struct areno *s, const struct areno_params *p, struct tandem_conn *c)
{
	window_init(&s->window, c);
	rate_init(&s->rate, c->now_us);
	rounds_init(&s->round, c);
	s->cong_rtt_q16 = 0;
	s->prior_cong_rtt_q16 = 0;
	s->probe_q8 = 0;
	s->gain_q8 = 0;
	s->prior_probe_q8 = 0;
	s->diff_q8 = 0;
}

TANDEM_FN void areno_pkts_acked(struct areno *s, const struct areno_params *p,
				const struct tandem_conn *c, const struct tandem_ack *ack)
{
	rate_on_ack(&s->rate, &p->rate, c->now_us, ack, rounds_sample(&s->round, ack));
}

/*
 * In slow start there is no probing window. The host may have lowered the window: at least a packet
 * of it is W_base.
 */
TANDEM_FN void areno_reconcile(struct areno *s, const struct tandem_conn *c)
{
	if (in_slow_start(c)) {
		s->probe_q8 = 0;
		s->gain_q8 = 0;
	}
	s->probe_q8 = min_u32(s->probe_q8, min_u32(c->snd_cwnd - 1, TANDEM_MAX_WINDOW - 1) << 8);
}

TANDEM_FN void areno_end_round(struct areno *s, const struct areno_params *p, struct tandem_conn *c)
{
	u32 base = c->snd_cwnd - (s->probe_q8 >> 8);

	s->gain_q8 = 0;
	if (!rounds_measured(&s->round))
		return;
	s->diff_q8 = rounds_backlog_q8(&s->round, s->round.flight);
	if (in_slow_start(c))
		return;
	areno_probe(s, p, c->mss, areno_congestion_q16(s, s->round.rtt_us));
	if (base + (s->probe_q8 >> 8) < c->snd_cwnd) {
		c->snd_cwnd = base + (s->probe_q8 >> 8);
		ssthresh_follows(c);
	}
}

TANDEM_FN void areno_cong_avoid(struct areno *s, const struct areno_params *p,
				struct tandem_conn *c, u32 acked)
{
	u32 before;

	areno_reconcile(s, c);
	if (rounds_ended(&s->round, c)) {
		areno_end_round(s, p, c);
		rounds_begin(&s->round, c);
	}
	if (!c->is_cwnd_limited)
		return;
	if (in_slow_start(c))
		acked = slow_start(c, acked);
	additive_increase(c, c->snd_cwnd, acked);
	before = c->snd_cwnd;
	window_grow(&s->window, c, s->gain_q8, acked);
	s->probe_q8 = min_u32(s->probe_q8 + ((c->snd_cwnd - before) << 8), ARENO_MAX_PROBE_Q8);
}

TANDEM_FN u32 areno_ssthresh(struct areno *s, const struct areno_params *p,
			     const struct tandem_conn *c, u32 reason)
{
	u64 rtt_q16 = (u64)s->rate.rtt_us << 16;
	u32 c_q16;

	areno_reconcile(s, c);
	s->prior_cong_rtt_q16 = s->cong_rtt_q16;
	if (rtt_q16 && s->cong_rtt_q16)
		s->cong_rtt_q16 = (s->cong_rtt_q16 * p->memory +
				   rtt_q16 * (1000 - p->memory)) / 1000;
	else if (rtt_q16)
		s->cong_rtt_q16 = rtt_q16;
	s->prior_probe_q8 = s->probe_q8;
	s->probe_q8 = 0;
	s->gain_q8 = 0;
	c_q16 = areno_congestion_q16(s, s->rate.rtt_us);
	return window_reduce(&s->window, c, mul_div(c->snd_cwnd, 1 << 16, (1 << 16) + c_q16));
}

ROUNDS_SET_STATE(areno)

TANDEM_FN void areno_restart(struct areno *s, const struct areno_params *p, struct tandem_conn *c)
{
	s->probe_q8 = 0;
	s->gain_q8 = 0;
	rounds_begin(&s->round, c);
	rate_begin_interval(&s->rate, c->now_us);
}

TANDEM_FN u32 areno_undo_cwnd(struct areno *s, const struct areno_params *p,
			      const struct tandem_conn *c)
{
	s->cong_rtt_q16 = s->prior_cong_rtt_q16;
	s->probe_q8 = s->prior_probe_q8;
	return window_undone(&s->window, c);
}

#define areno_PROBES(P, W) \
	P(bw_mbps, 1000000, rate_bits_per_s(&s->rate, c), "estimated rate, payload")

TANDEM_FN void areno_view(const struct areno *s, const struct areno_params *p,
			  const struct tandem_conn *c, struct tandem_view *v)
{
	v->delay_window = min_u32(s->probe_q8 >> 8, c->snd_cwnd - 1);
	v->loss_window = c->snd_cwnd - v->delay_window;
	v->diff_q8 = s->diff_q8;
	v->base_rtt_us = rounds_shown_base_us(&s->round);
}

#endif
