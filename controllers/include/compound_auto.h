/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Compound TCP with gamma tuned from the largest and the smallest RTT seen (S0 III.C).
 *
 * A bottleneck buffer of B = rho * BDP packets shared by m flows defeats early detection if
 * B / m < gamma while each flow's share (B + BDP) / m exceeds W_low. That cannot happen if
 * gamma <= W_low * rho / (1 + rho), and rho ~ (Rmax - Rmin) / Rmin, hence
 *     gamma = W_low * (Rmax - Rmin) / Rmax, at least 3 packets (S0 IV).
 * The paper's formulas are lost from the text at hand; this is their reconstruction from its
 * prose. It puts the bound itself in gamma's place and never ages Rmax and Rmin ("observed so
 * far"); with forget_base_rtt a timeout forgets both. Nothing is known before the first queue:
 * gamma is then its minimum.
 */
#ifndef TANDEM_COMPOUND_AUTO_H
#define TANDEM_COMPOUND_AUTO_H

#include "ctcp.h"

#define compound_auto_OWN_PARAMS(P) \
	P(gamma_low, 256, 3 << 8, 1, 10000 << 8, "packets; lower bound of gamma (S0 IV: 3)")

#define compound_auto_PARAMS(P) CTCP_LAW_PARAMS(P) compound_auto_OWN_PARAMS(P)

struct compound_auto_params {
	CTCP_LAW_FIELDS
	compound_auto_OWN_PARAMS(TANDEM_PARAM_FIELD)
};

struct compound_auto {
	struct ctcp core;
	u32 max_rtt_us;       /* S0's Rmax                                    */
	u32 prior_max_rtt_us; /* what the last timeout has forgotten, for undo */
};

TANDEM_FN u32 compound_auto_start(struct compound_auto *s, const struct compound_auto_params *p)
{
	s->max_rtt_us = 0;
	s->prior_max_rtt_us = 0;
	return p->gamma_low;
}

TANDEM_FN void compound_auto_on_sample(struct compound_auto *s, u32 rtt_us, u32 acked)
{
	s->max_rtt_us = max_u32(s->max_rtt_us, rtt_us);
}

TANDEM_FN void compound_auto_on_round(struct compound_auto *s, const struct compound_auto_params *p)
{
	u32 rise_us = sub_floor0(s->max_rtt_us, s->core.round.base_rtt_us);
	/* low_window <= 2^24, so only its shift may exceed 32 bits. */
	u64 bound_q8 = ((u64)p->low_window << 8) * rise_us / max_u32(s->max_rtt_us, 1);

	s->core.gamma_q8 = max_u32((u32)bound_q8, p->gamma_low);
}

TANDEM_FN void compound_auto_on_loss(struct compound_auto *s, const struct compound_auto_params *p)
{
	s->prior_max_rtt_us = 0;
}

/* It may be of another path, as Rmin may. */
TANDEM_FN void compound_auto_on_timeout(struct compound_auto *s,
					const struct compound_auto_params *p)
{
	if (!p->forget_base_rtt)
		return;
	s->prior_max_rtt_us = max_u32(s->prior_max_rtt_us, s->max_rtt_us);
	s->max_rtt_us = 0;
}

TANDEM_FN void compound_auto_on_undo(struct compound_auto *s)
{
	s->max_rtt_us = max_u32(s->max_rtt_us, s->prior_max_rtt_us);
}

CTCP_NO_ON_DWND(compound_auto)
CTCP_CONTROLLER(compound_auto)

#define compound_auto_PROBES(P, W) \
	P(max_rtt_ms, 1000, s->max_rtt_us ? s->max_rtt_us : TANDEM_NONE, \
	  "largest RTT since the last timeout, Rmax")

#endif
