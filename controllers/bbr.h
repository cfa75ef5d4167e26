/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBR version 1 (Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: congestion-based congestion control", ACM Queue 14(5), 2016;
 * draft-cardwell-iccrg-bbr-congestion-control-00), as Linux has it: a model of the path, and neither loss nor delay, says how
 * much and how fast to send.
 *
 *   bw       = largest delivery rate of the last 10 rounds          min_rtt = smallest RTT of the last 10 s
 *   rate     = gain * bw, less 1 %                                  window  = window gain * bw * min_rtt, and what follows below
 *   STARTUP    both gains 2.89, until bw has not grown by 1/4 for three rounds
 *   DRAIN      gain 1/2.89, until no more than bw * min_rtt is in flight
 *   PROBE_BW   gains 5/4, 3/4, 1, 1, 1, 1, 1, 1, a min_rtt each; window gain 2
 *   PROBE_RTT  a window of 4 for 200 ms and a round, once min_rtt is 10 s old
 *   recovery   what is lost leaves the window; its first round sends what is delivered; then the window of before returns
 *
 * To the window are added three of the pieces in which a host with segmentation offload sends (1 ms of the rate), and the packets
 * that are acknowledged in excess of bw (ACKs that come in bursts). A loss of 1/5 in two intervals at one rate means a policer:
 * then that rate is used for 48 rounds.
 *
 * What is open, or left out, and how it is decided here:
 *  - Linux draws the phase in which PROBE_BW begins by lot; here the clock decides: now_us modulo 7.
 *  - Linux estimates what will be in flight when the next piece leaves its queue; here packets leave one by one, and what is in
 *    flight counts.
 *  - What a timer finds lost does not count for the policer. What is sent in PROBE_RTT is taken for application-limited here,
 *    where Linux tells the host.
 *  - snd_ssthresh is left alone: Linux shows bw * min_rtt there.
 */
#ifndef TANDEM_BBR_H
#define TANDEM_BBR_H

#include "window.h"

#define bbr_PARAMS(P) \
	P(high_gain, 256, 739, 256, 1024, "gain of rate and window in STARTUP, 2 / ln 2 (Linux: 739/256)") \
	P(drain_gain, 256, 88, 16, 256, "gain of the rate in DRAIN (Linux: 88/256)") \
	P(probe_gain, 256, 320, 256, 512, "gain of the rate in PROBE_BW's first phase (Linux: 5/4)") \
	P(yield_gain, 256, 192, 64, 256, "gain of the rate in the phase after it (Linux: 3/4)") \
	P(window_gain, 256, 512, 256, 1024, "window in PROBE_BW over bw * min_rtt (Linux: 2)") \
	P(bw_window, 1, 10, 2, 100, "rounds for which a delivery rate counts (Linux: 10)") \
	P(rtt_window, 1000, 10000, 100, 600000, "seconds for which an RTT counts (Linux: 10)") \
	P(probe_rtt_time, 1, 200, 0, 10000, "ms of PROBE_RTT at least; 0 = none (Linux: 200)") \
	P(min_window, 1, 4, 2, 1000, "packets, least window and that of PROBE_RTT (Linux: 4)") \
	P(pacing_margin, 1, 1, 0, 50, "percent by which the rate stays below bw (Linux: 1)") \
	P(quantum, 1, 1000, 0, 10000, "us of the rate that a host sends in one piece (draft: 1000)") \
	P(aggregation, 1, 1, 0, 1, "1 = a larger window where ACKs come in bursts (Linux: 1)") \
	P(policer, 1, 1, 0, 1, "1 = look for a policer (Linux: 1)")

struct bbr_params { bbr_PARAMS(TANDEM_PARAM_FIELD) };

enum bbr_mode { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT };

/* The host's congestion states, as far as they matter. */
enum bbr_trouble { BBR_CALM, BBR_RECOVERY, BBR_TIMEOUT };

#define BBR_UNMEASURED 0xffffffffu
#define BBR_MAX_RTT_US (1u << 24)
#define BBR_UNIT 256u /* a gain of 1                                                                      */
#define BBR_NOMINAL_RTT_US 1000 /* before the first sample (Linux)                                        */
#define BBR_INITIAL_WINDOW 10
#define BBR_FULL_ROUNDS 3         /* without growth: the path is full                                     */
#define BBR_EXTRA_ROUNDS 5        /* for which an excess of ACKs counts, and as long again                */
#define BBR_EXTRA_MAX_US 100000   /* of bw is the most that such an excess adds                           */
#define BBR_EXTRA_MAX_ACKED (1u << 20)
#define BBR_POLICED_ROUNDS 48
#define BBR_POLICER_MIN_ROUNDS 4  /* of an interval, and 4 times that the most                            */
#define BBR_POLICER_LOSS_Q8 50    /* share of packets, 1/256                                              */
#define BBR_POLICER_DIFF_BPS 500

/* A delivery rate, packets a microsecond in 1/2^24, and its round. */
struct bbr_sample {
	u32 bw_q24, round;
};

struct bbr {
	struct bbr_sample best, second, third; /* the largest rate, the largest after it, and after that    */
	u32 rounds;
	u32 round_end;       /* delivered count that ends the round                                       */
	u32 full_bw_q24;     /* what bw is to outgrow                                                     */
	u32 min_rtt_us;      /* or BBR_UNMEASURED                                                         */
	u32 min_rtt_ms;      /* when it was measured; clocks in the state wrap                            */
	u32 probe_rtt_ms;    /* since when the window of PROBE_RTT is in force                            */
	u32 probe_rtt_from;  /* delivered counts: what is sent between them is sent in PROBE_RTT          */
	u32 probe_rtt_until;
	u32 phase_us;        /* when the phase of PROBE_BW began                                          */
	u32 prior_cwnd;      /* window to return to after a recovery or PROBE_RTT                         */
	u32 policer_bw_q24;  /* rate of the last interval, or of the policer                              */
	u32 policer_from;    /* delivered count where the interval began                                  */
	u32 policer_ms;      /* when it began                                                             */
	u32 policer_lost;    /* packets lost in it                                                        */
	u32 epoch_us;        /* since when acknowledged packets are held against bw                       */
	u32 epoch_acked;
	u32 extra_acked;     /* most in excess in these five rounds                                       */
	u32 prior_extra_acked; /* and in the five before                                                  */
	u32 mode : 2;
	u32 trouble : 2;       /* now, enum bbr_trouble                                                   */
	u32 prior_trouble : 2; /* at the last ACK                                                         */
	u32 round_start : 1;
	u32 conserve : 1;      /* first round of a recovery                                               */
	u32 timed_out : 1;     /* since the last ACK                                                      */
	u32 restarted : 1;     /* after an idle time, and nothing delivered since                         */
	u32 has_seen_rtt : 1;
	u32 full : 1;          /* STARTUP has filled the path                                             */
	u32 full_rounds : 2;   /* without growth                                                          */
	u32 phase : 3;
	u32 probe_rtt_runs : 1;
	u32 probe_rtt_round : 1; /* a round has ended in it                                               */
	u32 extra_rounds : 3;
	u32 policer_sampling : 1;
	u32 policed : 1;
	u32 policer_rounds : 6;
};

TANDEM_FN u32 bbr_us(const struct tandem_conn *c) { return (u32)(c->now_us & 0xffffffffu); }
TANDEM_FN u32 bbr_ms(const struct tandem_conn *c) { return (u32)(c->now_us / 1000 & 0xffffffffu); }

/* Packets in a time as a rate, saturated. */
TANDEM_FN u32 bbr_rate_q24(u32 packets, u32 us)
{
	u64 bw = ((u64)packets << 24) / us;

	return bw > 0xffffffffu ? 0xffffffffu : max_u32((u32)bw, 1);
}

TANDEM_FN u32 bbr_bw(const struct bbr *s) { return s->policed ? s->policer_bw_q24 : s->best.bw_q24; }

/* Bytes a second. bw < 2^32, mss < 2^16 and gain <= 2^10 make less than 2^58, in 1/2^32 bytes a microsecond. */
TANDEM_FN u64 bbr_bytes_per_s(const struct bbr_params *p, const struct tandem_conn *c, u32 bw_q24, u32 gain)
{
	u64 rate_q32 = (u64)bw_q24 * min_u32(c->mss, 65535) * gain;
	u64 rate = (rate_q32 >> 15) * (10000 * (100 - p->pacing_margin)) >> 17;

	return rate ? rate : 1;
}

/* gain * bw * min_rtt in packets, rounded up. bw * min_rtt < 2^56. */
TANDEM_FN u32 bbr_bdp(const struct bbr *s, u32 bw_q24, u32 gain)
{
	u64 packets;

	if (s->min_rtt_us == BBR_UNMEASURED)
		return BBR_INITIAL_WINDOW;
	packets = (((u64)bw_q24 * s->min_rtt_us >> 8) * gain + (1u << 24) - 1) >> 24;
	return packets < TANDEM_MAX_WINDOW ? (u32)packets : TANDEM_MAX_WINDOW;
}

/* Packets that a host with segmentation offload sends in one piece: at most 64 KB; below 1.2 Mb/s one, else two at least. */
TANDEM_FN u32 bbr_quantum(const struct bbr_params *p, const struct tandem_conn *c)
{
	u64 rate = c->pacing_bytes_per_s < 1ull << 40 ? c->pacing_bytes_per_s : 1ull << 40;
	u64 bytes = rate * p->quantum / 1000000;

	bytes = bytes < 65536 ? bytes : 65536;
	return max_u32(min_u32((u32)bytes / max_u32(c->mss, 1), 127), rate < 150000 ? 1 : 2);
}

/* Room for three pieces under way in hosts, even, for ACKs come for two; PROBE_BW's first phase is to reach beyond. */
TANDEM_FN u32 bbr_with_quanta(const struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c, u32 packets)
{
	packets += 3 * bbr_quantum(p, c);
	packets = (packets + 1) & ~1u;
	if (s->mode == BBR_PROBE_BW && s->phase == 0)
		packets += 2;
	return packets;
}

/* Packets in flight at this gain. */
TANDEM_FN u32 bbr_inflight(const struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c, u32 gain)
{
	return bbr_with_quanta(s, p, c, bbr_bdp(s, s->best.bw_q24, gain));
}

/* The rate's gain. */
TANDEM_FN u32 bbr_gain(const struct bbr *s, const struct bbr_params *p)
{
	if (s->mode == BBR_STARTUP)
		return p->high_gain;
	if (s->mode == BBR_DRAIN)
		return p->drain_gain;
	if (s->mode == BBR_PROBE_RTT || s->policed || s->phase > 1)
		return BBR_UNIT;
	return s->phase ? p->yield_gain : p->probe_gain;
}

/* Below what has been reached before the path was full the rate does not fall. */
TANDEM_FN void bbr_set_rate(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c, u32 gain)
{
	u64 rate = bbr_bytes_per_s(p, c, bbr_bw(s), gain);

	if (!s->has_seen_rtt && s->min_rtt_us != BBR_UNMEASURED) {
		s->has_seen_rtt = 1;
		c->pacing_bytes_per_s = bbr_bytes_per_s(p, c, bbr_rate_q24(c->snd_cwnd, s->min_rtt_us), p->high_gain);
	}
	if (s->full || rate > c->pacing_bytes_per_s)
		c->pacing_bytes_per_s = rate;
}

/*
 * The largest rate of the last rounds from three candidates, each later than the one before it (K. Nichols's windowed filter).
 * One that is too old gives way to the next. So that the next is a good one, it is looked for anew when none has come for a
 * quarter of the time, or half of it.
 */
TANDEM_FN void bbr_keep_best(struct bbr *s, const struct bbr_params *p, u32 bw_q24)
{
	struct bbr_sample newest = { bw_q24, s->rounds };
	u32 age;

	for (int i = 0; i < 3; i++) {
		if (s->rounds - s->best.round > p->bw_window) {
			s->best = s->second;
			s->second = s->third;
			s->third = newest;
		}
	}
	age = s->rounds - s->best.round;
	if (bw_q24 >= s->best.bw_q24)
		s->best = s->second = s->third = newest;
	else if (bw_q24 >= s->second.bw_q24 || (s->second.round == s->best.round && age > p->bw_window / 4))
		s->second = s->third = newest;
	else if (bw_q24 >= s->third.bw_q24 || (s->third.round == s->second.round && age > p->bw_window / 2))
		s->third = newest;
}

/* PROBE_BW begins in any phase but the second. */
TANDEM_FN void bbr_probe_bw(struct bbr *s, const struct tandem_conn *c)
{
	s->mode = BBR_PROBE_BW;
	s->phase = (8 - (u32)(c->now_us % 7)) & 7;
	s->phase_us = bbr_us(c);
}

TANDEM_FN void bbr_policer_interval(struct bbr *s, const struct tandem_conn *c, const struct tandem_ack *ack)
{
	s->policer_from = ack->delivered;
	s->policer_ms = bbr_ms(c);
	s->policer_lost = 0;
	s->policer_rounds = 0;
}

TANDEM_FN void bbr_forget_policer(struct bbr *s)
{
	s->policer_bw_q24 = 0;
	s->policer_sampling = 0;
	s->policed = 0;
	s->policer_rounds = 0;
}

/* An interval has ended with many losses: a policer if the one before it had the same rate. */
TANDEM_FN void bbr_judge_policer(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c,
				 const struct tandem_ack *ack, u32 bw_q24)
{
	u32 last = s->policer_bw_q24, diff = sub_floor0(bw_q24, last) + sub_floor0(last, bw_q24);

	if (last && (diff <= last / 8 || bbr_bytes_per_s(p, c, diff, BBR_UNIT) <= BBR_POLICER_DIFF_BPS)) {
		s->policer_bw_q24 = max_u32((u32)(((u64)bw_q24 + last) / 2), 1);
		s->policed = 1;
		s->policer_rounds = 0;
		return;
	}
	s->policer_bw_q24 = bw_q24;
	bbr_policer_interval(s, c, ack);
}

/* Each ACK of an interval: it lasts 4 to 16 rounds, and ends with a loss once a fifth of the packets is lost. */
TANDEM_FN void bbr_sample_policer(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c,
				  const struct tandem_ack *ack, u32 lost)
{
	u32 delivered = seq_distance(s->policer_from, ack->delivered);
	u32 ms = seq_distance(s->policer_ms, bbr_ms(c));

	s->policer_lost = min_u32(s->policer_lost, 0x7fffffffu) + lost;
	s->policer_rounds += s->round_start;
	if (s->policer_rounds < BBR_POLICER_MIN_ROUNDS)
		return;
	if (s->policer_rounds > 4 * BBR_POLICER_MIN_ROUNDS) {
		bbr_forget_policer(s);
		return;
	}
	if (!lost || !delivered || (u64)s->policer_lost << 8 < (u64)delivered * BBR_POLICER_LOSS_Q8 || !ms)
		return;
	if (ms >= 0xffffffffu / 1000)
		bbr_forget_policer(s);
	else
		bbr_judge_policer(s, p, c, ack, bbr_rate_q24(delivered, ms * 1000));
}

TANDEM_FN void bbr_watch_policer(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c,
				 const struct tandem_ack *ack, u32 app_limited)
{
	u32 lost = min_u32(ack->lost, 0x7fffffffu), loss = lost || s->timed_out;

	s->timed_out = 0;
	if (!p->policer)
		return;
	if (s->policed) {
		if (s->mode != BBR_PROBE_BW || !s->round_start)
			return;
		s->policer_rounds++;
		if (s->policer_rounds >= BBR_POLICED_ROUNDS) {
			bbr_forget_policer(s);
			bbr_probe_bw(s, c);
		}
		return;
	}
	if (!s->policer_sampling) {
		/* Until the first loss a policer lets pass what it has saved up. */
		if (!loss)
			return;
		bbr_policer_interval(s, c, ack);
		s->policer_sampling = 1;
		/* What begins it is not lost in it. */
		lost = 0;
	}
	if (app_limited)
		bbr_forget_policer(s);
	else
		bbr_sample_policer(s, p, c, ack, lost);
}

/* Was the newest packet acknowledged sent when less than the path holds was to be sent? */
TANDEM_FN u32 bbr_app_limited(const struct bbr *s, const struct tandem_ack *ack)
{
	u32 sent_in_probe_rtt = !seq_after(s->probe_rtt_from, ack->prior_delivered) &&
				!seq_after(ack->prior_delivered, s->probe_rtt_until);

	return ack->is_app_limited || sent_in_probe_rtt;
}

/* The delivery rate, and rounds: one ends when a packet is acknowledged that was sent after its beginning. */
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
TANDEM_FN void bbr_take_extra(struct bbr *s, const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 acked = min_u32(ack->pkts_acked, BBR_EXTRA_MAX_ACKED);
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
	s->extra_acked = max_u32(s->extra_acked, min_u32(s->epoch_acked - (u32)expected, c->snd_cwnd));
}

/* A phase lasts a min_rtt; the first until it has filled the path by its gain or lost something, the second until no more is queued. */
TANDEM_FN int bbr_phase_is_over(const struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c,
				const struct tandem_ack *ack)
{
	int is_long = seq_distance(s->phase_us, bbr_us(c)) > s->min_rtt_us;
	u64 before = (u64)ack->in_flight + ack->pkts_acked + ack->lost;
	u32 gain = bbr_gain(s, p);

	if (gain > BBR_UNIT)
		return is_long && (ack->lost || before >= bbr_inflight(s, p, c, gain));
	if (gain < BBR_UNIT)
		return is_long || before <= bbr_inflight(s, p, c, BBR_UNIT);
	return is_long;
}

/* Is the path full? Then drain what STARTUP has queued. */
TANDEM_FN void bbr_take_fullness(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c,
				 const struct tandem_ack *ack, u32 app_limited)
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

TANDEM_FN void bbr_try_end_probe_rtt(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c)
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

TANDEM_FN void bbr_probe_rtt(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c, const struct tandem_ack *ack)
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

TANDEM_FN void bbr_take_rtt(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, BBR_MAX_RTT_US);
	u32 is_old = seq_distance(s->min_rtt_ms, bbr_ms(c)) > p->rtt_window;
	/* The only packet under way: its ACK may have been delayed. */
	u32 is_lone = ack->interval_us && seq_distance(ack->prior_delivered, ack->delivered) == 1;

	if (rtt_us && (rtt_us <= s->min_rtt_us || (is_old && !is_lone))) {
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

/* The window after this ACK, by the model and the state of the recovery. All terms are below 2^33. */
TANDEM_FN u64 bbr_window(struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u64 conserved = (u64)ack->in_flight + ack->pkts_acked;
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

	target = bbr_with_quanta(s, p, c, bbr_bdp(s, bbr_bw(s), bbr_window_gain(s, p)) + bbr_extra_window(s, p));
	if (s->full)
		cwnd = cwnd + ack->pkts_acked < target ? cwnd + ack->pkts_acked : target;
	else if (cwnd < target || ack->delivered < BBR_INITIAL_WINDOW)
		cwnd += ack->pkts_acked;
	return cwnd > p->min_window ? cwnd : p->min_window;
}

TANDEM_FN void bbr_set_cwnd(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c, const struct tandem_ack *ack)
{
	u64 cwnd = ack->pkts_acked ? bbr_window(s, p, c, ack) : c->snd_cwnd;

	c->snd_cwnd = cwnd < c->snd_cwnd_clamp ? (u32)cwnd : c->snd_cwnd_clamp;
	if (s->mode == BBR_PROBE_RTT)
		c->snd_cwnd = min_u32(c->snd_cwnd, p->min_window);
}

TANDEM_FN void bbr_init(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c)
{
	*s = (struct bbr){ .min_rtt_us = BBR_UNMEASURED, .min_rtt_ms = bbr_ms(c), .epoch_us = bbr_us(c) };
	/* Nothing lies between them. */
	s->probe_rtt_from = 1;
	c->pacing_bytes_per_s = bbr_bytes_per_s(p, c, bbr_rate_q24(c->snd_cwnd, BBR_NOMINAL_RTT_US), p->high_gain);
}

/* All of it: Linux's cong_control. */
TANDEM_FN void bbr_pkts_acked(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c, const struct tandem_ack *ack)
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

TANDEM_FN void bbr_cong_avoid(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c, u32 acked)
{
	(void)s, (void)p, (void)c, (void)acked;
}

/* A loss changes no threshold. */
TANDEM_FN u32 bbr_ssthresh(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c)
{
	(void)p;
	bbr_save_cwnd(s, c);
	return c->snd_ssthresh;
}

TANDEM_FN void bbr_set_state(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c, u32 state)
{
	(void)p, (void)c;
	s->trouble = state == TANDEM_RECOVERY ? BBR_RECOVERY : state == TANDEM_LOSS ? BBR_TIMEOUT : BBR_CALM;
	if (state == TANDEM_LOSS) {
		s->prior_trouble = BBR_TIMEOUT;
		s->full_bw_q24 = 0;
		s->timed_out = 1;
	}
}

/* Sending begins again with an empty path: without a burst. */
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

TANDEM_FN u32 bbr_undo_cwnd(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c)
{
	(void)p;
	s->full_bw_q24 = 0;
	s->full_rounds = 0;
	bbr_forget_policer(s);
	return c->snd_cwnd;
}

TANDEM_FN void bbr_view(const struct bbr *s, const struct bbr_params *p, const struct tandem_conn *c, struct tandem_view *v)
{
	(void)p;
	v->loss_window = c->snd_cwnd;
	v->base_rtt_us = s->min_rtt_us == BBR_UNMEASURED ? 0 : s->min_rtt_us;
}

TANDEM_STATE_FITS(struct bbr);

#endif
