#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the Python package of python/.
#   scripts/python.sh           one wheel, in target/python/wheel
#   scripts/python.sh --test    a quick build, installed into an empty environment and tested; ruff and mypy
#   scripts/python.sh --lint    ruff alone
set -euo pipefail
cd "$(dirname "$0")/.."

built=$PWD/${CARGO_TARGET_DIR:-target}
out=$built/python
tools=$out/tools

# Its tools in an environment of their own, made again when the list changes.
set_up_tools() {
	local list=python/requirements-test.txt
	cmp -s "$list" "$tools/installed.txt" && return
	rm -rf "$tools"
	python3 -m venv "$tools"
	"$tools/bin/pip" install --quiet --disable-pip-version-check -r "$list"
	cp "$list" "$tools/installed.txt"
}

# Dask and Ray, for the tests. They are large, and not every Python has wheels of them.
set_up_clusters() {
	local list=python/requirements-clusters.txt package missing=0
	cmp -s "$list" "$tools/clusters.txt" && return
	while read -r package; do
		if ! "$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$package"; then
			echo "== SKIPPED the tests on clusters that need $package: there is no wheel of it for $("$tools/bin/python" --version)"
			missing=1
		fi
	done < <(grep -v '^#' "$list")
	((missing)) || cp "$list" "$tools/clusters.txt"
}

# build PROFILE FOLDER: the wheel alone is in the folder afterwards.
build() {
	rm -rf "${out:?}/$2"
	"$tools/bin/maturin" build --quiet --profile "$1" --manifest-path python/Cargo.toml --interpreter "$tools/bin/python" --out "$out/$2"
}

lint() {
	"$tools/bin/ruff" format --quiet --check python
	"$tools/bin/ruff" check --quiet python
}

# Nothing is there besides the wheel and what it asks for, and neither Rust nor a compiler is on the path.
try_in_empty_environment() {
	local empty=$out/empty
	rm -rf "$empty"
	python3 -m venv "$empty"
	env -i HOME="$HOME" PATH="$empty/bin" "$empty/bin/pip" install --quiet --disable-pip-version-check "$1"
	env -i HOME="$HOME" PATH="$empty/bin" "$empty/bin/python" -W error -c '
import tandem_cc as tandem
controller = tandem.Controller("compound_tube", gamma=20)
assert controller.view().gamma_packets == 20
'
}

# Says what came of it as the other test programs do.
run_tests() {
	local result=$out/result.xml status=0
	(cd python && "$tools/bin/pytest" -q -rs --junit-xml="$result") || status=$?
	"$tools/bin/python" - "$result" <<-'END'
		import sys
		from xml.etree import ElementTree

		suite = next(ElementTree.parse(sys.argv[1]).iter("testsuite"))
		count = {key: int(suite.get(key)) for key in ("tests", "errors", "failures", "skipped")}
		failed = count["errors"] + count["failures"]
		passed = count["tests"] - failed - count["skipped"]
		print(f"test result: python. {passed} passed; {failed} failed; {count['skipped']} ignored;")
	END
	return $status
}

set_up_tools
case ${1:-} in
--lint) lint ;;
--test)
	set_up_clusters
	lint
	build dev quick
	try_in_empty_environment "$out"/quick/*.whl
	"$tools/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$out"/quick/*.whl
	# Away from the sources, which are not the package.
	(cd python && "$tools/bin/mypy" --no-error-summary) && (cd "$out" && "$tools/bin/stubtest" --concise --allowlist <(echo tandem_cc._native.__all__) tandem_cc._native)
	run_tests
	;;
*)
	build release wheel
	echo "The wheel is in $out/wheel:"
	(cd "$out/wheel" && ls -sh -- *)
	;;
esac
