#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tries the packages as a newcomer would, in fresh Debian systems: install, compare, read the manual, remove.
#   scripts/test-packages.sh [RELEASE ...]    bookworm and trixie if none is named
# PROFILE=dev in the environment: of a quick build. Exit status 77: nothing could be tested.
set -euo pipefail
cd "$(dirname "$0")/.."

releases=("$@")
((${#releases[@]})) || releases=(bookworm trixie)
built=$PWD/${CARGO_TARGET_DIR:-target}
package=$built/package
passed=0 failed=0

# mmdebstrap makes its systems as root, or where users may have name spaces.
if [[ $(id -u) != 0 ]] && ! unshare --user --map-root-user true 2>/dev/null; then
	# scripts/test.sh takes these from the passed, as with cargo's test programs.
	printf 'SKIPPED: packages in %s: neither root nor user namespaces\n' "${releases[@]}"
	echo "test result: ok. ${#releases[@]} passed; 0 failed; 0 ignored;"
	exit 77
fi

scripts/fetch.sh "${releases[@]}"
scripts/package.sh >/dev/null
deb=("$package"/*.deb)
tarball=("$package"/*.tar.gz)
log=$(mktemp)
tried=$(mktemp)
trap 'rm -f "$log" "$tried"' EXIT

# What runs in the fresh system, which has what it needs but the package.
cat >"$tried" <<'END'
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
set -eux
compare() { "$1" compare --rate 20mbit --rtt 20ms --duration 3s --warmup 1s --seeds 1 --out /tmp/out reno compound; }
apt-get install -y --no-install-recommends /tmp/tandem.deb
tandem --version
compare tandem | grep compound
test -s /tmp/out/report.html
man tandem | grep -q 'congestion controller'
man tandem-compare | grep -q -- --against
bash -c '. /usr/share/bash-completion/completions/tandem; complete -p tandem'
test -s /usr/share/zsh/vendor-completions/_tandem
test -s /usr/share/fish/vendor_completions.d/tandem.fish
grep -q '^ExecStart=/usr/bin/tandem kernel load' /usr/lib/systemd/system/tandem@.service
grep -q '^ExecStart=/usr/bin/tandem policy load' /usr/lib/systemd/system/tandem-policy.service
grep -q '^ExecStart=/usr/bin/tandem kernel watch --prometheus' /usr/lib/systemd/system/tandem-metrics.service
grep -q tandem_rtt_seconds /usr/share/doc/tandem/grafana.json
grep -q Apache /usr/share/doc/tandem/copyright
apt-get remove -y tandem
test ! -e /usr/bin/tandem
test ! -e /usr/share/man/man1/tandem.1.gz
# The tarball, with the libraries that the package brought.
tar -xzf /tmp/tandem.tar.gz -C /usr/local --strip-components=1
compare /usr/local/bin/tandem | grep compound
END

for release in "${releases[@]}"; do
	begin=$SECONDS
	# shellcheck disable=SC2016  # mmdebstrap's shell fills in the system's folder
	if mmdebstrap --variant=custom --skip=update,cleanup --format=null --quiet \
		--setup-hook="tar -C \"\$1\" -x --exclude './dev/*' -f '$built/systems/$release.tar'" \
		--customize-hook="cp '${deb[0]}' \"\$1/tmp/tandem.deb\"" \
		--customize-hook="cp '${tarball[0]}' \"\$1/tmp/tandem.tar.gz\"" --customize-hook="cp '$tried' \"\$1/tmp/try\"" \
		--customize-hook="chroot \"\$1\" sh /tmp/try" "$release" /dev/null >"$log" 2>&1; then
		echo "packages: $release: ok, $((SECONDS - begin)) s"
		passed=$((passed + 1))
	else
		echo "packages: $release: FAILED"
		tail -n 40 "$log"
		failed=$((failed + 1))
	fi
done
echo "test result: $( ((failed)) && echo FAILED || echo ok). $passed passed; $failed failed; 0 ignored;"
((failed == 0))
