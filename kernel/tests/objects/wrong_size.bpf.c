/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Its struct tcp_congestion_ops is not the kernel's: the flags have twice the size. */
#include "minimal.h"

struct tcp_congestion_ops___with_large_flags {
	char name[16];
	u64 flags;
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*undo_cwnd)(struct sock *sk);
} __attribute__((preserve_access_index));

SEC(".struct_ops.link")
struct tcp_congestion_ops___with_large_flags controller = { COMPLETE, .flags = 1 };
