/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Nothing wrong, unless a test writes another name or licence into the object. */
#include "minimal.h"

SEC(".struct_ops.link")
struct tcp_congestion_ops controller = { COMPLETE };
