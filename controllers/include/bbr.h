/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBR version 1 (Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: congestion-based congestion
 * control", ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00), as in
 * Linux: a model of the path, and neither loss nor delay, says how much and how fast to send.
 *
 *   bw       = largest delivery rate of the last 10 rounds
 *   min_rtt  = smallest RTT of the last 10 s
 *   rate     = gain * bw, less 1 %
 *   window   = window gain * bw * min_rtt, and what follows below
 *   STARTUP    both gains 2.89, until bw has not grown by 1/4 for three rounds
 *   DRAIN      gain 1/2.89, until no more than bw * min_rtt is in flight
 *   PROBE_BW   gains 5/4, 3/4, 1, 1, 1, 1, 1, 1, a min_rtt each; window gain 2
 *   PROBE_RTT  a window of 4 for 200 ms and a round, once min_rtt is 10 s old
 *   recovery   losses reduce the window; its first round sends what is delivered; then the former
 *              window returns
 *
 * The window also has room for three bursts of a host with segmentation offload (1 ms
 * of the rate), and the packets that are acknowledged in excess of bw (ACKs that come in bursts). A
 * loss of 1/5 in two intervals at one rate means a policer: then that rate is used for 48 rounds.
 *
 * Open points, what is left out, and decisions:
 *  - Linux draws the phase in which PROBE_BW begins at random; here the clock
 *    decides: now_us modulo 7.
 *  - Linux estimates what will be in flight when the next piece leaves its queue; here packets
 *    leave one by one, and what is in flight counts.
 *  - What a timer finds lost does not count for the policer. What is sent in PROBE_RTT is taken for
 *    application-limited here, where Linux tells the host.
 *  - snd_ssthresh is left alone: Linux shows bw * min_rtt there.
 */
#ifndef TANDEM_BBR_H
#define TANDEM_BBR_H

#include "bbr_policer.h"

/* See controller.h. */
#define TANDEM_OWNS_SLOW_START

/* Was the newest acknowledged packet application-limited: sent with too little to fill the path? */
TANDEM_FN u32 bbr_app_limited(const struct bbr *s, const struct tandem_ack *ack)
{
	u32 sent_in_probe_rtt = !seq_after(s->probe_rtt_from, ack->prior_delivered) &&
				!seq_after(ack->prior_delivered, s->probe_rtt_until);

	return ack->is_app_limited || sent_in_probe_rtt;
}

/*
 * The delivery rate, and rounds: one ends when a packet is acknowledged that was sent
 * after its beginning.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.1.1.4]
 * [draft-cardwell-iccrg-bbr-congestion-control 4.1.1.3]
 */
TANDEM_FN void bbr_take_rate(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c,
			     const struct tandem_ack *ack, u32 app_limited)
{
	u32 bw_q24;

	if (!seq_after(s->round_end, ack->prior_delivered)) {
		s->round_end = ack->delivered;
		s->rounds++;
		s->round_start = 1;
		s->conserve = 0;
	}
	bbr_watch_policer(s, p, c, ack, app_limited);
	bw_q24 = bbr_rate_q24(seq_distance(ack->prior_delivered, ack->delivered), ack->interval_us);
	if (!app_limited || bw_q24 >= s->best.bw_q24)
		bbr_keep_best(s, p, bw_q24);
}

/* How far acknowledged packets run ahead of bw. The product of two u32 fits. */
TANDEM_FN void bbr_take_extra(struct bbr *s, const struct tandem_conn *c,
			      const struct tandem_ack *ack)
{
	u32 acked = min_u32(ack->acked_sacked, BBR_EXTRA_MAX_ACKED);
	u64 expected = (u64)bbr_bw(s) * seq_distance(s->epoch_us, bbr_us(c)) >> 24;

	if (s->round_start && s->extra_rounds + 1 >= BBR_EXTRA_ROUNDS) {
		s->extra_rounds = 0;
		s->prior_extra_acked = s->extra_acked;
		s->extra_acked = 0;
	} else {
		s->extra_rounds += s->round_start;
	}
	if (s->epoch_acked <= expected || s->epoch_acked + acked >= BBR_EXTRA_MAX_ACKED) {
		s->epoch_acked = 0;
		s->epoch_us = bbr_us(c);
		expected = 0;
	}
	s->epoch_acked = min_u32(s->epoch_acked + acked, BBR_EXTRA_MAX_ACKED - 1);
	s->extra_acked = max_u32(s->extra_acked,
				 min_u32(s->epoch_acked - (u32)expected, c->snd_cwnd));
}

/*
 * A phase lasts a min_rtt; the first until it has filled the path by its gain or lost something,
 * the second until no more is queued.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.3.4.1]
 */
TANDEM_FN int bbr_phase_is_over(const struct bbr *s, const struct bbr_params *p,
				const struct tandem_conn *c, const struct tandem_ack *ack)
{
	int is_long = seq_distance(s->phase_us, bbr_us(c)) > s->min_rtt_us;
	u64 before = (u64)ack->in_flight + ack->acked_sacked + ack->lost;
	u32 gain = bbr_gain(s, p);

	if (gain > BBR_UNIT)
		return is_long && (ack->lost || before >= bbr_inflight(s, p, c, gain));
	if (gain < BBR_UNIT)
		return is_long || before <= bbr_inflight(s, p, c, BBR_UNIT);
	return is_long;
}

/*
 * Is the path full? Then drain what STARTUP has queued.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.3.2.2]
 * [draft-cardwell-iccrg-bbr-congestion-control 4.3.3]
 */
TANDEM_FN void bbr_take_fullness(struct bbr *s, const struct bbr_params *p,
				 const struct tandem_conn *c, const struct tandem_ack *ack,
				 u32 app_limited)
{
	if (!s->full && s->round_start && !app_limited) {
		if (s->best.bw_q24 >= (u64)s->full_bw_q24 * 5 / 4) {
			s->full_bw_q24 = s->best.bw_q24;
			s->full_rounds = 0;
		} else {
			s->full_rounds++;
			s->full = s->full_rounds >= BBR_FULL_ROUNDS;
		}
	}
	if (s->mode == BBR_STARTUP && s->full)
		s->mode = BBR_DRAIN;
	if (s->mode == BBR_DRAIN && ack->in_flight <= bbr_inflight(s, p, c, BBR_UNIT))
		bbr_probe_bw(s, c);
}

/* Notes the window to return to: not one that a recovery or PROBE_RTT has cut. */
TANDEM_FN void bbr_save_cwnd(struct bbr *s, const struct tandem_conn *c)
{
	if (s->prior_trouble == BBR_CALM && s->mode != BBR_PROBE_RTT)
		s->prior_cwnd = c->snd_cwnd;
	else
		s->prior_cwnd = max_u32(s->prior_cwnd, c->snd_cwnd);
}

TANDEM_FN void bbr_raise_cwnd(struct tandem_conn *c, u32 cwnd)
{
	c->snd_cwnd = max_u32(c->snd_cwnd, min_u32(cwnd, c->snd_cwnd_clamp));
}

TANDEM_FN void bbr_try_end_probe_rtt(struct bbr *s, const struct bbr_params *p,
				     struct tandem_conn *c)
{
	if (!s->probe_rtt_runs || seq_distance(s->probe_rtt_ms, bbr_ms(c)) <= p->probe_rtt_time)
		return;
	s->min_rtt_ms = bbr_ms(c);
	bbr_raise_cwnd(c, s->prior_cwnd);
	if (s->full)
		bbr_probe_bw(s, c);
	else
		s->mode = BBR_STARTUP;
}

/* [draft-cardwell-iccrg-bbr-congestion-control 4.3.5] */
TANDEM_FN void bbr_probe_rtt(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c,
			     const struct tandem_ack *ack)
{
	s->probe_rtt_until = seq_advance(ack->delivered, ack->in_flight);
	if (s->probe_rtt_runs) {
		s->probe_rtt_round |= s->round_start;
		if (s->probe_rtt_round)
			bbr_try_end_probe_rtt(s, p, c);
	} else if (ack->in_flight <= p->min_window) {
		s->probe_rtt_runs = 1;
		s->probe_rtt_ms = bbr_ms(c);
		s->probe_rtt_round = 0;
		s->round_end = ack->delivered;
	}
}

/*
 * [draft-cardwell-iccrg-bbr-congestion-control 4.1.2.3]
 * [draft-cardwell-iccrg-bbr-congestion-control 4.3.5]
 */
TANDEM_FN void bbr_take_rtt(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c,
			    const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, TANDEM_MAX_RTT_US);
	u32 is_old = seq_distance(s->min_rtt_ms, bbr_ms(c)) > p->rtt_window;
	/* The only packet under way: its ACK may have been delayed. */
	u32 is_lone = ack->interval_us && seq_distance(ack->prior_delivered, ack->delivered) == 1;
	u32 is_least = rtt_us < s->min_rtt_us || (p->equal_rtt && rtt_us == s->min_rtt_us);

	if (rtt_us && (is_least || (is_old && !is_lone))) {
		s->min_rtt_us = rtt_us;
		s->min_rtt_ms = bbr_ms(c);
	}
	if (is_old && p->probe_rtt_time && !s->restarted && s->mode != BBR_PROBE_RTT) {
		s->mode = BBR_PROBE_RTT;
		s->probe_rtt_runs = 0;
		s->probe_rtt_from = ack->delivered;
		bbr_save_cwnd(s, c);
	}
	if (s->mode == BBR_PROBE_RTT)
		bbr_probe_rtt(s, p, c, ack);
	if (ack->interval_us)
		s->restarted = 0;
}

/* Packets by which the window is larger because ACKs come in bursts. */
TANDEM_FN u32 bbr_extra_window(const struct bbr *s, const struct bbr_params *p)
{
	u64 most = (u64)bbr_bw(s) * BBR_EXTRA_MAX_US >> 24;
	u32 extra = max_u32(s->extra_acked, s->prior_extra_acked);

	if (!p->aggregation || !s->full)
		return 0;
	return extra < most ? extra : (u32)most;
}

TANDEM_FN u32 bbr_window_gain(const struct bbr *s, const struct bbr_params *p)
{
	if (s->mode == BBR_PROBE_BW)
		return p->window_gain;
	return s->mode == BBR_PROBE_RTT ? BBR_UNIT : p->high_gain;
}

/*
 * The window after this ACK, by the model and the state of the recovery. All terms are below 2^33.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.2.3.6]
 * [draft-cardwell-iccrg-bbr-congestion-control 4.2.3.3]
 * [draft-cardwell-iccrg-bbr-congestion-control 4.2.3.4]
 */
TANDEM_FN u64 bbr_window(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c,
			 const struct tandem_ack *ack)
{
	u64 conserved = (u64)ack->in_flight + ack->acked_sacked;
	u64 cwnd = max_u32(sub_floor0(c->snd_cwnd, ack->lost), 1);
	u64 target;

	if (s->trouble == BBR_RECOVERY && s->prior_trouble != BBR_RECOVERY) {
		s->conserve = 1;
		s->round_end = ack->delivered;
		cwnd = conserved;
	} else if (s->trouble == BBR_CALM && s->prior_trouble != BBR_CALM) {
		s->conserve = 0;
		cwnd = cwnd > s->prior_cwnd ? cwnd : s->prior_cwnd;
	}
	s->prior_trouble = s->trouble;
	if (s->conserve)
		return cwnd > conserved ? cwnd : conserved;

	target = bbr_with_quanta(s, p, c, bbr_bdp(s, bbr_bw(s), bbr_window_gain(s, p)) +
					  bbr_extra_window(s, p));
	if (s->full)
		cwnd = cwnd + ack->acked_sacked < target ? cwnd + ack->acked_sacked : target;
	else if (cwnd < target || ack->delivered < BBR_INITIAL_WINDOW)
		cwnd += ack->acked_sacked;
	return cwnd > p->min_window ? cwnd : p->min_window;
}

TANDEM_FN void bbr_set_cwnd(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c,
			    const struct tandem_ack *ack)
{
	u64 cwnd = ack->acked_sacked ? bbr_window(s, p, c, ack) : c->snd_cwnd;

	c->snd_cwnd = cwnd < c->snd_cwnd_clamp ? (u32)cwnd : c->snd_cwnd_clamp;
	/* [draft-cardwell-iccrg-bbr-congestion-control 4.2.3.5] */
	if (s->mode == BBR_PROBE_RTT)
		c->snd_cwnd = min_u32(c->snd_cwnd, p->min_window);
}

/*
 * [draft-cardwell-iccrg-bbr-congestion-control 4.3.1]
 * [draft-cardwell-iccrg-bbr-congestion-control 4.2.1]
 */
TANDEM_FN void bbr_init(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c)
{
	*s = (struct bbr){
		.min_rtt_us = BBR_UNMEASURED,
		.min_rtt_ms = bbr_ms(c),
		.epoch_us = bbr_us(c),
	};
	/* Nothing lies between them. */
	s->probe_rtt_from = 1;
	c->pacing_bytes_per_s = bbr_bytes_per_s(p, c, bbr_rate_q24(c->snd_cwnd, BBR_NOMINAL_RTT_US),
						p->high_gain);
}

/* All of it: Linux's cong_control. */
TANDEM_FN void bbr_pkts_acked(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c,
			      const struct tandem_ack *ack)
{
	u32 app_limited = bbr_app_limited(s, ack);

	s->round_start = 0;
	if (ack->interval_us) {
		bbr_take_rate(s, p, c, ack, app_limited);
		bbr_take_extra(s, c, ack);
	}
	if (s->mode == BBR_PROBE_BW && bbr_phase_is_over(s, p, c, ack)) {
		s->phase = (s->phase + 1) & 7;
		s->phase_us = bbr_us(c);
	}
	bbr_take_fullness(s, p, c, ack, app_limited);
	bbr_take_rtt(s, p, c, ack);
	bbr_set_rate(s, p, c, bbr_gain(s, p));
	bbr_set_cwnd(s, p, c, ack);
}

TANDEM_FN void bbr_cong_avoid(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c,
			      u32 acked)
{
}

/* A loss does not change ssthresh. */
TANDEM_FN u32 bbr_ssthresh(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c,
			   u32 reason)
{
	bbr_save_cwnd(s, c);
	return c->snd_ssthresh;
}

TANDEM_FN void bbr_set_state(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c,
			     u32 state)
{
	s->trouble = state == TANDEM_RECOVERY ? BBR_RECOVERY :
		     state == TANDEM_LOSS ? BBR_TIMEOUT : BBR_CALM;
	if (state == TANDEM_LOSS) {
		s->prior_trouble = BBR_TIMEOUT;
		s->full_bw_q24 = 0;
		s->timed_out = 1;
	}
}

/*
 * Sending begins again with an empty path: without a burst
 * [draft-cardwell-iccrg-bbr-congestion-control 4.3.4.4].
 */
TANDEM_FN void bbr_restart(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c)
{
	s->restarted = 1;
	s->epoch_us = bbr_us(c);
	s->epoch_acked = 0;
	if (s->mode == BBR_PROBE_BW)
		bbr_set_rate(s, p, c, BBR_UNIT);
	else if (s->mode == BBR_PROBE_RTT)
		bbr_try_end_probe_rtt(s, p, c);
}

TANDEM_FN u32 bbr_undo_cwnd(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c)
{
	s->full_bw_q24 = 0;
	s->full_rounds = 0;
	bbr_forget_policer(s);
	return c->snd_cwnd;
}

/* In version 3's terms: PROBE_BW by its gain. */
enum bbr_shown {
	BBR_SHOWN_STARTUP,
	BBR_SHOWN_DRAIN,
	BBR_SHOWN_DOWN,
	BBR_SHOWN_CRUISE,
	BBR_SHOWN_UP,
	BBR_SHOWN_PROBE_RTT,
};

TANDEM_FN enum bbr_shown bbr_shown_state(const struct bbr *s, const struct bbr_params *p)
{
	u32 gain = bbr_gain(s, p);

	switch (s->mode) {
	case BBR_STARTUP:
		return BBR_SHOWN_STARTUP;
	case BBR_DRAIN:
		return BBR_SHOWN_DRAIN;
	case BBR_PROBE_RTT:
		return BBR_SHOWN_PROBE_RTT;
	default:
		return gain > BBR_UNIT ? BBR_SHOWN_UP :
		       gain < BBR_UNIT ? BBR_SHOWN_DOWN : BBR_SHOWN_CRUISE;
	}
}

#define bbr_PROBES(P, W) \
	W(state, "STARTUP DRAIN DOWN CRUISE UP PROBE_RTT", bbr_shown_state(s, p), \
	  "of the state machine") \
	P(bw_mbps, 1000000, bbr_bits_per_s(bbr_bw(s), c), "estimated rate, payload") \
	P(pacing_gain, BBR_UNIT, bbr_gain(s, p), "of the rate") \
	P(extra_acked_packets, 1, max_u32(s->extra_acked, s->prior_extra_acked), \
	  "excess of ACKs that counts") \
	P(policed, 1, s->policed, "1 = a policer is believed in") \
	P(full_bw_reached, 1, s->full, "1 = the path has been full") \
	P(full_bw_count, 1, s->full_rounds, "rounds without growth in this search") \
	P(max_bw_mbps, 1000000, bbr_bits_per_s(s->best.bw_q24, c), "without a policer's bound") \
	P(inflight_target_packets, 1, bbr_inflight(s, p, c, BBR_UNIT), "what fills the path") \
	P(round_start, 1, s->round_start, "1 = the last ACK began a round") \
	P(idle_restart, 1, s->restarted, "1 = sending resumes after a pause")

TANDEM_FN void bbr_view(const struct bbr *s, const struct bbr_params *p,
			const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
	v->base_rtt_us = s->min_rtt_us == BBR_UNMEASURED ? 0 : s->min_rtt_us;
}


#endif
