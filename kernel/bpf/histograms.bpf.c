/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * `tandem kernel watch --prometheus`: histograms of the TCP connections of a network namespace,
 * summed by controller in the kernel, so that no connection's record is copied. The program runs
 * once per socket and reading; nothing runs per packet. A connection's last values are stored with
 * its socket.
 */
#include "totals.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct last {
	u64 bytes_acked;
	u32 jiffies; /* at the last reading */
	u32 segments;
	u32 retransmitted;
	struct limits limits;
};

/* Stored with the socket; ends with it or with this program. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct last);
} lasts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TANDEM_MOST_CONTROLLERS);
	__type(key, char[16]);
	__type(value, struct tandem_totals);
} totals SEC(".maps");

/* For a new entry: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tandem_totals);
} nothing SEC(".maps");

/*
 * 1 after the first reading of all namespaces: from then on, a connection that was not there at the
 * last reading has begun since.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} goes_on SEC(".maps");

static __always_inline struct tandem_totals *totals_of(const struct tcp_sock *tp)
{
	const struct tcp_congestion_ops *ops = tp->inet_conn.icsk_ca_ops;
	struct tandem_totals *found;
	char name[16] = {};
	u32 first = 0;

	bpf_probe_read_kernel_str(name, sizeof(name), ops->name);
	found = bpf_map_lookup_elem(&totals, name);
	if (found)
		return found;
	found = bpf_map_lookup_elem(&nothing, &first);
	if (found)
		bpf_map_update_elem(&totals, name, found, BPF_NOEXIST);
	return bpf_map_lookup_elem(&totals, name);
}

/* What a connection did since the last look. */
static __always_inline void count(struct tandem_totals *all, const struct tcp_sock *tp,
				  const struct last *last, const struct last *now, int is_new)
{
	struct activity did = {
		.bytes = now->bytes_acked - last->bytes_acked,
		.segments = now->segments - last->segments,
		.retransmitted = now->retransmitted - last->retransmitted,
		.limits.busy = now->limits.busy - last->limits.busy,
		.limits.rwnd = now->limits.rwnd - last->limits.rwnd,
		.limits.sndbuf = now->limits.sndbuf - last->limits.sndbuf,
	};

	/* Of a new one nobody knows how long it has been there. */
	if (!is_new)
		did.elapsed_jiffies = now->jiffies - last->jiffies;
	add_activity(all, tp, &did);
}

static __always_inline void read_now(struct tcp_sock *tp, struct last *now)
{
	now->bytes_acked = tp->bytes_acked;
	now->segments = tp->data_segs_out;
	now->retransmitted = tp->total_retrans;
	now->jiffies = (u32)bpf_jiffies64();
	read_limits(tp, &now->limits);
}

SEC("iter/tcp")
int look(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;
	struct tandem_totals *all;
	struct last *last, now;
	struct tcp_sock *tp;
	u32 first = 0, *is_later;
	int is_new;

	/* Connection requests and TIME-WAIT have no tcp_sock. */
	tp = sk ? bpf_skc_to_tcp_sock(sk) : 0;
	if (!tp || sk->skc_state == TCP_LISTEN || sk->skc_state == TCP_SYN_SENT ||
	    sk->skc_state == TCP_SYN_RECV)
		return 0;
	all = totals_of(tp);
	if (!all)
		return 0;
	all->connections++;
	last = bpf_sk_storage_get(&lasts, sk, 0, 0);
	is_new = !last;
	if (!last)
		last = bpf_sk_storage_get(&lasts, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	is_later = bpf_map_lookup_elem(&goes_on, &first);
	if (!last || !is_later)
		return 0;
	read_now(tp, &now);
	if (!is_new || *is_later)
		count(all, tp, last, &now, is_new);
	*last = now;
	return 0;
}
