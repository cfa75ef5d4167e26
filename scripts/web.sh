#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the page of web/ into target/web: plain files, for any static host.
#   scripts/web.sh            builds
#   scripts/web.sh --serve    builds, then serves it to this machine; PORT in the environment (8000)
#   scripts/web.sh --test     builds, then tests it in Chromium, and the command line's reports
set -euo pipefail
cd "$(dirname "$0")/.."

page=$PWD/${CARGO_TARGET_DIR:-target}/web

build() {
	# The C controllers are freestanding: clang needs no library for them.
	CC_wasm32_unknown_unknown=${TANDEM_CLANG:-clang-16} AR_wasm32_unknown_unknown=ar \
		cargo build --quiet -p tandem-web --lib --profile web --target wasm32-unknown-unknown
	# npm takes seconds even if nothing is to be done.
	if [[ ! -e web/node_modules/.package-lock.json || web/package-lock.json -nt web/node_modules/.package-lock.json ]]; then
		npm --prefix web ci --silent
		touch web/node_modules/.package-lock.json
	fi
	rm -rf "$page"
	mkdir -p "$page"
	cp web/page/* web/node_modules/uplot/dist/uPlot.iife.min.js web/node_modules/uplot/dist/uPlot.min.css "$page"
	cp "${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/web/tandem_web.wasm" "$page"
	cp web/node_modules/uplot/LICENSE "$page/uPlot.LICENSE"
}

build
case ${1:-} in
--serve) exec node web/serve.js "$page" "${PORT:-8000}" ;;
--test)
	# What the page is compared with.
	cargo build --quiet -p tandem-cc -p tandem-web --bin tandem --example native
	status=0
	node web/tests/page.js "$page" "${CARGO_TARGET_DIR:-target}/debug" || status=$?
	node web/tests/reports.js "${CARGO_TARGET_DIR:-target}/debug" || status=$?
	exit "$status"
	;;
*) echo "The page is in $page; any static host will do." ;;
esac
