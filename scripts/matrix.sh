#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Writes docs/matrix.md: every controller against every other on the path of TCP-Fusion's Table 1.
set -euo pipefail
cd "$(dirname "$0")/.."

arguments="compare --rate 100mbit --rtt 40ms --queue 1bdp --duration 60s --warmup 10s --seeds 5 --matrix"
page=$(mktemp)
trap 'rm -f "$page"' EXIT
{
	cat <<-EOF
		# Every controller against every other

		Two controllers, one flow each, share a path: 100 Mbit/s, 40 ms, a drop-tail buffer of one BDP (333 packets), as in Table 1 of
		TCP-Fusion (Kaneko et al., 2007). Each run simulates 60 s, of which the first 10 s do not count; 5 seeds. \`make validate\` writes this page from

		\`\`\`
		tandem $arguments
		\`\`\`

		The command also writes a report with heat maps. Name some controllers, and how many flows of each, to see only those.

		Read a row to see what a controller takes from others: 50 is fair, 90 leaves the other a tenth. Read a column to see what it leaves.

		\`\`\`
	EOF
	# shellcheck disable=SC2086 # several words
	cargo run --quiet --release -p tandem-cc -- $arguments --out tandem-out/matrix
	echo '```'
} >"$page"
mv "$page" docs/matrix.md
chmod 644 docs/matrix.md
echo "Wrote docs/matrix.md"
