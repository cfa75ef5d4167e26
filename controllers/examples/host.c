/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A host in C: a sender on a path of 50 packets and a queue of 50, which loses one packet when
 * both are full. It writes what it does as the log that `tandem conform` reads.
 * docs/embedding.md explains it.
 *   cc -std=c11 -Icontrollers/include -DCONTROLLER=compound_tube \
 *      controllers/examples/host.c -o host
 *   ./host | tandem conform - --controller compound_tube
 */
#include <stdio.h>

#include "controller.h"

enum { PATH = 50, QUEUE = 50, MSS = 1200, BASE_RTT_US = 50000 };

/* What the contract calls the connection, and the controller's state and parameters. */
static struct tandem_conn conn = {
	.snd_cwnd = 10,
	.snd_ssthresh = TANDEM_INFINITE_SSTHRESH,
	.snd_cwnd_clamp = TANDEM_MAX_WINDOW,
	.mss = MSS,
	.is_cwnd_limited = 1,
};
static struct controller controller;
static const struct controller_params params = { CONTROLLER_PARAMS(TANDEM_PARAM_DEFAULT) };
static u32 state = TANDEM_OPEN;

static void enter(u32 next, const char *name)
{
	controller_set_state(&controller, &params, &conn, next);
	state = next;
	printf("{\"event\":\"state\",\"state\":\"%s\",\"cwnd\":%u,\"ssthresh\":%u}\n",
	       name, conn.snd_cwnd, conn.snd_ssthresh);
}

/*
 * Entering recovery, once for a window of data: ssthresh, then set_state. This host has no rate
 * reduction: the window falls at once.
 */
static void lose(void)
{
	conn.snd_cwnd_cnt = 0;
	conn.snd_ssthresh = controller_ssthresh(&controller, &params, &conn, TANDEM_FOR_LOSS);
	printf("{\"event\":\"ssthresh\",\"ssthresh\":%u}\n", conn.snd_ssthresh);
	conn.snd_cwnd = conn.snd_ssthresh;
	printf("{\"event\":\"window\",\"cwnd\":%u}\n", conn.snd_cwnd);
	enter(TANDEM_RECOVERY, "recovery");
}

/* An ACK of one packet: pkts_acked first; cong_avoid last, unless in recovery. */
static void acknowledge(u32 rtt_us, int is_lost)
{
	static u32 delivered;
	struct tandem_ack ack = { .pkts_acked = 1, .rtt_us = rtt_us, .delivered = ++delivered };

	conn.snd_una += MSS;
	controller_pkts_acked(&controller, &params, &conn, &ack);
	int grows = !is_lost && state != TANDEM_RECOVERY;
	if (grows)
		controller_cong_avoid(&controller, &params, &conn, ack.pkts_acked);
	printf("{\"event\":\"ack\",\"now_us\":%llu,\"una\":%u,\"nxt\":%u,\"packets\":1,"
	       "\"rtt_us\":%u,\"grow\":%s,\"cwnd\":%u,\"ssthresh\":%u}\n",
	       (unsigned long long)conn.now_us, conn.snd_una, conn.snd_nxt, rtt_us,
	       grows ? "true" : "false", conn.snd_cwnd, conn.snd_ssthresh);
	if (is_lost)
		lose();
}

int main(void)
{
	controller_init(&controller, &params, &conn);
	printf("{\"event\":\"init\",\"cwnd\":%u,\"mss\":%u}\n", conn.snd_cwnd, (u32)MSS);
	for (int round = 0; round < 200; round++) {
		u32 in_flight = (conn.snd_nxt - conn.snd_una) / MSS;

		if (conn.snd_cwnd > in_flight)
			conn.snd_nxt = conn.snd_una + conn.snd_cwnd * MSS;
		in_flight = (conn.snd_nxt - conn.snd_una) / MSS;
		u32 waiting = in_flight > PATH ? in_flight - PATH : 0;
		int is_full = waiting > QUEUE;
		u32 rtt_us = BASE_RTT_US + BASE_RTT_US / PATH * (is_full ? QUEUE : waiting);

		for (u32 packet = 0; packet < in_flight; packet++) {
			conn.now_us += rtt_us / in_flight;
			acknowledge(rtt_us, is_full && packet == 3 && state == TANDEM_OPEN);
		}
		if (state == TANDEM_RECOVERY && !is_full)
			enter(TANDEM_OPEN, "open");
	}
	return 0;
}
