#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Brings what builds and tests need from registries, so that nothing waits for one later. What is there is not fetched again.
#   scripts/fetch.sh                 all that make test needs
#   scripts/fetch.sh ITEM ...        some of it: crates, python, clusters, web, site, prose, kernel, bookworm (or another release of Debian)
# A download that fails is tried once more. Exit status 1: something did not come, and it says what.
set -euo pipefail
cd "$(dirname "$0")/.."

built=$PWD/${CARGO_TARGET_DIR:-target}
tools=$built/python/tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# twice COMMAND ...: what it says, if it fails both times, is in $said then.
twice() {
	said=$work/$BASHPID
	"$@" >"$said" 2>&1 && return
	sleep 5
	"$@" >"$said" 2>&1
}

# What did not come, and the last words of who could not bring it.
complain() {
	tail -n 20 "$said" >&2
	echo "fetch: $1" >&2
	return 1
}

crates() {
	twice cargo fetch --quiet --locked || complain "cannot bring the crates of Cargo.lock: does the registry of crates answer?"
}

pip() { "$tools/bin/pip" --quiet --disable-pip-version-check "$@"; }

# The tools of the Python package in an environment of their own, made again when the list changes; and the wheels that whoever
# installs the package gets with it.
python() {
	local list=python/requirements-test.txt tqdm
	cmp -s "$list" "$tools/installed.txt" && return
	rm -rf "$tools"
	python3 -m venv "$tools"
	twice pip install --no-compile -r "$list" || complain "cannot bring the packages of $list: does the registry of Python packages answer?"
	tqdm=$(grep '^tqdm==' "$list")
	twice pip download --no-deps --dest "$built/python/wheels" "$tqdm" || complain "cannot bring $tqdm: does the registry of Python packages answer?"
	cp "$list" "$tools/installed.txt"
}

# Whether the registry gives a package that every Python has.
python_registry_answers() {
	pip download --no-cache-dir --no-deps --dest "$work/answer" "$(grep '^tqdm==' python/requirements-test.txt)" >/dev/null 2>&1
}

# Dask and Ray, for the tests. They are large, and not every Python has wheels of them: the tests skip themselves then.
clusters() {
	python
	local list=python/requirements-clusters.txt package
	cmp -s "$list" "$tools/clusters.txt" && return
	while read -r package; do
		twice pip install --no-compile --only-binary :all: "$package" && continue
		python_registry_answers || complain "cannot bring $package: the registry of Python packages does not answer"
		echo "fetch: there is no wheel of $package for $("$tools/bin/python" --version)"
	done < <(grep -v '^#' "$list")
	cp "$list" "$tools/clusters.txt"
}

web() {
	# npm takes seconds even if nothing is to be done.
	local done=web/node_modules/.package-lock.json
	[[ -e $done && ! web/package-lock.json -nt $done ]] && return
	twice npm --prefix web ci --prefer-offline --no-audit --no-fund || complain "cannot bring the packages of web/package-lock.json: does npm's registry answer?"
	touch "$done"
}

# environment LIST FOLDER: programs from the registry of Python packages, in an environment of their own.
environment() {
	local list=$1 tools=$2
	cmp -s "$list" "$tools/installed.txt" && return
	rm -rf "$tools"
	python3 -m venv "$tools"
	twice pip install --no-compile -r "$list" || complain "cannot bring the packages of $list: does the registry of Python packages answer?"
	cp "$list" "$tools/installed.txt"
}

# mdBook.
site() { environment site/requirements.txt "$built/docs/tools"; }

# Harper, the linter of English.
prose() { environment scripts/lint/prose/requirements.txt "$built/prose/tools"; }

# A fresh Debian system as a tarball, with the lists of packages, and with the packages that Tandem's own depends on ready to be
# installed: whoever tries Tandem's package in it needs no network. Made again after a week.
debian() {
	local release=$1 system=$built/systems/$1.tar
	# As scripts/test-packages.sh, which skips itself then.
	[[ $(id -u) = 0 ]] || unshare --user --map-root-user true 2>/dev/null || return 0
	[[ -n $(find "$system" -mtime -7 2>/dev/null) ]] && return
	mkdir -p "$built/systems"
	# shellcheck disable=SC2016  # mmdebstrap's shell fills in the system's folder
	twice mmdebstrap --variant=minbase --include=man-db --skip=cleanup/apt --dpkgopt=force-unsafe-io --format=tar \
		--customize-hook='chroot "$1" apt-get clean' \
		--customize-hook='chroot "$1" apt-get install -y --no-install-recommends --download-only libelf1 zlib1g libgcc-s1' \
		"$release" "$work/$release.tar" || complain "cannot make a system of Debian's $release: does its archive answer?"
	mv "$work/$release.tar" "$system"
}

# The kernel that make test boots. Where it cannot be tried (exit status 77) its test says why.
kernel() {
	local status=0
	twice scripts/test-kernels.sh --fetch linux-image-amd64 || status=$?
	((status == 0 || status == 77)) || complain "cannot bring a kernel of Debian's: does its archive answer?"
}

bring() {
	case $1 in
	kernel) kernel ;;
	crates) crates ;;
	python) python ;;
	clusters) clusters ;;
	web) web ;;
	site) site ;;
	prose) prose ;;
	*) debian "$1" ;;
	esac
}

# All of it at once: most of the time is waiting for answers.
bring_all() {
	local item status=0 under_way=()
	for item in crates clusters web site prose bookworm kernel; do
		bring "$item" &
		under_way+=($!)
	done
	for item in "${under_way[@]}"; do
		wait "$item" || status=1
	done
	return $status
}

if (($#)); then
	for item in "$@"; do bring "$item"; done
else
	bring_all
fi
