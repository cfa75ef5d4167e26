/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Streams results of the arithmetic in fixed.h as native 64-bit integers, in the order in which
 * fixed.rs reads them. Both sides walk the same ranges; numbers that Rust could not guess
 * precede their result.
 */
#include <stdio.h>

#include "fixed.h"

static void put(u64 value) { fwrite(&value, sizeof(value), 1, stdout); }

static const u64 square_roots[] = {
	0, 1, 2, 3, 4, 8, 9, 0xffffull * 0xffff, 1ull << 32,
	(1ull << 62) - 1, 1ull << 62, (1ull << 63) - 1,
};

static const u32 edges[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff };
#define EDGES (sizeof(edges) / sizeof(edges[0]))

int main(void)
{
	/* The exponent 3/4 at every window. */
	for (u32 w = 1; w <= TANDEM_MAX_WINDOW; w++)
		put(pow_eighths_q16(w, 6));
	/* Every exponent at fewer windows: all up to 4096, then 1/256 apart. */
	for (u32 eighths = 1; eighths <= 7; eighths++)
		for (u32 w = 1; w <= TANDEM_MAX_WINDOW; w += 1 + (w >= 4096 ? w / 256 : 0))
			put(pow_eighths_q16(w, eighths));

	for (unsigned i = 0; i < sizeof(square_roots) / sizeof(square_roots[0]); i++) {
		put(square_roots[i]);
		put(isqrt(square_roots[i]));
	}
	/* Perfect squares and their neighbours, up to the largest root of x < 2^63. */
	for (u64 root = 2; root <= 3037000498ull;
	     root = root < 1000 ? root + 1 : root + root / 16 + 1)
		for (u64 x = root * root - 1; x <= root * root + 1; x++) {
			put(x);
			put(isqrt(x));
		}

	for (unsigned i = 0; i < EDGES; i++)
		for (unsigned j = 0; j < EDGES; j++) {
			put((u64)seq_after(edges[i], edges[j]));
			put(sub_floor0(edges[i], edges[j]));
			for (unsigned k = 1; k < EDGES; k++)
				put(mul_div(edges[i], edges[j], edges[k]));
		}
	return 0;
}
