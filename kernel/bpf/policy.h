/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Between `tandem policy` and its program. The Rust side: kernel/src/sockops/policy.rs. */
#ifndef TANDEM_KERNEL_POLICY_H
#define TANDEM_KERNEL_POLICY_H

#include "peer.h"

#define TANDEM_NO_RULE 0xffffffffu
#define TANDEM_RULE_TEXT_BYTES 256
/* Number of cgroups examined, from the connection's own outwards. */
#define TANDEM_CGROUP_DEPTH 32

/* 0: there is no rule of the kind. */
struct tandem_kinds {
	u32 prefixes;
	u32 ports;
	u32 cgroups;
};

struct tandem_rule {
	char controller[16];
	u64 connections; /* that got its controller */
	u64 refused;     /* that kept theirs: the kernel had no such controller */
	char text[TANDEM_RULE_TEXT_BYTES]; /* its subject, `192.0.2.0/24`; ends with a zero */
};

struct tandem_question {
	unsigned char ethernet[16]; /* zeros, where the kernel looks for a packet's header */
	struct tandem_peer peer;
	u64 cgroups[TANDEM_CGROUP_DEPTH]; /* the innermost first; 0: no more */
};

#endif
