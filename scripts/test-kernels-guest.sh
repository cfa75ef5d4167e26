#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What runs as /init in the virtual machines of scripts/test-kernels.sh: each controller is loaded, carries data, is watched and
# unloaded. Says `ok STEP`, `FAILED STEP` or `SKIPPED: STEP: REASON` on the second serial port, and at last `end`; the kernel's own words go to
# the first. The host may leave the guest standing still at any time: what is waited for is what happens, not that time passes.
set -u

data=/tmp/data # what is sent, two seconds at the limit below
parts=4
part=2097152     # bytes
allowed=/tmp/allowed # how many of the parts may be sent by now
silence=/tmp/silence # a pipe without end: nc hangs up when its input ends
rate=40mbit
port=5001

# busybox prefers its own, which know less.
ip() { /bin/ip "$@"; }
tc() { /bin/tc "$@"; }

prepare_machine() {
	/bin/busybox --install -s /bin
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs dev /dev
	mount -t cgroup2 none /sys/fs/cgroup
	stty -F /dev/ttyS1 raw
	exec 3>/dev/ttyS1
}

# Two namespaces, one cable, a rate limit with room for some forty packets.
prepare_network() {
	# inet_diag before tcp_diag, which needs it; a kernel may have them built in.
	for module in inet_diag tcp_diag veth sch_tbf tun; do
		[ ! -e /lib/modules/$module.ko ] || insmod /lib/modules/$module.ko || return
	done
	ip netns add sender && ip netns add receiver || return
	ip -n sender link add veth0 type veth peer name veth0 netns receiver || return
	ip -n sender address add 10.0.0.1/24 dev veth0 && ip -n sender link set veth0 up || return
	ip -n receiver address add 10.0.0.2/24 dev veth0 && ip -n receiver link set veth0 up || return
	tc -n sender qdisc add dev veth0 root tbf rate $rate burst 16kb limit 64kb || return
	mkfifo $silence
	head -c $((parts * part)) /dev/urandom >$data && sha256sum <$data >$data.sum
}

# step NAME COMMAND...: carries it out and says how it went. Status 77: nothing can be said of it.
step() {
	what=$1
	shift
	"$@" >/tmp/step 2>&1
	case $? in
	0) echo "ok $what" >&3 && return ;;
	77) echo "SKIPPED: $what: $(tail -n 1 /tmp/step)" >&3 ;;
	*) echo "FAILED $what" >&3 ;;
	esac
	tail -n 30 /tmp/step | sed 's/^/    /' >&3
}

# fresh FILE: made empty before what will write it starts in the background: that empties it only when its turn comes, and until then
# the words of the one before would be taken for its own.
fresh() { : >"$1"; }

# wait_for COMMAND...: until it succeeds. Half an hour is only there to end what will never come.
wait_for() {
	looks=0
	until "$@"; do
		looks=$((looks + 1))
		[ $looks -lt 9000 ] || { echo "waited in vain for: $*" >&2 && return 1; }
		sleep 0.2
	done
}

sysctl_of() { ip netns exec "$1" sysctl -n net.ipv4.tcp_congestion_control; }

is_available() { grep -qw -- "$1" /proc/sys/net/ipv4/tcp_available_congestion_control; }

# Everything that a controller may leave behind.
traces() {
	cat /proc/sys/net/ipv4/tcp_available_congestion_control /proc/sys/net/ipv4/tcp_congestion_control
	sysctl_of sender
	cat /proc/mounts
	find /sys/fs/bpf
	for kind in prog map link struct_ops; do
		bpftool $kind list
	done
}

# The kernel frees programs and maps a moment after the last who held them.
no_trace() {
	# Of a connection that was being made when its run was killed, the kernel keeps the controller until it gives up: two minutes.
	wait_for nothing_changed || { diff /tmp/before /tmp/after && false; }
}

nothing_changed() { traces >/tmp/after && cmp -s /tmp/before /tmp/after; }

is_listening() { ip netns exec receiver netstat -ltn | grep -q ":$port "; }

may_send() { [ "$(cat $allowed)" -gt "$1" ]; }

# The parts of the data, each when it may be sent.
send_parts() {
	for n in 0 1 2 3; do
		wait_for may_send $n && dd if=$data bs=$part skip=$n count=1 2>/dev/null
	done
}

# allow PARTS: this many of them may be sent. In one go, lest the sender read an empty file.
allow() { echo "$1" >$allowed.new && mv $allowed.new $allowed; }

# start_transfer NAME: with the controller, the first part from the sender to the receiver. `finish_transfer` lets the others follow and
# compares what arrived.
start_transfer() {
	allow 1
	ip netns exec sender sysctl -w "net.ipv4.tcp_congestion_control=$1" || return
	ip netns exec receiver nc -l -p $port 0<>$silence >/tmp/received &
	receiver=$!
	wait_for is_listening || return
	send_parts | ip netns exec sender nc 10.0.0.2 $port &
	sender=$!
}

finish_transfer() {
	allow $parts
	wait "$sender" || return
	wait "$receiver" || return
	sha256sum </tmp/received | cmp - $data.sum
}

# The connection of the transfer, in its namespace, as it was seen so far: the window and the bytes that are acknowledged.
seen() {
	grep '"namespace":"sender"' /tmp/watched | grep "\"controller\":\"$1\"" | grep "\"remote\":\"10.0.0.2:$port\"" |
		sed -n 's/.*"snd_cwnd":\([0-9]*\).*"bytes_acked":\([0-9]*\).*/\1 \2/p'
}

# was_seen NAME PARTS: with this many of them acknowledged.
was_seen() { seen "$1" | awk -v bytes=$(($2 * part)) '$2 >= bytes { found = 1 } END { exit !found }'; }

# Each part but the last, with which the connection ends, is seen before the next one is sent.
show_parts() {
	for n in 1 2 3; do
		allow $n
		wait_for was_seen "$1" $n || return
	done
}

watched_transfer() {
	fresh /tmp/watched
	tandem kernel watch --json --interval 200ms >/tmp/watched &
	watcher=$!
	start_transfer "$1" && show_parts "$1" && finish_transfer
	transferred=$?
	# What failed goes to its end.
	allow $parts
	kill -INT $watcher
	wait $watcher
	# 130: it was at a look that such a machine did not end in time.
	case $? in
	0 | 130) return $transferred ;;
	*) return 1 ;;
	esac
}

# Again and again: with a window, and more and more acknowledged.
flow_was_watched() {
	seen "$1" | awk '
		{ print; if ($1 < 1 || $2 < acked) wrong = 1; if ($2 > acked) grew++; acked = $2 }
		END { exit wrong || grew < 3 }'
}

is_listed() { tandem kernel list --json | grep -q "\"name\": \"$1\""; }

refuses_to_load_twice() {
	tandem kernel load "$@" 2>&1 | grep 'is loaded already'
}

is_connected() { ip netns exec sender netstat -tn | grep "10.0.0.2:$port.*ESTABLISHED"; }

# Its connection goes on, new ones can't have it, and the namespace that had it as its default has the kernel's own again.
unload_in_use() {
	start_transfer "$1" || return
	wait_for is_connected || return
	tandem kernel unload "$1" || return
	is_connected || return
	! is_available "$1" || return
	[ "$(sysctl_of sender)" = "$default" ] || return
	finish_transfer
}

# `reno` is taken by the kernel's own.
name_for() { if is_available "$1"; then echo "tandem_$1"; else echo "$1"; fi; }

is_gone_after_unload() { tandem kernel unload "$1" && ! is_available "$1"; }

test_controller() {
	name=$(name_for "$1")
	step "$1: load" tandem kernel load "$1" --as "$name"
	step "$1: transfer" watched_transfer "$name"
	step "$1: watch" flow_was_watched "$name"
	step "$1: unload" is_gone_after_unload "$name"
}

becomes_the_default() {
	tandem kernel load "$1" --as "$2" --default || return
	[ "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" = "$2" ] || return
	tandem kernel unload "$2" || return
	[ "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" = "$default" ]
}

# What does not depend on the controller.
test_registration() {
	name=$(name_for "$1")
	step "the default, and back" becomes_the_default "$1" "$name"
	step "load" tandem kernel load "$1" --as "$name"
	step "refused a second time" refuses_to_load_twice "$1" --as "$name"
	step "list" is_listed "$name"
	step "unload in mid-transfer" unload_in_use "$name"
	step "a run over the emulated path" run_fills_the_link "$1"
	step "a killed run is cleaned up" killed_run_is_cleaned_up "$1"
	step "a killed load is mended" killed_at_each victim true tandem kernel load reno --as victim --default
	step "a killed unload is mended" killed_at_each victim load_victim tandem kernel unload victim
	[ "$kills" = last ] || step "a killed run is mended, whenever it is killed" kill_a_run_at_each_call "$1"
}

# write_scenario NAME DURATION: on a path whose RTT leaves even an emulated machine time to keep up.
write_scenario() {
	cat >/tmp/scenario.toml <<-END
		duration = "$2"
		[dumbbell]
		rate = "1mbit"
		rtt = "400ms"
		queue = "40p"
		[[flows]]
		controller = "$1"
	END
}

# run_scenario NAME DURATION: over the emulated path, as the simulator runs it.
run_scenario() {
	write_scenario "$@"
	exec tandem run /tmp/scenario.toml --engine kernel --force --json --out /tmp/out
}

# 1 Mb/s of packets carries 0.965 Mb/s of data; slow start takes some of it. A run that the emulator doubts is repeated: nothing but that
# it carried something can be said of it.
run_fills_the_link() {
	for _ in 1 2 3; do
		(run_scenario "$1" 30s) >/tmp/result || return
		goodput_mbps=$(sed -n 's/.*"goodput_mbps": *\([0-9.]*\).*/\1/p' /tmp/result | head -n 1)
		echo "$goodput_mbps Mb/s"
		awk "BEGIN { exit !($goodput_mbps > 0 && $goodput_mbps < 0.97) }" || return
		if grep -q '"doubts": \[\]' /tmp/result; then
			awk "BEGIN { exit !($goodput_mbps > 0.8) }"
			return
		fi
	done
	sed -n '/"doubts": \[/,/\]/p' /tmp/result
	echo "nothing can be said of real TCP on so busy a machine: three runs were doubted"
	return 77
}

# What a killed command can leave, quickly told.
state() {
	cat /proc/sys/net/ipv4/tcp_available_congestion_control /proc/sys/net/ipv4/tcp_congestion_control /proc/mounts
	find /sys/fs/bpf
}

# mend NAME: the next command after a kill; and `unload` where the command was killed when it was done.
mend() {
	is_whole && return
	left=$((left + 1))
	tandem kernel cleanup || return
	if is_available "$1"; then tandem kernel unload "$1" || return; fi
	if has_policy; then tandem policy remove || return; fi
	wait_for is_whole || { state | diff /tmp/whole - && false; }
}

is_whole() { state | cmp -s - /tmp/whole; }

# killed_at_each NAME PREPARATION COMMAND...: once for each call of the command that changes the machine, killed there.
killed_at_each() {
	name=$1 prepare=$2
	shift 2
	state >/tmp/whole
	$prepare && strace -f -qq -o /tmp/calls -e trace="$changes" "$@" || return
	mend "$name" || return
	# The calls of the thread that makes most, each with its number; with KILLS=last those from the first mkdir or unlink on, and each
	# bpf(2) call in the last 25.
	awk -v kills="$kills" '
		{ split($2, call, "("); n = ++count[call[1] " " $1]; if (n > most[call[1]]) most[call[1]] = n }
		END { for (c in most) for (n = 1; n <= most[c]; n++) if (kills != "last" || c != "bpf" || n > most[c] - 25) print c, n }
	' /tmp/calls >/tmp/kills
	left=0
	while read -r call n; do
		$prepare || return
		strace -f -qq -o /dev/null -e trace="$call" -e "inject=$call:signal=KILL:when=$n" "$@" >/dev/null 2>&1
		mend "$name" || { echo "killed at $call $n" && return 1; }
	done </tmp/kills
	echo "    $(wc -l </tmp/kills) kills, $left left something, all mended" >&3
}

has_policy() { tandem policy show --json | grep -q '"rules"'; }

# A connection from the sender to the receiver, over in a moment.
short_connection() {
	ip netns exec receiver nc -l -p $port 0<>$silence >/tmp/received &
	receiver=$!
	wait_for is_listening || return
	echo hello | ip netns exec sender nc 10.0.0.2 $port || return
	wait $receiver
	grep -q hello /tmp/received
}

# By the sender's peer: the receiver's end has no rule.
policy_decides() {
	echo "10.0.0.0/30 -> reno" >/tmp/other.conf
	tandem policy load /tmp/policy.conf || return
	tandem policy test 10.0.0.2:80 | grep 'reno, by the rule .10.0.0.2' || return
	short_connection || return
	tandem policy show --json | tee /dev/stderr | grep -q '"connections": 1' || return
	tandem policy load /tmp/other.conf | grep 'replaces the one before' || return
	tandem policy remove || return
	! has_policy
}

load_policy() { tandem policy load /tmp/policy.conf; }

# Both ends of two connections, and nothing of it afterwards.
trial_records() {
	fresh /tmp/trial.err
	tandem trial reno --against reno --json --no-report --out /tmp/trial >/tmp/answer 2>/tmp/trial.err &
	trial=$!
	wait_for grep -q 'goes on' /tmp/trial.err || return
	short_connection && short_connection || return
	kill -INT $trial
	wait $trial || return
	sed -n '/"totals"/,/\]/p' /tmp/answer
	awk '/"totals"/ { inside = 1 } inside && /"connections"/ { sum += $2 } /\]/ { inside = 0 } END { exit sum != 4 }' /tmp/answer || return
	[ -s /tmp/trial/connections-1.parquet ]
}

no_program_is_left() { ! bpftool prog list | grep sock_ops; }

killed_trial_leaves_nothing() {
	fresh /tmp/trial.err
	tandem trial reno --against reno --out /tmp/killed-trial 2>/tmp/trial.err &
	trial=$!
	wait_for grep -q 'goes on' /tmp/trial.err || return
	! no_program_is_left || return
	kill -KILL $trial
	wait $trial
	wait_for no_program_is_left
}

# A connection that lasts from one look to the next, in whichever namespace.
metrics_count_it() {
	ip link set lo up || return
	tandem kernel watch --prometheus 127.0.0.1:9847 &
	watcher=$!
	wait_for scrape && start_transfer reno && wait_for acked_is_told
	told=$?
	finish_transfer || told=1
	# As it was: nothing else gives the namespace its default back.
	ip netns exec sender sysctl -w "net.ipv4.tcp_congestion_control=$default"
	kill -TERM $watcher
	wait $watcher && return $told
}

scrape() { wget -q -O /tmp/metrics http://127.0.0.1:9847/metrics; }

acked_is_told() { scrape && grep -E '^tandem_acked_bytes_total[{]controller="reno"[}] [0-9]{6}' /tmp/metrics; }

test_programs_on_cgroups() {
	echo "10.0.0.2 -> reno" >/tmp/policy.conf
	step "a policy" policy_decides
	step "a killed policy load is mended" killed_at_each none true tandem policy load /tmp/policy.conf
	step "a killed policy remove is mended" killed_at_each none load_policy tandem policy remove
	step "a trial" trial_records
	step "a killed trial leaves nothing" killed_trial_leaves_nothing
	# Ten minutes on a slow host: not in `make test`.
	[ "$kills" != last ] || return 0
	step "nor does one that is killed at any call" killed_at_each none true tandem trial reno --against reno --for 1ms --no-report
	step "metrics" metrics_count_it
}

changes='/^(bpf|mkdir(at)?|rename(at2?)?|mount|umount2|unlink(at)?|rmdir)$'
kill_a_run_at_each_call() {
	write_scenario "$1" 1s
	killed_at_each none true tandem run /tmp/scenario.toml --engine kernel --force --out /tmp/out --replace
}

load_victim() { tandem kernel load reno --as victim --default; }

has_runs_controller() { grep -Eqw 't[0-9a-f]+_[0-9a-f]+' /proc/sys/net/ipv4/tcp_available_congestion_control; }

# Before Linux 6.4 the controller of a killed run stays registered.
killed_run_is_cleaned_up() {
	run_scenario "$1" 3600s &
	run=$!
	wait_for has_runs_controller || return
	kill -KILL $run
	wait $run
	tandem kernel cleanup || return
	wait_for has_no_runs_controller
}

has_no_runs_controller() { ! has_runs_controller; }

every_controller_will_load() { tandem kernel check --json >/tmp/check || { cat /tmp/check && false; }; }

no_complaint() { ! dmesg | grep -E 'BUG|WARNING|Oops|Call Trace'; }

prepare_machine
kills=$(sed -n 's/.*tandem\.kills=\([^ ]*\).*/\1/p' /proc/cmdline)
step "network" prepare_network
default=$(sysctl_of sender)
traces >/tmp/before
step "check" every_controller_will_load
controllers=$(sed -n 's/.*tandem\.controllers=\([^ ]*\).*/\1/p' /proc/cmdline | tr , ' ')
: "${controllers:=$(sed -n 's/.*"controller": "\(.*\)".*/\1/p' /tmp/check)}"
for controller in $controllers; do
	test_controller "$controller"
done
test_registration "${controllers%%[!a-z0-9_]*}"
test_programs_on_cgroups
step "no trace" no_trace
step "nothing wrong in the kernel's log" no_complaint
echo end >&3
poweroff -f
