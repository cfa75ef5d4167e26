/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The call points of a controller that owns the window: Linux's cong_control, last on each ACK, in
 * place of the kernel's own growth and recovery. Part of controller.bpf.c.
 *
 * min_tso_segs is left out: it is called far more often than cong_control, and the kernel's own
 * value, two packets, differs from BBR's below 1.2 Mb/s only.
 */
#ifndef TANDEM_KERNEL_OPS_RATE_H
#define TANDEM_KERNEL_OPS_RATE_H

_Static_assert(!OP(_counts_marks), "an ACK's marks are not counted here yet");

/* As tcp_packets_in_flight(). */
static __always_inline u32 tcp_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out + tp->retrans_out - (tp->sacked_out + tp->lost_out);
}

static __always_inline u32 to_u32(u64 value)
{
	return value < 0xffffffffu ? (u32)value : 0xffffffffu;
}

/* The kernel does not say how many packets were acknowledged cumulatively: pkts_acked stays 0. */
static __always_inline void read_ack(const struct tcp_sock *tp, const struct rate_sample *rs,
				     struct tandem_ack *ack)
{
	long rtt_us = rs->rtt_us, interval_us = rs->interval_us;

	ack->delivered = tp->delivered;
	ack->acked_sacked = rs->acked_sacked;
	ack->in_flight = tcp_in_flight(tp);
	ack->lost = (u32)rs->losses;
	if (rtt_us > 0)
		ack->rtt_us = to_u32((u64)rtt_us);
	if (OP(_wants_rate) && rs->delivered > 0 && interval_us > 0) {
		ack->prior_delivered = rs->prior_delivered;
		ack->interval_us = to_u32((u64)interval_us);
		ack->is_app_limited = rs->is_app_limited;
	}
}

/*
 * The whole handling of an ACK. A global function, not inlined: the verifier walks through
 * it once, assuming nothing about its arguments. After each path through read_ack() and read_conn()
 * it would exceed its million instructions. Such a function takes plain memory, not part of a
 * socket, so it works on a copy of the state.
 */
__attribute__((noinline)) int tandem_on_ack(struct controller *s, struct tandem_conn *c,
					    const struct tandem_ack *ack)
{
	/* Required by the verifier; the only caller passes all three. */
	if (!s || !c || !ack)
		return 0;
	controller_pkts_acked(s, parameters(), c, ack);
	return 0;
}

static __always_inline void take_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct tandem_ack ack = {};
	struct tandem_conn c;
	struct controller copy;

	/* As in the simulator, an ACK that delivers nothing is not reported. */
	if (!rs->acked_sacked)
		return;
	read_ack(tcp(sk), rs, &ack);
	read_conn(tcp(sk), &c);
	copy = *state_of(sk);
	tandem_on_ack(&copy, &c, &ack);
	*state_of(sk) = copy;
	write_conn(tcp(sk), &c);
}

/* Before Linux 6.10. */
SEC("struct_ops")
void BPF_PROG(tandem_cong_control_2, struct sock *sk, const struct rate_sample *rs)
{
	take_ack(sk, rs);
}

SEC("struct_ops")
void BPF_PROG(tandem_cong_control_4, struct sock *sk, u32 ack, int flag,
	      const struct rate_sample *rs)
{
	take_ack(sk, rs);
}

/*
 * Nothing is in flight, and a packet is about to be sent. That alone is not idle time: it may be
 * the connection's first data, or a retransmission after a timeout that marked everything lost.
 */
static __always_inline void restart_if_idle(struct sock *sk)
{
	struct tcp_sock *tp = tcp(sk);
	struct tandem_conn c;

	if (tp->packets_out || !tp->data_segs_out)
		return;
	read_conn(tp, &c);
	/* The connection's clock may still show the start of the idle time. */
	c.now_us = bpf_ktime_get_ns() / 1000;
	controller_restart(state_of(sk), parameters(), &c);
	write_conn(tp, &c);
}

SEC("struct_ops")
void BPF_PROG(tandem_rate_event, struct sock *sk, int event)
{
	if (event == (int)bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_TX_START))
		restart_if_idle(sk);
}

SEC("struct_ops")
void BPF_PROG(tandem_tx_start, struct sock *sk)
{
	restart_if_idle(sk);
}

/* Only one of these is created; the loader chooses it by the kernel's types (src/form.rs). */
#define REGISTRATION(form, ...) \
	SEC(".struct_ops.link") \
	struct tcp_congestion_ops form = { \
		.name = TANDEM_QUOTE(CONTROLLER), \
		.flags = TCP_CONG_NON_RESTRICTED, \
		.init = (void *)tandem_init, \
		.ssthresh = (void *)tandem_ssthresh, \
		.set_state = (void *)tandem_set_state, \
		.undo_cwnd = (void *)tandem_undo_cwnd, \
		__VA_ARGS__ \
	}

REGISTRATION(two_arguments, .cong_control = (void *)tandem_cong_control_2,
	     .cwnd_event = (void *)tandem_rate_event);
REGISTRATION(four_arguments, .cong_control = (void *)tandem_cong_control_4,
	     .cwnd_event = (void *)tandem_rate_event);
REGISTRATION(start_event, .cong_control = (void *)tandem_cong_control_4,
	     .cwnd_event_tx_start = (void *)tandem_tx_start);

#endif
