#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the page of web/ into target/web: plain files, for any static host.
#   scripts/web.sh            builds
#   scripts/web.sh --serve    builds, then serves it to this machine; PORT in the environment (8000)
#   scripts/web.sh --test     builds, then tests it in Chromium, and the command line's reports
set -euo pipefail
cd "$(dirname "$0")/.."

built=$PWD/${CARGO_TARGET_DIR:-target}
page=$built/web
max_bytes=2000000

# The page is in the folder $page afterwards.
build() {
	scripts/fetch.sh web
	# The C controllers are freestanding: clang needs no library for them.
	CC_wasm32_unknown_unknown=${TANDEM_CLANG:-clang-16} AR_wasm32_unknown_unknown=ar \
		cargo build --quiet -p tandem-web --lib --profile web --target wasm32-unknown-unknown
	rm -rf "$page"
	mkdir -p "$page"
	cp web/page/* web/node_modules/uplot/dist/uPlot.iife.min.js web/node_modules/uplot/dist/uPlot.min.css "$page"
	cp "$built/wasm32-unknown-unknown/web/tandem_web.wasm" "$page"
	cp web/node_modules/uplot/LICENSE "$page/uPlot.LICENSE"
	check_size
}

# Hosts and browsers pack each file.
check_size() {
	local bytes=0 file
	for file in "$page"/*; do
		((bytes += $(gzip -9nc "$file" | wc -c)))
	done
	echo "The page has $((bytes / 1000)) kB over the wire, compressed with gzip."
	((bytes <= max_bytes)) || { echo "web: that is more than $((max_bytes / 1000)) kB" >&2 && exit 1; }
}

case ${1:-} in
--serve)
	build
	exec node web/serve.js "$page" "${PORT:-8000}"
	;;
--test)
	build
	# What the page is compared with, as `make test` builds it. Asked for by name, an example would be built as a test, and the program stay old.
	cargo test --quiet --workspace --no-run
	status=0
	node web/tests/page.js "$page" "$built/debug" || status=$?
	node web/tests/reports.js "$built/debug" || status=$?
	exit "$status"
	;;
*)
	build
	echo "It is in $page; any static host will do."
	;;
esac
