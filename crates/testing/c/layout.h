/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Prints "name offset size" of a type or field, "name value 0" of a constant.
 * The other side of it: src/layout.rs.
 */
#include <stddef.h>
#include <stdio.h>

#define TYPE(type) printf(#type " 0 %zu\n", sizeof(struct type))
#define FIELD(type, field) \
	printf(#type "." #field " %zu %zu\n", offsetof(struct type, field), \
	       sizeof(((struct type *)0)->field))
#define CONSTANT(name) printf(#name " %llu 0\n", (unsigned long long)(name))
