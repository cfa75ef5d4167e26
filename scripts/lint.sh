#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Format and warnings; and each controller must compile for the kernel (eBPF).
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== cargo fmt"
cargo fmt --all --check
echo "== cargo clippy"
cargo clippy --quiet --workspace --all-targets -- -D warnings

controllers=$(sed -n 's/^CONTROLLER(\([a-z0-9_]*\),.*/\1/p' controllers/include/controllers.def)
clang=${TANDEM_CLANG:-clang-16}
compile() {
	local controller=$1 compiler=$2
	shift 2
	"$compiler" -std=c11 -O2 -ffreestanding -Werror "$@" -Icontrollers/include -DCONTROLLER="$controller" -c -o /dev/null controllers/src/native.c
}
for controller in $controllers; do
	echo "== $controller: gcc"
	compile "$controller" gcc -Wall -Wextra -mgeneral-regs-only
	if command -v "$clang" >/dev/null; then
		echo "== $controller: $clang, also for eBPF"
		# Left out: padding is the compiler's affair; the library's symbol is declared in Rust; some macros are for other
		# controllers.
		compile "$controller" "$clang" -Weverything -Wno-padded -Wno-missing-variable-declarations -Wno-unused-macros
		compile "$controller" "$clang" -target bpf -Wall -Wextra
	else
		echo "== SKIPPED $controller: $clang and eBPF, for there is no $clang (apt-get install clang-16)"
	fi
done

if command -v shellcheck >/dev/null; then
	echo "== shellcheck"
	shellcheck scripts/*.sh .ci/run
else
	echo "== SKIPPED shellcheck, which is not installed"
fi
echo "== documents"
scripts/check-links.sh
echo "No complaints."
