#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs each controller that ns-2's TCP-Linux and Tandem both have, alone and against Reno, on three paths, and adds what
# controllers.csv does not have yet: it may be stopped and started again, and with names of paths as arguments, run more than
# once at a time. Seeds can be added below. Needs ns2 (apt-get install ns2) and ten minutes of one core.
#   experiments/reference/ns2/controllers.sh [100mbit|1gbit|1gbit_loss]...
# FAST is an agent of its own, which Debian's ns2 leaves out: FAST=fast.so names it as a plug-in (README.md), without it there is none.
set -euo pipefail

# Linux hands a connection zeroed memory, ns-2 does not, and its vegas reads some before it writes it: glibc fills with the
# complement of this byte.
export MALLOC_PERTURB_=255

here=$(cd "$(dirname "$0")" && pwd)
out=$here/controllers.csv
# Tandem has each under the same name.
controllers=(reno highspeed scalable bic cubic htcp illinois yeah veno vegas westwood ${FAST:+fast})
# Name: seeds of one flow alone, seeds of four against four, key=value of dumbbell.tcl; overhead is one packet time of the
# bottleneck. At 100 Mb/s the seed says which flow drop-tail favours, hence this many; one flow alone hardly depends on it.
declare -A paths=(
	[100mbit]="3 15 bw=100 rtt=40 buf=333 overhead=120e-6"
	[1gbit]="1 5 bw=1000 rtt=100 buf=1500 overhead=12e-6"
	[1gbit_loss]="5 5 bw=1000 rtt=100 buf=1500 loss=1e-5 overhead=12e-6"
)

# The values of RESULT,key=value,... as a line of CSV; with --keys, the keys.
as_csv() {
	local result=${2#RESULT,}
	if [[ $1 == --keys ]]; then
		sed -E 's/=[^,]*//g' <<<"$result"
	else
		sed -E 's/;/ /g; s/(^|,)[A-Za-z]+=/\1/g' <<<"$result"
	fi
}

# Runs one case unless controllers.csv has it: PATH KEYS CONTROLLER FLOWS_A FLOWS_B SEED
run() {
	local path=$1 keys=$2 controller=$3 a=$4 b=$5 seed=$6 result
	if grep -qs "^$path,$controller,$controller,$a,reno,$b,\([^,]*,\)\{8\}$seed," "$out"; then
		return
	fi
	[[ $controller != fast ]] || keys="$keys load=$FAST:Fast"
	# shellcheck disable=SC2086  # several keys
	result=$(ns "$here/dumbbell.tcl" exp="$path" label="$controller" caA="$controller" $keys nA="$a" nB="$b" \
		dur=60 warm=20 seed="$seed" | grep -a '^RESULT')
	[[ -s $out ]] || as_csv --keys "$result" >"$out"
	as_csv --values "$result" >>"$out"
}

chosen=("$@")
((${#chosen[@]})) || chosen=(100mbit 1gbit 1gbit_loss)
for path in "${chosen[@]}"; do
	if [[ -z ${paths[$path]:-} ]]; then
		echo "controllers.sh: there is no path \`$path\`; there are: ${!paths[*]}" >&2
		exit 2
	fi
done
for ((seed = 1; seed <= 100; seed++)); do
	for path in "${chosen[@]}"; do
		read -r alone beside keys <<<"${paths[$path]}"
		for controller in "${controllers[@]}"; do
			((seed > alone)) || run "$path" "$keys" "$controller" 1 0 "$seed"
			((seed > beside)) || run "$path" "$keys" "$controller" 4 4 "$seed"
		done
	done
done
