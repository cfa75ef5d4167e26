#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Everything that needs no Linux compiles without its feature, and for other systems: Windows, macOS, Linux on ARM. clang compiles
# the controllers for each; nothing is linked, so that no system's own libraries are needed.
set -euo pipefail
cd "$(dirname "$0")/.."

clang=${TANDEM_CLANG:-clang-16}
# The TLS of QUIC is partly C: it can do without a system's headers, save that it asks whether an Apple is a phone.
headers=$PWD/${CARGO_TARGET_DIR:-target}/headers
mkdir -p "$headers"
echo '#define TARGET_OS_IPHONE 0' >"$headers/TargetConditionals.h"
export CFLAGS="-ffreestanding -DRING_CORE_NOSTDLIBINC -I$headers"

# check SYSTEM FEATURES VARIABLE=VALUE...
check() {
	local system=$1 features=$2
	shift 2
	echo "== $system"
	env "$@" cargo check --quiet -p tandem-cc -p tandem-experiments --no-default-features --features "$features" --target "$system"
}

# The feature `linux` has no effect there.
check x86_64-pc-windows-gnu tandem/linux,tandem/quic CC_x86_64_pc_windows_gnu="$clang" AR_x86_64_pc_windows_gnu=ar
# Without a path to its SDK, cc would ask Xcode for one.
check aarch64-apple-darwin tandem/quic CC_aarch64_apple_darwin="$clang" AR_aarch64_apple_darwin=ar SDKROOT=/nonexistent
check aarch64-unknown-linux-gnu tandem/quic CC_aarch64_unknown_linux_gnu="$clang" AR_aarch64_unknown_linux_gnu=ar
