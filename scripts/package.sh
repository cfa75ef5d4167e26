#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes target/package/tandem_VERSION_ARCH.deb and tandem-VERSION-linux-MACHINE.tar.gz: the program, man pages, completions, the
# systemd unit and the licences. PROFILE=dev in the environment packs a quick build, for tests. The same commit and compiler make the
# same files, bit for bit, in whatever folder (scripts/test-reproducible.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

max_bytes=20000000
profile=${PROFILE:-release}
built=${CARGO_TARGET_DIR:-target}
package=$built/package
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
arch=$(dpkg --print-architecture)
root=$package/root

if [[ $profile = dev ]]; then
	# As `make test` builds it: a test that runs it asks for it. Else half of the dependencies would be built again, for other features.
	cargo test --quiet --workspace --no-run --test usage
	folder=debug
else
	# Panics name source files, and so does C: not those of this machine.
	home=${CARGO_HOME:-$HOME/.cargo}
	RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$PWD=/tandem --remap-path-prefix=$home=/cargo" \
		CFLAGS="${CFLAGS:-} -ffile-prefix-map=$PWD=/tandem -ffile-prefix-map=$home=/cargo" \
		cargo build --quiet -p tandem-cc --profile "$profile"
	folder=$profile
fi

# The files' time is the commit's; where there is no repository, the changelog's. Set after the build, which would begin anew for it.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH

rm -rf "$package"
mkdir -p "$root/usr/bin"
strip -o "$root/usr/bin/tandem" "$built/$folder/tandem"
bytes=$(stat -c %s "$root/usr/bin/tandem")
if [[ $profile = release ]] && ((bytes > max_bytes)); then
	echo "package: the program has $bytes bytes, more than $max_bytes" >&2
	exit 1
fi

"$root/usr/bin/tandem" generate "$package/generated"
share=$root/usr/share
install -Dm 644 -t "$share/man/man1" "$package"/generated/*.1
gzip -9n "$share"/man/man1/*
install -Dm 644 "$package/generated/tandem.bash" "$share/bash-completion/completions/tandem"
install -Dm 644 "$package/generated/_tandem" "$share/zsh/vendor-completions/_tandem"
install -Dm 644 "$package/generated/tandem.fish" "$share/fish/vendor_completions.d/tandem.fish"
install -d "$root/usr/lib/systemd/system"
units=(packaging/*.service)
for unit in "${units[@]}"; do
	sed 's|/usr/local/bin/tandem|/usr/bin/tandem|' "$unit" >"$root/usr/lib/systemd/system/${unit##*/}"
done
# Debian's policy: all that is said of licences is in this file.
install -d "$share/doc/tandem"
for text in LICENSE LICENSES/MIT.txt LICENSES/Apache-2.0.txt LICENSES/BSD-2-Clause.txt LICENSES/GPL-2.0.txt; do
	printf '%s\n\n' "==== $text" && cat "$text" && echo
done >"$share/doc/tandem/copyright"
gzip -9nc CHANGELOG.md >"$share/doc/tandem/changelog.gz"
cp -r scenarios "$share/doc/tandem/examples"
install -Dm 644 packaging/grafana.json "$share/doc/tandem/grafana.json"
chmod -R u=rwX,go=rX "$root"

# The oldest C library that has all that the program asks for; libelf and zlib have the same names since Debian 10, but for the
# libelf1t64 of Debian 13, which provides libelf1.
libc=$(objdump -T "$root/usr/bin/tandem" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
install -d "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: tandem
Version: $version
Architecture: $arch
Maintainer: The Tandem authors <maintainers@tandem.invalid>
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: libc6 (>= ${libc#GLIBC_}), libgcc-s1, libelf1, zlib1g
Recommends: iproute2
Section: net
Priority: optional
Description: congestion controllers compared on your path, and loaded into Linux
 Which congestion controller should carry data over a path, and what will it do
 to its neighbours? Tandem runs controllers of the Compound TCP family, and
 others, in a packet-level simulator and, through eBPF, in the Linux kernel.
END
# A quick build need not be small.
level=6
[[ $profile = dev ]] && level=0
dpkg-deb --build --root-owner-group -z$level "$root" "$package/tandem_${version}_$arch.deb" >/dev/null
rm -r "$root/DEBIAN"

# The tarball is unpacked under a prefix such as /usr/local: there the units' own path is right.
cp "${units[@]}" "$root/usr/lib/systemd/system/"
name=tandem-$version-linux-$(uname -m)
mv "$root/usr" "$package/$name"
cp LICENSE "$package/$name/"
tar -C "$package" --owner=0 --group=0 --sort=name --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -9n >"$package/$name.tar.gz"
rm -r "$root" "${package:?}/$name" "$package/generated"
echo "The program has $((bytes / 1000)) kB. In $package:"
(cd "$package" && ls -sh -- *)
