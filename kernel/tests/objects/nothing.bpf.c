/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* On a cgroup: what it costs that the kernel calls a program, whatever the program does. */
#include "tcp.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("sockops")
int nothing(void *ops)
{
	return 1;
}
