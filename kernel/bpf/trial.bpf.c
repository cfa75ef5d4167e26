/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * `tandem trial`: each new connection of the cgroup gets one of two controllers, and leaves a
 * record when it ends. Nothing runs per packet.
 */
#include "sockops.h"
#include "totals.h"

#include "trial.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by the loader before loading. */
const volatile struct tandem_trial asked SEC(".rodata.trial") = {};

struct member {
	u64 began_ns;
	u32 arm;
	u32 flags;
};

/* Stored with the socket; ends with it. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct member);
} members SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct tandem_trial_counts);
} counts SEC(".maps");

/* Of each arm. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct tandem_totals);
} totals SEC(".maps");

static __always_inline int takes_part(const struct tandem_peer *peer)
{
	if (asked.port && asked.port != peer->port)
		return 0;
	return !asked.has_prefixes || by_address(peer, 0);
}

/* The finalizer of MurmurHash3: each bit of the input changes about half of the output's. */
static __always_inline u64 mixed(u64 h)
{
	h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdull;
	h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ull;
	return h ^ (h >> 33);
}

static __always_inline u32 draw(const struct tandem_peer *peer)
{
	u64 halves[2];

	if (!asked.by_peer)
		return bpf_get_prandom_u32();
	__builtin_memcpy(halves, peer->addr, sizeof(halves));
	return mixed(mixed(mixed(asked.seed) ^ halves[0]) ^ halves[1]) >> 32;
}

static __always_inline void begin(struct bpf_sock_ops *ops)
{
	struct tandem_trial_counts *count;
	struct tandem_peer peer;
	struct bpf_sock *sk = ops->sk;
	struct member *member;
	u32 arm;

	read_peer(ops, &peer, ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB);
	if (!sk || !takes_part(&peer) || !undecided(ops))
		return;
	arm = draw(&peer) < asked.share ? 0 : 1;
	count = bpf_map_lookup_elem(&counts, &arm);
	if (!count)
		return;
	member = bpf_sk_storage_get(&members, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	/* A connection that would leave no record gets no arm. */
	if (!member)
		return;
	/* Linux 6.1 has forgotten by now that it is one of two. */
	barrier_var(arm);
	arm &= 1;
	if (give(ops, (const char *)asked.arms[arm])) {
		__sync_fetch_and_add(&count->refused, 1);
		bpf_sk_storage_delete(&members, sk);
		return;
	}
	member->began_ns = bpf_ktime_get_ns();
	member->arm = arm;
	member->flags = ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB ? TANDEM_ACCEPTED : 0;
	/* Other programs may have asked for more callbacks. */
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_STATE_CB_FLAG);
	__sync_fetch_and_add(&count->started, 1);
}

static __always_inline void fill(struct bpf_sock_ops *ops, struct tcp_sock *tp,
				 const struct member *member, struct tandem_connection *record)
{
	struct limits limits;

	read_peer(ops, &record->peer, member->flags & TANDEM_ACCEPTED);
	record->began_ns = member->began_ns;
	record->ended_ns = bpf_ktime_get_ns();
	record->bytes_acked = ops->bytes_acked;
	record->bytes_received = ops->bytes_received;
	record->srtt_us = ops->srtt_us >> 3;
	record->min_rtt_us = ops->rtt_min == ~0u ? 0 : ops->rtt_min;
	record->segments = tp->data_segs_out;
	record->retransmitted = tp->total_retrans;
	record->cwnd = tp->snd_cwnd;
	record->arm = member->arm;
	record->flags = member->flags;
	read_limits(tp, &limits);
	record->busy_jiffies = limits.busy;
	record->rwnd_jiffies = limits.rwnd;
	record->sndbuf_jiffies = limits.sndbuf;
}

/* The SYN and the FIN count as bytes, and the SYN's repetitions as retransmissions. */
static __always_inline void add_to_totals(struct tcp_sock *tp,
					  const struct tandem_connection *record)
{
	u64 elapsed_us = (record->ended_ns - record->began_ns) / 1000;
	u32 arm = record->arm, control = record->flags & TANDEM_ACCEPTED ? 1 : 2;
	struct tandem_totals *all = bpf_map_lookup_elem(&totals, &arm);
	struct activity did = {
		.segments = record->segments,
		.retransmitted = record->retransmitted,
		.elapsed_jiffies = elapsed_us * jiffies_per_s / 1000000,
		.limits.busy = record->busy_jiffies,
		.limits.rwnd = record->rwnd_jiffies,
		.limits.sndbuf = record->sndbuf_jiffies,
	};

	if (!all || !(record->flags & TANDEM_ESTABLISHED))
		return;
	if (record->bytes_acked > control)
		did.bytes = record->bytes_acked - control;
	if (did.retransmitted > did.segments)
		did.retransmitted = did.segments;
	add_activity(all, tp, &did);
}

static __always_inline void end(struct bpf_sock_ops *ops, struct bpf_sock *sk,
				const struct member *member)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct tandem_connection record = {};
	struct tandem_trial_counts *count;
	u32 arm = member->arm;

	count = bpf_map_lookup_elem(&counts, &arm);
	if (!tp || !count)
		return;
	fill(ops, tp, member, &record);
	add_to_totals(tp, &record);
	__sync_fetch_and_add(&count->ended, 1);
	/* The loader looks from time to time: waking it up for each would cost most of all. */
	if (bpf_ringbuf_output(&records, &record, sizeof(record), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&count->lost, 1);
}

static __always_inline void change_state(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	u32 state = ops->args[1];
	struct member *member;

	/* Other changes of state need no look-up. */
	if (!sk || (state != TCP_ESTABLISHED && state != TCP_CLOSE))
		return;
	member = bpf_sk_storage_get(&members, sk, 0, 0);
	/* Not one of ours, or another program asked for the callback. */
	if (!member)
		return;
	if (state == TCP_ESTABLISHED)
		member->flags |= TANDEM_ESTABLISHED;
	else
		end(ops, sk, member);
}

SEC("sockops")
int trial(struct bpf_sock_ops *ops)
{
	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB: begin(ops); break;
	case BPF_SOCK_OPS_STATE_CB: change_state(ops); break;
	}
	return 1;
}
