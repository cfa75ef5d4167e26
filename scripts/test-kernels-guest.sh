#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What runs as /init in the virtual machines of scripts/test-kernels.sh: each controller is loaded, carries data, is watched and
# unloaded. Says `ok STEP` or `FAILED STEP` on the second serial port, and at last `end`; the kernel's own words go to the first.
set -u

data=/tmp/data # what is sent, two seconds at the limit below
half=4194304   # bytes
second_half=/tmp/second-half # once it is there, the second half is sent
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
	head -c $((2 * half)) /dev/urandom >$data && sha256sum <$data >$data.sum
}

# step NAME COMMAND...: carries it out and says how it went.
step() {
	what=$1
	shift
	if "$@" >/tmp/step 2>&1; then
		echo "ok $what" >&3
	else
		echo "FAILED $what" >&3
		tail -n 30 /tmp/step | sed 's/^/    /' >&3
	fi
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
	waited=0
	while [ $waited -lt 150 ]; do
		traces >/tmp/after
		cmp -s /tmp/before /tmp/after && return
		sleep 1
		waited=$((waited + 1))
	done
	diff /tmp/before /tmp/after
}

# start_transfer NAME: with the controller, the first half from the sender to the receiver. `finish_transfer` lets the second
# follow and compares what arrived.
start_transfer() {
	rm -f $second_half
	ip netns exec sender sysctl -w "net.ipv4.tcp_congestion_control=$1" || return
	ip netns exec receiver nc -l -p $port 0<>$silence >/tmp/received &
	receiver=$!
	until ip netns exec receiver netstat -ltn | grep -q ":$port "; do
		sleep 0.1
	done
	{
		head -c $half $data
		until [ -e $second_half ]; do
			sleep 0.1
		done
		tail -c $half $data
	} | ip netns exec sender nc 10.0.0.2 $port &
	sender=$!
}

finish_transfer() {
	touch $second_half
	wait "$sender" || return
	wait "$receiver" || return
	sha256sum </tmp/received | cmp - $data.sum
}

watched_transfer() {
	tandem kernel watch --json --interval 200ms >/tmp/watched &
	watcher=$!
	start_transfer "$1" && finish_transfer
	transferred=$?
	kill -INT $watcher
	wait $watcher && return $transferred
}

# The connection of the transfer, in its namespace, again and again: with a window, and more and more acknowledged.
flow_was_watched() {
	grep '"namespace":"sender"' /tmp/watched | grep "\"controller\":\"$1\"" | grep "\"remote\":\"10.0.0.2:$port\"" >/tmp/flow
	sed 's/.*"snd_cwnd":\([0-9]*\).*"bytes_acked":\([0-9]*\).*/\1 \2/' /tmp/flow | awk '
		{ print; if ($1 < 1 || $2 < acked) wrong = 1; if ($2 > acked) grew++; acked = $2 }
		END { exit wrong || grew < 3 }'
}

is_listed() { tandem kernel list --json | grep -q "\"name\": \"$1\""; }

refuses_to_load_twice() {
	tandem kernel load "$@" 2>&1 | grep 'is loaded already'
}

# Its connection goes on, new ones can't have it, and the namespace that had it as its default has the kernel's own again.
unload_in_use() {
	start_transfer "$1" || return
	sleep 0.5
	tandem kernel unload "$1" || return
	ip netns exec sender netstat -tn | grep "10.0.0.2:$port.*ESTABLISHED" || return
	! is_available "$1" || return
	[ "$(sysctl_of sender)" = "$default" ] || return
	finish_transfer
}

# `reno` is taken by the kernel's own.
name_for() { if is_available "$1"; then echo "bpf_$1"; else echo "$1"; fi; }

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

# write_scenario NAME DURATION
write_scenario() {
	cat >/tmp/scenario.toml <<-END
		duration = "$2"
		[dumbbell]
		rate = "1mbit"
		rtt = "40ms"
		queue = "20p"
		[[flows]]
		controller = "$1"
	END
}

# run_scenario NAME DURATION: over the emulated path, as the simulator runs it.
run_scenario() {
	write_scenario "$@"
	exec tandem run /tmp/scenario.toml --engine kernel --force --json --out /tmp/out
}

# 1 Mb/s of packets carries 0.965 Mb/s of data; slow start takes some of it.
run_fills_the_link() {
	(run_scenario "$1" 20s) >/tmp/result || return
	sed -n 's/.*"goodput_mbps": *\([0-9.]*\).*/\1/p' /tmp/result | head -n 1 | awk '{ print } END { exit !($1 > 0.8 && $1 < 0.97) }'
}

# What a killed command can leave, quickly told.
state() {
	cat /proc/sys/net/ipv4/tcp_available_congestion_control /proc/sys/net/ipv4/tcp_congestion_control /proc/mounts
	find /sys/fs/bpf
}

# mend NAME: the next command after a kill; and `unload` where the command was killed when it was done.
mend() {
	state | cmp -s - /tmp/whole && return
	left=$((left + 1))
	tandem kernel cleanup || return
	if is_available "$1"; then tandem kernel unload "$1" || return; fi
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		state | cmp -s - /tmp/whole && return
		sleep 0.5
	done
	state | diff /tmp/whole -
}

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

changes='/^(bpf|mkdir(at)?|rename(at2?)?|mount|umount2|unlink(at)?|rmdir)$'
kill_a_run_at_each_call() {
	write_scenario "$1" 1s
	killed_at_each none true tandem run /tmp/scenario.toml --engine kernel --force --out /tmp/out
}

load_victim() { tandem kernel load reno --as victim --default; }

has_runs_controller() { grep -Eqw 't[0-9a-f]+_[0-9a-f]+' /proc/sys/net/ipv4/tcp_available_congestion_control; }

# Before Linux 6.4 the controller of a killed run stays registered.
killed_run_is_cleaned_up() {
	run_scenario "$1" 100s &
	run=$!
	until has_runs_controller; do
		kill -0 $run || return
		sleep 0.2
	done
	kill -KILL $run
	wait $run
	sleep 1
	has_runs_controller && echo "its controller stayed"
	tandem kernel cleanup || return
	! has_runs_controller
}

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
step "no trace" no_trace
step "nothing wrong in the kernel's log" no_complaint
echo end >&3
poweroff -f
