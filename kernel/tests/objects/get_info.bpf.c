/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Has a get_info, which Linux lets only controllers of its own have. */
#include "minimal.h"

/* libbpf takes what follows ___ for a flavour of the type before it. */
struct tcp_congestion_ops___with_get_info {
	char name[16];
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*undo_cwnd)(struct sock *sk);
	u64 (*get_info)(struct sock *sk, u32 ext, int *attr, void *info);
} __attribute__((preserve_access_index));

SEC("struct_ops")
u64 BPF_PROG(show_nothing, struct sock *sk, u32 ext, int *attr, void *info)
{
	return 0;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops___with_get_info controller = {
	COMPLETE,
	.get_info = (void *)show_nothing,
};
