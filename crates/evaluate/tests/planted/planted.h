/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reno, of which a header replaces what it plants a fault in. The header defines NAME, NAME_PARAMS,
 * struct NAME_params and struct NAME, then what differs of START, SEEN, GROW, KEPT and ENTER, and
 * includes this.
 */
#ifndef START
#define START(s)
#endif
#ifndef SEEN
#define SEEN(s, c, ack)
#endif
#ifndef GROW
#define GROW(s, c, acked) rfc5681_grow(c, acked)
#endif
#ifndef KEPT
#define KEPT(s, c) ((c)->snd_cwnd / 2)
#endif
#ifndef ENTER
#define ENTER(s, c, state)
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define FN(part) PASTE(NAME, part)

TANDEM_FN void FN(_init)(struct NAME *s, const struct FN(_params) *p, struct tandem_conn *c)
{
	s->prior_cwnd = c->snd_cwnd;
	s->flag = 0;
	START(s);
}

TANDEM_FN void FN(_pkts_acked)(struct NAME *s, const struct FN(_params) *p,
			       const struct tandem_conn *c, const struct tandem_ack *ack)
{
	SEEN(s, c, ack);
}

TANDEM_FN void FN(_cong_avoid)(struct NAME *s, const struct FN(_params) *p,
			       struct tandem_conn *c, u32 acked)
{
	GROW(s, c, acked);
}

TANDEM_FN u32 FN(_ssthresh)(struct NAME *s, const struct FN(_params) *p,
			    const struct tandem_conn *c, u32 reason)
{
	s->prior_cwnd = c->snd_cwnd;
	return max_u32(KEPT(s, c), 2);
}

TANDEM_FN void FN(_set_state)(struct NAME *s, const struct FN(_params) *p,
			      struct tandem_conn *c, u32 state)
{
	ENTER(s, c, state);
}

TANDEM_FN void FN(_restart)(struct NAME *s, const struct FN(_params) *p, struct tandem_conn *c)
{
}

TANDEM_FN u32 FN(_undo_cwnd)(struct NAME *s, const struct FN(_params) *p,
			     const struct tandem_conn *c)
{
	return max_u32(c->snd_cwnd, s->prior_cwnd);
}

TANDEM_FN void FN(_view)(const struct NAME *s, const struct FN(_params) *p,
			 const struct tandem_conn *c, struct tandem_view *v)
{
	v->loss_window = c->snd_cwnd;
}
