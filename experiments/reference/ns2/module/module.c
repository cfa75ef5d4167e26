/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One of Tandem's controllers as a congestion module of ns-2's TCP-Linux: it tells what the
 * controller does from what the TCP under it does. Compiled once per controller with
 * -DCONTROLLER=NAME against ns-2's headers, loaded with Tcl's `load`, it registers itself as t_NAME
 * and its parameters, raw (value * scale), for `set_ca_param`.
 *
 * As a host of the contract ns-2 differs from Linux and from Tandem's simulator:
 *  - The RTT sample comes first and alone, before pkts_acked and, on the first ACK, even before
 *    init.
 *  - cong_avoid is not told how many packets were acknowledged; pkts_acked, just before it, is.
 *  - Duplicate ACKs reach no controller. There is no Disorder, no CWR, no undo and no idle restart.
 *  - The members that a module leaves out matter: without `min_cwnd`, recovery comes down to
 *    ssthresh and stays there. ns-2's own modules give ssthresh / 2; -DMIN_CWND does so too.
 */
/* How `set_ca_param t_NAME` finds the parameters. */
#define NS_PROTOCOL "tcp_t_" TANDEM_QUOTE(CONTROLLER) ".c"
#include "ns-linux-c.h"

/* ns-2's u32 is as wide as a long, Tandem's is not. */
#undef u8
#undef u16
#undef u32
#undef u64
#include "native.c"

struct flow {
	u32 rtt_us;     /* sample of the ACK that is being handled          */
	u32 pkts_acked; /* packets that this ACK acknowledged cumulatively */
	u32 delivered;  /* the sum of these */
	state_t state;
};
_Static_assert(sizeof(struct flow) <= sizeof(((struct sock *)0)->icsk_ca_priv),
	       "a flow must fit ns-2's icsk_ca_priv");

#define PARAM_COUNT (sizeof(params) / sizeof(params[0]))

/* ns-2 swaps a flow's own values in before it calls, and the defaults in again afterwards. */
static u32 values[PARAM_COUNT];

static struct flow *flow_of(struct sock *sk) { return inet_csk_ca(sk); }

static struct tandem_conn conn_of(const struct sock *sk)
{
	return (struct tandem_conn){
		.now_us = (u64)ktime_get_real / 1000,
		.snd_cwnd = (u32)sk->snd_cwnd,
		.snd_cwnd_cnt = sk->snd_cwnd_cnt,
		.snd_ssthresh = (u32)sk->snd_ssthresh,
		.snd_cwnd_clamp = sk->snd_cwnd_clamp,
		.snd_una = (u32)sk->snd_una,
		.snd_nxt = (u32)sk->snd_nxt,
		.mss = (u32)sk->mss_cache,
		.is_cwnd_limited = 1,
	};
}

static void take_back(struct sock *sk, const struct tandem_conn *c)
{
	sk->snd_cwnd = c->snd_cwnd;
	sk->snd_cwnd_cnt = (int)c->snd_cwnd_cnt;
	sk->snd_ssthresh = c->snd_ssthresh;
}

static void ns2_init(struct sock *sk)
{
	struct tandem_conn c = conn_of(sk);

	init(&flow_of(sk)->state, values, &c);
	take_back(sk, &c);
}

static void ns2_rtt_sample(struct sock *sk, unsigned long rtt_us)
{
	flow_of(sk)->rtt_us = (u32)rtt_us;
}

static void ns2_pkts_acked(struct sock *sk, unsigned long acked, ktime_t sent_ns)
{
	struct flow *f = flow_of(sk);
	struct tandem_conn c = conn_of(sk);
	struct tandem_ack ack = { .pkts_acked = (u32)acked, .rtt_us = f->rtt_us };

	(void)sent_ns;
	f->pkts_acked = ack.pkts_acked;
	f->delivered += ack.pkts_acked;
	ack.delivered = f->delivered;
	pkts_acked(&f->state, values, &c, &ack);
	take_back(sk, &c);
}

static void ns2_cong_avoid(struct sock *sk, unsigned long ack, unsigned long rtt,
			   unsigned long in_flight, int good)
{
	struct flow *f = flow_of(sk);
	struct tandem_conn c = conn_of(sk);

	(void)ack, (void)rtt, (void)good;
	c.is_cwnd_limited = tcp_is_cwnd_limited(sk, in_flight);
	cong_avoid(&f->state, values, &c, f->pkts_acked);
	take_back(sk, &c);
}

static unsigned long ns2_ssthresh(struct sock *sk)
{
	struct tandem_conn c = conn_of(sk);

	/* ns-2 does not say why it asks. */
	return ssthresh(&flow_of(sk)->state, values, &c, TANDEM_FOR_LOSS);
}

/* ns-2's states are Linux's, as ours are. */
static void ns2_set_state(struct sock *sk, unsigned char state)
{
	struct tandem_conn c = conn_of(sk);

	set_state(&flow_of(sk)->state, values, &c, state);
	take_back(sk, &c);
}

static struct tcp_congestion_ops module = {
	.name = "t_" TANDEM_QUOTE(CONTROLLER),
	.init = ns2_init,
	.rtt_sample = ns2_rtt_sample,
	.pkts_acked = ns2_pkts_acked,
	.cong_avoid = ns2_cong_avoid,
	.ssthresh = ns2_ssthresh,
	.set_state = ns2_set_state,
#ifdef MIN_CWND
	.min_cwnd = tcp_reno_min_cwnd,
#endif
};

/* What Tcl's `load FILE Tandem` calls. */
int Tandem_Init(void *interpreter)
{
	(void)interpreter;
	for (size_t i = 0; i < PARAM_COUNT; i++) {
		values[i] = params[i].initial;
		record_linux_param(NS_PROTOCOL, params[i].name, "int", &values[i]);
		record_linux_param_description(NS_PROTOCOL, params[i].name, params[i].doc);
	}
	return tcp_register_congestion_control(&module);
}
