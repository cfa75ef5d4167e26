#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The tests that use clocks, sockets, namespaces, children or browsers (scripts/clock-tests.txt), again and again on a machine that has too much to do. Nothing may
# fail; where the emulator doubts its runs, tests say that they were skipped.
#   scripts/stress-tests.sh                 all of them
#   scripts/stress-tests.sh testbed shell   those whose names have one of these words
# In the environment: STRESS_TURNS, how often each is run (10); STRESS_BURNERS, busy loops beside them (one more than there are cores).
# Exit status 1: something failed.
set -euo pipefail
cd "$(dirname "$0")/.."

# Test programs, each as PACKAGE/PROGRAM; and commands that say how it went as those do.
mapfile -t programs <scripts/clock-tests.txt
programs+=("scripts/python.sh --test" "scripts/web.sh --test")
turns=${STRESS_TURNS:-10}
burners=${STRESS_BURNERS:-$(($(nproc) + 1))}
# Of one turn: it only ends what hangs.
limit=2h

chosen=()
for program in "${programs[@]}"; do
	(($#)) || chosen+=("$program")
	for word in "$@"; do
		[[ $program = *"$word"* ]] && chosen+=("$program") && break
	done
done
((${#chosen[@]})) || { echo "no test program has such a name; there are: ${programs[*]}" >&2 && exit 2; }

work=$(mktemp -d)
# Processes to end on every way out; a burner ends by itself, too, when this script is gone.
burning=()
running=()
end() {
	kill "${burning[@]}" "${running[@]}" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# One build, with the features of `make test`: a list of `PACKAGE/PROGRAM FOLDER EXECUTABLE`.
build() {
	cargo test --quiet --workspace --no-run --message-format=json-render-diagnostics >"$work/messages"
	python3 - "$work/messages" >"$work/executables" <<-'END'
		import json, os, re, sys

		for line in open(sys.argv[1]):
		    message = json.loads(line)
		    if message.get("executable") and message["profile"]["test"]:
		        folder = os.path.dirname(message["manifest_path"])
		        with open(message["manifest_path"]) as manifest:
		            package = re.search(r'^name = "(.*)"', manifest.read(), re.MULTILINE)[1]
		        target = message["target"]
		        name = "lib" if "lib" in target["kind"] else target["name"]
		        print(f"{package}/{name}", folder, message["executable"])
	END
}

burn() {
	local parent=$$ n
	for ((n = 0; n < burners; n++)); do
		while kill -0 $parent 2>/dev/null; do for ((i = 0; i < 1000000; i++)); do :; done; done &
		burning+=($!)
	done
}

# Becomes the program.
start() {
	local folder=. command
	if [[ $1 = scripts/* ]]; then
		read -ra command <<<"$1"
	else
		read -r _ folder command < <(grep "^$1 " "$work/executables") || { echo "there is no test program $1" && exit 1; }
	fi
	cd "$folder" && exec timeout -k 10 "$limit" "${command[@]}"
}

# Runs a program once, its output into $work/log.
run() {
	local status=0
	start "$1" >"$work/log" 2>&1 &
	running=($!)
	wait "${running[0]}" || status=$?
	running=()
	return $status
}

# stress PROGRAM: a row of the table, and what was said when it failed.
stress() {
	local passed=0 failed=0 skipped=0 longest_s=0 turn status
	for ((turn = 1; turn <= turns; turn++)); do
		status=0 SECONDS=0
		run "$1" || status=$?
		((SECONDS > longest_s)) && longest_s=$SECONDS
		if ((status)); then
			failed=$((failed + 1)) any_failed=1
			echo "-- $1, turn $turn: status $status"
			grep -E '^(test .*FAILED|thread|error)|panicked|SKIPPED' "$work/log" || true
			tail -n 40 "$work/log"
		elif grep -q 'SKIPPED' "$work/log"; then
			skipped=$((skipped + 1))
			grep 'SKIPPED' "$work/log"
		else
			passed=$((passed + 1))
		fi
	done
	printf '%-28s %6d %6d %7d %9d\n' "$1" $passed $failed $skipped $longest_s | tee -a "$work/table"
}

build
for program in "${chosen[@]}"; do
	# They build for themselves, which takes minutes the first time.
	if [[ $program = scripts/* ]]; then
		echo "== Without burners, to build: $program"
		run "$program" || tail -n 40 "$work/log"
	fi
done
burn
any_failed=0
for program in "${chosen[@]}"; do
	stress "$program"
done
echo
echo "$turns turns beside $burners burners on $(nproc) cores"
printf '%-28s %6s %6s %7s %9s\n' "" passed failed skipped longest/s
cat "$work/table"
((any_failed == 0))
