/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Compound TCP with a fixed gamma: 30 packets (S1 section II; S0 calls it the value of the earlier
 * work). The law is in ctcp.h.
 */
#ifndef TANDEM_COMPOUND_H
#define TANDEM_COMPOUND_H

#include "ctcp.h"

#define compound_OWN_PARAMS(P) \
	P(gamma, 256, 30 << 8, 1, 10000 << 8, \
	  "backlog in packets that counts as early congestion (S1 II: 30)")

#define compound_PARAMS(P) CTCP_LAW_PARAMS(P) compound_OWN_PARAMS(P)

struct compound_params {
	CTCP_LAW_FIELDS
	compound_OWN_PARAMS(TANDEM_PARAM_FIELD)
};

struct compound {
	struct ctcp core;
};

TANDEM_FN u32 compound_start(struct compound *s, const struct compound_params *p)
{
	return p->gamma;
}

CTCP_NO_ON_SAMPLE(compound)
CTCP_NO_ON_ROUND(compound)
CTCP_NO_ON_DWND(compound)
CTCP_NO_ON_LOSS(compound)
CTCP_NO_ON_TIMEOUT(compound)
CTCP_NO_ON_UNDO(compound)
CTCP_CONTROLLER(compound)

#define compound_PROBES(P, W) /* none */

#endif
