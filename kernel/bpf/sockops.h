/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Shared by the programs of `tandem policy` and `tandem trial`: both are called when a connection
 * of a cgroup begins, and may give it a controller.
 */
#ifndef TANDEM_KERNEL_SOCKOPS_H
#define TANDEM_KERNEL_SOCKOPS_H

#include "peer.h"
#include "tcp.h"

/*
 * The beginning of struct bpf_sock_ops of <linux/bpf.h>, which is part of the system call's
 * interface. tests/layout.c compares the two.
 */
struct bpf_sock_ops {
	__u32 op;
	__u32 args[4];
	__u32 family;
	__be32 remote_ip4;
	__be32 local_ip4;
	__be32 remote_ip6[4];
	__be32 local_ip6[4];
	__be32 remote_port;
	__u32 local_port; /* host's byte order */
	__u32 is_fullsock;
	__u32 snd_cwnd;
	__u32 srtt_us; /* 1/8 us */
	__u32 bpf_sock_ops_cb_flags;
	__u32 state;
	__u32 rtt_min; /* us; all ones: none */
	__u32 between[18];
	__u64 bytes_received;
	__u64 bytes_acked;
	struct bpf_sock *sk;
};

/* Likewise part of that interface. */
enum {
	BPF_SOCK_OPS_TCP_CONNECT_CB = 3,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_STATE_CB = 10,
	BPF_SOCK_OPS_STATE_CB_FLAG = 1 << 2,
	BPF_RB_NO_WAKEUP = 1,
	SOL_TCP = 6,
	TCP_CONGESTION = 13,
	TCP_ESTABLISHED = 1,
	TCP_CLOSE = 7,
	AF_INET6 = 10,
};

#define TANDEM_NAME_BYTES 16 /* TCP_CA_NAME_MAX */

struct prefix4 {
	u32 bits;
	__u8 addr[4];
};

struct prefix6 {
	u32 bits;
	__u8 addr[16];
};

/* Rules for whole networks. The loader sets the sizes to the number of entries. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct prefix4);
	__type(value, u32);
} prefixes4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct prefix6);
	__type(value, u32);
} prefixes6 SEC(".maps");

static __always_inline void read_peer(struct bpf_sock_ops *ops, struct tandem_peer *peer,
				      int is_accepted)
{
	u32 *words = (u32 *)peer->addr;

	words[0] = words[1] = words[2] = words[3] = 0;
	peer->port = is_accepted ? ops->local_port : bpf_ntohl(ops->remote_port);
	if (ops->family == AF_INET) {
		peer->family = AF_INET;
		words[0] = ops->remote_ip4;
		return;
	}
	peer->family = AF_INET6;
	words[0] = ops->remote_ip6[0];
	words[1] = ops->remote_ip6[1];
	words[2] = ops->remote_ip6[2];
	words[3] = ops->remote_ip6[3];
	if (!words[0] && !words[1] && words[2] == bpf_htonl(0xffff)) {
		peer->family = AF_INET;
		words[0] = words[3];
		words[2] = words[3] = 0;
	}
}

/* The value of the longest prefix that contains the address; `none` if there is none. */
static __always_inline u32 by_address(const struct tandem_peer *peer, u32 none)
{
	struct prefix6 key = { .bits = 128 };
	u32 *found;

	if (peer->family == AF_INET) {
		struct prefix4 key4 = { .bits = 32 };

		__builtin_memcpy(key4.addr, peer->addr, sizeof(key4.addr));
		found = bpf_map_lookup_elem(&prefixes4, &key4);
	} else {
		__builtin_memcpy(key.addr, peer->addr, sizeof(key.addr));
		found = bpf_map_lookup_elem(&prefixes6, &key);
	}
	return found ? *found : none;
}

/*
 * The socket, if its controller has not been chosen yet: neither by its program (setsockopt) nor
 * by another eBPF program, nor on its listener. Otherwise 0.
 */
static __always_inline struct tcp_sock *undecided(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : 0;

	if (!tp || BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_setsockopt))
		return 0;
	return tp;
}

/* 0, or a negative error: the controller is gone, or the route has its own. */
static __always_inline long give(struct bpf_sock_ops *ops, const char *controller)
{
	return bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, (void *)controller, TANDEM_NAME_BYTES);
}

#endif
