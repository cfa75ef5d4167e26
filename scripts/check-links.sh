#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Checks the documents: each relative link leads to a file, and each anchor to a heading. In pages written by hand, no line of prose
# has more than 160 characters. scripts/lint/prose.py checks their English.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8

failed=0
complain() {
	echo "$1" >&2
	failed=1
}

# The page without its blocks of code; the lines keep their numbers.
prose() {
	awk '/^ *```/ { code = !code; print ""; next } { print code ? "" : $0 }' "$1"
}

anchors() {
	prose "$1" | sed -nE 's/^#+ +//p' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

check_links() {
	local page=$1 line link path file anchor
	while IFS=: read -r line link; do
		link=${link:2:-1}
		[[ $link == *://* ]] && continue
		path=${link%%#*}
		file=$(dirname "$page")/$path
		[[ -n $path ]] || file=$page
		if [[ ! -e $file ]]; then
			complain "$page:$line: the link $link leads nowhere"
		elif [[ $link == *#* ]]; then
			anchor=${link#*#}
			anchors "$file" | grep -qxF -- "$anchor" || complain "$page:$line: $file has no heading #$anchor"
		fi
	done < <(prose "$page" | grep -noE '\]\([^) ]+\)')
}

check_prose() {
	local page=$1 line
	while IFS=: read -r line _; do
		complain "$page:$line: more than 160 characters"
	done < <(prose "$page" | grep -nE '^[^|].{160,}')
}

while IFS= read -r page; do
	case $page in
	# Programs put these at the top and the end of the pages that they write into docs/.
	*/introduction.md | */reasons.md) check_prose "$page" ;;
	# `tandem papers run --doc` writes these.
	docs/reproduction/*) check_links "$page" ;;
	*)
		check_links "$page"
		head -n 6 "$page" | grep -q 'do not edit' || check_prose "$page"
		;;
	esac
done < <(git ls-files --cached --others --exclude-standard '*.md')

exit "$failed"
