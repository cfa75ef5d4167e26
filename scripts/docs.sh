#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the documents as a site into target/docs/book, with the simulator's page: plain files, for any static host.
#   scripts/docs.sh            builds, and checks every link
#   scripts/docs.sh --serve    builds, then serves it to this machine; PORT in the environment (8000)
#   scripts/docs.sh --test     the same with the page that is there (scripts/web.sh), then looks at the site in Chromium
set -euo pipefail
cd "$(dirname "$0")/.."

built=$PWD/${CARGO_TARGET_DIR:-target}
source=$built/docs
site=$source/book
katex=web/node_modules/katex/dist

build() {
	scripts/fetch.sh site web
	rm -rf "$source/src" "$site" "$source/katex"
	mkdir -p "$source/katex/fonts"
	cargo build --quiet --bin tandem
	python3 site/assemble.py "$source/src" "$built/debug/tandem"
	cp site/book.toml site/site.css site/site.js "$source"
	cp "$katex"/katex.min.css "$katex"/katex.min.js "$source/katex"
	"$source/tools/bin/mdbook" build "$source" 2>&1 | { grep -v ' INFO ' || true; }
	# Every browser of today takes woff2.
	mkdir -p "$site/katex/fonts"
	cp "$katex"/fonts/*.woff2 "$site/katex/fonts"
	cp web/node_modules/katex/LICENSE "$site/katex"
	cp -r "$built/web" "$site/page"
	python3 site/check.py "$site"
}

case ${1:-} in
--serve)
	scripts/web.sh
	build
	exec node web/serve.js "$site" "${PORT:-8000}"
	;;
--test)
	build
	node web/tests/site.js "$site"
	;;
*)
	scripts/web.sh
	build
	echo "It is in $site; any static host will do."
	;;
esac
