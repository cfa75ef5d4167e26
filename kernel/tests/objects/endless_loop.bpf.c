/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waits for a window that never comes. */
#include "minimal.h"

SEC("struct_ops")
void BPF_PROG(wait_forever, struct sock *sk)
{
	volatile u32 *window = &((struct tcp_sock *)sk)->snd_cwnd;

	while (*window)
		;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops controller = { COMPLETE, .init = (void *)wait_forever };
