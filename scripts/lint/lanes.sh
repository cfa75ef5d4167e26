#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# A test program that sends over real TCP stands in scripts/clock-tests.txt, so that it runs beside no other of its kind, and `make stress`
# repeats it.
set -euo pipefail
cd "$(dirname "$0")/../.."

real_tcp='take_controllers|find\("kernel"\)|Space::new|Namespace::new'
status=0
while read -r file; do
	folder=${file%%/tests/*}
	package=$(sed -n '/^name = "/{s/.*"\(.*\)".*/\1/p;q}' "$folder/Cargo.toml")
	program=${file#"$folder/tests/"}
	program=${program%/main.rs}
	# A module of a test program, which names it.
	[[ $program != */* ]] || continue
	program=$package/${program%.rs}
	if ! grep -qxF "$program" scripts/clock-tests.txt; then
		echo "$file uses real TCP: add $program to scripts/clock-tests.txt"
		status=1
	fi
done < <(git grep -lE "$real_tcp" -- '*/tests/*.rs')
exit $status
