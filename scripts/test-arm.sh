#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The controllers' golden traces on ARM, emulated by QEMU.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
exec cargo test --no-fail-fast --package tandem-controllers --test vectors --target aarch64-unknown-linux-gnu
