/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What limited a connection, in the kernel's unit of time. */
#ifndef TANDEM_KERNEL_LIMITS_H
#define TANDEM_KERNEL_LIMITS_H

#include "tcp.h"

/* Jiffies since the connection began. */
struct limits {
	u32 busy;   /* while there was something to send or to be acknowledged */
	u32 rwnd;   /* of that, limited by the receiver's window */
	u32 sndbuf; /* of that, limited by the send buffer */
};

/* As in TCP_INFO: the kind being waited for now is included. */
static __always_inline void read_limits(struct tcp_sock *tp, struct limits *limits)
{
	u32 kind = BPF_CORE_READ_BITFIELD(tp, chrono_type);
	u32 now = (u32)bpf_jiffies64() - tp->chrono_start;

	limits->rwnd = tp->chrono_stat[1] + (kind == 2 ? now : 0);
	limits->sndbuf = tp->chrono_stat[2] + (kind == 3 ? now : 0);
	limits->busy = tp->chrono_stat[0] + (kind == 1 ? now : 0) + limits->rwnd + limits->sndbuf;
}

#endif
