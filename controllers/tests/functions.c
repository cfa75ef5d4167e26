/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Streams function, argument and result for the functions of fixed.h that take one number, as
 * native 64-bit integers.
 */
#include <stdio.h>

#include "fixed.h"

static void put(u64 function, u64 x, u64 result)
{
	u64 triple[] = { function, x, result };

	fwrite(triple, sizeof(triple), 1, stdout);
}

int main(void)
{
	for (u64 x = 1; x <= 0xffffffffu; x += 1 + x / 1024)
		put(0, x, log2_q16((u32)x));
	for (u32 bit = 0; bit < 32; bit++)
		put(0, 1u << bit, log2_q16(1u << bit));
	for (u32 y = 0; y < 32u << 16; y += 97)
		put(1, y, exp2_q16(y));
	put(1, (32u << 16) - 1, exp2_q16((32u << 16) - 1));
	/* Cubes and their neighbours. */
	for (u64 root = 1; root < 1u << 21; root += 1 + root / 1024)
		for (u64 x = root * root * root - 1; x <= root * root * root + 1; x++)
			put(2, x, icbrt(x));
	put(2, (1ull << 63) - 1, icbrt((1ull << 63) - 1));
	return 0;
}
