/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What crosses the border between the eBPF programs and Rust. */
#include "layout.h"

#include "flow.h"
#include "histograms.h"
#include "peer.h"
#include "replay.h"
#include "trial.h"

static void connections(void)
{
	TYPE(tandem_flow);
	FIELD(tandem_flow, local_addr);
	FIELD(tandem_flow, remote_addr);
	FIELD(tandem_flow, local_port);
	FIELD(tandem_flow, remote_port);
	FIELD(tandem_flow, family);
	FIELD(tandem_flow, state);
	FIELD(tandem_flow, snd_cwnd);
	FIELD(tandem_flow, snd_ssthresh);
	FIELD(tandem_flow, packets_out);
	FIELD(tandem_flow, mss);
	FIELD(tandem_flow, srtt_us);
	FIELD(tandem_flow, lost);
	FIELD(tandem_flow, retransmitted);
	FIELD(tandem_flow, view);
	FIELD(tandem_flow, bytes_acked);
	FIELD(tandem_flow, pacing_bytes_per_s);
	FIELD(tandem_flow, pacing);
	CONSTANT(TANDEM_PACED_BY_SOCKET);
	CONSTANT(TANDEM_PACED_BY_FQ);

	TYPE(tandem_peer);
	FIELD(tandem_peer, family);
	FIELD(tandem_peer, port);
	FIELD(tandem_peer, addr);

	TYPE(tandem_connection);
	FIELD(tandem_connection, peer);
	FIELD(tandem_connection, began_ns);
	FIELD(tandem_connection, ended_ns);
	FIELD(tandem_connection, bytes_acked);
	FIELD(tandem_connection, bytes_received);
	FIELD(tandem_connection, srtt_us);
	FIELD(tandem_connection, min_rtt_us);
	FIELD(tandem_connection, segments);
	FIELD(tandem_connection, retransmitted);
	FIELD(tandem_connection, busy_jiffies);
	FIELD(tandem_connection, rwnd_jiffies);
	FIELD(tandem_connection, sndbuf_jiffies);
	FIELD(tandem_connection, arm);
	FIELD(tandem_connection, flags);
	FIELD(tandem_connection, cwnd);
}

static void totals(void)
{
	TYPE(tandem_totals);
	FIELD(tandem_totals, connections);
	FIELD(tandem_totals, acked_bytes);
	FIELD(tandem_totals, segments);
	FIELD(tandem_totals, retransmitted);
	FIELD(tandem_totals, idle_jiffies);
	FIELD(tandem_totals, path_jiffies);
	FIELD(tandem_totals, rwnd_jiffies);
	FIELD(tandem_totals, sndbuf_jiffies);
	FIELD(tandem_totals, rtt_us);
	FIELD(tandem_totals, window_bytes);
	FIELD(tandem_totals, goodput);
	FIELD(tandem_totals, retransmitted_ratio);
	CONSTANT(TANDEM_BUCKETS);
	CONSTANT(TANDEM_RTT_FIRST);
	CONSTANT(TANDEM_RTT_OCTAVES);
	CONSTANT(TANDEM_WINDOW_FIRST);
	CONSTANT(TANDEM_WINDOW_OCTAVES);
	CONSTANT(TANDEM_GOODPUT_FIRST);
	CONSTANT(TANDEM_GOODPUT_OCTAVES);
	CONSTANT(TANDEM_RATIO_FIRST);
	CONSTANT(TANDEM_RATIO_OCTAVES);
}

static void replay(void)
{
	TYPE(tandem_replay);
	FIELD(tandem_replay, state);
	FIELD(tandem_replay, conn);
	FIELD(tandem_replay, ack);
	FIELD(tandem_replay, call);
	FIELD(tandem_replay, argument);
	FIELD(tandem_replay, result);
	FIELD(tandem_replay, view);
	FIELD(tandem_replay, reserved);

	CONSTANT(TANDEM_CALL_INIT);
	CONSTANT(TANDEM_CALL_PKTS_ACKED);
	CONSTANT(TANDEM_CALL_CONG_AVOID);
	CONSTANT(TANDEM_CALL_SSTHRESH);
	CONSTANT(TANDEM_CALL_SET_STATE);
	CONSTANT(TANDEM_CALL_RESTART);
	CONSTANT(TANDEM_CALL_UNDO_CWND);
}

int main(void)
{
	connections();
	totals();
	replay();
	return 0;
}
