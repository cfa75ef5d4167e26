/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Never registered. `tandem kernel check` loads it to learn whether a controller may set
 * the pacing rate (Linux 6.0).
 */
#include "tcp.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("struct_ops")
void BPF_PROG(set_pacing_rate, struct sock *sk)
{
	sk->sk_pacing_rate = 0;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops controller = {
	.name = "pacing_probe",
	.init = (void *)set_pacing_rate,
};
