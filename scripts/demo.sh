#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Figures 3 and 4 of the Compound TCP paper of 2006 (S0 in experiments/README.md) at one of their loss rates.
set -euo pipefail
cd "$(dirname "$0")/.."

# What the demo runs: the simulator and the reports, without eBPF and QUIC, and without the optimiser's last word (`make package`).
cargo build --profile demo -p tandem-cc --no-default-features
tandem=${CARGO_TARGET_DIR:-target}/demo/tandem

# An ACK per packet, as in the papers' ns-2.
path=(--rate 1gbit --rtt 100ms --queue 1500p --loss 1e-6 --duration 150s --warmup 30s --seeds 5 --no-delayed-acks)

show() {
	local folder=$PWD/tandem-out/$1
	shift
	printf '$ tandem %s\n\n' "$*"
	"$tandem" "$@" --out "$folder" --replace 2>"$log" || { cat "$log" >&2 && exit 1; }
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "A link of 1 Gbit/s, 100 ms, a queue of 1500 packets, one packet in a million lost at random; 5 runs of 150 s each."
echo "Every packet is acknowledged (--no-delayed-acks), because the papers' ns-2 did so."
echo
echo "Four flows of a kind, alone: compound fills what reno leaves empty after each loss."
show demo-alone compare "${path[@]}" reno:4 compound:4
echo "Against four flows of reno: how much do they lose, compared with four more flows of reno in its place (baseline)? («Stolen»)"
show demo-against-reno compare "${path[@]}" --against reno:4 compound:4
echo "Reports, to open in a browser:"
for folder in demo-alone demo-against-reno; do
	echo "  $PWD/tandem-out/$folder/report.html"
done
