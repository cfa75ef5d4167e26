/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * CTCP-TUBE: gamma by emulating a regular flow (S1 III).
 *
 * The loss window already behaves like a regular TCP, so its own backlog just before a loss is what
 * such a flow gets of the bottleneck's buffer:
 *   each round   diff_reno = cwnd * (1 - baseRTT / RTT)                           S1 (5)
 *   at a loss    gamma = (1 - lambda) * gamma + lambda * 3/4 * diff_reno, within
 *                [gamma_low, gamma_high]; then diff_reno is invalid               S1 (6), Figure 3
 *
 * "Loss" includes a timeout (S1 says "packet loss"). cwnd is the one at the start of the round,
 * which the samples measured (LA). If gamma_low exceeds gamma_high, gamma_high holds.
 */
#ifndef TANDEM_COMPOUND_TUBE_H
#define TANDEM_COMPOUND_TUBE_H

#include "ctcp.h"

#define compound_tube_OWN_PARAMS(P) \
	P(gamma, 256, 30 << 8, 1, 10000 << 8, \
	  "packets; gamma before the first loss (S1 Figure 3: 30)") \
	P(gamma_low, 256, 5 << 8, 1, 10000 << 8, "packets; lower bound of gamma (S1 IV.A: 5)") \
	P(gamma_high, 256, 30 << 8, 1, 10000 << 8, "packets; upper bound of gamma (S1 IV.A: 30)") \
	P(lambda, 1024, 256, 1, 1024, \
	  "weight of a new estimate in gamma's moving average (S1 IV.A: 1/4)") \
	P(share, 1024, 768, 1, 1024, "share of diff_reno that gamma aims at (S1 Figure 3: 3/4)")

#define compound_tube_PARAMS(P) CTCP_LAW_PARAMS(P) compound_tube_OWN_PARAMS(P)

struct compound_tube_params {
	CTCP_LAW_FIELDS
	compound_tube_OWN_PARAMS(TANDEM_PARAM_FIELD)
};

struct compound_tube {
	struct ctcp core;
	u32 diff_reno_q8; /* of the last measured round, or ROUNDS_UNMEASURED */
};

TANDEM_FN u32 compound_tube_start(struct compound_tube *s, const struct compound_tube_params *p)
{
	s->diff_reno_q8 = ROUNDS_UNMEASURED;
	return p->gamma;
}

TANDEM_FN void compound_tube_on_round(struct compound_tube *s, const struct compound_tube_params *p)
{
	s->diff_reno_q8 = ctcp_backlog_q8(&s->core, s->core.round_cwnd);
}

TANDEM_FN void compound_tube_on_loss(struct compound_tube *s, const struct compound_tube_params *p)
{
	u32 gamma_q8 = s->core.gamma_q8;
	u32 target_q8;

	if (s->diff_reno_q8 == ROUNDS_UNMEASURED)
		return;
	target_q8 = mul_div(s->diff_reno_q8, p->share, 1024);
	/* Unsigned arithmetic only: step towards the target from either side. */
	if (target_q8 > gamma_q8)
		gamma_q8 += mul_div(target_q8 - gamma_q8, p->lambda, 1024);
	else
		gamma_q8 -= mul_div(gamma_q8 - target_q8, p->lambda, 1024);
	s->core.gamma_q8 = min_u32(max_u32(gamma_q8, p->gamma_low), p->gamma_high);
	s->diff_reno_q8 = ROUNDS_UNMEASURED;
}

CTCP_NO_ON_SAMPLE(compound_tube)
CTCP_NO_ON_DWND(compound_tube)
CTCP_NO_ON_TIMEOUT(compound_tube)
CTCP_NO_ON_UNDO(compound_tube)
CTCP_CONTROLLER(compound_tube)

#define compound_tube_PROBES(P, W) \
	P(diff_reno_packets, 256, \
	  s->diff_reno_q8 == ROUNDS_UNMEASURED ? TANDEM_NONE : s->diff_reno_q8, \
	  "backlog of the emulated flow of the last round")

#endif
