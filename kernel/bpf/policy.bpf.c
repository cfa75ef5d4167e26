/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * `tandem policy`: which controller a new connection of the cgroup gets. Nothing runs per packet.
 * `examine` answers the same question for a peer that need not exist.
 */
#include "sockops.h"

#include "policy.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tandem_rule);
} rules SEC(".maps");

/*
 * Whether there are such rules. The loader says so before it loads `policy`, from which the
 * verifier then removes look-ups that could find nothing; `examine` always looks.
 */
const volatile struct tandem_kinds has SEC(".rodata.kinds") = {1, 1, 1};

/* The default rule, or TANDEM_NO_RULE. A map, so that `examine` shares it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} fallback SEC(".maps");

static __always_inline u32 by_peer(const struct tandem_peer *peer)
{
	u32 rule = has.prefixes ? by_address(peer, TANDEM_NO_RULE) : TANDEM_NO_RULE;
	u32 port = peer->port, *found;

	if (rule != TANDEM_NO_RULE || !has.ports)
		return rule;
	found = bpf_map_lookup_elem(&ports, &port);
	return found ? *found : TANDEM_NO_RULE;
}

static __always_inline u32 by_default(void)
{
	u32 first = 0, *found = bpf_map_lookup_elem(&fallback, &first);

	return found ? *found : TANDEM_NO_RULE;
}

/* The rule of the innermost cgroup with a rule. */
static __always_inline u32 by_cgroup(struct tcp_sock *tp)
{
	struct cgroup *cgroup = tp->inet_conn.icsk_inet.sk.sk_cgrp_data.cgroup;
	struct cgroup_subsys_state *self;
	int depth;

	for (depth = 0; depth < TANDEM_CGROUP_DEPTH && cgroup; depth++) {
		u64 id = cgroup->kn->id;
		u32 *found = bpf_map_lookup_elem(&cgroups, &id);

		if (found)
			return *found;
		self = cgroup->self.parent;
		if (!self)
			break;
		cgroup = self->cgroup;
	}
	return TANDEM_NO_RULE;
}

static __always_inline void decide(struct bpf_sock_ops *ops, struct tcp_sock *tp)
{
	struct tandem_peer peer;
	struct tandem_rule *rule;
	u32 number;

	read_peer(ops, &peer, ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB);
	number = by_peer(&peer);
	if (number == TANDEM_NO_RULE && has.cgroups)
		number = by_cgroup(tp);
	if (number == TANDEM_NO_RULE)
		number = by_default();
	rule = bpf_map_lookup_elem(&rules, &number);
	if (!rule)
		return;
	if (give(ops, rule->controller))
		__sync_fetch_and_add(&rule->refused, 1);
	else
		__sync_fetch_and_add(&rule->connections, 1);
}

SEC("sockops")
int policy(struct bpf_sock_ops *ops)
{
	struct tcp_sock *tp;

	if (ops->op != BPF_SOCK_OPS_TCP_CONNECT_CB &&
	    ops->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return 1;
	tp = undecided(ops);
	if (tp)
		decide(ops, tp);
	return 1;
}

/*
 * The rule for a `struct tandem_question`, which comes as a packet: programs that take an argument
 * (syscall) may not look into tries.
 */
SEC("tc")
int examine(struct __sk_buff *asked)
{
	struct tandem_peer peer;
	u32 rule, depth;

	if (bpf_skb_load_bytes(asked, __builtin_offsetof(struct tandem_question, peer), &peer,
			       sizeof(peer)))
		return TANDEM_NO_RULE;
	rule = by_peer(&peer);
	for (depth = 0; depth < TANDEM_CGROUP_DEPTH && rule == TANDEM_NO_RULE; depth++) {
		u32 first = __builtin_offsetof(struct tandem_question, cgroups);
		u32 at = first + depth * sizeof(u64), *found;
		u64 id;

		if (bpf_skb_load_bytes(asked, at, &id, sizeof(id)))
			break;
		found = bpf_map_lookup_elem(&cgroups, &id);
		if (found)
			rule = *found;
	}
	return rule == TANDEM_NO_RULE ? by_default() : rule;
}
