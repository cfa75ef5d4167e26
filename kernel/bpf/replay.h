/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Argument and result of the program `replay`. The Rust side: kernel/src/replay.rs. */
#ifndef TANDEM_KERNEL_REPLAY_H
#define TANDEM_KERNEL_REPLAY_H

#include "contract.h"

enum tandem_call {
	TANDEM_CALL_INIT,
	TANDEM_CALL_PKTS_ACKED,
	TANDEM_CALL_CONG_AVOID,
	TANDEM_CALL_SSTHRESH,
	TANDEM_CALL_SET_STATE,
	TANDEM_CALL_RESTART,
	TANDEM_CALL_UNDO_CWND,
};

struct tandem_replay {
	u64 state[TANDEM_STATE_BYTES / sizeof(u64)];
	struct tandem_conn conn;
	struct tandem_ack ack; /* for pkts_acked */
	u32 call;
	u32 argument; /* packets for cong_avoid, the reason for ssthresh, the state for set_state */
	u32 result;   /* from ssthresh and undo_cwnd */
	u32 reserved;    /* 0; there is no gap before the view */
	struct tandem_view view; /* after the call */
};

#endif
