#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The dependencies as deny.toml wants them: licences, duplicates, sources; and advisories, if their database can be fetched.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v cargo-deny >/dev/null; then
	echo "SKIPPED: cargo deny: it is not installed (scripts/setup.sh test)"
	exit 77
fi
cargo deny --offline check --hide-inclusion-graph licenses bans sources
# What draws and reads for the validation alone is in no package.
if cargo tree --offline -p tandem-cc -p tandem-python -e normal | grep -E ' (plotters|csv) v'; then
	echo "dependencies: these are for tools/validate alone: see docs/house.md" >&2
	exit 1
fi
# The database is a git repository, not a package: not every machine reaches it.
if cargo deny fetch db >/dev/null 2>&1; then
	cargo deny --offline check --hide-inclusion-graph advisories
else
	echo "SKIPPED: cargo deny, advisories: their database cannot be fetched"
fi
