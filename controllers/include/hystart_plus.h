/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * HyStart++ (RFC 9406): when the RTT of a round has grown, slow start goes on at a quarter of its
 * pace (conservative slow start, CSS) for five rounds. If the RTT falls again meanwhile, the growth
 * was jitter, and slow start resumes; otherwise it ends.
 *
 *   RttThresh = max(4 ms, min(last round's smallest RTT / 8, 16 ms))                    section 4.2
 *   slow start, 8 samples: smallest RTT >= last round's + RttThresh :
 *                            CSS from here, this RTT is the baseline
 *   CSS, 8 samples: smallest RTT < baseline                         : slow start again
 *   five rounds of CSS, the one in which it began counts            : ssthresh = cwnd
 *   growth : min(N, L) packets for N ACKed, in CSS a quarter of that;
 *            L: no limit if the host paces, otherwise 8                                 section 4.3
 *
 * What the RFC leaves open, and how it is decided here:
 *  - Only the initial slow start has it: while ssthresh is infinite (section 4.3, "SHOULD").
 *  - A round ends with the first ACK beyond windowEnd. That ACK belongs to the next round.
 *  - RTTs count up to 16.8 s.
 */
#ifndef TANDEM_HYSTART_PLUS_H
#define TANDEM_HYSTART_PLUS_H

#include "growth.h"

/* [RFC 9406 4.3] */
#define HYSTART_PLUS_MIN_RTT_THRESH_US 4000
#define HYSTART_PLUS_MAX_RTT_THRESH_US 16000
#define HYSTART_PLUS_MIN_RTT_DIVISOR 8
#define HYSTART_PLUS_N_RTT_SAMPLE 8
#define HYSTART_PLUS_CSS_GROWTH_DIVISOR 4
#define HYSTART_PLUS_CSS_ROUNDS 5
#define HYSTART_PLUS_L 8

#define HYSTART_PLUS_MAX_RTT_US 0xffffffu

struct hystart_plus {
	u32 round_end;            /* windowEnd: snd_nxt when this round began                     */
	u32 last_rtt_us : 24;     /* lastRoundMinRTT; 0 = infinity                                */
	u32 samples : 8;          /* rttSampleCount, up to N_RTT_SAMPLE                           */
	u32 rtt_us : 24;          /* currentRoundMinRTT; 0 = infinity                             */
	u32 css_rounds : 8;       /* rounds of CSS that have ended                                */
	u32 baseline_rtt_us : 24; /* cssBaselineMinRtt; 0 = infinity: not in CSS                  */
	u32 css_acked : 8;        /* packets ACKed in CSS towards the next one of growth          */
};

TANDEM_FN void hystart_plus_init(struct hystart_plus *h, const struct tandem_conn *c)
{
	h->round_end = c->snd_nxt;
	h->last_rtt_us = 0;
	h->samples = 0;
	h->rtt_us = 0;
	h->css_rounds = 0;
	h->baseline_rtt_us = 0;
	h->css_acked = 0;
}

/* In the first slow start [RFC 9406 4.3]. */
TANDEM_FN int hystart_plus_applies(const struct tandem_conn *c)
{
	return c->snd_ssthresh >= TANDEM_INFINITE_SSTHRESH;
}

TANDEM_FN void hystart_plus_next_round(struct hystart_plus *h, const struct tandem_conn *c)
{
	h->round_end = c->snd_nxt;
	h->last_rtt_us = h->rtt_us;
	h->rtt_us = 0;
	h->samples = 0;
	if (h->baseline_rtt_us && h->css_rounds < HYSTART_PLUS_CSS_ROUNDS)
		h->css_rounds++;
}

/* Enters CSS, or leaves it for slow start [RFC 9406 4.2]. */
TANDEM_FN void hystart_plus_decide(struct hystart_plus *h)
{
	u32 rtt_us = h->rtt_us, last_us = h->last_rtt_us, baseline_us = h->baseline_rtt_us;
	u32 thresh_us = min_u32(last_us / HYSTART_PLUS_MIN_RTT_DIVISOR,
				HYSTART_PLUS_MAX_RTT_THRESH_US);

	thresh_us = max_u32(HYSTART_PLUS_MIN_RTT_THRESH_US, thresh_us);
	if (baseline_us) {
		if (rtt_us < baseline_us)
			h->baseline_rtt_us = 0;
	} else if (last_us && rtt_us >= last_us + thresh_us) {
		h->baseline_rtt_us = rtt_us;
		h->css_rounds = 0;
	}
}

TANDEM_FN void hystart_plus_on_ack(struct hystart_plus *h, const struct tandem_conn *c,
				   const struct tandem_ack *ack)
{
	u32 sample_us = min_u32(ack->rtt_us, HYSTART_PLUS_MAX_RTT_US), rtt_us;

	if (!hystart_plus_applies(c))
		return;
	if (seq_after(c->snd_una, h->round_end))
		hystart_plus_next_round(h, c);
	if (!sample_us)
		return;
	rtt_us = h->rtt_us;
	h->rtt_us = rtt_us ? min_u32(rtt_us, sample_us) : sample_us;
	if (h->samples < HYSTART_PLUS_N_RTT_SAMPLE)
		h->samples++;
	if (h->samples == HYSTART_PLUS_N_RTT_SAMPLE)
		hystart_plus_decide(h);
}

/*
 * Ends slow start if that is due; returns for how many of the packets ACKed the window is to grow.
 * [RFC 9406 4.2] [RFC 9406 4.3]
 */
TANDEM_FN u32 hystart_plus_before_growth(struct hystart_plus *h, struct tandem_conn *c, u32 acked)
{
	u32 counted;

	if (!hystart_plus_applies(c))
		return acked;
	if (h->baseline_rtt_us && h->css_rounds == HYSTART_PLUS_CSS_ROUNDS) {
		ssthresh_follows(c);
		return acked;
	}
	if (!c->is_paced)
		acked = min_u32(acked, HYSTART_PLUS_L);
	if (!h->baseline_rtt_us || !c->is_cwnd_limited)
		return acked;
	/* The rest is below 4, and `acked` at most 2^24 or so. */
	counted = h->css_acked + min_u32(acked, TANDEM_MAX_WINDOW);
	h->css_acked = counted % HYSTART_PLUS_CSS_GROWTH_DIVISOR;
	return counted / HYSTART_PLUS_CSS_GROWTH_DIVISOR;
}

#endif
