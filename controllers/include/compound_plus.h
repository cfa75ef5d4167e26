/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Compound TCP+ (S4): Compound TCP whose loss window also gives way when a loss is likely.
 *
 * Once a round, without a loss:
 *   cwnd = cwnd * 2/3                                                      S4 (2)
 *   cwnd = cwnd - 1/2                                                      S4 (3)
 *   cwnd as it is                                                          S4 (4)
 *
 * S4: Oda, Hisamatsu, Noborio, Congestion control scheme of Compound TCP+ in wireless LAN, IPSJ SIG
 * report, 2012. Its Japanese text is lost to us; equations, the words "dwnd = 0", "ACK", "2/3",
 * "1/2 per RTT" and the English abstract are what is left. When each of the three applies is
 * therefore a reading of ours, chosen with `reading`. In all of them the delay part acts, and
 * diff >= gamma with nothing left of dwnd is "a state where a loss may occur":
 *  1 (A)  (2) in the first such round, dwnd was above 0 before; (3) while it lasts. The first sign
 *         of slight congestion is answered once, more mildly than a loss is. The default: it alone
 *         accounts for each word that is left.
 *  2 (B)  (3) in the first, (2) while it lasts.
 *  3 (C)  (2) in the first if ACKs were lost in it, otherwise (3). An ACK for more than two packets
 *         reveals a lost one.
 *
 * Further decisions:
 *  - dwnd must have been above 0 since the last slow start or timeout; otherwise a small
 *    window, whose dwnd never grows, would shrink for ever; after_growth = 0 leaves that to
 *    diff >= gamma alone.
 *  - (3) is "-1/2 per RTT" in place of Reno's +1, so that 3/2 are taken while Reno grows on:
 *    `decline`. With 1/2 for `decline` it comes on top, and the window still grows by 1/2. An
 *    application-limited window does not grow and does not decline.
 *  - The square brackets of (2) and (3) round down to whole packets; what (3) takes is summed up in
 *    fractions first.
 *  - ssthresh follows the window down, as after a decrease of dwnd (ctcp.h).
 */
#ifndef TANDEM_COMPOUND_PLUS_H
#define TANDEM_COMPOUND_PLUS_H

#include "ctcp.h"

#define compound_plus_OWN_PARAMS(P) \
	P(gamma, 256, 30 << 8, 1, 10000 << 8, \
	  "backlog in packets that counts as early congestion (S1 II: 30)") \
	P(reading, 1, 1, 1, 3, \
	  "which reading of S4 section 3: 1 = A, 2 = B, 3 = C (see the controller's page)") \
	P(slight_beta, 3072, 1024, 0, 2880, \
	  "share of the loss window given up on slight congestion (S4 (2): 1/3)") \
	P(decline, 256, 384, 0, 10 << 8, \
	  "packets taken a round while it lasts (S4 (3): 1/2, plus Reno's 1 that it replaces)") \
	P(after_growth, 1, 1, 0, 1, \
	  "1 = only once dwnd has been above 0 since the last slow start, 0 = always")

#define compound_plus_PARAMS(P) CTCP_LAW_PARAMS(P) compound_plus_OWN_PARAMS(P)

struct compound_plus_params {
	CTCP_LAW_FIELDS
	compound_plus_OWN_PARAMS(TANDEM_PARAM_FIELD)
};

/* Values of `reading`. */
enum compound_plus_reading {
	COMPOUND_PLUS_A = 1,
	COMPOUND_PLUS_B = 2,
	COMPOUND_PLUS_C = 3,
};

struct compound_plus {
	struct ctcp core;
	u32 dwnd_before; /* dwnd when the round ended, before the law changed it, packets   */
	u32 dwnd_grew : 1; /* 1 if dwnd has been above 0 since the last slow start or timeout */
	u32 acks_lost : 1; /* 1 if an ACK of this round stood for a lost one too              */
	u32 debt_q8 : 30;  /* what (3) has taken of a packet that is still there              */
};

TANDEM_FN u32 compound_plus_start(struct compound_plus *s, const struct compound_plus_params *p)
{
	s->dwnd_before = 0;
	s->dwnd_grew = 0;
	s->acks_lost = 0;
	s->debt_q8 = 0;
	return p->gamma;
}

TANDEM_FN void compound_plus_on_sample(struct compound_plus *s, u32 rtt_us, u32 acked)
{
	/* RFC 5681 section 4.2: a receiver acknowledges at least every second segment. */
	if (acked > 2)
		s->acks_lost = 1;
}

TANDEM_FN void compound_plus_on_round(struct compound_plus *s, const struct compound_plus_params *p)
{
	s->dwnd_before = s->core.dwnd;
	if (s->core.dwnd)
		s->dwnd_grew = 1;
}

/* Does (2) apply, and not (3)? */
TANDEM_FN int compound_plus_is_slight(const struct compound_plus *s, u32 reading)
{
	if (reading == COMPOUND_PLUS_B)
		return !s->dwnd_before;
	if (reading == COMPOUND_PLUS_C)
		return s->dwnd_before && s->acks_lost;
	return s->dwnd_before != 0;
}

TANDEM_FN void compound_plus_take(struct compound_plus *s, const struct compound_plus_params *p,
				  const struct tandem_conn *c)
{
	u32 cwnd = s->core.cwnd;

	if (compound_plus_is_slight(s, p->reading)) {
		cwnd = mul_div(cwnd, 3072 - p->slight_beta, 3072);
	} else if (c->is_cwnd_limited) {
		s->debt_q8 += p->decline;
		cwnd = sub_floor0(cwnd, s->debt_q8 >> 8);
		s->debt_q8 &= 0xff;
	}
	s->core.cwnd = min_u32(s->core.cwnd, max_u32(cwnd, 2));
}

TANDEM_FN void compound_plus_on_dwnd(struct compound_plus *s, const struct compound_plus_params *p,
				     struct tandem_conn *c, int acted)
{
	if (in_slow_start(c))
		s->dwnd_grew = 0;
	if (acted && (s->dwnd_grew || !p->after_growth) && !s->core.dwnd &&
	    s->core.diff_q8 >= s->core.gamma_q8) {
		compound_plus_take(s, p, c);
		c->snd_cwnd = max_u32(s->core.cwnd, 1);
		ssthresh_follows(c);
	}
	s->acks_lost = 0;
}

TANDEM_FN void compound_plus_on_timeout(struct compound_plus *s,
					const struct compound_plus_params *p)
{
	s->dwnd_grew = 0;
}

CTCP_NO_ON_LOSS(compound_plus)
CTCP_NO_ON_UNDO(compound_plus)
CTCP_CONTROLLER(compound_plus)

#define compound_plus_PROBES(P, W) /* none */

#endif
