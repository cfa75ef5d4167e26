/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What BBRv3 knows of the path, and what follows from it: rates, and packets in flight. Sources and
 * decisions: bbr3.h.
 */
#ifndef TANDEM_BBR3_MODEL_H
#define TANDEM_BBR3_MODEL_H

/* Of BBR v1 only the clock and the delivery rate. */
#include "bbr_model.h"

#define bbr3_PARAMS(P) \
	P(high_gain, 100, 277, 100, 400, "gain of the rate in STARTUP (draft: 2.77)") \
	P(drain_gain, 100, 50, 10, 100, "gain of the rate in DRAIN (draft: 0.5)") \
	P(down_gain, 100, 90, 50, 100, "gain of the rate in PROBE_BW's DOWN (draft: 0.90)") \
	P(probe_gain, 100, 125, 100, 200, "gain of the rate in PROBE_BW's UP (draft: 1.25)") \
	P(window_gain, 100, 200, 100, 400, "window over bw * min_rtt (draft: 2)") \
	P(probe_window_gain, 100, 225, 100, 400, "the same in PROBE_BW's UP (draft: 2.25)") \
	P(probe_rtt_gain, 100, 50, 10, 100, "the same in PROBE_RTT (draft: 0.5)") \
	P(loss_threshold, 1000, 20, 1, 500, \
	  "share of the packets of a round that may be lost while it probes (draft: 0.02)") \
	P(beta, 100, 70, 10, 100, \
	  "what the losses of a round leave of a bound at least (draft: 0.7)") \
	P(headroom, 100, 15, 0, 90, \
	  "share of the long-term bound that CRUISE and PROBE_RTT leave free (draft: 0.15)") \
	P(full_losses, 1, 6, 1, 7, "gaps in a round of losses that end STARTUP (draft: 6)") \
	P(rtt_window, 1000, 10000, 100, 600000, "seconds for which min_rtt counts (draft: 10)") \
	P(probe_rtt_interval, 1000, 5000, 100, 600000, \
	  "seconds without a smaller RTT until PROBE_RTT (draft: 5)") \
	P(probe_rtt_time, 1, 200, 0, 10000, "minimum ms of PROBE_RTT; 0 = none (draft: 200)") \
	P(probe_wait, 1000, 2000, 0, 60000, \
	  "seconds between probes at most, and up to one more by chance (draft: 2)") \
	P(reno_rounds, 1, 63, 1, 63, \
	  "rounds between probes at most, fewer where fewer packets fill the path (draft: 63)") \
	P(min_window, 1, 4, 2, 1000, "packets, minimum window (draft: 4)") \
	P(pacing_margin, 1, 1, 0, 50, "percent by which the rate stays below bw (draft: 1)") \
	P(quantum, 1, 1000, 0, 10000, \
	  "us of the rate that a host sends in one piece (draft: 1000)") \
	P(aggregation, 1, 1, 0, 1, "1 = a larger window where ACKs come in bursts (draft: 1)")

struct bbr3_params { bbr3_PARAMS(TANDEM_PARAM_FIELD) };

enum bbr3_state {
	BBR3_STARTUP,
	BBR3_DRAIN,
	BBR3_DOWN,      /* PROBE_BW: DOWN to UP */
	BBR3_CRUISE,
	BBR3_REFILL,
	BBR3_UP,
	BBR3_PROBE_RTT,
};

/* What ACKs tell of a probe for bandwidth. */
enum bbr3_acks {
	BBR3_ACKS_INIT,      /* nothing                                      */
	BBR3_ACKS_REFILLING, /* of what was sent to fill the path            */
	BBR3_ACKS_STARTING,  /* the probe has begun, its ACKs are to come    */
	BBR3_ACKS_FEEDBACK,  /* of the probe                                 */
	BBR3_ACKS_STOPPING,  /* still of the probe, which is over            */
};

/* The state that a loss has ended, in case the loss is spurious. */
enum bbr3_undo { BBR3_UNDO_NONE, BBR3_UNDO_STARTUP, BBR3_UNDO_UP };

#define BBR3_UNIT 100u /* a gain of 1                                                            */
#define BBR3_NO_RATE_BOUND 0xffffffffu
#define BBR3_NO_BOUND 0xffffffu /* on packets; no window in the state is larger                  */
#define BBR3_NO_RTT 0x1ffffffu
#define BBR3_FULL_ROUNDS 3  /* without growth: the path is full                                  */
#define BBR3_DRAIN_ROUNDS 3 /* DRAIN takes no longer                                             */
#define BBR3_EXTRA_ROUNDS 5 /* for which an excess of ACKs counts, and as long again             */
#define BBR3_MAX_LOST 0xffffu /* of a round, counted                                             */

/*
 * All of the draft's variables, 104 bytes. Packets take 24 bits, clocks wrap; rates are in 2^-24
 * packets a microsecond. A zero width ends each word: clang takes a longer run of bit fields for
 * one large integer, which it may multiply, and eBPF cannot.
 */
struct bbr3 {
	u32 bw_q24;           /* largest of this cycle of probing                                */
	u32 prior_bw_q24;     /* and of the one before                                           */
	u32 bw_bound_q24;     /* short-term bound, or BBR3_NO_RATE_BOUND                         */
	u32 latest_bw_q24;    /* largest of the round of losses                                  */
	u32 full_bw_q24;      /* what the delivery rate is to outgrow                            */
	u32 undo_bw_bound_q24;
	u32 round_end;        /* delivered count that ends the round                             */
	u32 loss_round_end;   /* and the one in which losses are judged                          */
	u32 extra_us;         /* since when acknowledged packets are held against bw             */
	u32 min_rtt_us : 25;  /* or BBR3_NO_RTT                                                  */
	u32 state : 3;
	u32 acks : 3;         /* enum bbr3_acks                                                  */
	u32 round_start : 1;  /* this ACK begins a round                                         */
	u32 : 0;
	u32 least_rtt_us : 25; /* of the last probe_rtt_interval, or BBR3_NO_RTT                 */
	u32 up_rounds : 5;    /* for which UP has raised the long-term bound                     */
	u32 undo_state : 2;
	u32 : 0;
	u32 min_rtt_ms : 24;  /* when it was measured                                            */
	u32 wait : 8;         /* the random part of the time between probes, 1/256 s            */
	u32 : 0;
	u64 least_rtt_ms : 24; /* when least_rtt_us was measured                                 */
	u64 since_ms : 24;    /* since when this cycle of PROBE_BW, or PROBE_RTT's window        */
	u64 lost : 16;        /* packets found lost in this round                                */
	u64 : 0;
	u64 extra_delivered : 24; /* packets acknowledged since extra_us                         */
	u64 extra : 24;       /* most in excess of bw in these rounds                            */
	u64 prior_lost : 16;  /* packets found lost in the round before                          */
	u64 : 0;
	u64 prior_extra : 24; /* most in excess in the rounds before                             */
	u64 prior_round : 24; /* packets delivered in the round before                           */
	u64 rounds : 6;       /* since the last probe                                            */
	u64 drain_rounds : 3;
	u64 full_rounds : 2;  /* without growth                                                  */
	u64 extra_rounds : 3;
	u64 trouble : 2;      /* enum bbr_trouble                                                */
	u64 : 0;
	u64 latest_inflight : 24; /* most delivered in a packet's time, in the round of losses   */
	u64 bound : 24;       /* short-term bound on what is in flight, or BBR3_NO_BOUND         */
	u64 gaps : 3;         /* ACKs with losses in the round of losses                         */
	u64 full : 1;         /* the path has been full once                                     */
	u64 full_now : 1;     /* it is full in this probe                                        */
	u64 probe_sample : 1; /* ACKs are of a probe to which no loss has answered               */
	u64 has_loss : 1;     /* in the round of losses                                          */
	u64 too_high : 1;     /* the last probe lost too much                                    */
	u64 cautious : 1;     /* and the one after it ended where that one had been              */
	u64 restarted : 1;    /* after an idle time, and nothing delivered since                 */
	u64 probe_rtt_runs : 1;  /* its window is reached                                        */
	u64 probe_rtt_round : 1; /* and a round has ended in it                                  */
	u64 probe_rtt_marks : 1; /* up_acked to up_step are delivered counts, see bbr3.h         */
	u64 has_seen_rtt : 1;
	u64 timed_out : 1;    /* since the last ACK                                              */
	u64 marked : 1;       /* an ECN mark has come since the last ACK                         */
	u64 : 0;
	u64 long_bound : 24;  /* long-term bound on what is in flight, or BBR3_NO_BOUND          */
	u64 undo_long_bound : 24;
	u64 used_up : 1;      /* the window has been full in this round                          */
	u64 prior_used_up : 1; /* and in the one before                                          */
	u64 new_round : 1;    /* a round begins with the next ACK                                */
	u64 : 0;
	u64 undo_bound : 24;
	u64 prior_cwnd : 24;  /* window to return to after a recovery or PROBE_RTT               */
	u64 : 0;
	u64 up_acked : 24;    /* towards the next step of the long-term bound; in PROBE_RTT since */
	u64 up_step : 24;     /* packets for a step of 1; in PROBE_RTT until which count         */
};

/* What one ACK says, and what of it is worked out (bbr3_loss.h). */
struct bbr3_sample {
	u32 is_valid;      /* it is known when the packet was sent                */
	u32 bw_q24;        /* 0 = no rate                                         */
	u32 delivered;     /* packets, while the newest acknowledged was under way */
	u32 lost;          /* likewise, found lost                                */
	u32 tx_in_flight;  /* in flight when that was sent, itself included       */
	u32 app_limited;
	u32 was_in_flight; /* before this ACK                                     */
	u32 ends_loss_round;
};

/* Clocks of 24 bits wrap after 4.7 hours. */
TANDEM_FN u32 bbr3_ms(const struct tandem_conn *c) { return bbr_ms(c) & 0xffffff; }

TANDEM_FN u32 bbr3_ms_since(u32 then_ms, const struct tandem_conn *c)
{
	return seq_distance(then_ms, bbr3_ms(c)) & 0xffffff;
}

/* What the state holds of a number of packets. */
TANDEM_FN u32 bbr3_packets(u32 packets) { return min_u32(packets, BBR3_NO_BOUND - 1); }

/*
 * The larger of two cycles [draft-ietf-ccwg-bbr 5.5.3], within the short-term bound
 * [draft-ietf-ccwg-bbr 5.5.10.3].
 */
TANDEM_FN u32 bbr3_max_bw(const struct bbr3 *s) { return max_u32(s->bw_q24, s->prior_bw_q24); }

TANDEM_FN u32 bbr3_bw(const struct bbr3 *s) { return min_u32(bbr3_max_bw(s), s->bw_bound_q24); }

TANDEM_FN int bbr3_probes_bw(const struct bbr3 *s)
{
	return s->state >= BBR3_DOWN && s->state <= BBR3_UP;
}

/* [draft-ietf-ccwg-bbr 5.6.1] */
TANDEM_FN u32 bbr3_gain(const struct bbr3 *s, const struct bbr3_params *p)
{
	if (s->state == BBR3_STARTUP)
		return p->high_gain;
	if (s->state == BBR3_DRAIN)
		return p->drain_gain;
	if (s->state == BBR3_DOWN)
		return p->down_gain;
	return s->state == BBR3_UP ? p->probe_gain : BBR3_UNIT;
}

/* [draft-ietf-ccwg-bbr 5.6.1] */
TANDEM_FN u32 bbr3_window_gain(const struct bbr3 *s, const struct bbr3_params *p)
{
	if (s->state == BBR3_UP)
		return p->probe_window_gain;
	return s->state == BBR3_PROBE_RTT ? p->probe_rtt_gain : p->window_gain;
}

/*
 * Bytes a second. bw < 2^32, mss < 2^16 and gain <= 400 make less than 2^57, in 2^-24/100 bytes a
 * microsecond; then less than 2^50 * 10^4.
 * [draft-ietf-ccwg-bbr 5.6.2]
 */
TANDEM_FN u64 bbr3_bytes_per_s(const struct bbr3_params *p, const struct tandem_conn *c,
			       u32 bw_q24, u32 gain)
{
	u64 rate_q24 = (u64)bw_q24 * min_u32(c->mss, 65535) * gain;
	u64 rate = (rate_q24 >> 7) * (100 * (100 - p->pacing_margin)) >> 17;

	return rate ? rate : 1;
}

/* gain * bw * min_rtt in packets, rounded up. [draft-ietf-ccwg-bbr 5.6.4.2] */
TANDEM_FN u32 bbr3_bdp(const struct bbr3 *s, u32 bw_q24, u32 gain)
{
	u64 packets;

	if (s->min_rtt_us == BBR3_NO_RTT)
		return BBR_INITIAL_WINDOW;
	packets = (((u64)bw_q24 * s->min_rtt_us >> 8) * gain / BBR3_UNIT + 0xffff) >> 16;
	return packets < BBR3_NO_BOUND ? (u32)packets : BBR3_NO_BOUND - 1;
}

/*
 * Packets that a host sends in one piece: at least two, at most 64 KB.
 * [draft-ietf-ccwg-bbr 5.6.3]
 */
TANDEM_FN u32 bbr3_quantum(const struct bbr3_params *p, const struct tandem_conn *c)
{
	u64 rate = c->pacing_bytes_per_s < 1ull << 40 ? c->pacing_bytes_per_s : 1ull << 40;
	u64 bytes = rate * p->quantum / 1000000;

	bytes = bytes < 65536 ? bytes : 65536;
	return max_u32((u32)bytes / max_u32(c->mss, 1), 2);
}

/*
 * Not less than three pieces, which hosts have under way, nor than ACKs for two packets need. UP is
 * to reach beyond.
 * [draft-ietf-ccwg-bbr 5.5.8] [draft-ietf-ccwg-bbr 5.6.4.2] [draft-ietf-ccwg-bbr 5.6.4.3]
 */
TANDEM_FN u32 bbr3_with_pieces(const struct bbr3 *s, const struct bbr3_params *p,
			       const struct tandem_conn *c, u32 packets)
{
	packets = max_u32(packets, 3 * bbr3_quantum(p, c));
	packets = max_u32(packets, p->min_window);
	return s->state == BBR3_UP ? packets + 2 : packets;
}

/* Packets that fill the path at this rate. [draft-ietf-ccwg-bbr 5.6.4.2] */
TANDEM_FN u32 bbr3_inflight(const struct bbr3 *s, const struct bbr3_params *p,
			    const struct tandem_conn *c, u32 bw_q24)
{
	return bbr3_with_pieces(s, p, c, bbr3_bdp(s, bw_q24, BBR3_UNIT));
}

/*
 * What is wanted in flight, unless congestion has cut the window.
 * [draft-ietf-ccwg-bbr 5.3.3.8.3]
 */
TANDEM_FN u32 bbr3_target(const struct bbr3 *s, const struct tandem_conn *c)
{
	return min_u32(bbr3_bdp(s, bbr3_bw(s), BBR3_UNIT), c->snd_cwnd);
}

/* The part of the long-term bound that is not left to others. [draft-ietf-ccwg-bbr 5.3.3.9] */
TANDEM_FN u32 bbr3_with_headroom(const struct bbr3 *s, const struct bbr3_params *p)
{
	u32 bound = s->long_bound;

	if (bound == BBR3_NO_BOUND)
		return bound;
	return max_u32(sub_floor0(bound, max_u32(bound * p->headroom / 100, 1)), p->min_window);
}

/* The excess of ACKs that the window has room for. [draft-ietf-ccwg-bbr 5.5.9] */
TANDEM_FN u32 bbr3_extra(const struct bbr3 *s)
{
	u32 extra = s->extra, prior_extra = s->prior_extra;

	return max_u32(extra, prior_extra);
}

/* For probes. */
TANDEM_FN u64 bbr3_shown_bound(u32 bound)
{
	return bound == BBR3_NO_BOUND ? TANDEM_NONE : bound;
}

TANDEM_FN u64 bbr3_shown_rate(u32 bw_q24, const struct tandem_conn *c)
{
	return bw_q24 == BBR3_NO_RATE_BOUND ? TANDEM_NONE : bbr_bits_per_s(bw_q24, c);
}

/*
 * Until the path has been full the rate falls only from the first, which knows no RTT.
 * [draft-ietf-ccwg-bbr 5.6.2]
 */
TANDEM_FN void bbr3_set_rate(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c,
			     u32 gain)
{
	u64 rate = bbr3_bytes_per_s(p, c, bbr3_bw(s), gain);
	u32 first_q24;

	if (!s->has_seen_rtt && s->min_rtt_us != BBR3_NO_RTT) {
		s->has_seen_rtt = 1;
		first_q24 = bbr_rate_q24(c->snd_cwnd, s->min_rtt_us);
		c->pacing_bytes_per_s = bbr3_bytes_per_s(p, c, first_q24, p->high_gain);
	}
	if (s->full || rate > c->pacing_bytes_per_s)
		c->pacing_bytes_per_s = rate;
}

#endif
