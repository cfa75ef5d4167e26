#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Format, warnings, documentation, packages; and each controller must compile for the kernel (eBPF).
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== cargo fmt"
cargo fmt --all --check
echo "== documents"
scripts/check-links.sh
echo "== cargo clippy"
cargo clippy --quiet --workspace --all-targets -- -D warnings
echo "== cargo doc"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps

controllers=$(sed -n 's/^TANDEM_CONTROLLER(\([a-z0-9_]*\),.*/\1/p' controllers/include/controllers.def)
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
for controller in $controllers; do
	echo "== $controller: gcc, also for ns-2"
	compile "$controller" gcc -Wall -Wextra -mgeneral-regs-only
	compile_for_ns2 "$controller"
	if command -v "$clang" >/dev/null; then
		echo "== $controller: $clang, also for eBPF"
		# Left out: padding is the compiler's affair; Rust declares the library's symbol; some macros are for other controllers;
		# the headers are C, not C++.
		compile "$controller" "$clang" -Weverything -Wno-padded -Wno-missing-variable-declarations -Wno-unused-macros -Wno-c++98-compat
		compile "$controller" "$clang" -target bpf -Wall -Wextra
	else
		echo "== SKIPPED $controller: $clang and eBPF, for there is no $clang (apt-get install clang-16)"
	fi
done

echo "== Without Linux's parts, and for other systems"
scripts/check-systems.sh

echo "== cargo package"
cargo package --quiet --workspace --no-verify --allow-dirty --offline
# The C sources must travel with the crates that compile them.
for crate in controllers kernel; do
	missing=$(cd "$crate" && comm -13 <(cargo package --quiet --list --allow-dirty --offline | sort) <(git ls-files include bpf src | sort))
	if [[ -n $missing ]]; then
		echo "the package of $crate lacks $missing" >&2
		exit 1
	fi
done

if command -v shellcheck >/dev/null; then
	echo "== shellcheck"
	shellcheck scripts/*.sh .ci/run
else
	echo "== SKIPPED shellcheck, which is not installed"
fi
echo "== Python"
scripts/python.sh --lint
echo "No complaints."
