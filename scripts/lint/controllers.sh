#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Each controller compiles without a warning: with gcc, also as a module of ns-2, and with clang, also for eBPF.
#   scripts/lint/controllers.sh [CONTROLLER]    all if none is named, on all cores
set -euo pipefail
cd "$(dirname "$0")/../.."

clang=${TANDEM_CLANG:-clang-16}
compile() {
	local controller=$1 compiler=$2
	shift 2
	"$compiler" -std=c11 -O2 -ffreestanding -Werror "$@" -Icontrollers/include -DCONTROLLER="$controller" -c -o /dev/null controllers/src/native.c
}
# As build.sh there does, but without ns-2's headers, which no package has.
module=experiments/reference/ns2/module
compile_for_ns2() {
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -isystem "$module/stand-in" -Icontrollers/include -Icontrollers/src "-DCONTROLLER=$1" \
		-c -o /dev/null "$module/module.c"
}

if (($#)); then
	compile "$1" gcc -Wall -Wextra -mgeneral-regs-only
	compile_for_ns2 "$1"
	command -v "$clang" >/dev/null || exit 0
	# Left out: padding is the compiler's affair; Rust declares the library's symbol; some macros are for other controllers;
	# the headers are C, not C++, and C has no other way into an array.
	compile "$1" "$clang" -Weverything -Wno-padded -Wno-missing-variable-declarations -Wno-unused-macros -Wno-c++98-compat \
		-Wno-unsafe-buffer-usage
	compile "$1" "$clang" -target bpf -Wall -Wextra
else
	command -v "$clang" >/dev/null || echo "SKIPPED: the controllers with $clang, and for eBPF: it is not installed (apt-get install clang-16)"
	sed -n 's/^TANDEM_CONTROLLER(\([a-z0-9_]*\),.*/\1/p' controllers/include/controllers.def | xargs -n 1 -P "$(nproc)" "$0"
fi
