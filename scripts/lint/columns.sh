#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The kernel's reviewers ask for it: no line of C is longer than 100 columns, a tab being up to 8.
#   scripts/lint/columns.sh    prints FILE:LINE and the length of each that is
set -euo pipefail
cd "$(dirname "$0")/../.."

long=$(git ls-files '*.c' '*.h' '*.def' | while read -r file; do
	expand -t8 "$file" | awk -v file="$file" 'length > 100 { print file ":" FNR ": " length " columns, at most 100" }'
done)
[[ -z $long ]] && exit
echo "$long" >&2
exit 1
