#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# What takes hours, one after the other; goes on after a failure. The last lines say how each ended. Exit status 77 of a part: skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

ended=()
failed=0
part() {
	local name=$1 outcome=ok status=0
	shift
	echo "==== $name"
	"$@" || status=$?
	case $status in
	0) ;;
	77) outcome="SKIPPED, see above" ;;
	*) outcome=FAILED failed=1 ;;
	esac
	ended+=("$(printf '%-14s%s' "$name" "$outcome")")
}

# TANDEM_NIGHTLY: more of what is there in `make test`, too, such as transfers of a whole gigabyte and a thousand trials of each kind.
part test env TANDEM_NIGHTLY=1 make test
part stress make stress
part fuzz env FUZZ_SECONDS="${FUZZ_SECONDS:-1800}" make fuzz
part packages make test-packages
part reproducible scripts/test-reproducible.sh
# Where it cannot be installed the test says that it is skipped.
part metrics bash -c '{ scripts/setup.sh metrics || true; } && cargo build && scripts/test-prometheus.py'
part kernels make test-all-kernels

printf '%s\n' "${ended[@]}"
exit $failed
