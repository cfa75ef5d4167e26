#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Format, warnings, documentation, its English, the list of RFCs, dependencies, packages; lines of C; lengths of functions; and each controller must compile for the kernel (eBPF).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh

stage format 60 cargo fmt --all --check
stage documents 120 scripts/check-links.sh
stage scripts 120 scripts/lint/shell.sh
stage lanes 60 scripts/lint/lanes.sh
stage rfcs 120 scripts/lint/rfcs.py --check
stage prose 600 scripts/lint/prose.py
stage words 60 scripts/lint/words.py --check
stage finds 60 scripts/search-page.py --check
stage ablations 60 experiments/own/ablations.py --check
stage house 60 scripts/lint/house.py --check
stage rust 60 scripts/lint/rust.py
stage python 300 scripts/python.sh --lint
stage dependencies 300 scripts/lint/dependencies.sh
stage clippy 1200 cargo clippy --quiet --workspace --all-targets -- -D warnings
stage doc 600 env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
stage columns 60 scripts/lint/columns.sh
stage functions 60 scripts/lint/functions.py
stage controllers 300 scripts/lint/controllers.sh
stage systems 1200 scripts/check-systems.sh
stage packages 300 scripts/lint/packages.sh
finish
