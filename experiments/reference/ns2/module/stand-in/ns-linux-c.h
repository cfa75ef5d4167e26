/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Stands in for ns-2's header of this name where module.c is only to be compiled (scripts/lint.sh):
 * the names and types that module.c uses, and nothing that works.
 */
#ifndef NS_LINUX_C_STAND_IN_H
#define NS_LINUX_C_STAND_IN_H

typedef long long ktime_t;

struct sock {
	unsigned long snd_una, snd_nxt, snd_cwnd, snd_ssthresh, mss_cache;
	unsigned snd_cwnd_clamp;
	int snd_cwnd_cnt;
	unsigned long long icsk_ca_priv[32];
};

struct tcp_congestion_ops {
	const char *name;
	void (*init)(struct sock *sk);
	void (*rtt_sample)(struct sock *sk, unsigned long rtt_us);
	void (*pkts_acked)(struct sock *sk, unsigned long acked, ktime_t sent_ns);
	void (*cong_avoid)(struct sock *sk, unsigned long ack, unsigned long rtt,
			   unsigned long in_flight, int good);
	unsigned long (*ssthresh)(struct sock *sk);
	unsigned long (*min_cwnd)(const struct sock *sk);
	void (*set_state)(struct sock *sk, unsigned char state);
};

extern ktime_t ktime_get_real;
void *inet_csk_ca(struct sock *sk);
int tcp_is_cwnd_limited(const struct sock *sk, unsigned long in_flight);
unsigned long tcp_reno_min_cwnd(const struct sock *sk);
int tcp_register_congestion_control(struct tcp_congestion_ops *ops);
void record_linux_param(const char *protocol, const char *name, const char *type, void *value);
void record_linux_param_description(const char *protocol, const char *name, const char *doc);

#endif
