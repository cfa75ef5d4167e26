/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * compound_steady: Compound TCP that holds a small backlog instead of swinging around gamma.
 *
 * Once a round (rounds.h), with r the mean of its RTTs, F the flight when it began, x = F / r:
 *
 *   q      = F (1 - (base + (5 S - base / 128)^+) / r)      own backlog, packets
 *   noise  5 S > 10 ms: r is instead the least RTT of late, 1/256 of the way up to the round's
 *   aim    = max(1, B sqrt(x / 10 ms)),  B = min(D, 10 ms), 10 ms if D is unknown
 *   n      = rounds since q was aim / 2, of those with q < aim / 8; at most 127
 *   grow   q <= aim, n < 2    W += (aim - q) / 2 over the round
 *          q <= aim, n >= 2   W += min(W^(3/4) / 8, max(1, D x / 8)), the second only if D is known
 *                             and n < 127
 *   shrink q > aim            W -= (q - aim) / 2 at once, not below L
 *   L      for each W packets ACKed: +1 if n > 0, if W is 4 packets below its mean of 16 rounds,
 *          or if q > 3/2 aim and D is known or fails > 0, because somebody pushes; otherwise
 *          -1 if q <= aim, down to W / 8
 *   yield  if the queue was not empty for 9.6 s 2^fails: W -= min(q, W / 2)
 *          + min(max(W / 64, W / 2^(i + 1)), D x) for three rounds, the i-th time. Then, with d the
 *          delay:
 *          d < d before / 4   nobody pushes: L <= W / 8
 *          r lower            others push: fails + 1, until the queue is empty
 *          otherwise, W < L   again after 4.1 s. If r is as it was: it is the path's, base = r,
 *                             W doubles up to the last that held. Otherwise others push
 *   loss   L /= 2,  d = the largest RTT of the last samples - base; in noise the least of late
 *          d < D / 2          chance: W -= W / 2 sqrt(41 / W); D -= D / 32, n = 127
 *          otherwise          overflow: W -= W / 2 sqrt(82 / W); n = 0; D = max(d, 7/8 D + d / 8)
 *   start  W doubles each round until the last RTTs are base / 8, 1 to 16 ms, and 5 S above base;
 *          L = W / 2, which Reno keeps
 *   rate   33/32 W / RTT, 2 W / RTT in slow start
 *
 * W: window; L <= W: what Reno would have; base: smallest r;
 * S: mean deviation of a round's RTTs, the least of late, 1/16 of the way up to the round's;
 * D: queueing delay at the last overflow, base / 512 at least; it grows by what base falls by.
 * Up to 20 packets it is Reno.
 */
#ifndef TANDEM_COMPOUND_STEADY_H
#define TANDEM_COMPOUND_STEADY_H

#define TANDEM_SIGNAL BOTH
#define TANDEM_TRAITS TANDEM_OWNS_WINDOW
#define TANDEM_OWNS_SLOW_START

#include "rounds.h"
#include "window.h"

#define compound_steady_PARAMS(P) \
	P(buffer_us, 1, 10000, 100, 1000000, "D counts as this while unknown or larger") \
	P(alpha, 1024, 128, 1, 1024, "growth per round without a queue: alpha * W^(3/4) (CTCP)") \
	P(step, 1024, 128, 0, 4096, "share of its part of the buffer that a round may fill") \
	P(noise, 16, 80, 0, 255, "multiple of a round's mean deviation that is no queue") \
	P(yield, 1024, 16, 0, 512, "share of W given up beyond the backlog when it yields") \
	P(pacing_gain, 256, 264, 256, 1024, "of the rate over W / RTT") \
	P(overflow_window, 1, 82, 1, 1 << 24, "packets: an overflow halves it, more lose less") \
	P(chance_window, 1, 41, 1, 1 << 24, "packets: a loss by chance halves it") \
	P(low_window, 1, 20, 1, 1 << 24, "packets; up to this window it is Reno")

struct compound_steady_params { compound_steady_PARAMS(TANDEM_PARAM_FIELD) };

/* Of 64 ms, modulo 2^13: 9 minutes. */
#define STEADY_TICKS(c) ((u32)((c)->now_us >> 16) & 0x1fffu)
#define STEADY_YIELD_TICKS 146u /* 9.6 s */
#define STEADY_AGAIN_TICKS 62u  /* 4.1 s */
#define STEADY_YIELD_ROUNDS 3
#define STEADY_FREE 127         /* n: growth is not limited by D */
#define STEADY_SAMPLES 255u
#define STEADY_FEW 8 /* samples whose deviation tells nothing */
#define STEADY_MOST ((1u << 24) - 1)

struct compound_steady {
	struct rounds round;
	u32 credit;        /* gain summed over the packets ACKed */
	u32 loss_window;   /* L */
	u32 stays_us;      /* r after the last yield, if that moved nothing; 0 = it did */
	u32 gain_q8;       /* what a window of ACKs adds in this round */
	u32 base_us;       /* ROUNDS_UNMEASURED before the first round */
	u32 recent_q3_us;  /* RTT of the last eight samples or so */
	u32 peak_q3_us;    /* the same, but a larger one counts whole */
	u32 overflow_us;   /* D; 0 = unknown */
	u32 backlog_q8;    /* q */
	u32 mean_q4;       /* mean of W over 16 rounds or so */
	u32 aim_q8;
	u32 mean_rtt_q7;   /* r of this round so far */
	u32 spread_q7;     /* mean deviation from it */
	u64 prior_cwnd : 24;
	u64 calm_cwnd : 24;   /* W when the backlog was last near its aim */
	u64 spread_us : 16;   /* S */
	u64 empty_rounds : 8; /* n */
	u64 empty_at : 13;    /* when the queue was last empty, STEADY_TICKS */
	u64 timed_out : 1;    /* 1 until what was in flight at a timeout is ACKed */
	u64 yielding : 2;     /* rounds left */
	u64 fails : 3;
	u64 yields : 3;       /* the first 7 */
	u64 climbs : 1;       /* W doubles each round up to calm_cwnd */
	u64 samples : 8;      /* of this round, at most STEADY_SAMPLES */
	u64 yield_us : 25;    /* r when it began to yield */
};

TANDEM_FN u32 steady_distance(u32 a, u32 b) { return a > b ? a - b : b - a; }

/* One of `count` parts of the way. */
TANDEM_FN u32 steady_towards(u32 from, u32 to, u32 count)
{
	return to > from ? from + (to - from) / count : from - (from - to) / count;
}

TANDEM_FN void steady_sample(struct compound_steady *s, const struct tandem_ack *ack)
{
	/* Losses are judged in recovery, too, when rounds take no samples. */
	u32 rtt_us = min_u32(ack->rtt_us, TANDEM_MAX_RTT_US), rtt_q7 = rtt_us << 7;

	if (rtt_us && s->recent_q3_us)
		s->recent_q3_us = s->recent_q3_us - (s->recent_q3_us >> 3) + rtt_us;
	else if (rtt_us)
		s->recent_q3_us = rtt_us << 3;
	if (rtt_us)
		s->peak_q3_us = max_u32(s->peak_q3_us - (s->peak_q3_us >> 3) + rtt_us,
					rtt_us << 3);
	if (!rounds_sample(&s->round, ack))
		return;
	/* The least of a round says little of the others where the RTT varies. */
	if (s->samples < STEADY_SAMPLES)
		s->samples++;
	if (s->samples == 1) {
		s->mean_rtt_q7 = rtt_q7;
		s->spread_q7 = 0;
		return;
	}
	s->spread_q7 = steady_towards(s->spread_q7, steady_distance(rtt_q7, s->mean_rtt_q7),
				      (u32)s->samples);
	s->mean_rtt_q7 = steady_towards(s->mean_rtt_q7, rtt_q7, (u32)s->samples);
}

/* What the RTT varies by although no queue does. */
TANDEM_FN u32 steady_noise_us(const struct compound_steady *s,
			      const struct compound_steady_params *p)
{
	return (u32)s->spread_us * p->noise >> 4;
}

/* Beyond what it would ever fill, the mean of a round tells nothing of a queue. */
TANDEM_FN int steady_is_noisy(const struct compound_steady *s,
			      const struct compound_steady_params *p)
{
	return steady_noise_us(s, p) > p->buffer_us;
}

/* S, the least RTT of late, and r of the round that has ended. */
TANDEM_FN void steady_close_round(struct compound_steady *s, const struct compound_steady_params *p)
{
	struct rounds *round = &s->round;
	u32 spread_us = min_u32(s->spread_q7 >> 7, 0xffff), least_us = (u32)s->spread_us;

	if (!rounds_measured(round))
		return;
	if (s->samples >= STEADY_FEW)
		s->spread_us = spread_us < least_us ? spread_us :
			       least_us + (spread_us - least_us + 15) / 16;
	round->base_rtt_us += (round->rtt_us - round->base_rtt_us) / 256;
	round->rtt_us = steady_is_noisy(s, p) ? round->base_rtt_us : s->mean_rtt_q7 >> 7;
}

/* snd_cwnd * mss is below 2^40, times 2^20 below 2^60. */
TANDEM_FN void steady_set_rate(const struct compound_steady *s,
			       const struct compound_steady_params *p, struct tandem_conn *c)
{
	/* The first packets leave as if the RTT were 1 ms, as with Linux's pacing. */
	u32 rtt_us = s->recent_q3_us ? max_u32(s->recent_q3_us >> 3, 1) : 1000;
	u64 rate = (u64)c->snd_cwnd * c->mss * 1000000 / rtt_us;
	u32 gain = in_slow_start(c) ? 512 : p->pacing_gain;

	rate = rate < 1ull << 48 ? rate * gain >> 8 : (rate >> 8) * gain;
	c->pacing_bytes_per_s = rate ? rate : 1;
}

TANDEM_FN void steady_begin_round(struct compound_steady *s, const struct tandem_conn *c)
{
	rounds_begin(&s->round, c);
	s->samples = 0;
}

TANDEM_FN void compound_steady_init(struct compound_steady *s,
				    const struct compound_steady_params *p, struct tandem_conn *c)
{
	s->credit = 0;
	rounds_init(&s->round, c);
	s->loss_window = 2;
	s->stays_us = 0;
	s->prior_cwnd = s->calm_cwnd = min_u32(c->snd_cwnd, STEADY_MOST);
	s->gain_q8 = 0;
	s->base_us = ROUNDS_UNMEASURED;
	s->recent_q3_us = 0;
	s->peak_q3_us = 0;
	s->overflow_us = 0;
	s->backlog_q8 = 0;
	s->mean_q4 = c->snd_cwnd << 4;
	s->aim_q8 = 256;
	s->empty_rounds = STEADY_FREE;
	s->empty_at = STEADY_TICKS(c);
	s->yielding = 0;
	s->fails = 0;
	s->yields = 0;
	s->yield_us = 0;
	s->climbs = 0;
	s->timed_out = 0;
	s->samples = 0;
	s->mean_rtt_q7 = 0;
	s->spread_q7 = 0;
	s->spread_us = 0;
	steady_set_rate(s, p, c);
}

/* What the flow sends in `us` at its rate, 1/256 packets: 2^24 * 2^24 * 2^8 < 2^63. */
TANDEM_FN u32 steady_sent_q8(const struct compound_steady *s, u32 us)
{
	u64 sent = ((u64)us * s->round.flight << 8) / max_u32(s->round.rtt_us, 1);

	return sent > 0xffffffffu ? 0xffffffffu : (u32)sent;
}

/* base, q, aim, n: what the round that has ended shows. */
TANDEM_FN void steady_measure(struct compound_steady *s, const struct compound_steady_params *p,
			      const struct tandem_conn *c)
{
	u32 r = s->round.rtt_us, empty_us, buffer_us = p->buffer_us, prior_us = s->base_us;
	u64 root_q8;

	s->base_us = min_u32(s->base_us, r);
	/* Who comes late finds a queue in base, and misses as much of the buffer. */
	if (prior_us != ROUNDS_UNMEASURED && prior_us - s->base_us <= s->overflow_us)
		s->overflow_us += prior_us - s->base_us;
	/* What the RTT varies by is no queue; the first part of it is our own doing. */
	empty_us = s->base_us + sub_floor0(steady_noise_us(s, p), s->base_us / 128);
	s->backlog_q8 = r > empty_us ? backlog_q8(s->round.flight, empty_us, r) : 0;
	/* The geometric mean of a packet and the flow's part of the buffer: concave in its rate. */
	if (s->overflow_us)
		buffer_us = min_u32(buffer_us, s->overflow_us);
	/* 2^20 * 2^20 at most. */
	root_q8 = isqrt((u64)steady_sent_q8(s, p->buffer_us) << 8);
	s->aim_q8 = max_u32((u32)(root_q8 * buffer_us / p->buffer_us), 256);
	if (s->backlog_q8 >= s->aim_q8 / 2)
		s->empty_rounds = 0;
	if (s->backlog_q8 >= s->aim_q8 / 8)
		return;
	if (s->empty_rounds < STEADY_FREE)
		s->empty_rounds++;
	if (s->yields)
		s->empty_at = STEADY_TICKS(c);
	s->fails = 0;
}

TANDEM_FN void steady_shrink(struct compound_steady *s, struct tandem_conn *c, u32 by, u32 floor)
{
	u32 left = max_u32(max_u32(sub_floor0(c->snd_cwnd, by), floor), 2);

	c->snd_cwnd = min_u32(c->snd_cwnd, left);
	ssthresh_follows(c);
	s->gain_q8 = 0;
}

/* Down to L. The part of a packet that W has been credited with goes first. */
TANDEM_FN void steady_give_back(struct compound_steady *s, struct tandem_conn *c, u32 by_q8)
{
	u32 w = max_u32(c->snd_cwnd, 1), part_q8 = s->credit / w;
	u32 packets = (u32)(((u64)sub_floor0(by_q8, part_q8) + 255) >> 8);

	steady_shrink(s, c, packets, s->loss_window);
	s->credit = (part_q8 + (packets << 8) - by_q8) * w;
}

/* Packets that W grows by in a round without a queue, 1/256. */
TANDEM_FN u32 steady_ramp_q8(const struct compound_steady *s,
			     const struct compound_steady_params *p, const struct tandem_conn *c)
{
	u32 gain_q8 = (u32)(p->alpha * pow_eighths_q16(c->snd_cwnd, 6) >> 18);
	u64 room_q8;

	if (!s->overflow_us || s->empty_rounds == STEADY_FREE)
		return gain_q8;
	/* A flight arrives in clumps: a step larger than the buffer's room overflows it. */
	room_q8 = (u64)steady_sent_q8(s, s->overflow_us) * p->step >> 10;
	if (room_q8 < 256)
		room_q8 = 256;
	return gain_q8 < room_q8 ? gain_q8 : (u32)room_q8;
}

TANDEM_FN void steady_is_pushed(struct compound_steady *s)
{
	s->fails += s->fails < 5;
	s->stays_us = 0;
}

/* Nothing that W gave up has made the delay shorter. */
TANDEM_FN void steady_stays(struct compound_steady *s, struct tandem_conn *c, u32 before_us)
{
	u32 r = s->round.rtt_us, changed_us = steady_distance(r, s->stays_us);

	if (!s->stays_us) {
		s->stays_us = r;
	} else if (changed_us > before_us / 32) {
		/* Others' queues move. */
		steady_is_pushed(s);
	} else {
		/* All but L was given up, twice, and still it stays: it is the path's. */
		s->base_us = r;
		s->empty_rounds = STEADY_FREE;
		s->loss_window = max_u32(c->snd_cwnd / 8, 2);
		s->climbs = 1;
		s->stays_us = 0;
	}
}

/* What yielding has shown: was the delay a queue, and whose? */
TANDEM_FN void steady_judge(struct compound_steady *s, struct tandem_conn *c)
{
	u32 r = s->round.rtt_us, before_us = sub_floor0((u32)s->yield_us, s->base_us);

	s->empty_at = STEADY_TICKS(c);
	if (sub_floor0(r, s->base_us) < before_us / 4)
		/* All of it was ours, or of those who yield with us: nobody pushes. */
		s->loss_window = min_u32(s->loss_window, max_u32(c->snd_cwnd / 8, 2));
	else if (r + before_us / 32 < s->yield_us)
		steady_is_pushed(s);
	else if (c->snd_cwnd < s->loss_window)
		steady_stays(s, c, before_us);
}

TANDEM_FN void steady_end_round(struct compound_steady *s, const struct compound_steady_params *p,
				struct tandem_conn *c)
{
	u32 w = c->snd_cwnd, age, extra;
	int yielded = s->yielding;

	s->gain_q8 = 0;
	s->yielding -= yielded > 0;
	/* A window of two packets is empty when the ACK for both comes. */
	if (!rounds_measured(&s->round))
		return;
	steady_measure(s, p, c);
	if (yielded == 1)
		steady_judge(s, c);
	if (yielded)
		return;
	s->mean_q4 = s->mean_q4 - (s->mean_q4 >> 4) + w;
	if (w <= p->low_window)
		return;
	s->climbs &= s->backlog_q8 <= s->aim_q8 && w < s->calm_cwnd;
	if (s->backlog_q8 <= 2 * s->aim_q8 && !s->climbs)
		s->calm_cwnd = min_u32(w, STEADY_MOST);
	age = (STEADY_TICKS(c) + 0x2000u - (u32)s->empty_at) & 0x1fffu;
	if (age > (s->stays_us ? STEADY_AGAIN_TICKS : STEADY_YIELD_TICKS << s->fails)) {
		s->yielding = STEADY_YIELD_ROUNDS;
		s->yield_us = s->round.rtt_us;
		extra = (u32)((u64)w * max_u32(p->yield, 512 >> s->yields) >> 10);
		if (s->overflow_us)
			extra = min_u32(extra, steady_sent_q8(s, s->overflow_us) >> 8);
		s->yields += s->yields < 7;
		steady_shrink(s, c, extra + min_u32(s->backlog_q8 >> 8, w / 2), 4);
	} else if (s->backlog_q8 > s->aim_q8) {
		steady_give_back(s, c, (s->backlog_q8 - s->aim_q8) / 2);
	} else if (s->climbs) {
		s->gain_q8 = min_u32(w, TANDEM_MAX_WINDOW / 2) << 8;
	} else if (s->empty_rounds < 2) {
		s->gain_q8 = (s->aim_q8 - s->backlog_q8) / 2;
	} else {
		s->gain_q8 = steady_ramp_q8(s, p, c);
	}
}

/* Slow start for up to `acked` packets; returns those left over. */
TANDEM_FN u32 steady_start(struct compound_steady *s, struct tandem_conn *c, u32 acked)
{
	if (!in_slow_start(c))
		return acked;
	acked = slow_start(c, acked);
	/* What Reno keeps when it ends. */
	s->loss_window = max_u32(c->snd_cwnd / 2, 2);
	return acked;
}

/* After a timeout, what is lost goes out again as with Reno [RFC 5681 3.1]. */
TANDEM_FN void steady_resend(struct compound_steady *s, struct tandem_conn *c, u32 acked)
{
	acked = steady_start(s, c, acked);
	if (acked)
		s->loss_window += additive_increase(c, c->snd_cwnd, acked);
}

/* Ends it by delay, as HyStart does. */
TANDEM_FN void steady_slow_start(struct compound_steady *s, const struct compound_steady_params *p,
				 struct tandem_conn *c)
{
	u32 base_us = s->base_us, now_us = s->recent_q3_us >> 3;
	u32 limit_us = min_u32(max_u32(base_us / 8, 1000), 16000) + steady_noise_us(s, p);

	if (base_us == ROUNDS_UNMEASURED || c->snd_cwnd <= p->low_window ||
	    now_us <= base_us + limit_us)
		return;
	c->snd_cwnd = max_u32(mul_div(c->snd_cwnd, base_us, now_us), c->snd_cwnd / 2);
	ssthresh_follows(c);
}

/* Somebody pushes, unless it is the queue of our own kind's start: that has had no overflow yet. */
TANDEM_FN int steady_is_crowded(const struct compound_steady *s)
{
	return (s->overflow_us || s->fails) && 2 * (u64)s->backlog_q8 > 3 * (u64)s->aim_q8;
}

TANDEM_FN void steady_grow(struct compound_steady *s, const struct compound_steady_params *p,
			   struct tandem_conn *c, u32 acked)
{
	u64 grown, credit;
	u32 due;

	/* The host may have lowered W. */
	if (!s->yielding)
		s->loss_window = min_u32(s->loss_window, c->snd_cwnd);
	if (rounds_ended(&s->round, c)) {
		steady_close_round(s, p);
		if (in_slow_start(c) && rounds_measured(&s->round))
			steady_measure(s, p, c);
		else
			steady_end_round(s, p, c);
		steady_begin_round(s, c);
	}
	if (!c->is_cwnd_limited || s->yielding)
		return;
	if (in_slow_start(c)) {
		steady_slow_start(s, p, c);
		acked = steady_start(s, c, acked);
		s->gain_q8 = 0;
	}
	if (!acked)
		return;
	due = packets_due(&c->snd_cwnd_cnt, c->snd_cwnd, acked);
	if (c->snd_cwnd <= p->low_window)
		s->loss_window = c->snd_cwnd + due;
	else if (s->empty_rounds || s->mean_q4 >> 4 > c->snd_cwnd + 4 || steady_is_crowded(s))
		s->loss_window += due;
	else if (s->backlog_q8 <= s->aim_q8 && s->loss_window > c->snd_cwnd / 8)
		s->loss_window = max_u32(sub_floor0(s->loss_window, due), 2);
	credit = s->credit;
	grown = c->snd_cwnd + take_packets(&credit, (u64)s->gain_q8 * acked, (u64)c->snd_cwnd << 8);
	s->credit = (u32)credit; /* less than a packet's */
	if (grown < s->loss_window)
		grown = s->loss_window;
	c->snd_cwnd = grown < c->snd_cwnd_clamp ? (u32)grown : c->snd_cwnd_clamp;
}

TANDEM_FN void compound_steady_pkts_acked(struct compound_steady *s,
					  const struct compound_steady_params *p,
					  struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 acked = min_u32(ack->acked_sacked, TANDEM_MAX_WINDOW);

	steady_sample(s, ack);
	if (s->round.sampling)
		steady_grow(s, p, c, acked);
	else if (s->timed_out && c->is_cwnd_limited)
		steady_resend(s, c, acked);
	steady_set_rate(s, p, c);
}

TANDEM_FN void compound_steady_cong_avoid(struct compound_steady *s,
					  const struct compound_steady_params *p,
					  struct tandem_conn *c, u32 acked)
{
}

/*
 * What a loss leaves of W: half of `halved` packets, as Reno does, and more of a larger window, in
 * which a round is worth more. 2^18 * 2^24 < 2^42.
 */
TANDEM_FN u32 steady_left(u32 w, u32 halved)
{
	return w - (u32)((u64)w * isqrt((1ull << 18) * halved / max_u32(w, halved)) >> 10);
}

/* D, and what an overflow leaves of W. */
TANDEM_FN u32 steady_overflowed(struct compound_steady *s, const struct compound_steady_params *p,
				const struct tandem_conn *c, u32 delay_us)
{
	s->overflow_us = max_u32(delay_us, s->overflow_us - s->overflow_us / 8 + delay_us / 8);
	s->overflow_us = max_u32(s->overflow_us, s->base_us / 512 + 1);
	if (!in_slow_start(c))
		s->empty_rounds = 0;
	return steady_left(c->snd_cwnd, p->overflow_window);
}

TANDEM_FN u32 compound_steady_ssthresh(struct compound_steady *s,
				       const struct compound_steady_params *p,
				       const struct tandem_conn *c, u32 reason)
{
	u32 w = c->snd_cwnd, base_us = s->base_us, delay_us, left;

	s->prior_cwnd = min_u32(w, STEADY_MOST);
	s->gain_q8 = 0;
	s->credit = 0;
	s->yielding = 0;
	s->climbs = 0;
	s->loss_window = max_u32(min_u32(s->loss_window, w) / 2, 2);
	if (base_us == ROUNDS_UNMEASURED || w <= p->low_window)
		return max_u32(w / 2, 2);
	delay_us = steady_is_noisy(s, p) ? s->round.base_rtt_us : s->peak_q3_us >> 3;
	delay_us = sub_floor0(delay_us, base_us);
	if (delay_us < s->overflow_us / 2) {
		/* By chance. */
		s->overflow_us = max_u32(s->overflow_us - s->overflow_us / 32, base_us / 512);
		s->empty_rounds = STEADY_FREE;
		left = steady_left(w, p->chance_window);
	} else {
		left = steady_overflowed(s, p, c, delay_us);
	}
	return max_u32(max_u32(left, s->loss_window), 2);
}

TANDEM_FN void compound_steady_set_state(struct compound_steady *s,
					 const struct compound_steady_params *p,
					 struct tandem_conn *c, u32 state)
{
	s->timed_out = state == TANDEM_LOSS;
	if (s->timed_out)
		s->loss_window = 1;
	else if (state > TANDEM_DISORDER && s->round.sampling)
		c->snd_cwnd = min_u32(c->snd_cwnd, c->snd_ssthresh);
	if (rounds_set_state(&s->round, c, state))
		s->samples = 0;
}

TANDEM_FN void compound_steady_restart(struct compound_steady *s,
				       const struct compound_steady_params *p,
				       struct tandem_conn *c)
{
	s->loss_window = min_u32(s->loss_window, c->snd_cwnd);
	s->gain_q8 = 0;
	s->yielding = 0;
	steady_begin_round(s, c);
}

TANDEM_FN u32 compound_steady_undo_cwnd(struct compound_steady *s,
					const struct compound_steady_params *p,
					const struct tandem_conn *c)
{
	s->loss_window = max_u32(s->loss_window, min_u32(2 * s->loss_window, (u32)s->prior_cwnd));
	return max_u32(c->snd_cwnd, (u32)s->prior_cwnd);
}

#define compound_steady_PROBES(P, W) \
	P(overflow_ms, 1000, s->overflow_us, "D: delay at the last overflow; 0 = unknown") \
	P(empty_rounds, 1, s->empty_rounds, "n: rounds in a row without a queue") \
	P(aim_packets, 256, s->aim_q8, "backlog aimed at") \
	P(yielding_rounds, 1, s->yielding, "rounds of a yield left")

TANDEM_FN void compound_steady_view(const struct compound_steady *s,
				    const struct compound_steady_params *p,
				    const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = min_u32(s->loss_window, c->snd_cwnd);
	v->delay_window = c->snd_cwnd - v->loss_window;
	v->gamma_q8 = s->aim_q8;
	v->diff_q8 = s->backlog_q8;
	v->base_rtt_us = s->base_us == ROUNDS_UNMEASURED ? 0 : s->base_us;
}

#endif
