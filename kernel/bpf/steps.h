/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The steps of a long call (contract.h) as functions that the verifier walks through once each,
 * assuming nothing about their arguments: the paths through them add up and do not multiply. Such
 * a function takes plain memory that it may write, so it asks for the parameters itself. Part of
 * controller.bpf.c.
 */
#ifndef TANDEM_KERNEL_STEPS_H
#define TANDEM_KERNEL_STEPS_H

static inline __attribute__((always_inline)) const struct controller_params *parameters(void);

/*
 * The verifier requires the test of the pointers; the only caller passes all four. The law's
 * parameters come first (controller.h, which knows them only after the law's header).
 */
#define TANDEM_STEP(law, f) \
	__attribute__((noinline)) int f##_step(struct law *s, struct tandem_conn *c, \
					       const struct tandem_ack *ack, \
					       struct law##_sample *r) \
	{ \
		if (!s || !c || !ack || !r) \
			return 0; \
		f(s, (const struct law##_params *)parameters(), c, ack, r); \
		return 0; \
	}
#define TANDEM_TAKE(f, s, p, c, ack, r) f##_step(s, c, ack, r)

#endif
