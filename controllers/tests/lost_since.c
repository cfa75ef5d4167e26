/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bbr3 on a path that is simulated here, in order, with a queue of 20 packets and a share of losses
 * by chance. Streams, for each ACK, what the controller believes was lost since the newest packet
 * was sent, and what was.
 */
#include <stdio.h>

#define CONTROLLER bbr3
#include "controller.h"

enum { PACKETS = 120000, QUEUE = 20, SERVICE_US = 250, RTT_US = 50000, MSS = 1000 };

/* A packet, with the connection's counts when it was sent. */
struct packet {
	u64 sent_us, acked_us; /* acked_us: when its ACK arrives; 0 = it does not */
	u64 delivered_us, first_sent_us;
	u32 delivered, lost, in_flight;
	u32 found;
};

static struct packet packets[PACKETS];

struct path {
	u64 now_us, free_us, next_send_us;
	u64 delivered_us, first_sent_us;
	u32 sent, acked, delivered, lost, in_flight; /* acked: all before have come or are lost */
	u32 dice, loss_per_1000;
};

static u32 roll(struct path *x)
{
	x->dice ^= x->dice << 13;
	x->dice ^= x->dice >> 17;
	x->dice ^= x->dice << 5;
	return x->dice % 1000;
}

static void send(struct path *x, const struct tandem_conn *c)
{
	struct packet *k = &packets[x->sent++];
	u64 queued_us;

	if (!x->in_flight)
		x->delivered_us = x->first_sent_us = x->now_us;
	x->in_flight++;
	*k = (struct packet){
		.sent_us = x->now_us,
		.delivered_us = x->delivered_us,
		.first_sent_us = x->first_sent_us,
		.delivered = x->delivered,
		.lost = x->lost,
		.in_flight = x->in_flight,
	};
	x->next_send_us = x->now_us + MSS * 1000000ull / c->pacing_bytes_per_s;
	queued_us = x->free_us > x->now_us ? x->free_us - x->now_us : 0;
	if (queued_us > (QUEUE + 1) * SERVICE_US || roll(x) < x->loss_per_1000)
		return;
	x->free_us = x->now_us + queued_us + SERVICE_US;
	k->acked_us = x->free_us + RTT_US;
}

/* The next packet that arrives is acknowledged; what was sent three before it, or more, is lost. */
static struct tandem_ack hear(struct path *x, u32 at)
{
	struct packet *k = &packets[at];
	u64 sending_us = k->sent_us - k->first_sent_us, acking_us = x->now_us - k->delivered_us;
	struct tandem_ack ack = {
		.pkts_acked = 1,
		.rtt_us = (u32)(x->now_us - k->sent_us),
		.delivered = ++x->delivered,
		.acked_sacked = 1,
		.prior_delivered = k->delivered,
		.interval_us = (u32)(sending_us > acking_us ? sending_us : acking_us),
	};

	for (u32 i = at > 200 ? at - 200 : 0; i + 3 <= at; i++) {
		if (!packets[i].acked_us && !packets[i].found) {
			packets[i].found = 1;
			ack.lost++;
		}
	}
	x->lost += ack.lost;
	x->in_flight -= 1 + ack.lost;
	x->delivered_us = x->now_us;
	x->first_sent_us = k->sent_us;
	ack.in_flight = x->in_flight;
	return ack;
}

static void play(u32 loss_per_1000, u32 dice)
{
	static const struct controller_params p = { CONTROLLER_PARAMS(TANDEM_PARAM_DEFAULT) };
	struct path x = { .now_us = 1000000, .dice = dice, .loss_per_1000 = loss_per_1000 };
	struct tandem_conn c = {
		.now_us = x.now_us,
		.snd_cwnd = 10,
		.snd_ssthresh = TANDEM_INFINITE_SSTHRESH,
		.snd_cwnd_clamp = TANDEM_MAX_WINDOW,
		.mss = MSS,
	};
	struct controller s;

	controller_init(&s, &p, &c);
	for (u32 at = 0; x.sent < PACKETS;) {
		u64 send_us = x.now_us > x.next_send_us ? x.now_us : x.next_send_us;
		struct tandem_ack ack;
		struct bbr3_sample r;

		while (at < x.sent && !packets[at].acked_us)
			at++;
		if (x.in_flight < c.snd_cwnd && (at == x.sent || send_us < packets[at].acked_us)) {
			x.now_us = send_us;
			send(&x, &c);
			continue;
		}
		c.now_us = x.now_us = packets[at].acked_us;
		ack = hear(&x, at);
		if (s.law.new_round)
			bbr3_start_round(&s.law, ack.delivered - 1);
		r = bbr3_take_sample(&s.law, &ack);
		u64 row[] = {
			loss_per_1000, r.lost, x.lost - packets[at].lost, r.tx_in_flight,
			packets[at].in_flight, s.law.lost + ack.lost, s.law.prior_lost,
			s.law.state == BBR3_UP || s.law.state == BBR3_REFILL,
		};
		fwrite(row, sizeof(row), 1, stdout);
		controller_pkts_acked(&s, &p, &c, &ack);
		at++;
	}
}

int main(void)
{
	play(0, 1);
	play(10, 2);
	return 0;
}
