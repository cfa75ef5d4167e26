#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The controllers' tests once more, compiled so that any integer that wraps unintended traps.
set -euo pipefail
cd "$(dirname "$0")/.."

export TANDEM_CLANG=${TANDEM_CLANG:-clang-16}
if ! command -v "$TANDEM_CLANG" >/dev/null; then
	echo "SKIPPED: integer sanitizer: there is no $TANDEM_CLANG (apt-get install clang-16)"
	exit 77
fi
exec cargo test --no-fail-fast --package tandem-controllers --features sanitize
