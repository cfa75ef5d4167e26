#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The random tests, hostile command lines and files among them, with other cases than `make test` plays: on all cores, about FUZZ_SECONDS
# seconds (60), from the seed FUZZ_SEED (random). The simplest case that fails becomes a file in its crate's tests/regressions/, which
# `make test` plays: commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${FUZZ_SECONDS:-60}
first=${FUZZ_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
workers=$(nproc)
clang=${TANDEM_CLANG:-clang-16}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Arguments of `cargo test`, and the tests' names. What comes twice runs twice as often.
oracles="--package tandem-controllers --test random -- random_windows random_models"
invariants="--package tandem-controllers --test random -- random_events"
if command -v "$clang" >/dev/null; then
	export TANDEM_CLANG=$clang
	invariants="--features sanitize $invariants"
else
	echo "fuzz: the invariants without the integer sanitizer, for there is no $clang (apt-get install clang-16)"
fi
runs=("$invariants" "$oracles" "$invariants" "--package tandem-tcp --lib -- random_" "--package tandem-network --test reference -- random_"
	"--package tandem-sim --test windows -- random_"
	"--package tandem-quic --test native -- random_" "--package tandem-advise --test damaged_measurements -- random_"
	"--package tandem-cc --test hostile -- random_")
if [[ $(id -u) = 0 ]]; then
	runs+=("--package tandem-kernel --test same_arithmetic -- random_")
else
	echo "fuzz: without the controllers in the kernel, which only root can load"
fi

# test_run SEED ARGUMENT...
test_run() {
	PROPTEST_RNG_SEED=$1 RUST_TEST_THREADS=1 cargo test --quiet "${@:2}" --nocapture
}

# Each worker takes every workers-th seed and every run in turn.
work() {
	local n=$1 arguments
	while ((SECONDS < seconds)); do
		read -ra arguments <<<"${runs[n % ${#runs[@]}]}"
		if ! test_run $((first + n)) "${arguments[@]}" >"$logs/$n" 2>&1; then
			mv "$logs/$n" "$logs/$n.failed"
			printf 'fuzz: PROPTEST_RNG_SEED=%s cargo test %s\n%s\n' $((first + n)) "${arguments[*]}" "$(<"$logs/$n.failed")"
		fi
		n=$((n + workers))
	done
}

echo "== Build"
for arguments in "${runs[@]}"; do
	read -ra arguments <<<"${arguments%% -- *}"
	cargo test --quiet --no-run "${arguments[@]}"
done
echo "== $workers workers, $seconds s, FUZZ_SEED=$first"
SECONDS=0
for ((worker = 0; worker < workers; worker++)); do
	work $worker &
done
wait
events=$({ grep -ohE '[0-9]+ events' "$logs"/* || true; } | awk '{ sum += $1 } END { printf "%d", sum }')
failed=$(find "$logs" -name '*.failed' | wc -l)
echo "$events events of controllers in $SECONDS s, $((events / SECONDS)) a second; $failed runs failed"
((failed == 0))
