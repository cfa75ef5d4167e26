/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The kernel's view of one controller: compiled once for each line of controllers.def with
 * -DCONTROLLER=name. It holds
 *  - the struct_ops map `controller` with the call points of struct tcp_congestion_ops,
 *  - `flows`, an iterator over the connections that use the controller, for `tandem kernel watch`,
 *  - `replay`, which makes one call of the contract on a state that a test passes in.
 */
#include "tcp.h"

#include "flow.h"
#include "replay.h"

#include "controller.h"

/* The controllers are BSD-2-Clause OR GPL-2.0; the kernel asks for a string that it knows. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Expands the whole list: does the controller need the number of marked packets? */
enum {
#define TANDEM_CONTROLLER(name, family, signal, traits, look, source) \
	name##_counts_marks = ((traits) & TANDEM_COUNTS_MARKS) != 0,
#include "controllers.def"
};

/* The controller's state, and behind it what this host needs of its own. */
typedef struct {
	struct controller controller;
	/* delivered_ce and delivered as the controller knows them; only if it counts marks. */
	u32 told_ce;
	u32 told_delivered;
} counting_state_t;
typedef struct controller state_t;
typedef struct controller_params params_t;
_Static_assert(!OP(_counts_marks) || sizeof(counting_state_t) <= TANDEM_STATE_BYTES,
	       "the state leaves no room for the host's count");

/* The loader may set both before it loads; the verifier then takes them for constants. */
const volatile params_t params SEC(".rodata.params") = { CONTROLLER_PARAMS(TANDEM_PARAM_DEFAULT) };
const volatile char registered_name[16] SEC(".rodata.name") = TANDEM_QUOTE(CONTROLLER);

/* The loader needs this again when it unloads; the pinned map keeps it. */
struct registration {
	char controller[16];
	/* net.ipv4.tcp_congestion_control before; empty if it was left alone. */
	char replaced_default[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct registration);
} registration SEC(".maps");

/* Hides from the compiler that these are constants; otherwise it would use the defaults. */
static __always_inline const params_t *parameters(void)
{
	const params_t *p = (const params_t *)&params;

	barrier_var(p);
	return p;
}

static __always_inline struct tcp_sock *tcp(struct sock *sk) { return (struct tcp_sock *)sk; }

static __always_inline state_t *state_of(struct sock *sk)
{
	return (state_t *)tcp(sk)->inet_conn.icsk_ca_priv;
}

/*
 * Packets newly reported as marked. With accurate ECN the kernel counts those of an ACK after the
 * call, so that they come with the next one; without it, all packets count that are acknowledged
 * while the receiver echoes a mark.
 */
static __always_inline u32 newly_marked(struct sock *sk)
{
	counting_state_t *s = (counting_state_t *)state_of(sk);
	u32 now = tcp(sk)->delivered_ce, marked = seq_distance(s->told_ce, now);

	s->told_ce = now;
	return marked;
}

/* Packets newly delivered, by number or by SACK: all of this ACK's are counted before the call. */
static __always_inline u32 newly_delivered(struct sock *sk)
{
	counting_state_t *s = (counting_state_t *)state_of(sk);
	u32 now = tcp(sk)->delivered, packets = seq_distance(s->told_delivered, now);

	s->told_delivered = now;
	return packets;
}

/*
 * As tcp_is_cwnd_limited(): in slow start it is enough that half of the window is used, because the
 * window is about to double.
 */
static __always_inline u32 is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static __always_inline void read_conn(const struct tcp_sock *tp, struct tandem_conn *c)
{
	c->now_us = tp->tcp_mstamp;
	c->snd_cwnd = min_u32(tp->snd_cwnd, TANDEM_MAX_WINDOW);
	c->snd_cwnd_cnt = tp->snd_cwnd_cnt;
	c->snd_ssthresh = tp->snd_ssthresh;
	c->snd_cwnd_clamp = min_u32(tp->snd_cwnd_clamp, TANDEM_MAX_WINDOW);
	c->snd_una = tp->snd_una;
	c->snd_nxt = tp->snd_nxt;
	c->mss = tp->mss_cache;
	c->is_cwnd_limited = is_cwnd_limited(tp);
	c->pacing_bytes_per_s = 0;
	/* 0 is SK_PACING_NONE: the socket itself and the qdisc fq pace otherwise. */
	c->is_paced = tp->inet_conn.icsk_inet.sk.sk_pacing_status != 0;
}

/* The three fields that a controller may change. */
static __always_inline void write_conn(struct tcp_sock *tp, const struct tandem_conn *c)
{
	tp->snd_cwnd = c->snd_cwnd;
	tp->snd_cwnd_cnt = c->snd_cwnd_cnt;
	tp->snd_ssthresh = c->snd_ssthresh;
}

SEC("struct_ops")
void BPF_PROG(tandem_init, struct sock *sk)
{
	struct tandem_conn c;

	read_conn(tcp(sk), &c);
	/* The connection's own clock may not be set yet. */
	c.now_us = bpf_ktime_get_ns() / 1000;
	controller_init(state_of(sk), parameters(), &c);
	if (OP(_counts_marks)) {
		counting_state_t *s = (counting_state_t *)state_of(sk);

		s->told_ce = tcp(sk)->delivered_ce;
		s->told_delivered = tcp(sk)->delivered;
	}
	write_conn(tcp(sk), &c);
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
	/* As the simulator: an ACK of which there is nothing to tell. */
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
u32 BPF_PROG(tandem_ssthresh, struct sock *sk)
{
	struct tandem_conn c;

	read_conn(tcp(sk), &c);
	/*
	 * A guess: the kernel does not tell the reason. Where nothing is lost it is a mark, or a
	 * loss that a tail loss probe has repaired already. The two cannot be told apart here.
	 */
	return controller_ssthresh(state_of(sk), parameters(), &c,
				   tcp(sk)->lost_out ? TANDEM_FOR_LOSS : TANDEM_FOR_MARK);
}

SEC("struct_ops")
void BPF_PROG(tandem_set_state, struct sock *sk, __u8 new_state)
{
	struct tandem_conn c;

	read_conn(tcp(sk), &c);
	controller_set_state(state_of(sk), parameters(), &c, new_state);
	write_conn(tcp(sk), &c);
}

SEC("struct_ops")
void BPF_PROG(tandem_cwnd_event, struct sock *sk, int event)
{
	struct tandem_conn c;

	if (event != (int)bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_CWND_RESTART))
		return;
	read_conn(tcp(sk), &c);
	/* The connection's own clock still stands where the idle time began. */
	c.now_us = bpf_ktime_get_ns() / 1000;
	controller_restart(state_of(sk), parameters(), &c);
	write_conn(tcp(sk), &c);
}

SEC("struct_ops")
u32 BPF_PROG(tandem_undo_cwnd, struct sock *sk)
{
	struct tandem_conn c;

	read_conn(tcp(sk), &c);
	return controller_undo_cwnd(state_of(sk), parameters(), &c);
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

static __always_inline int uses_this_controller(const struct tcp_sock *tp)
{
	char name[16];

	bpf_probe_read_kernel(name, sizeof(name), tp->inet_conn.icsk_ca_ops->name);
	for (int i = 0; i < 16; i++) {
		if (name[i] != registered_name[i])
			return 0;
		if (!name[i])
			break;
	}
	return 1;
}

static __always_inline void read_addresses(const struct sock_common *sk, struct tandem_flow *flow)
{
	if (sk->skc_family == AF_INET) {
		*(__be32 *)flow->local_addr = sk->skc_rcv_saddr;
		*(__be32 *)flow->remote_addr = sk->skc_daddr;
	} else if (bpf_core_field_exists(sk->skc_v6_daddr)) {
		bpf_probe_read_kernel(flow->local_addr, 16, &sk->skc_v6_rcv_saddr);
		bpf_probe_read_kernel(flow->remote_addr, 16, &sk->skc_v6_daddr);
	}
	flow->local_port = sk->skc_num;
	flow->remote_port = bpf_ntohs(sk->skc_dport);
	flow->family = sk->skc_family;
	flow->state = sk->skc_state;
}

/*
 * Writes one struct tandem_flow for each connection of the reader's network namespace that uses
 * this controller.
 */
SEC("iter/tcp")
int flows(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;
	struct tandem_flow flow = {};
	struct tandem_conn c;
	struct tcp_sock *tp;
	state_t state;

	/*
	 * Connection requests and TIME-WAIT have no tcp_sock; listeners have no connection to show.
	 */
	tp = sk ? bpf_skc_to_tcp_sock(sk) : 0;
	if (!tp || sk->skc_state == TCP_LISTEN || !uses_this_controller(tp))
		return 0;
	read_addresses(sk, &flow);
	read_conn(tp, &c);
	bpf_probe_read_kernel(&state, sizeof(state), tp->inet_conn.icsk_ca_priv);
	controller_view(&state, parameters(), &c, &flow.view);
	flow.snd_cwnd = c.snd_cwnd;
	flow.snd_ssthresh = c.snd_ssthresh;
	flow.packets_out = tp->packets_out;
	flow.mss = c.mss;
	flow.srtt_us = tp->srtt_us >> 3;
	flow.lost = tp->lost;
	flow.retransmitted = tp->total_retrans;
	flow.bytes_acked = tp->bytes_acked;
	bpf_seq_write(ctx->meta->seq, &flow, sizeof(flow));
	return 0;
}

/*
 * One call of the contract, so that a test can compare the eBPF machine code with the native code.
 */
SEC("syscall")
int replay(struct tandem_replay *asked)
{
	/*
	 * The verifier accepts accesses to the context only at constant offsets, which a compiler
	 * need not produce: use a copy.
	 */
	struct tandem_replay copy = *asked, *r = &copy;
	const params_t *p = parameters();
	state_t *s;

	/* From here on the compiler cannot know that `r` points to a copy. */
	barrier_var(r);
	s = (state_t *)r->state;
	switch (r->call) {
	case TANDEM_CALL_INIT: controller_init(s, p, &r->conn); break;
	case TANDEM_CALL_PKTS_ACKED: controller_pkts_acked(s, p, &r->conn, &r->ack); break;
	case TANDEM_CALL_CONG_AVOID: controller_cong_avoid(s, p, &r->conn, r->argument); break;
	case TANDEM_CALL_SSTHRESH:
		r->result = controller_ssthresh(s, p, &r->conn, r->argument);
		break;
	case TANDEM_CALL_SET_STATE: controller_set_state(s, p, &r->conn, r->argument); break;
	case TANDEM_CALL_RESTART: controller_restart(s, p, &r->conn); break;
	case TANDEM_CALL_UNDO_CWND: r->result = controller_undo_cwnd(s, p, &r->conn); break;
	default: return 1;
	}
	controller_view(s, p, &r->conn, &r->view);
	barrier_var(r);
	*asked = *r;
	return 0;
}
