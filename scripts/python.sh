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
	python3 -m venv --without-pip "$empty"
	env -i HOME="$HOME" PATH="$empty/bin" "$tools/bin/pip" --python "$empty/bin/python" install --quiet --disable-pip-version-check \
		--no-index --find-links "$out/wheels" "$1"
	env -i HOME="$HOME" PATH="$empty/bin" "$empty/bin/python" -W error -c '
import tandem_cc as tandem
controller = tandem.Controller("compound_tube", gamma=20)
assert controller.view().gamma_packets == 20
'
}

check_stubs() { (cd "$out" && "$tools/bin/stubtest" --concise --allowlist <(echo tandem_cc._native.__all__) tandem_cc._native); }

# Says what came of it as the other test programs do, which take a test that skipped itself for passed: conftest.py has a line for each.
run_tests() {
	local result=$out/result.xml status=0
	(cd python && "$tools/bin/pytest" -q --junit-xml="$result") || status=$?
	"$tools/bin/python" - "$result" <<-'END'
		import sys
		from xml.etree import ElementTree

		suite = next(ElementTree.parse(sys.argv[1]).iter("testsuite"))
		count = {key: int(suite.get(key)) for key in ("tests", "errors", "failures")}
		failed = count["errors"] + count["failures"]
		print(f"test result: python. {count['tests'] - failed} passed; {failed} failed; 0 ignored;")
	END
	return $status
}

scripts/fetch.sh python
case ${1:-} in
--lint) lint ;;
--test)
	scripts/fetch.sh clusters
	lint
	build dev quick
	try_in_empty_environment "$out"/quick/*.whl
	"$tools/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$out"/quick/*.whl
	(cd python && "$tools/bin/mypy" --no-error-summary)
	# Both away from the sources, which are not the package; one core is enough for each.
	check_stubs &
	stubs=$! status=0
	run_tests || status=1
	wait $stubs || status=1
	exit $status
	;;
*)
	build release wheel
	echo "The wheel is in $out/wheel:"
	(cd "$out/wheel" && ls -sh -- *)
	;;
esac
