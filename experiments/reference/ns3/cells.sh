#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds cell.cc against ns-3 and runs the cells that Tandem is compared with; prints saturation.csv.
# Needs apt-get install g++ libns3-dev libgsl-dev, and about half an hour of one core.
#   experiments/reference/ns3/cells.sh > experiments/reference/ns3/saturation.csv
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -O2 -std=c++17 "$here/cell.cc" -o "$work/cell" \
	-lns3-wifi -lns3-network -lns3-core -lns3-mobility -lns3-propagation

echo "phy,data_mbps,ack_mbps,stations,ap_sends,seed,seconds,throughput_mbps,ap_mbps,jain"
for cell in "802.11b 1 0" "802.11b 2 0" "802.11b 5 0" "802.11b 10 0" "802.11b 20 0" "802.11b 10 1" \
	"802.11g 1 0" "802.11g 2 0" "802.11g 5 0" "802.11g 10 0" "802.11g 20 0" "802.11g 10 1" \
	"802.11a 1 0" "802.11a 5 0" "802.11a 10 0"; do
	read -r phy stations ap <<<"$cell"
	for seed in 1 2 3; do
		"$work/cell" --phy="$phy" --stations="$stations" --ap="$ap" --seed="$seed" --seconds=10
	done
done
