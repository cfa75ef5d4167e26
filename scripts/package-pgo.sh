#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# As scripts/package.sh, with a program that was optimised by what it does in some scenarios (profile-guided optimisation): in target/pgo/package.
# Builds the program twice. Its code, and nothing of its results, depends on the profile, in which threads count as they run: unlike those of
# scripts/package.sh, these packages differ in some bits from build to build.
set -euo pipefail
cd "$(dirname "$0")/.."

built=$PWD/target/pgo
raw=$built/raw
profile=$built/tandem.profdata
host=$(rustc -vV | sed -n 's/^host: //p')
rustup component add llvm-tools
merge=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata

# With --target, build scripts and macros are not counted.
RUSTFLAGS="-Cprofile-generate=$raw" CARGO_TARGET_DIR=$built/counting cargo build --release -p tandem-cc --target "$host"
rm -rf "$raw"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for scenario in bench/standard.toml bench/512-flows.toml scenarios/*.toml; do
	TANDEM_STORE=off "$built/counting/$host/release/tandem" run "$scenario" --seeds 1 --quiet --out "$out/$(basename "$scenario")" >/dev/null
done
"$merge" merge -o "$profile" "$raw"

RUSTFLAGS="-Cprofile-use=$profile" CARGO_TARGET_DIR=$built scripts/package.sh
