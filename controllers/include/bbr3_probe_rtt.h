/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBRv3's smallest RTT, and PROBE_RTT, which looks for it. Sources and decisions: bbr3.h.
 */
#ifndef TANDEM_BBR3_PROBE_RTT_H
#define TANDEM_BBR3_PROBE_RTT_H

#include "bbr3_probe.h"

/* Is a delivered count of 24 bits later than another? */
TANDEM_FN u32 bbr3_is_later(u32 a, u32 b)
{
	u32 d = seq_distance(b, a) & 0xffffff;

	return d != 0 && d < 0x800000;
}

/*
 * Was the newest acknowledged packet application-limited? PROBE_RTT keeps the beginning and the
 * end of its own packets in the two fields that only UP needs. [draft-ietf-ccwg-bbr 5.3.4.3]
 */
TANDEM_FN u32 bbr3_app_limited(struct bbr3 *s, const struct tandem_ack *ack)
{
	u32 sent = ack->prior_delivered & 0xffffff, from = s->up_acked, until = s->up_step;

	if (!s->probe_rtt_marks)
		return ack->is_app_limited;
	if (s->state != BBR3_PROBE_RTT && bbr3_is_later(sent, until)) {
		s->probe_rtt_marks = 0;
		return ack->is_app_limited;
	}
	return ack->is_app_limited || !bbr3_is_later(from, sent);
}

/*
 * Returns whether it is time for PROBE_RTT.
 * [draft-ietf-ccwg-bbr 5.3.4.3] [draft-ietf-ccwg-bbr 5.5.7.2]
 */
TANDEM_FN u32 bbr3_take_rtt(struct bbr3 *s, const struct bbr3_params *p,
			    const struct tandem_conn *c, const struct tandem_ack *ack)
{
	u32 rtt_us = min_u32(ack->rtt_us, TANDEM_MAX_RTT_US);
	u32 least_ms = s->least_rtt_ms, min_ms = s->min_rtt_ms;
	u32 expired = bbr3_ms_since(least_ms, c) > p->probe_rtt_interval;

	if (rtt_us && (rtt_us < s->least_rtt_us || expired)) {
		s->least_rtt_us = rtt_us;
		least_ms = bbr3_ms(c);
		s->least_rtt_ms = least_ms;
	}
	if (s->least_rtt_us < s->min_rtt_us || bbr3_ms_since(min_ms, c) > p->rtt_window) {
		s->min_rtt_us = s->least_rtt_us;
		s->min_rtt_ms = least_ms;
	}
	return expired;
}

/* Half of what fills the path. [draft-ietf-ccwg-bbr 5.6.4.5] */
TANDEM_FN u32 bbr3_probe_rtt_cwnd(const struct bbr3 *s, const struct bbr3_params *p)
{
	return max_u32(bbr3_bdp(s, bbr3_bw(s), p->probe_rtt_gain), p->min_window);
}

/* [draft-ietf-ccwg-bbr 5.3.4.3] [draft-ietf-ccwg-bbr 5.3.4.4] */
TANDEM_FN void bbr3_try_end_probe_rtt(struct bbr3 *s, const struct bbr3_params *p,
				      struct tandem_conn *c)
{
	u32 since_ms = s->since_ms;

	if (!s->probe_rtt_runs || bbr3_ms_since(since_ms, c) <= p->probe_rtt_time)
		return;
	s->least_rtt_ms = bbr3_ms(c);
	bbr3_restore_cwnd(s, c);
	bbr3_forget_short_term(s);
	if (s->full) {
		bbr3_start_down(s, c);
		s->state = BBR3_CRUISE;
	} else {
		s->state = BBR3_STARTUP;
	}
}

/* [draft-ietf-ccwg-bbr 5.3.4.3] */
TANDEM_FN void bbr3_probe_rtt(struct bbr3 *s, const struct bbr3_params *p, struct tandem_conn *c,
			      const struct tandem_ack *ack)
{
	s->up_step = seq_advance(ack->delivered, ack->in_flight) & 0xffffff;
	if (s->probe_rtt_runs) {
		s->probe_rtt_round |= s->round_start;
		if (s->probe_rtt_round)
			bbr3_try_end_probe_rtt(s, p, c);
	} else if (ack->in_flight <= bbr3_probe_rtt_cwnd(s, p)) {
		s->probe_rtt_runs = 1;
		s->since_ms = bbr3_ms(c);
		s->probe_rtt_round = 0;
		s->new_round = 1;
	}
}

/* [draft-ietf-ccwg-bbr 5.3.4.3] [draft-ietf-ccwg-bbr 5.3.4.2] */
TANDEM_FN void bbr3_check_probe_rtt(struct bbr3 *s, const struct bbr3_params *p,
				    struct tandem_conn *c, const struct tandem_ack *ack,
				    u32 expired)
{
	if (expired && p->probe_rtt_time && !s->restarted && s->state != BBR3_PROBE_RTT) {
		s->state = BBR3_PROBE_RTT;
		bbr3_save_cwnd(s, c);
		s->probe_rtt_runs = 0;
		s->probe_rtt_marks = 1;
		s->up_acked = ack->delivered & 0xffffff;
		s->acks = BBR3_ACKS_STOPPING;
		s->new_round = 1;
	}
	if (s->state == BBR3_PROBE_RTT)
		bbr3_probe_rtt(s, p, c, ack);
	if (ack->interval_us)
		s->restarted = 0;
}

#endif
