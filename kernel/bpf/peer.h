/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The other end of a connection. The Rust side: kernel/src/sockops/peer.rs. */
#ifndef TANDEM_KERNEL_PEER_H
#define TANDEM_KERNEL_PEER_H

#include "contract.h"

/* The other end, and the port by which a service is known. */
struct tandem_peer {
	u32 family; /* AF_INET, AF_INET6; an IPv4-mapped IPv6 address is AF_INET */
	u32 port;   /* the port connected to: the peer's, or our own if accepted */
	unsigned char addr[16]; /* IPv4: the first four bytes */
};

#endif
