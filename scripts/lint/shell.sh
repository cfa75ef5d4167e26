#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The linter of shell scripts, on all of them.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v shellcheck >/dev/null; then
	echo "SKIPPED: shellcheck: it is not installed (apt-get install shellcheck)"
	exit 77
fi
shellcheck -x scripts/*.sh scripts/lint/*.sh .ci/run
