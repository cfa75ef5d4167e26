/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * `tandem kernel watch --prometheus`: histograms of the TCP connections of a network namespace,
 * summed by controller in the kernel, so that no connection's record is copied. The program runs
 * once per socket and reading; nothing runs per packet. A connection's last values are stored with
 * its socket.
 */
#include "limits.h"

#include "histograms.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by the loader before loading. */
const volatile u64 jiffies_per_s SEC(".rodata.clock") = 0;

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

/* The position of the highest set bit; 0 for 0 and 1. */
static __always_inline u32 log2_of(u64 value)
{
	u32 log = 0;

#pragma unroll
	for (int step = 32; step; step >>= 1) {
		if (value >> step) {
			value >>= step;
			log += step;
		}
	}
	return log;
}

/* The bucket of a value; a value equal to a bound belongs below it. */
static __always_inline u32 bucket(u64 value, u32 first, u32 octaves)
{
	u64 below = value ? value - 1 : 0;
	u32 log = log2_of(below), place;

	if (log < first)
		return 0;
	place = 1 + 2 * (log - first) + ((below >> (log - 1)) & 1);
	return place < 2 * octaves + 1 ? place : 2 * octaves + 1;
}

static __always_inline void observe(struct tandem_histogram *histogram, u64 value, u32 place)
{
	/* The verifier does not see that it is smaller. */
	if (place >= TANDEM_BUCKETS)
		place = TANDEM_BUCKETS - 1;
	histogram->sum += value;
	histogram->counts[place]++;
}

static __always_inline void observe_ratio(struct tandem_histogram *histogram, u32 part, u32 whole)
{
	u64 ratio;
	u32 place = 0;

	if (!whole)
		return;
	ratio = ((u64)part << 20) / whole;
	if (part)
		place = 1 + bucket(ratio, TANDEM_RATIO_FIRST, TANDEM_RATIO_OCTAVES);
	observe(histogram, ratio, place);
}

/* Adds what a connection did since the last reading. */
static __always_inline void count(struct tandem_totals *all, struct tcp_sock *tp,
				  const struct last *last, const struct last *now, int is_new)
{
	u64 bytes = now->bytes_acked - last->bytes_acked;
	u32 busy = now->limits.busy - last->limits.busy;
	u32 rwnd = now->limits.rwnd - last->limits.rwnd;
	u32 sndbuf = now->limits.sndbuf - last->limits.sndbuf;
	u32 segments = now->segments - last->segments;
	u32 retransmitted = now->retransmitted - last->retransmitted;
	u32 elapsed = now->jiffies - last->jiffies;
	u64 window = (u64)tp->snd_cwnd * tp->mss_cache;
	u32 rtt_us = tp->srtt_us >> 3;

	if (!bytes && !busy && !segments)
		return;
	all->acked_bytes += bytes;
	all->segments += segments;
	all->retransmitted += retransmitted;
	all->path_jiffies += busy - rwnd - sndbuf;
	all->rwnd_jiffies += rwnd;
	all->sndbuf_jiffies += sndbuf;
	/* The age of a connection seen for the first time is unknown. */
	if (!is_new && elapsed > busy)
		all->idle_jiffies += elapsed - busy;
	if (rtt_us)
		observe(&all->rtt_us, rtt_us,
			bucket(rtt_us, TANDEM_RTT_FIRST, TANDEM_RTT_OCTAVES));
	observe(&all->window_bytes, window,
		bucket(window, TANDEM_WINDOW_FIRST, TANDEM_WINDOW_OCTAVES));
	if (bytes) {
		/* Work that ended within a jiffy took part of it. */
		u64 goodput = bytes * jiffies_per_s / (busy ? busy : 1);

		observe(&all->goodput, goodput,
			bucket(goodput, TANDEM_GOODPUT_FIRST, TANDEM_GOODPUT_OCTAVES));
	}
	observe_ratio(&all->retransmitted_ratio, retransmitted, segments);
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
