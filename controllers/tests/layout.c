/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each type, field and constant that crosses the border between C and Rust. */
#include "layout.h"

#define CONTROLLER reno
#include "native.c"

static void calls(void)
{
	TYPE(tandem_conn);
	FIELD(tandem_conn, now_us);
	FIELD(tandem_conn, snd_cwnd);
	FIELD(tandem_conn, snd_cwnd_cnt);
	FIELD(tandem_conn, snd_ssthresh);
	FIELD(tandem_conn, snd_cwnd_clamp);
	FIELD(tandem_conn, snd_una);
	FIELD(tandem_conn, snd_nxt);
	FIELD(tandem_conn, mss);
	FIELD(tandem_conn, is_cwnd_limited);
	FIELD(tandem_conn, pacing_bytes_per_s);
	FIELD(tandem_conn, is_paced);

	TYPE(tandem_ack);
	FIELD(tandem_ack, pkts_acked);
	FIELD(tandem_ack, rtt_us);
	FIELD(tandem_ack, acked_sacked);
	FIELD(tandem_ack, delivered);
	FIELD(tandem_ack, prior_delivered);
	FIELD(tandem_ack, interval_us);
	FIELD(tandem_ack, is_app_limited);
	FIELD(tandem_ack, in_flight);
	FIELD(tandem_ack, lost);
	FIELD(tandem_ack, marked);
}

static void shown(void)
{
	TYPE(tandem_view);
	FIELD(tandem_view, probes);
	FIELD(tandem_view, loss_window);
	FIELD(tandem_view, delay_window);
	FIELD(tandem_view, gamma_q8);
	FIELD(tandem_view, diff_q8);
	FIELD(tandem_view, base_rtt_us);
	FIELD(tandem_view, reserved);

	TYPE(tandem_probe);
	FIELD(tandem_probe, name);
	FIELD(tandem_probe, words);
	FIELD(tandem_probe, doc);
	FIELD(tandem_probe, scale);

	TYPE(tandem_param);
	FIELD(tandem_param, name);
	FIELD(tandem_param, doc);
	FIELD(tandem_param, scale);
	FIELD(tandem_param, initial);
	FIELD(tandem_param, min);
	FIELD(tandem_param, max);
}

static void controller(void)
{
	TYPE(tandem_controller);
	FIELD(tandem_controller, state_bytes);
	FIELD(tandem_controller, traits);
	FIELD(tandem_controller, param_count);
	FIELD(tandem_controller, params);
	FIELD(tandem_controller, probes);
	FIELD(tandem_controller, probe_count);
	FIELD(tandem_controller, read_probes);
	FIELD(tandem_controller, init);
	FIELD(tandem_controller, pkts_acked);
	FIELD(tandem_controller, cong_avoid);
	FIELD(tandem_controller, usual_ack);
	FIELD(tandem_controller, ssthresh);
	FIELD(tandem_controller, set_state);
	FIELD(tandem_controller, restart);
	FIELD(tandem_controller, undo_cwnd);
	FIELD(tandem_controller, view);
}

static void constants(void)
{
	CONSTANT(TANDEM_STATE_BYTES);
	CONSTANT(TANDEM_MAX_WINDOW);
	CONSTANT(TANDEM_MAX_PROBES);
	CONSTANT(TANDEM_MAX_RTT_US);
	CONSTANT(TANDEM_MAX_PACKETS_PER_US);
	CONSTANT(TANDEM_INFINITE_SSTHRESH);
	CONSTANT(TANDEM_OPEN);
	CONSTANT(TANDEM_DISORDER);
	CONSTANT(TANDEM_CWR);
	CONSTANT(TANDEM_RECOVERY);
	CONSTANT(TANDEM_LOSS);
	CONSTANT(TANDEM_FOR_LOSS);
	CONSTANT(TANDEM_FOR_MARK);
	CONSTANT(TANDEM_OWNS_WINDOW);
	CONSTANT(TANDEM_WANTS_RATE);
	CONSTANT(TANDEM_COUNTS_MARKS);
	CONSTANT(TANDEM_SENDS_ECT1);
	CONSTANT(TANDEM_HALVES_TO_SSTHRESH);
	CONSTANT(TANDEM_NEVER_SHIPPED);
	CONSTANT(TANDEM_EXPERIMENTAL);
	CONSTANT(TANDEM_RESPONSE_RENO);
	CONSTANT(TANDEM_RESPONSE_COMPOUND);
	CONSTANT(TANDEM_RESPONSE_CUBIC);
	printf("TANDEM_BETA_ECN_100 %zu 0\n", (size_t)TANDEM_BETA_ECN(100));
}

int main(void)
{
	calls();
	shown();
	controller();
	constants();
	return 0;
}
