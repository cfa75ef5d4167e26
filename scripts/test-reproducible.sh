#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Two builds of the last commit, in two folders, make the same .deb and the same tarball, bit for bit. PROFILE=demo: of quick builds.
# A part of the nightly work: each release build takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Paths of different lengths: what depends on them is seen.
folders=("$work/a" "$work/another/folder")
for folder in "${folders[@]}"; do
	git clone --quiet . "$folder"
	echo "== builds in $folder"
	env -u CARGO_TARGET_DIR "$folder/scripts/package.sh" >/dev/null
done

status=0
for file in "${folders[0]}"/target/package/*; do
	name=${file##*/}
	if cmp "$file" "${folders[1]}/target/package/$name"; then
		echo "$name: the same, $(sha256sum <"$file" | cut -d ' ' -f 1)"
	else
		status=1
	fi
done
echo "test result: $( ((status)) && echo FAILED || echo ok). $((1 - status)) passed; $status failed; 0 ignored;"
exit $status
