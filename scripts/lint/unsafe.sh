#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# A crate without unsafe code forbids it, so that the first line of it is a decision.
set -euo pipefail
cd "$(dirname "$0")/../.."

failed=0
while IFS= read -r root; do
	folder=${root%/*}
	if ! grep -rqwE 'unsafe' "$folder" --include='*.rs' && ! grep -q '^#!\[forbid(unsafe_code)\]' "$root"; then
		echo "$root: there is no unsafe code in $folder: say #![forbid(unsafe_code)]" >&2
		failed=1
	fi
done < <(git ls-files '*/src/lib.rs' '*/src/main.rs')
exit $failed
