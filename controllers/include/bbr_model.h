/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What BBR knows of the path, bw and min_rtt, and what follows from them: rates, and packets in
 * flight. Sources and decisions: bbr.h.
 */
#ifndef TANDEM_BBR_MODEL_H
#define TANDEM_BBR_MODEL_H

#include "window.h"

#define bbr_PARAMS(P) \
	P(high_gain, 256, 739, 256, 1024, \
	  "gain of rate and window in STARTUP, 2 / ln 2 (Linux: 739/256)") \
	P(drain_gain, 256, 88, 16, 256, "gain of the rate in DRAIN (Linux: 88/256)") \
	P(probe_gain, 256, 320, 256, 512, \
	  "gain of the rate in PROBE_BW's first phase (Linux: 5/4)") \
	P(yield_gain, 256, 192, 64, 256, "gain of the rate in the phase after it (Linux: 3/4)") \
	P(window_gain, 256, 512, 256, 1024, "window in PROBE_BW over bw * min_rtt (Linux: 2)") \
	P(bw_window, 1, 10, 2, 100, "rounds for which a delivery rate counts (Linux: 10)") \
	P(rtt_window, 1000, 10000, 100, 600000, "seconds for which an RTT counts (Linux: 10)") \
	P(equal_rtt, 1, 0, 0, 1, \
	  "1 = an RTT equal to the smallest renews it (draft 4.1.2); " \
	  "0 = only a smaller one does (Linux since 2020)") \
	P(probe_rtt_time, 1, 200, 0, 10000, "minimum ms of PROBE_RTT; 0 = none (Linux: 200)") \
	P(min_window, 1, 4, 2, 1000, "packets, minimum window, also in PROBE_RTT (Linux: 4)") \
	P(pacing_margin, 1, 1, 0, 50, "percent by which the rate stays below bw (Linux: 1)") \
	P(quantum, 1, 1000, 0, 10000, \
	  "us of the rate that a host sends in one piece (draft: 1000)") \
	P(aggregation, 1, 1, 0, 1, "1 = a larger window where ACKs come in bursts (Linux: 1)") \
	P(policer, 1, 1, 0, 1, "1 = look for a policer (Linux: 1)")

struct bbr_params { bbr_PARAMS(TANDEM_PARAM_FIELD) };

enum bbr_mode { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT };

/* The host's congestion states, as far as they matter. */
enum bbr_trouble { BBR_CALM, BBR_RECOVERY, BBR_TIMEOUT };

#define BBR_UNMEASURED 0xffffffffu
#define BBR_UNIT 256u /* a gain of 1                                                              */
#define BBR_NOMINAL_RTT_US 1000 /* before the first sample (Linux)                                */
#define BBR_INITIAL_WINDOW 10
#define BBR_FULL_ROUNDS 3         /* without growth: the path is full                             */
#define BBR_EXTRA_ROUNDS 5        /* for which an excess of ACKs counts, and as long again        */
#define BBR_EXTRA_MAX_US 100000   /* of bw is the most that such an excess adds                   */
#define BBR_EXTRA_MAX_ACKED (1u << 20)
#define BBR_POLICED_ROUNDS 48
#define BBR_POLICER_MIN_ROUNDS 4  /* of an interval, and 4 times that the most                    */
#define BBR_POLICER_LOSS_Q8 50    /* share of packets, 1/256                                      */
#define BBR_POLICER_DIFF_BPS 500

/* A delivery rate, packets a microsecond in 1/2^24, and its round. */
struct bbr_sample {
	u32 bw_q24, round;
};

struct bbr {
	/* The largest rate, the largest after it, and after that. */
	struct bbr_sample best, second, third;
	u32 rounds;
	u32 round_end;       /* delivered count that ends the round                               */
	u32 full_bw_q24;     /* what bw is to outgrow                                             */
	u32 min_rtt_us;      /* or BBR_UNMEASURED                                                 */
	u32 min_rtt_ms;      /* when it was measured; clocks in the state wrap                    */
	u32 probe_rtt_ms;    /* since when the window of PROBE_RTT is in force                    */
	u32 probe_rtt_from;  /* delivered counts: what is sent between them is sent in PROBE_RTT  */
	u32 probe_rtt_until;
	u32 phase_us;        /* when the phase of PROBE_BW began                                  */
	u32 prior_cwnd;      /* window to return to after a recovery or PROBE_RTT                 */
	u32 policer_bw_q24;  /* rate of the last interval, or of the policer                      */
	u32 policer_from;    /* delivered count where the interval began                          */
	u32 policer_ms;      /* when it began                                                     */
	u32 policer_lost;    /* packets lost in it                                                */
	u32 epoch_us;        /* since when acknowledged packets are held against bw               */
	u32 epoch_acked;
	u32 extra_acked;     /* most in excess in these five rounds                               */
	u32 prior_extra_acked; /* and in the five before                                          */
	u32 mode : 2;
	u32 trouble : 2;       /* now, enum bbr_trouble                                           */
	u32 prior_trouble : 2; /* at the last ACK                                                 */
	u32 round_start : 1;
	u32 conserve : 1;      /* first round of a recovery                                       */
	u32 timed_out : 1;     /* since the last ACK                                              */
	u32 restarted : 1;     /* after an idle time, and nothing delivered since                 */
	u32 has_seen_rtt : 1;
	u32 full : 1;          /* STARTUP has filled the path                                     */
	u32 full_rounds : 2;   /* without growth                                                  */
	u32 phase : 3;
	u32 probe_rtt_runs : 1;
	u32 probe_rtt_round : 1; /* a round has ended in it                                       */
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

TANDEM_FN u32 bbr_bw(const struct bbr *s)
{
	return select_u32(s->policed, s->policer_bw_q24, s->best.bw_q24);
}

/* For probes: 8 * 10^6 / 2^24 is 15625 / 2^15, and 2^32 * 2^16 * 15625 is below 2^62. */
TANDEM_FN u64 bbr_bits_per_s(u32 bw_q24, const struct tandem_conn *c)
{
	return (u64)bw_q24 * min_u32(c->mss, 65535) * 15625 >> 15;
}

/*
 * Bytes a second. bw < 2^32, mss < 2^16 and gain <= 2^10 make less than 2^58, in 1/2^32
 * bytes a microsecond.
 */
TANDEM_FN u64 bbr_bytes_per_s(const struct bbr_params *p, const struct tandem_conn *c, u32 bw_q24,
			      u32 gain)
{
	u64 rate_q32 = (u64)bw_q24 * min_u32(c->mss, 65535) * gain;
	u64 rate = (rate_q32 >> 15) * (10000 * (100 - p->pacing_margin)) >> 17;

	return rate ? rate : 1;
}

/*
 * gain * bw * min_rtt in packets, rounded up. bw * min_rtt < 2^56.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.2.3.2]
 */
TANDEM_FN u32 bbr_bdp(const struct bbr *s, u32 bw_q24, u32 gain)
{
	u64 packets;

	if (s->min_rtt_us == BBR_UNMEASURED)
		return BBR_INITIAL_WINDOW;
	packets = (((u64)bw_q24 * s->min_rtt_us >> 8) * gain + (1u << 24) - 1) >> 24;
	return packets < TANDEM_MAX_WINDOW ? (u32)packets : TANDEM_MAX_WINDOW;
}

/*
 * Packets that a host with segmentation offload sends in one piece: at most 64 KB; below 1.2 Mb/s
 * one, otherwise two at least.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.2.2]
 */
TANDEM_FN u32 bbr_quantum(const struct bbr_params *p, const struct tandem_conn *c)
{
	u64 rate = c->pacing_bytes_per_s < 1ull << 40 ? c->pacing_bytes_per_s : 1ull << 40;
	u64 bytes = rate * p->quantum / 1000000;

	bytes = bytes < 65536 ? bytes : 65536;
	return max_u32(min_u32((u32)bytes / max_u32(c->mss, 1), 127), rate < 150000 ? 1 : 2);
}

/*
 * Room for three pieces under way in hosts, and an even number, because ACKs come for two packets.
 * PROBE_BW's first phase is to reach beyond.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.2.3.2]
 */
TANDEM_FN u32 bbr_with_quanta(const struct bbr *s, const struct bbr_params *p,
			      const struct tandem_conn *c, u32 packets)
{
	packets += 3 * bbr_quantum(p, c);
	packets = (packets + 1) & ~1u;
	if (s->mode == BBR_PROBE_BW && s->phase == 0)
		packets += 2;
	return packets;
}

/* Packets in flight at this gain. */
TANDEM_FN u32 bbr_inflight(const struct bbr *s, const struct bbr_params *p,
			   const struct tandem_conn *c, u32 gain)
{
	return bbr_with_quanta(s, p, c, bbr_bdp(s, s->best.bw_q24, gain));
}

/*
 * The rate's gain [draft-cardwell-iccrg-bbr-congestion-control 4.3.2.1]
 * [draft-cardwell-iccrg-bbr-congestion-control 4.3.4.1].
 */
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

/*
 * The rate does not fall until the path has been full.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.2.1]
 */
TANDEM_FN void bbr_set_rate(struct bbr *s, const struct bbr_params *p, struct tandem_conn *c,
			    u32 gain)
{
	u64 rate = bbr_bytes_per_s(p, c, bbr_bw(s), gain);
	u32 first_q24;

	if (!s->has_seen_rtt && s->min_rtt_us != BBR_UNMEASURED) {
		s->has_seen_rtt = 1;
		first_q24 = bbr_rate_q24(c->snd_cwnd, s->min_rtt_us);
		c->pacing_bytes_per_s = bbr_bytes_per_s(p, c, first_q24, p->high_gain);
	}
	if (s->full || rate > c->pacing_bytes_per_s)
		c->pacing_bytes_per_s = rate;
}

/*
 * The largest rate of the last rounds from three candidates, each later than the one before it
 * (K. Nichols's windowed filter). One that is too old gives way to the next. So that the next is a
 * good one, it is looked for anew when none has come for a quarter of the time, or half of it.
 * [draft-cardwell-iccrg-bbr-congestion-control 4.1.1.2]
 */
TANDEM_FN void bbr_keep_best(struct bbr *s, const struct bbr_params *p, u32 bw_q24)
{
	struct bbr_sample newest = { bw_q24, s->rounds };
	u32 age;

	for (int i = 0; i < 3 && s->rounds - s->best.round > p->bw_window; i++) {
		s->best = s->second;
		s->second = s->third;
		s->third = newest;
	}
	age = s->rounds - s->best.round;
	if (bw_q24 >= s->best.bw_q24)
		s->best = s->second = s->third = newest;
	else if (bw_q24 >= s->second.bw_q24 ||
		 (s->second.round == s->best.round && age > p->bw_window / 4))
		s->second = s->third = newest;
	else if (bw_q24 >= s->third.bw_q24 ||
		 (s->third.round == s->second.round && age > p->bw_window / 2))
		s->third = newest;
}

/*
 * PROBE_BW begins in any phase but the second
 * [draft-cardwell-iccrg-bbr-congestion-control 4.3.4.2].
 */
TANDEM_FN void bbr_probe_bw(struct bbr *s, const struct tandem_conn *c)
{
	s->mode = BBR_PROBE_BW;
	s->phase = (8 - (u32)(c->now_us % 7)) & 7;
	s->phase_us = bbr_us(c);
}

#endif
