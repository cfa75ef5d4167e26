#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs each controller that ns-2's TCP-Linux and Tandem both have, alone and against Reno, on three paths, and prints
# controllers.csv. Needs ns2 (apt-get install ns2) and a quarter of an hour of one core.
#   validation/ns2/controllers.sh > validation/ns2/controllers.csv
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# Tandem has each under the same name.
controllers=(reno highspeed scalable bic cubic htcp illinois yeah veno vegas westwood)
# name and key=value of dumbbell.tcl; overhead is one packet time of the bottleneck.
paths=(
	"100mbit bw=100 rtt=40 buf=333 overhead=120e-6"
	"1gbit bw=1000 rtt=100 buf=1500 overhead=12e-6"
	"1gbit_loss bw=1000 rtt=100 buf=1500 loss=1e-5 overhead=12e-6"
)
seeds=(1 2 3)

# The values of RESULT,key=value,... as a line of CSV; with the keys above it if it is the first.
as_csv() {
	local header=$1 result=${2#RESULT,}
	result=${result//;/ }
	if [[ $header == 1 ]]; then
		sed -E 's/=[^,]*//g' <<<"$result"
	fi
	sed -E 's/(^|,)[A-Za-z]+=/\1/g' <<<"$result"
}

header=1
for seed in "${seeds[@]}"; do
	for path in "${paths[@]}"; do
		read -r name setup <<<"$path"
		for controller in "${controllers[@]}"; do
			for flows in "nA=1 nB=0" "nA=4 nB=4"; do
				# shellcheck disable=SC2086  # several keys
				output=$(ns "$here/dumbbell.tcl" exp="$name" label="$controller" caA="$controller" $setup $flows \
					dur=60 warm=20 seed="$seed")
				as_csv "$header" "$(grep -a '^RESULT' <<<"$output")"
				header=0
			done
		done
	done
done
