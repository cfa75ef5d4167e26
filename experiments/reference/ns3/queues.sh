#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds queues.cc against ns-3 and runs the queue disciplines that Tandem's are compared with; prints queues.csv.
# Needs apt-get install g++ libns3-dev libgsl-dev, and some minutes of one core.
#   experiments/reference/ns3/queues.sh > experiments/reference/ns3/queues.csv
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -O2 -std=c++17 "$here/queues.cc" -o "$work/queues" \
	-lns3-applications -lns3-internet -lns3-traffic-control -lns3-point-to-point -lns3-network -lns3-core

echo "queue,ecn,flows,seed,seconds,goodput_mbps,wait_ms,drop_rate,mark_rate"
for queue in red codel fq_codel pie; do
	for ecn in 0 1; do
		for flows in 2 10; do
			for seed in 1 2 3; do
				"$work/queues" --queue="$queue" --ecn="$ecn" --flows="$flows" --seed="$seed"
			done
		done
	done
done
