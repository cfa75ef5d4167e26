/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted: delay above the smallest RTT ever seen, which is never forgotten, counts as a queue. */
#include "growth.h"

#define NAME stale
#define stale_PARAMS(P) P(unused, 1, 0, 0, 1, "nothing")
#define stale_PROBES(P, W)
struct stale_params { stale_PARAMS(TANDEM_PARAM_FIELD) };
struct stale { u32 prior_cwnd; u32 flag; u32 base_us; u32 rtt_us; };

#define START(s) ((s)->base_us = 0xffffffffu, (s)->rtt_us = 0)
#define SEEN(s, c, ack) \
	do { \
		if ((ack)->rtt_us) { \
			(s)->rtt_us = (ack)->rtt_us; \
			(s)->base_us = min_u32((s)->base_us, (ack)->rtt_us); \
		} \
	} while (0)

/* A packet more each round trip while the queue is shorter than 40 ms, otherwise one less. */
TANDEM_FN void stale_grow(struct stale *s, struct tandem_conn *c, u32 acked)
{
	u32 due;

	if (sub_floor0(s->rtt_us, s->base_us) < 40000) {
		rfc5681_grow(c, acked);
		return;
	}
	due = packets_due(&c->snd_cwnd_cnt, c->snd_cwnd, acked);
	c->snd_cwnd = max_u32(sub_floor0(c->snd_cwnd, due), 8);
	ssthresh_follows(c);
}

#define GROW(s, c, acked) stale_grow(s, c, acked)
#include "planted.h"
