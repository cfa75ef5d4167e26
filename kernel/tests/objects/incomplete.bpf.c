/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Has no undo_cwnd; not on minimal.h, for a program that no member names would not load. */
#include "tcp.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("struct_ops")
u32 BPF_PROG(keep_window, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC("struct_ops")
void BPF_PROG(grow, struct sock *sk, u32 ack, u32 acked)
{
}

SEC(".struct_ops.link")
struct tcp_congestion_ops controller = {
	.name = "tandem_lacking",
	.ssthresh = (void *)keep_window,
	.cong_avoid = (void *)grow,
};
