#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every test. The last line is `N passed, N failed, N skipped`; the exit status is 1 if any failed.
#
# Three things go on at once on two cores: a guest with another kernel (one core for minutes), tests that wait for clocks and networks
# (scripts/clock-tests.txt), and all that compiles and computes.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh

# Whatever the developer's store of finished runs has: here everything is computed.
export TANDEM_STORE=off

# cargo asks this for each test program: those of one lane run, each with a limit of its own.
host=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$host")_RUNNER
# lane NAME ARGUMENT...: cargo test, the programs of that lane only.
lane() { env "$runner=$PWD/scripts/test-program.sh" "TANDEM_LANE=$1" cargo test --no-fail-fast "${@:2}"; }
export -f lane
export runner

stage fetch 1800 scripts/fetch.sh
stage build 2400 cargo test --quiet --workspace --no-run

CONTROLLERS="reno compound_tube" KILLS=last begin kernels 3600 scripts/test-kernels.sh linux-image-amd64
begin clocks 2400 bash -c 'lane clock --workspace --lib --bins --tests'
stage tests 2400 bash -c 'lane rest --workspace'
stage sanitizer 1200 scripts/test-sanitizer.sh
stage arm 1200 scripts/test-arm.sh
# The guest's core is free by now.
begin page 1200 bash -c 'scripts/web.sh --test && scripts/docs.sh --test'
stage python 2400 scripts/python.sh --test
PROFILE=dev stage package 1200 scripts/test-packages.sh bookworm
join page
join clocks
join kernels
# What the machine was too busy for has it for itself now.
mapfile -t doubted < <(doubted_tests clocks)
if ((${#doubted[@]})); then
	stage again 1200 bash -c 'lane clock --workspace --lib --bins --tests -- --exact "$@"' again "${doubted[@]}"
	supersede again clocks
fi
finish
