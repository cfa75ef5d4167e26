/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* How long a jiffy is depends on how the kernel was built. */
#include "tcp.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct tandem_clocks {
	u64 monotonic_ns;
	u64 jiffies;
};

/* Both, read together. */
SEC("syscall")
int read_clocks(struct tandem_clocks *clocks)
{
	clocks->monotonic_ns = bpf_ktime_get_ns();
	clocks->jiffies = bpf_jiffies64();
	return 0;
}
