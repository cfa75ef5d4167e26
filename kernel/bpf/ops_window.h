/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The call points of a controller that leaves recovery to the kernel: it grows the window, and
 * decides its size after a loss. Part of controller.bpf.c.
 */
#ifndef TANDEM_KERNEL_OPS_WINDOW_H
#define TANDEM_KERNEL_OPS_WINDOW_H

/*
 * Packets newly reported as marked. With accurate ECN the kernel counts an ACK's marks after the
 * call, so they come with the next one; without it, all packets count that are acknowledged
 * while the receiver echoes a mark.
 */
static __always_inline u32 newly_marked(struct sock *sk)
{
	counting_state_t *s = (counting_state_t *)state_of(sk);
	u32 now = tcp(sk)->delivered_ce, marked = seq_distance(s->told_ce, now);

	s->told_ce = now;
	return marked;
}

/* Packets newly delivered, cumulatively or by SACK: the kernel counts them before the call. */
static __always_inline u32 newly_delivered(struct sock *sk)
{
	counting_state_t *s = (counting_state_t *)state_of(sk);
	u32 now = tcp(sk)->delivered, packets = seq_distance(s->told_delivered, now);

	s->told_delivered = now;
	return packets;
}

SEC("struct_ops")
void BPF_PROG(tandem_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tandem_ack ack = {
		.pkts_acked = sample->pkts_acked,
		.delivered = tcp(sk)->delivered,
	};
	struct tandem_conn c;
	__s32 rtt_us = sample->rtt_us;

	if (rtt_us > 0)
		ack.rtt_us = (u32)rtt_us;
	if (OP(_counts_marks)) {
		ack.acked_sacked = newly_delivered(sk);
		if (ack.acked_sacked)
			ack.marked = newly_marked(sk);
	}
	/* As in the simulator, an ACK without news is not reported. */
	if (!ack.pkts_acked && !ack.rtt_us && !ack.acked_sacked)
		return;
	read_conn(tcp(sk), &c);
	controller_pkts_acked(state_of(sk), parameters(), &c, &ack);
}

SEC("struct_ops")
void BPF_PROG(tandem_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tandem_conn c;

	read_conn(tcp(sk), &c);
	controller_cong_avoid(state_of(sk), parameters(), &c, acked);
	write_conn(tcp(sk), &c);
}

SEC("struct_ops")
void BPF_PROG(tandem_cwnd_event, struct sock *sk, int event)
{
	struct tandem_conn c;

	if (event != (int)bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_CWND_RESTART))
		return;
	read_conn(tcp(sk), &c);
	/* The connection's clock still shows the start of the idle time. */
	c.now_us = bpf_ktime_get_ns() / 1000;
	controller_restart(state_of(sk), parameters(), &c);
	write_conn(tcp(sk), &c);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops controller = {
	.name = TANDEM_QUOTE(CONTROLLER),
	.flags = TCP_CONG_NON_RESTRICTED | (OP(_counts_marks) ? TCP_CONG_NEEDS_ECN : 0),
	.init = (void *)tandem_init,
	.pkts_acked = (void *)tandem_pkts_acked,
	.cong_avoid = (void *)tandem_cong_avoid,
	.ssthresh = (void *)tandem_ssthresh,
	.set_state = (void *)tandem_set_state,
	.cwnd_event = (void *)tandem_cwnd_event,
	.undo_cwnd = (void *)tandem_undo_cwnd,
};

#endif
