#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The controllers on other kernels than the running one: Debian's, booted in QEMU without KVM, which nested machines often lack.
#   scripts/test-kernels.sh [PACKAGE ...]     kernel packages of this machine's archive or of Debian stable and its backports: also -cloud- and -rt- ones
#   scripts/test-kernels.sh --fetch PACKAGE   only brings it here
#   scripts/test-kernels.sh --all             the newest of each series that is there, each kind: plain, cloud, rt
# CONTROLLERS="reno fusion" in the environment: only these carry data; that all of them load is always tested.
# KILLS=last in the environment: commands are killed only where they have begun to change the machine, not at each call.
# Exit status 1: a step failed; 77: a tool or kernel is missing, nothing was tested.
set -euo pipefail
cd "$(dirname "$0")/.."

fetch_only=
if [[ ${1:-} = --fetch ]]; then
	fetch_only=1
	shift
fi
# Debian 12's own kernel, and the newest one that its security archive has.
packages=("$@")
((${#packages[@]})) || packages=(linux-image-amd64 linux-image-6.12-amd64)

# Debian stable and its backports beside what this machine has: newer kernels than its own. In lists of our own, so that nothing else of the
# machine is installed from there.
know_newer_kernels() {
	local archive suite
	# shellcheck disable=SC2016  # apt fills in the names
	archive=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | awk '$2 !~ /-/ { print $1; exit }')
	mkdir -p "$work/apt-lists/partial"
	cat /etc/apt/sources.list >"$work/sources.list" 2>/dev/null || true
	for suite in stable stable-backports; do
		echo "deb $archive $suite main" >>"$work/sources.list"
	done
	printf '%s\n' "Dir::State::lists \"$work/apt-lists\";" "Dir::Etc::sourcelist \"$work/sources.list\";" 'APT::Sandbox::User "root";' \
		'Dir::Cache::pkgcache "";' 'Dir::Cache::srcpkgcache "";' >"$work/apt.conf"
	export APT_CONFIG=$work/apt.conf
	apt-get update -qq >"$work/apt" 2>&1 || { cat "$work/apt" >&2 && skip "cannot read Debian's lists of kernels"; }
}

# The newest kernel of each series and kind. Meta-packages have no version of three parts.
newest_of_each_series() {
	apt-cache pkgnames linux-image- | grep -E '^linux-image-[0-9]+\.[0-9]+[.+].*-amd64$' | grep -vE 'unsigned|dbg' | sort -V |
		awk '{ split($0, part, /[-.+]/); kind = /-cloud-/ ? "cloud" : /-rt-/ ? "rt" : ""; newest[part[3] "." part[4] kind] = $0 }
			END { for (k in newest) print newest[k] }' | sort -V
}
# Four controllers take about a minute on an idle core, and a kill some three seconds.
limit_s=7200
CONTROLLERS=${CONTROLLERS:-}
KILLS=${KILLS:-each}

PATH+=:/usr/sbin:/sbin
cache=$PWD/target/kernels
tandem=${CARGO_TARGET_DIR:-target}/debug/tandem
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
	echo "SKIPPED: other kernels: $1"
	echo "test result: ok. 0 passed; 0 failed; 1 ignored; nothing was tested"
	exit 77
}

check_tools() {
	local missing=() entry
	for entry in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static ip:iproute2 tc:iproute2 bpftool:bpftool strace:strace; do
		command -v "${entry%:*}" >/dev/null || missing+=("${entry#*:}")
	done
	((${#missing[@]} == 0)) || skip "apt-get install ${missing[*]} (or: scripts/setup.sh)"
	[[ $(uname -m) = x86_64 ]] || skip "they are for x86_64"
	command -v apt-get >/dev/null || skip "they come from Debian's archive, and there is no apt-get"
}

# An image has no lists of packages, and an old list names packages that are gone.
download() {
	(cd "$work/download" && apt-get download -qq "$@") >"$work/apt" 2>&1 && return
	[[ $(id -u) = 0 ]] && apt-get update -qq >>"$work/apt" 2>&1 &&
		(cd "$work/download" && apt-get download -qq "$@") >>"$work/apt" 2>&1
}

# An archive that has no such package is no failure of ours; one that does not answer is told as such.
cannot_download() {
	cat "$work/apt" >&2
	grep -qE 'Failed to fetch|Temporary failure|Could not' "$work/apt" || skip "there is no package of $1"
	echo "FAILED $1: Debian's archive does not answer, asked twice"
	return 1
}

# The packages that a package depends on by a name that begins with one of the words given.
needed_by() {
	local package=$1 words=$2
	# It fails for a package that is nowhere: the download says so.
	{ apt-cache depends --important "$package" 2>/dev/null || true; } | sed -nE "s/^ +(Pre)?Depends: (linux-($words)-[0-9].*)/\\2/p"
}

# Brings a kernel and the modules that the guest needs to the folder $kernel.
fetch() {
	local package=$1 image images
	# A meta-package depends on the kernel of the day.
	image=$(needed_by "$package" image | head -n 1)
	image=${image:-$package}
	kernel=$cache/$image
	if [[ ! -e $kernel/vmlinuz || ! -e $kernel/modules/tun.ko ]]; then
		mkdir "$work/download"
		# Newer kernels come in parts: the program and its modules have packages of their own.
		mapfile -t images < <(echo "$image" && needed_by "$image" 'binary|modules|base')
		download "${images[@]}" || cannot_download "${images[*]}" || return 1
		mkdir -p "$kernel/modules"
		for image in "$work"/download/*.deb; do
			# Not each part has all of them.
			dpkg-deb --fsys-tarfile "$image" | tar -x -C "$work/download" --wildcards './boot/vmlinuz-*' '*/vmlinuz*' '*/veth.ko*' '*/sch_tbf.ko*' \
				'*/net/tun.ko*' '*/inet_diag.ko*' '*/tcp_diag.ko*' 2>/dev/null || true
		done
		find "$work/download" -name '*.ko.xz' -exec busybox unxz {} +
		find "$work/download" -name '*.ko' -exec mv {} "$kernel/modules/" \;
		image=$(find "$work/download" -name 'vmlinuz*' -type f | head -n 1)
		[[ -n $image && -e $kernel/modules/tun.ko ]] ||
			{ echo "FAILED ${images[*]}: there is no vmlinuz, or no tun.ko, in these packages: Debian packs them otherwise now" && return 1; }
		# Last, because it says that all is there.
		mv "$image" "$kernel/vmlinuz"
		rm -r "$work/download"
	fi
}

# Puts a program and the libraries that it is linked with into the guest's file system.
add_program() {
	local root=$1 program=$2 library
	install -D "$program" "$root/bin/$(basename "$program")"
	# A static program has none.
	for library in $(ldd "$program" 2>/dev/null | grep -o '/[^ ]*' || true); do
		install -D "$library" "$root$library"
	done
}

make_initramfs() {
	local root=$work/root
	rm -rf "$root"
	mkdir -p "$root"/{dev,proc,sys,run,tmp,lib}
	for program in busybox ip tc bpftool strace; do
		add_program "$root" "$(command -v $program)"
	done
	add_program "$root" "$work/tandem"
	ln -s busybox "$root/bin/sh"
	cp -r "$1/modules" "$root/lib/modules"
	install scripts/test-kernels-guest.sh "$root/init"
	(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$work/initramfs"
}

# The guest's own words pass through as they come. On a busy host the guest stands still now and then: that is nothing to watch
# for, and the clock must be QEMU's own, because the processor's would jump.
boot() {
	local clock="clocksource=hpet nowatchdog rcupdate.rcu_cpu_stall_suppress=1" first=()
	# Before what compiles beside it: a guest that stands still has nothing to say of the emulated path.
	if [[ $(id -u) = 0 ]]; then first=(nice -n -10); fi
	timeout $limit_s "${first[@]}" qemu-system-x86_64 -accel tcg -cpu max -m 512 -nodefaults -display none -no-reboot \
		-kernel "$1/vmlinuz" -initrd "$work/initramfs" -append "console=ttyS0 quiet panic=-1 $clock tandem.controllers=${CONTROLLERS// /,} tandem.kills=$KILLS" \
		-serial "file:$work/console" -serial stdio </dev/null | tee "$work/steps" || true
}

check_tools
if [[ ${packages[0]} = --all ]]; then
	know_newer_kernels
	mapfile -t packages < <(newest_of_each_series)
elif ! apt-cache show "${packages[@]}" >/dev/null 2>&1; then
	know_newer_kernels
fi
if [[ $fetch_only ]]; then
	fetch "${packages[0]}"
	exit
fi
# As `make test` builds it: a test that runs it asks for it, with the features that tests give its dependencies.
cargo test --quiet --workspace --no-run --test usage
# At once: another build may follow while a kernel is downloaded.
strip -o "$work/tandem" "$tandem"
passed=0 failed=0 skipped=0
for package in "${packages[@]}"; do
	fetch "$package" || { failed=$((failed + 1)) && rm -rf "$work/download" && continue; }
	echo "== ${kernel##*/}"
	make_initramfs "$kernel"
	boot "$kernel"
	count() { grep -cE "^$1:? " "$work/steps" || true; }
	((passed += $(count ok), failed += $(count FAILED), skipped += $(count SKIPPED))) || true
	if [[ $(tail -n 1 "$work/steps") != end ]]; then
		failed=$((failed + 1))
		echo "FAILED ${kernel##*/} did not come to its end within $limit_s s; its last words:"
		tail -n 60 "$work/console"
	fi
done
# As cargo's test programs say it, for scripts/test.sh to count.
echo "test result: $( ((failed)) && echo FAILED || echo ok). $passed passed; $failed failed; $skipped ignored; kernels: ${packages[*]}"
((failed == 0))
