# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=bash
# The stages of `make test` and `make lint`: each has a limit of time that ends it with its log, and some run beside others.
# Sourced by their scripts:
#   stage NAME LIMIT_S COMMAND...    runs it now
#   begin NAME LIMIT_S COMMAND...    runs it in the background
#   join NAME                        waits for it, and shows its log
#   doubted_tests NAME               the tests of a stage that a busy machine had skipped (crates/testing, trusted_run)
#   supersede LATER EARLIER          they ran in a later stage: what the earlier one said of them counts no more
#   finish                           what failed, how long each took, and the counts of tests; the exit status is 1 if any failed
#
# A program says `test result: ok. 1 passed; 0 failed; 0 ignored;` as cargo's do, and `SKIPPED: TEST: REASON` for each test that cannot
# run here, which libtest takes for passed. Exit status 77: all of it was skipped. With TANDEM_ALL_TESTS=1 a skipped test that
# scripts/allowed-skips.txt does not name is a failure.

passed=0 failed=0 skipped=0
logs=$(mktemp -d)
table=$logs/table
declare -A pids
trap 'end_stages' EXIT

end_stages() {
	local pid
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || true
	done
	wait
	rm -rf "$logs"
}

# A test that passed, a program without tests, how many tests there will be.
not_worth_a_line='/^test .* ok$/d; /^ *Doc-tests /d; /^test result: ok\. 0 passed.* 0 ignored/d; /^(running [0-9]+ tests?)?$/d'

# Runs a stage under its limit; writes its log, its exit status and its seconds.
run_stage() {
	local name=$1 limit_s=$2 begin_s=$SECONDS status=0 running
	shift 2
	timeout --kill-after=10 "$limit_s" "$@" >"$logs/$name.log" 2>&1 </dev/null &
	running=$!
	# `timeout` passes it on to all that the stage began.
	trap 'kill "$running" 2>/dev/null' TERM
	wait "$running" || status=$?
	if ((status == 124 || status == 137)); then
		echo "$name: ended after $limit_s s, its limit of time" >>"$logs/$name.log"
	fi
	echo "$status $((SECONDS - begin_s))" >"$logs/$name.end"
}

begin() {
	run_stage "$@" &
	pids[$1]=$!
}

join() {
	local name=$1
	wait "${pids[$name]}"
	unset "pids[$name]"
	echo "== $name"
	sed -E "$not_worth_a_line" "$logs/$name.log"
	judge "$name"
}

# As `begin` and `join`, but its words come while it runs.
stage() {
	local name=$1
	echo "== $name"
	: >"$logs/$name.log"
	begin "$@"
	tail -n +1 --follow --sleep-interval=0.5 --pid="${pids[$name]}" "$logs/$name.log" | sed -uE "$not_worth_a_line"
	wait "${pids[$name]}"
	unset "pids[$name]"
	judge "$name"
}

# Adds up what the programs of a stage say of themselves.
judge() {
	local name=$1 log=$logs/$1.log status seconds p f i
	local said_passed=0 said_failed=0 said_ignored=0 reasons told unable=0
	read -r status seconds <"$logs/$name.end"
	while read -r p f i; do
		((said_passed += p, said_failed += f, said_ignored += i)) || true
	done < <(sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored;.*/\1 \2 \3/p' "$log")
	if ((status == 77)); then status=0; fi
	# A stage that names no tests is one.
	if ((status == 0)) && ! grep -q '^test result: ' "$log"; then said_passed=1; fi
	# The lines of two tests may have run into one.
	reasons=$(grep -oE 'SKIPPED: .*' "$log" || true)
	told=$(grep -c . <<<"$reasons") || true
	# What libtest took for passed.
	if ((told > said_ignored)); then unable=$((told - said_ignored)); fi
	# It did not compile, a test program died before it could count, or it took too long.
	if ((status && said_failed == 0)); then said_failed=1; fi
	if [[ ${TANDEM_ALL_TESTS:-} = 1 ]]; then
		refuse_skips "$name" "$reasons" "$said_ignored"
		((said_failed += refused)) || true
	fi
	((passed += said_passed - unable, failed += said_failed, skipped += said_ignored + unable)) || true
	printf '%-24s %5d s  %s\n' "$name" "$seconds" "$( ((said_failed)) && echo FAILED || echo ok)" >>"$table"
	if ((said_failed)); then what_failed "$name" >>"$logs/failures"; fi
}

# What somebody needs who sees the end of the log alone: libtest's words of each test that failed, those of Python, or the last lines.
what_failed() {
	local log=$logs/$1.log words
	words=$(sed -nE '/^---- .* ----$/,/^(failures:|note: .*)$/p; /^FAILED /p; /ended after [0-9]+ s, its limit/p; /does not allow this/p; /ignored without a reason$/p' "$log" |
		cut -c 1-300 | head -n 80)
	echo "== $1 failed"
	if [[ -n $words ]]; then echo "$words"; else tail -n 25 "$log"; fi
}

# Counts what was skipped and may not be, in `refused`.
refuse_skips() {
	local name=$1 reasons=$2 ignored=$3 line told=0
	refused=0
	sed -E '/^(#|$)/d; s/ +# .*//' scripts/allowed-skips.txt >"$logs/allowed"
	while IFS= read -r line; do
		[[ -n $line ]] || continue
		told=$((told + 1))
		if ! grep -qEf "$logs/allowed" <<<"$line"; then
			echo "$name: scripts/allowed-skips.txt does not allow this: $line" | tee -a "$logs/$name.log"
			refused=$((refused + 1))
		fi
	done <<<"$reasons"
	if ((ignored > told)); then
		echo "$name: $((ignored - told)) tests were ignored without a reason" | tee -a "$logs/$name.log"
		refused=$((refused + ignored - told))
	fi
}

too_busy='nothing can be said of real TCP on so busy a machine'

doubted_tests() {
	sed -nE "s/.*SKIPPED: (.*): $too_busy.*/\\1/p" "$logs/$1.log" | sort -u
}

supersede() {
	local earlier
	earlier=$(grep -c "$too_busy" "$logs/$2.log") || true
	echo "$earlier of the tests that \"$2\" skipped ran \"$1\""
	((skipped -= earlier)) || true
}

finish() {
	echo
	if [[ -e $logs/failures ]]; then cat "$logs/failures" && echo; fi
	cat "$table"
	echo
	echo "$passed passed, $failed failed, $skipped skipped"
	((failed == 0))
}
