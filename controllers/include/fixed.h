/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Integer arithmetic that both the kernel's verifier and a C compiler accept: no floating point,
 * no signed division, no 128-bit integers, loops with constant bounds. A suffix _qN marks a
 * value in units of 2^-N.
 */
#ifndef TANDEM_FIXED_H
#define TANDEM_FIXED_H

#include "contract.h"

TANDEM_FN u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }
TANDEM_FN u32 max_u32(u32 a, u32 b) { return a > b ? a : b; }

/*
 * a or b, for two members of the state. In `cond ? s->a : s->b` a compiler may choose the address
 * first and load once; the verifier refuses an address of the state that it does not know. Here
 * both are loaded before one is chosen.
 */
TANDEM_FN u32 select_u32(int cond, u32 a, u32 b)
{
#ifdef __bpf__
	__asm__("" : "+r"(a), "+r"(b));
#endif
	return cond ? a : b;
}

/* (a - b)^+ of the papers. */
TANDEM_FN u32 sub_floor0(u32 a, u32 b) { return a > b ? a - b : 0; }

/* a * b / c, rounded down and saturated to 32 bits. c must not be 0. */
TANDEM_FN u32 mul_div(u32 a, u32 b, u32 c)
{
	u64 q = (u64)a * b / c;

	return q > 0xffffffffu ? 0xffffffffu : (u32)q;
}

/*
 * Bytes from sequence number `from` to `to`; sequence numbers wrap, so this is the one
 * subtraction that may.
 */
#if defined(__clang__)
__attribute__((no_sanitize("unsigned-integer-overflow")))
#endif
TANDEM_FN u32 seq_distance(u32 from, u32 to)
{
	return to - from;
}

/* The sequence number `by` after `from`: likewise the one addition that may wrap. */
#if defined(__clang__)
__attribute__((no_sanitize("unsigned-integer-overflow")))
#endif
TANDEM_FN u32 seq_advance(u32 from, u32 by)
{
	return from + by;
}

/* Is sequence number a later than b (RFC 9293 section 3.4 arithmetic)? */
TANDEM_FN int seq_after(u32 a, u32 b)
{
	u32 d = seq_distance(b, a);

	return d != 0 && d < 0x80000000u;
}

/*
 * A 0 or 1 of which clang is to make neither a branch nor a mask: recent verifiers take each mask
 * for a branch, and walk through every combination of those.
 */
TANDEM_FN u64 without_branch(u64 zero_or_one)
{
	__asm__("" : "+r"(zero_or_one));
	return zero_or_one;
}

/* Is x >= y? For x and y below 2^63, without a branch. */
TANDEM_FN u64 at_least(u64 x, u64 y)
{
	return without_branch(((x | 1ull << 63) - y) >> 63);
}

/*
 * Square root, rounded down, of x < 2^63. Digit by digit, two bits a turn: 32 turns whatever x.
 * Without branches, because the kernel's verifier walks through every combination of those.
 */
TANDEM_FN u64 isqrt(u64 x)
{
	u64 root = 0, bit = 1ull << 62;

	for (int i = 0; i < 32; i++) {
		u64 trial = root + bit;
		u64 fits = at_least(x, trial);

		x -= trial * fits;
		root = (root >> 1) + bit * fits;
		bit >>= 2;
	}
	return root;
}

/* Cube root, rounded down, of x < 2^63: the largest root below 2^21, bit by bit. */
TANDEM_FN u32 icbrt(u64 x)
{
	u64 root = 0;

	for (u64 bit = 1u << 20; bit; bit >>= 1) {
		u64 larger = root | bit;

		root += bit * at_least(x, larger * larger * larger);
	}
	return (u32)root;
}

/*
 * w^(eighths/8) in 1/65536, for w <= 2^24 and eighths 1..7. S0 III.C chose k = 3/4 because two
 * square roots give it; a third one gives every eighth, so k can be varied. The bits of `eighths`
 * select which roots are multiplied: 4 -> w^1/2, 2 -> w^1/4, 1 -> w^1/8. Each root is rounded down,
 * hence monotone, hence so is their product. The smallest factors are multiplied first so that no
 * product exceeds 2^53.
 */
TANDEM_FN u64 pow_eighths_q16(u32 w, u32 eighths)
{
	u64 half, quarter, eighth, product = 1ull << 16;

	w = min_u32(w, TANDEM_MAX_WINDOW);
	half = isqrt((u64)w << 32);
	quarter = isqrt(half << 16);
	eighth = isqrt(quarter << 16);
	if (eighths & 1)
		product = eighth;
	if (eighths & 2)
		product = product * quarter >> 16;
	if (eighths & 4)
		product = product * half >> 16;
	return product;
}

/*
 * log2(x) in 1/65536, rounded down, for x >= 1. The whole part is the highest bit's place; each
 * squaring of what is left, between 1 and 2, yields one more binary digit.
 */
TANDEM_FN u32 log2_q16(u32 x)
{
	u32 log = 0;
	u64 rest_q31;

	for (u32 bits = 16; bits; bits >>= 1)
		log += bits * (u32)at_least(x >> (log + bits), 1);
	rest_q31 = (u64)x << (31 - log);
	for (int i = 0; i < 16; i++) {
		u64 carry;

		rest_q31 = rest_q31 * rest_q31 >> 31;
		carry = without_branch(rest_q31 >> 32);
		rest_q31 >>= carry;
		log = log << 1 | (u32)carry;
	}
	return log;
}

/*
 * 2^y in 1/65536 for y in 1/65536, y < 32. For the fraction the first terms of
 * 2^f = sum (f ln 2)^n / n!, whose rest is less than 2e-6; the coefficients ln(2)^n / n! are in
 * 1/2^32.
 */
TANDEM_FN u64 exp2_q16(u32 y_q16)
{
	u64 f = y_q16 & 0xffff, sum_q32;

	sum_q32 = 65510;                             /* ln(2)^7 / 5040 = 1.5253e-5 */
	sum_q32 = 661577 + (sum_q32 * f >> 16);      /* ln(2)^6 / 720 = 1.5404e-4  */
	sum_q32 = 5726720 + (sum_q32 * f >> 16);     /* ln(2)^5 / 120 = 1.3334e-3  */
	sum_q32 = 41309550 + (sum_q32 * f >> 16);    /* ln(2)^4 / 24  = 9.6181e-3  */
	sum_q32 = 238388332 + (sum_q32 * f >> 16);   /* ln(2)^3 / 6   = 5.5504e-2  */
	sum_q32 = 1031764991 + (sum_q32 * f >> 16);  /* ln(2)^2 / 2   = 0.24023    */
	sum_q32 = 2977044472 + (sum_q32 * f >> 16);  /* ln(2)         = 0.69315    */
	sum_q32 = (1ull << 32) + (sum_q32 * f >> 16);
	/* Below 2^33, so the shift by 31 stays below 2^64. */
	return (sum_q32 << (y_q16 >> 16)) >> 16;
}

#endif
