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

# Without its path to an SDK, cc would ask Xcode for one.
export SDKROOT=/nonexistent
for system in x86_64_pc_windows_gnu aarch64_apple_darwin aarch64_unknown_linux_gnu; do
	export CC_$system="$clang" AR_$system=ar
done

# check FEATURES TARGET...: at once, since the systems share build scripts and macros.
check() {
	local features=$1 targets=()
	shift
	for system in "$@"; do
		targets+=(--target "$system")
	done
	cargo check --quiet -p tandem-cc -p tandem-validate --no-default-features --features "$features" "${targets[@]}"
}

check tandem-cc/quic x86_64-pc-windows-gnu aarch64-apple-darwin aarch64-unknown-linux-gnu
# The feature `linux` has no effect there.
check tandem-cc/linux,tandem-cc/quic x86_64-pc-windows-gnu
