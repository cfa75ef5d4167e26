/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The kernel's view of one controller: compiled once for each line of controllers.def with
 * -DCONTROLLER=name. It holds
 *  - a struct_ops map with the call points of struct tcp_congestion_ops; a controller that owns the
 *    window has one for each form that these have in kernels, of which the loader takes one,
 *  - `flows`, an iterator over the connections that use the controller, for `tandem kernel watch`,
 *  - `replay`, which makes one call of the contract on a state that a test passes in.
 */
/* First: it decides what contract.h makes of a step. */
#include "steps.h"

#include "tcp.h"

#include "flow.h"
#include "replay.h"

#include "controller.h"

/* The controllers are BSD-2-Clause OR GPL-2.0; the kernel requires a string that it knows. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Expands the whole list: what does the host owe the controller? */
enum {
#define TANDEM_CONTROLLER(name, family, signal, traits, look, source) \
	name##_owns_window = ((traits) & TANDEM_OWNS_WINDOW) != 0, \
	name##_wants_rate = ((traits) & TANDEM_WANTS_RATE) != 0, \
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

/* The loader may set both before loading; the verifier then treats them as constants. */
const volatile params_t params SEC(".rodata.params") = { CONTROLLER_PARAMS(TANDEM_PARAM_DEFAULT) };
const volatile char registered_name[16] SEC(".rodata.name") = TANDEM_QUOTE(CONTROLLER);

/* The loader needs this again when it unloads; the pinned map keeps it. */
struct registration {
	char controller[16];
	/* The previous net.ipv4.tcp_congestion_control; empty if it was not changed. */
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
	if (OP(_owns_window))
		c->pacing_bytes_per_s = tp->inet_conn.icsk_inet.sk.sk_pacing_rate;
	/* Otherwise the socket itself or the qdisc fq paces. */
	c->is_paced = tp->inet_conn.icsk_inet.sk.sk_pacing_status !=
		      bpf_core_enum_value(enum sk_pacing, SK_PACING_NONE);
}

/* The rate, which counts payload as the kernel's does, up to what SO_MAX_PACING_RATE allows. */
static __always_inline void write_rate(struct tcp_sock *tp, const struct tandem_conn *c)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	u64 rate = c->pacing_bytes_per_s, most = sk->sk_max_pacing_rate;

	sk->sk_pacing_rate = rate < most ? rate : most;
}

/* The fields that a controller may change. */
static __always_inline void write_conn(struct tcp_sock *tp, const struct tandem_conn *c)
{
	if (OP(_owns_window))
		write_rate(tp, c);
	tp->snd_cwnd = c->snd_cwnd;
	tp->snd_cwnd_cnt = c->snd_cwnd_cnt;
	tp->snd_ssthresh = c->snd_ssthresh;
}

/*
 * Without the qdisc fq, the socket's own timer paces once asked to. With fq the status already says
 * so, and stays.
 */
static __always_inline void ask_for_pacing(struct sock *sk)
{
	if (sk->sk_pacing_status == bpf_core_enum_value(enum sk_pacing, SK_PACING_NONE))
		sk->sk_pacing_status = bpf_core_enum_value(enum sk_pacing, SK_PACING_NEEDED);
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
	if (OP(_owns_window))
		ask_for_pacing(sk);
	write_conn(tcp(sk), &c);
}

SEC("struct_ops")
u32 BPF_PROG(tandem_ssthresh, struct sock *sk)
{
	struct tandem_conn c;

	read_conn(tcp(sk), &c);
	/*
	 * A guess, because the kernel does not give the reason. If nothing is lost, it is a
	 * mark, or a loss that a tail loss probe has already repaired; both look the same here.
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
u32 BPF_PROG(tandem_undo_cwnd, struct sock *sk)
{
	struct tandem_conn c;

	read_conn(tcp(sk), &c);
	return controller_undo_cwnd(state_of(sk), parameters(), &c);
}

/* The call points that depend on who sets the window in recovery, and the struct_ops maps. */
#ifdef TANDEM_OWNS_SLOW_START
#include "ops_rate.h"
#else
#include "ops_window.h"
#endif

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

static __always_inline void read_pacing(const struct sock *sk, struct tandem_flow *flow)
{
	u32 status = sk->sk_pacing_status;

	flow->pacing_bytes_per_s = sk->sk_pacing_rate;
	if (status == bpf_core_enum_value(enum sk_pacing, SK_PACING_NEEDED))
		flow->pacing = TANDEM_PACED_BY_SOCKET;
	else if (status == bpf_core_enum_value(enum sk_pacing, SK_PACING_FQ))
		flow->pacing = TANDEM_PACED_BY_FQ;
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
	read_pacing(&tp->inet_conn.icsk_inet.sk, &flow);
	bpf_seq_write(ctx->meta->seq, &flow, sizeof(flow));
	return 0;
}

/*
 * One call of the contract. A separate function, so that the verifier assumes nothing about what a
 * test passes in (see ops_rate.h).
 */
__attribute__((noinline)) int tandem_call(struct tandem_replay *r)
{
	const params_t *p = parameters();
	state_t *s;

	if (!r)
		return 1;
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
	return 0;
}

/* A separate function, so that paths through the call and the view add up and do not multiply. */
__attribute__((noinline)) int tandem_look(struct tandem_replay *r)
{
	if (!r)
		return 1;
	controller_view((state_t *)r->state, parameters(), &r->conn, &r->view);
	return 0;
}

/* So that a test can compare the eBPF machine code with the native code. */
SEC("syscall")
int replay(struct tandem_replay *asked)
{
	/*
	 * The verifier accepts accesses to the context only at constant offsets, which a compiler
	 * need not produce: use a copy.
	 */
	struct tandem_replay copy = *asked;
	int unknown = tandem_call(&copy);

	tandem_look(&copy);

	*asked = copy;
	return unknown;
}
