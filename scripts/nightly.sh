#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# What takes hours, one after the other; goes on after a failure. The last lines say how each ended.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

ended=()
failed=0
part() {
	local name=$1 outcome=ok
	shift
	echo "==== $name"
	"$@" || outcome=FAILED failed=1
	ended+=("$(printf '%-14s%s' "$name" "$outcome")")
}

# TANDEM_NIGHTLY: more of what is there in `make test`, too, such as transfers of a whole gigabyte.
part test env TANDEM_NIGHTLY=1 make test
part stress make stress
part fuzz env FUZZ_SECONDS="${FUZZ_SECONDS:-1800}" make fuzz
part packages make test-packages
part reproducible scripts/test-reproducible.sh
part metrics bash -c 'scripts/setup.sh metrics && cargo build && scripts/test-prometheus.py'
part kernels make test-all-kernels

printf '%s\n' "${ended[@]}"
exit $failed
