/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The least that Linux takes for a controller; the objects here each get one thing wrong. */
#include "tcp.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define NAME "tandem_minimal"

SEC("struct_ops")
u32 BPF_PROG(keep_window, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC("struct_ops")
u32 BPF_PROG(undo, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC("struct_ops")
void BPF_PROG(grow, struct sock *sk, u32 ack, u32 acked)
{
}

#define COMPLETE \
	.name = NAME, \
	.ssthresh = (void *)keep_window, \
	.undo_cwnd = (void *)undo, \
	.cong_avoid = (void *)grow
