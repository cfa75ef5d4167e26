#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every test. The last line is `N passed, N failed, N skipped`; the exit status is 1 if any failed.
set -euo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0 skipped=0
log=$(mktemp)
kernels_log=$(mktemp)
trap 'rm -f "$log" "$kernels_log"; kill "${kernels:-}" 2>/dev/null || true' EXIT

# A test that passed, a program without tests, how many tests there will be.
not_worth_a_line='/^test .* ok$/d; /^ *Doc-tests /d; /^test result: ok\. 0 passed.* 0 ignored/d; /^(running [0-9]+ tests?)?$/d'

run_tests() { count cargo test --no-fail-fast "$@"; }

# Runs a command, adding up what the test programs say of themselves. Status 77: it skipped itself, and said so.
count() {
	local status=0 failed_before=$failed
	"$@" 2>&1 | tee "$log" | sed -E "$not_worth_a_line" || status=$?
	((status == 77)) && status=0
	while read -r p f i; do
		((passed += p, failed += f, skipped += i)) || true
	done < <(sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored;.*/\1 \2 \3/p' "$log")
	# Tests that found that they cannot run here (crates/testing); libtest took them for passed.
	local unable
	unable=$(grep -c 'SKIPPED: ' "$log") || true
	((passed -= unable, skipped += unable)) || true
	# It did not compile, or a test program died before it could count.
	if ((status && failed == failed_before)); then
		failed=$((failed + 1))
	fi
}

echo "== All tests"
run_tests --workspace

# A guest keeps one core busy for minutes, and the tests that follow the other: all but the page's, which look at how smoothly it draws.
CONTROLLERS="reno compound_tube" KILLS=last scripts/test-kernels.sh linux-image-amd64 >"$kernels_log" 2>&1 &
kernels=$!

echo
clang=${TANDEM_CLANG:-clang-16}
if command -v "$clang" >/dev/null; then
	echo "== The controllers' tests again: any integer that wraps unintended traps ($clang)"
	# A build folder of its own, else each build would undo the other's.
	TANDEM_CLANG=$clang run_tests --package tandem-controllers --features sanitize --target-dir target/sanitize
else
	echo "== SKIPPED: the controllers' tests with the integer sanitizer, for there is no $clang (apt-get install clang-16)"
	skipped=$((skipped + 1))
fi
echo
echo "== The controllers' golden traces on ARM, emulated by QEMU"
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
	run_tests --package tandem-controllers --test vectors --target aarch64-unknown-linux-gnu
echo
echo "== The Python package"
count scripts/python.sh --test
echo
echo "== The package, in a fresh Debian 12"
PROFILE=dev count scripts/test-packages.sh bookworm
echo
echo "== The oldest kernel that is tested, with two controllers (more of both: make test-kernels)"
kernels_status=0
wait "$kernels" || kernels_status=$?
said_by_kernels() { cat "$kernels_log" && return "$kernels_status"; }
count said_by_kernels
echo
echo "== The page and the reports, in Chromium"
count scripts/web.sh --test
echo
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
