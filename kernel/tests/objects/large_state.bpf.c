/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Its state is a word larger than what a connection has room for. */
#include "minimal.h"

SEC("struct_ops")
void BPF_PROG(write_beyond, struct sock *sk)
{
	u64 *state = ((struct tcp_sock *)sk)->inet_conn.icsk_ca_priv;

	state[TANDEM_STATE_BYTES / sizeof(u64)] = 0;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops controller = { COMPLETE, .init = (void *)write_beyond };
