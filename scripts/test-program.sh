#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# cargo runs test programs by this (CARGO_TARGET_..._RUNNER): scripts/test-program.sh PROGRAM ARGUMENT...
# TANDEM_LANE=clock in the environment: only those that scripts/clock-tests.txt names; rest: only the others.
set -euo pipefail

program=$1
name=$(basename "$program")
# As the list has it: the package, and the file of the test without its hash, or `lib` for the tests in the sources.
name=${name%-*}
package=${CARGO_PKG_NAME:-}
[[ $name = "${package//-/_}" ]] && name=lib
test=$package/$name
lane=rest
grep -qxF "$test" "$(dirname "$0")/clock-tests.txt" && lane=clock
[[ ${TANDEM_LANE:-$lane} = "$lane" ]] || exit 0
# A test that hangs ends its program, and no other.
status=0
timeout --kill-after=10 900 "$@" || status=$?
if ((status == 124 || status == 137)); then echo "$test: ended after 900 s, its limit of time" >&2; fi
exit $status
