#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Each crate packs, and the C sources travel with the crates that compile them.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo package --quiet --workspace --no-verify --allow-dirty --offline
for crate in controllers kernel; do
	missing=$(cd "$crate" && comm -13 <(cargo package --quiet --list --allow-dirty --offline | sort) <(git ls-files include bpf src | sort))
	if [[ -n $missing ]]; then
		echo "the package of $crate lacks $missing" >&2
		exit 1
	fi
done
