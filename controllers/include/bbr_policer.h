/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBR's search for a policer, as in Linux: two intervals in a row in which a fifth of the packets
 * is lost, at the same rate. Then that rate takes the place of bw for a while.
 */
#ifndef TANDEM_BBR_POLICER_H
#define TANDEM_BBR_POLICER_H

#include "bbr_model.h"

TANDEM_FN void bbr_policer_interval(struct bbr *s, const struct tandem_conn *c,
				    const struct tandem_ack *ack)
{
	s->policer_from = ack->delivered;
	s->policer_ms = bbr_ms(c);
	s->policer_lost = 0;
	s->policer_rounds = 0;
}

TANDEM_FN void bbr_forget_policer(struct bbr *s)
{
	s->policer_bw_q24 = 0;
	s->policer_sampling = 0;
	s->policed = 0;
	s->policer_rounds = 0;
}

/* An interval has ended with many losses: a policer if the one before it had the same rate. */
TANDEM_FN void bbr_judge_policer(struct bbr *s, const struct bbr_params *p,
				 const struct tandem_conn *c, const struct tandem_ack *ack,
				 u32 bw_q24)
{
	u32 last = s->policer_bw_q24, diff = sub_floor0(bw_q24, last) + sub_floor0(last, bw_q24);

	if (last && (diff <= last / 8 ||
		     bbr_bytes_per_s(p, c, diff, BBR_UNIT) <= BBR_POLICER_DIFF_BPS)) {
		s->policer_bw_q24 = max_u32((u32)(((u64)bw_q24 + last) / 2), 1);
		s->policed = 1;
		s->policer_rounds = 0;
		return;
	}
	s->policer_bw_q24 = bw_q24;
	bbr_policer_interval(s, c, ack);
}

/*
 * Each ACK of an interval: it lasts 4 to 16 rounds, and ends with a loss once a fifth of the
 * packets is lost.
 */
TANDEM_FN void bbr_sample_policer(struct bbr *s, const struct bbr_params *p,
				  const struct tandem_conn *c, const struct tandem_ack *ack,
				  u32 lost)
{
	u32 delivered = seq_distance(s->policer_from, ack->delivered);
	u32 ms = seq_distance(s->policer_ms, bbr_ms(c));

	s->policer_lost = min_u32(s->policer_lost, 0x7fffffffu) + lost;
	s->policer_rounds += s->round_start;
	if (s->policer_rounds < BBR_POLICER_MIN_ROUNDS)
		return;
	if (s->policer_rounds > 4 * BBR_POLICER_MIN_ROUNDS) {
		bbr_forget_policer(s);
		return;
	}
	if (!lost || !delivered ||
	    (u64)s->policer_lost << 8 < (u64)delivered * BBR_POLICER_LOSS_Q8 || !ms)
		return;
	if (ms >= 0xffffffffu / 1000)
		bbr_forget_policer(s);
	else
		bbr_judge_policer(s, p, c, ack, bbr_rate_q24(delivered, ms * 1000));
}

TANDEM_FN void bbr_watch_policer(struct bbr *s, const struct bbr_params *p,
				 const struct tandem_conn *c, const struct tandem_ack *ack,
				 u32 app_limited)
{
	u32 lost = min_u32(ack->lost, 0x7fffffffu), loss = lost || s->timed_out;

	s->timed_out = 0;
	if (!p->policer)
		return;
	if (s->policed) {
		if (s->mode != BBR_PROBE_BW || !s->round_start)
			return;
		s->policer_rounds++;
		if (s->policer_rounds >= BBR_POLICED_ROUNDS) {
			bbr_forget_policer(s);
			bbr_probe_bw(s, c);
		}
		return;
	}
	if (!s->policer_sampling) {
		/* Until the first loss a policer lets pass what it has saved up. */
		if (!loss)
			return;
		bbr_policer_interval(s, c, ack);
		s->policer_sampling = 1;
		/* What begins it is not lost in it. */
		lost = 0;
	}
	if (app_limited)
		bbr_forget_policer(s);
	else
		bbr_sample_policer(s, p, c, ack, lost);
}

#endif
