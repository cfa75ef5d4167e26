#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Installs what is missing to build and test Tandem on Debian 12; says nothing and takes no time if nothing is.
#   scripts/setup.sh            what the demo's build needs
#   scripts/setup.sh PURPOSE... also for: kernel (all of the program, with eBPF), page, wheel, bench; test (all of these but bench); metrics (a
#                               Prometheus that scrapes it)
set -euo pipefail

purposes=" $* "
[[ $purposes != *" test "* ]] || purposes+="kernel page wheel "
[[ $purposes != *" bench "* && $purposes != *" metrics "* ]] || purposes+="kernel "
is_asked() { [[ $purposes = *" $1 "* ]]; }

# As Cargo.toml's rust-version says.
rust_minor=$(sed -n 's/^rust-version = "1\.\([0-9]*\)".*/\1/p' "$(dirname "$0")/../Cargo.toml")

rust_is_new_enough() {
	local version
	# `cargo 1.89.0 (c24e10642 2025-06-23)`; rustup's cargo fails if no toolchain is chosen.
	version=$(cargo --version 2>/dev/null) || return 1
	[[ $version =~ ^cargo\ ([0-9]+)\.([0-9]+) ]] || return 1
	((BASH_REMATCH[1] > 1 || BASH_REMATCH[2] >= rust_minor))
}

# Runs as root, directly or with sudo.
as_root() {
	if [[ $(id -u) = 0 ]]; then "$@"; else sudo "$@"; fi
}

packages=()
needs() {
	local package=$1
	shift
	for command in "$@"; do
		command -v "$command" >/dev/null || { packages+=("$package") && return; }
	done
}

# What the demo's build needs: a C compiler for the controllers, and what brings Rust.
needs gcc gcc
needs make make
[[ -e /usr/include/stdlib.h ]] || packages+=(libc6-dev)
[[ -e /etc/ssl/certs/ca-certificates.crt || -e /etc/pki/tls/certs/ca-bundle.crt ]] || packages+=(ca-certificates)
needs curl curl

if is_asked kernel || is_asked page; then
	# The controllers' code for the kernel and for WebAssembly, and their integer sanitizer. Where there is no clang-16, TANDEM_CLANG in
	# the environment names another that is installed and compiles for eBPF, for this script and for each build:
	# export TANDEM_CLANG=clang-19.
	needs clang-16 "${TANDEM_CLANG:-clang-16}"
fi
if is_asked kernel; then
	# libbpf, which loads controllers into the kernel, is built from source.
	needs pkg-config pkg-config
	[[ -e /usr/include/libelf.h ]] || packages+=(libelf-dev)
	[[ -e /usr/include/zlib.h ]] || packages+=(zlib1g-dev)
	# The networks of runs over real TCP. Not on the PATH of those who are not root.
	[[ -e /usr/sbin/tc || -e /sbin/tc ]] || packages+=(iproute2)
fi
if is_asked page; then
	# Its parts come with npm.
	needs nodejs node
	needs npm npm
fi
if is_asked wheel; then
	# Its other tools come with pip.
	needs python3 python3
	python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
fi
if is_asked test; then
	# Programs that send through the tests' networks.
	needs util-linux unshare
	needs iperf3 iperf3
	# The tests of killed commands inject the signals with it.
	needs strace strace
	# The linter of these scripts.
	needs shellcheck shellcheck
	# The tests of other kernels (scripts/test-kernels.sh) boot them; their guests need programs without libraries.
	if [[ $(uname -m) = x86_64 ]]; then
		needs qemu-system-x86 qemu-system-x86_64
	fi
	needs busybox-static busybox
	[[ -e /usr/sbin/bpftool || -e /sbin/bpftool ]] || packages+=(bpftool)
	# The tests look at the page in it.
	needs chromium "${CHROMIUM:-chromium}"
	# The controllers' golden traces on ARM.
	needs qemu-user qemu-aarch64
	needs gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
	[[ -e /usr/aarch64-linux-gnu/lib/libc.so || $(uname -m) = aarch64 ]] || packages+=(libc6-dev-arm64-cross)
	# Packages are tried in fresh Debian systems.
	needs mmdebstrap mmdebstrap
fi
if is_asked metrics; then
	needs prometheus prometheus promtool
fi
if is_asked bench; then
	needs python3 python3
	needs valgrind valgrind
	needs ns2 ns
	needs rsync rsync
fi

if ((${#packages[@]})); then
	echo "setup: installing ${packages[*]}"
	install=(apt-get install -y --no-install-recommends "${packages[@]}")
	if ! command -v apt-get >/dev/null; then
		echo "setup: this is no Debian; install what these Debian packages hold: ${packages[*]}" >&2
		exit 1
	fi
	if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
		echo "setup: cannot install packages: this is not root, and there is no sudo. As root run: ${install[*]}" >&2
		exit 1
	fi
	as_root apt-get update -qq
	as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}"
fi

if ! rust_is_new_enough; then
	if command -v rustup >/dev/null; then
		echo "setup: updating Rust with rustup"
		rustup toolchain install stable --profile minimal
	else
		echo "setup: installing Rust with rustup, into ${CARGO_HOME:-$HOME/.cargo}"
		# To a file first: half a script from a broken connection had better not run.
		installer=$(mktemp)
		trap 'rm -f "$installer"' EXIT
		if ! curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location -o "$installer" https://sh.rustup.rs; then
			echo "setup: cannot download rustup; install Rust 1.$rust_minor or newer in another way: https://rust-lang.org/tools/install" >&2
			exit 1
		fi
		sh "$installer" -y --profile minimal
	fi
	PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
	if ! rust_is_new_enough; then
		echo "setup: cargo is still older than 1.$rust_minor ($(command -v cargo)); choose a newer one: rustup default stable" >&2
		exit 1
	fi
fi

# The linters.
if is_asked test && command -v rustup >/dev/null && ! { cargo clippy --version && cargo fmt --version; } >/dev/null 2>&1; then
	rustup component add rustfmt clippy
fi

# Other systems: WebAssembly for the page, the rest for `make lint`. Without rustup they come in another way, or their builds say so.
targets=()
is_asked page && targets+=(wasm32-unknown-unknown)
is_asked test && targets+=(x86_64-pc-windows-gnu aarch64-apple-darwin aarch64-unknown-linux-gnu)
if ((${#targets[@]})) && command -v rustup >/dev/null; then
	installed=$(rustup target list --installed)
	for target in "${targets[@]}"; do
		grep -qx "$target" <<<"$installed" || rustup target add "$target"
	done
fi

# The judge of dependencies (deny.toml). It runs for seconds: a quick build will do.
if is_asked test && ! command -v cargo-deny >/dev/null; then
	echo "setup: installing cargo-deny"
	cargo install --quiet --locked --debug --no-default-features cargo-deny@0.20.2
fi
