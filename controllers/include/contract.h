/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The contract between a transport (the host) and a congestion controller.
 *
 * The host decides *when*: it detects loss, runs recovery (PRR), timeouts and undo. The controller
 * decides *how much*. The call points are those of Linux's struct tcp_congestion_ops, because the
 * kernel is the strictest host. ../README.md gives the call order, the units and the integer rules.
 */
#ifndef TANDEM_CONTRACT_H
#define TANDEM_CONTRACT_H

#include <stdint.h>

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/*
 * Always inlined, whatever the compiler would choose: otherwise a function becomes a subprogram in
 * eBPF, where it takes five arguments at most and no more than eight may be nested.
 */
#define TANDEM_FN static inline __attribute__((always_inline))

/*
 * A call that has too many ways through it for Linux's verifier is taken in steps, all of the form
 *   f(struct LAW *, const struct LAW_params *, struct tandem_conn *, const struct tandem_ack *,
 *     struct LAW_sample *)
 * TANDEM_STEP(LAW, f) after f makes a step of it, TANDEM_TAKE(f, s, p, c, ack, r) takes it. In eBPF
 * it is a function that the verifier walks through once, by itself (../../kernel/bpf/steps.h); here
 * it is f.
 */
#ifndef TANDEM_STEP
#define TANDEM_STEP(law, f)
#define TANDEM_TAKE(f, s, p, c, ack, r) f(s, p, c, ack, r)
#endif

/*
 * A controller's state lives in Linux's icsk_ca_priv, an array of u64. It is a plain blob: the host
 * clones it by copying. Each host checks the state of each controller that it compiles; headers
 * need not. Where a state has bit-fields, they are there to fit it in.
 */
#define TANDEM_STATE_BYTES 104
#define TANDEM_CHECK_STATE(type) \
	_Static_assert(sizeof(type) <= TANDEM_STATE_BYTES, \
		       "the state exceeds the 104 bytes of icsk_ca_priv"); \
	_Static_assert(_Alignof(type) <= _Alignof(u64), \
		       "the state needs a stricter alignment than u64 has")

/*
 * Windows are packets of one MSS. The largest window that the arithmetic is proven for; the host
 * never exceeds it.
 */
#define TANDEM_MAX_WINDOW (1u << 24)

/*
 * The longest RTT of an empty path that the arithmetic is proven for, microseconds (16.8 s). A
 * host's path is no longer. A queue may make a sample longer: controllers then use this value.
 */
#define TANDEM_MAX_RTT_US (1u << 24)

/*
 * The highest delivery rate that a controller with TANDEM_WANTS_RATE can represent, packets a
 * microsecond: a higher one counts as this.
 */
#define TANDEM_MAX_PACKETS_PER_US 256

/* "Infinite" slow-start threshold (RFC 5681 section 3.1), Linux's TCP_INFINITE_SSTHRESH. */
#define TANDEM_INFINITE_SSTHRESH 0x7fffffffu

/* Congestion states, numbered as in Linux (TCP_CA_*). */
enum tandem_state {
	TANDEM_OPEN = 0,     /* nothing wrong                                      */
	TANDEM_DISORDER = 1, /* duplicate ACKs or SACKs, not yet counted as a loss */
	TANDEM_CWR = 2,      /* window being reduced without a retransmission      */
	TANDEM_RECOVERY = 3, /* fast retransmit and recovery                       */
	TANDEM_LOSS = 4,     /* retransmission timeout                             */
};

/* Why the host asks ssthresh. */
enum tandem_reason {
	TANDEM_FOR_LOSS = 0, /* a packet is lost, or a timeout has run out   */
	TANDEM_FOR_MARK = 1, /* an ECN mark has come, and nothing is lost    */
};

/* What a controller listens to, for people: the third argument in controllers.def. */
enum tandem_signal {
	TANDEM_SIGNAL_LOSS,  /* packet loss                                              */
	TANDEM_SIGNAL_DELAY, /* queueing delay                                           */
	TANDEM_SIGNAL_BOTH,  /* loss and delay                                           */
	TANDEM_SIGNAL_MODEL, /* a model of the path                                      */
	TANDEM_SIGNAL_MARKS, /* loss, and the share of packets that carry an ECN mark    */
	TANDEM_SIGNAL_L4S,   /* the same for L4S (RFC 9331)                              */
};

/*
 * What a host owes a controller and must know of it: the fourth argument of each line of
 * controllers.def is a sum of these, or 0.
 */
enum tandem_trait {
	/* It sets the window in recovery too, and a pacing rate (README.md). */
	TANDEM_OWNS_WINDOW = 1 << 0,
	/* It reads the delivery rate: prior_delivered to is_app_limited of tandem_ack. */
	TANDEM_WANTS_RATE = 1 << 1,
	/* It reads the number of marked packets, which takes accurate ECN (RFC 9768). */
	TANDEM_COUNTS_MARKS = 1 << 2,
	/* Its packets carry ECT(1) (RFC 9331 section 4.1). */
	TANDEM_SENDS_ECT1 = 1 << 3,
	/* Its module of Linux 2.6.22 let rate halving stop at ssthresh, not at half of it. */
	TANDEM_HALVES_TO_SSTHRESH = 1 << 4,
	/* No system has shipped it for common use, as far as we know: who runs it is the first. */
	TANDEM_NEVER_SHIPPED = 1 << 5,
	/* Its law may still change: advised to nobody who does not name it. */
	TANDEM_EXPERIMENTAL = 1 << 6,

	/* Its response function at random loss, of which the model has three (crates/model). */
	TANDEM_RESPONSE_RENO = 1 << 8,
	TANDEM_RESPONSE_COMPOUND = 2 << 8,
	TANDEM_RESPONSE_CUBIC = 3 << 8,
};
/* What an ECN mark leaves of the window, in percent, where RFC 8511 has a value for it. */
#define TANDEM_BETA_ECN(percent) ((percent) << 16)

/*
 * The host's view of the connection at each call. The host refreshes it before the call. Where
 * the call takes it without `const`, the host takes the fields marked [rw] back afterwards.
 */
struct tandem_conn {
	/* The host's clock, monotonic from any origin; on an ACK, when it arrived. */
	u64 now_us;
	u32 snd_cwnd;        /* [rw] packets, >= 1                                        */
	u32 snd_cwnd_cnt;    /* [rw] packets ACKed towards the next +1 of snd_cwnd        */
	u32 snd_ssthresh;    /* [rw] packets                                              */
	u32 snd_cwnd_clamp;  /* packets, the window never exceeds it                      */
	u32 snd_una;         /* first unacknowledged sequence number: bytes, wraps        */
	u32 snd_nxt;         /* next sequence number to be sent: bytes, wraps             */
	u32 mss;             /* bytes of a full segment's payload, below 2^16             */
	u16 is_cwnd_limited; /* 1 if the window, not the application, limited the sending */
	u16 is_paced;        /* 1 if the host spreads its packets over time by itself     */
	/* [rw] of payload; 0 = the controller sets none, unless it owns the window. */
	u64 pacing_bytes_per_s;
};

/* What one ACK said, given before cong_avoid. */
struct tandem_ack {
	/*
	 * Packets that left the front of the window, SACKed before or not. With TANDEM_OWNS_WINDOW
	 * read acked_sacked instead: Linux's cong_control does not tell this, and gives 0.
	 */
	u32 pkts_acked;
	u32 rtt_us;     /* of the newest packet acknowledged; 0 = no valid sample (Karn) */
	u32 delivered;  /* packets, by number or by SACK, since the connection began; wraps */

	/*
	 * Packets newly delivered, by number or by SACK (Linux's name). Read it with
	 * TANDEM_OWNS_WINDOW or TANDEM_COUNTS_MARKS only: Linux does not tell others.
	 */
	u32 acked_sacked;

	/*
	 * With TANDEM_WANTS_RATE only, otherwise 0. The delivery rate is
	 * (delivered - prior_delivered) / interval_us, as
	 * draft-cheng-iccrg-delivery-rate-estimation measures it.
	 */
	u32 prior_delivered; /* the same count when the newest packet acknowledged was sent       */
	u32 interval_us;     /* time in which the difference was delivered; 0 = no valid sample   */
	u32 is_app_limited;  /* 1 if the application left the path idle when that packet was sent */

	/* With TANDEM_OWNS_WINDOW only, otherwise 0. */
	u32 in_flight; /* packets, after this ACK and the losses that it showed */
	u32 lost;      /* packets that this ACK showed to be lost               */

	/* With TANDEM_COUNTS_MARKS only, otherwise 0. */
	u32 marked; /* packets newly reported to have arrived with an ECN mark (accurate ECN) */
};

/* Traces and `kernel watch` show this many of the values that a controller names. */
#define TANDEM_MAX_PROBES 10

/*
 * What a controller shows of itself, for traces and `tandem kernel watch`; 0 where the controller
 * has no such thing.
 */
struct tandem_view {
	u64 probes[TANDEM_MAX_PROBES]; /* the first of its list, see tandem_probe      */
	u32 loss_window;  /* packets; loss_window + delay_window = the controller's window */
	u32 delay_window; /* packets                                                       */
	u32 gamma_q8;     /* backlog threshold, 1/256 packets                              */
	u32 diff_q8;      /* backlog estimate of the last round, 1/256 packets             */
	u32 base_rtt_us;  /* smallest RTT seen; 0 = none yet                               */
	u32 reserved;     /* 0; there is no gap at the end                                 */
};

/*
 * A parameter: kept as an integer, raw = value * scale. Each controller lists its own in
 * NAME_PARAMS(P), one P(name, scale, default, min, max, "what it is; whose reading") each, the
 * three numbers raw. No host passes a value outside min..max.
 */
struct tandem_param {
	const char *name;
	const char *doc;
	u32 scale, initial, min, max;
};
#define TANDEM_PARAM_FIELD(name, scale, initial, min, max, doc) u32 name;
#define TANDEM_PARAM_DEFAULT(name, scale, initial, min, max, doc) .name = (initial),

/*
 * A probe: an internal value that a controller exports. Each lists its own in
 * NAME_PROBES(P, W), most important first, as a view has room for TANDEM_MAX_PROBES. Those after
 * them cost a kernel nothing; tests read them.
 *   P(name, scale, value, "what it is")             a number, raw = value * scale
 *   W(name, "WORD WORD ...", value, "what it is")   the place of a word in the list
 * `value` is worked out from the state s, the parameters p and the connection c, only when somebody
 * looks: a probe takes no state, and no time on an ACK. A name has its unit and means the same in
 * each controller.
 */
struct tandem_probe {
	const char *name;
	const char *words; /* 0 = a number */
	const char *doc;
	u32 scale;
};
#define TANDEM_NONE 0xffffffffffffffffu /* there is no such value now */

#endif
