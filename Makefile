# SPDX-License-Identifier: MIT OR Apache-2.0
# Each target that needs tools first installs those that are missing (scripts/setup.sh).

# Where rustup puts cargo, which a shell that was open before does not know of yet.
CARGO_HOME ?= $(HOME)/.cargo
export PATH := $(CARGO_HOME)/bin:$(PATH)

.PHONY: help demo web docs wheel package test-packages test stress nightly fuzz test-kernels test-all-kernels lint bench validate reproduce setup setup-test clean

help:
	@echo "make demo          build, then compare compound with reno as the first Compound TCP paper does (two minutes on a fresh machine with two cores)"
	@echo "make web           the simulator as a page for the browser, in target/web, served at http://localhost:8000/"
	@echo "make docs          the documents as a site with search and the simulator, in target/docs/book, served at http://localhost:8000/"
	@echo "make wheel         the Python package as one wheel, in target/python/wheel"
	@echo "make package       a .deb and a tarball in target/package, with man pages and completions"
	@echo "make test-packages tries both in fresh systems of Debian 12 and 13 (make test: a quick build in Debian 12)"
	@echo "make test          every test; the last line counts them"
	@echo "make stress        the tests that use clocks, sockets, children or browsers, ten times each beside a busy machine"
	@echo "make nightly       what takes hours: stress, fuzz, all kernels, packages, two builds compared bit by bit"
	@echo "make fuzz          other random cases, FUZZ_SECONDS=60 of them on all cores; what they find becomes a file that make test plays"
	@echo "make test-kernels  all controllers in two of Debian's kernels, in virtual machines (make test: two controllers in one)"
	@echo "make test-all-kernels   the same in the newest of each series and kind (plain, cloud, rt) up to Debian's backports: hours, for a nightly run"
	@echo "make lint          format, warnings, and whether each controller compiles for the kernel"
	@echo "make bench         instructions a packet, speed against ns-2, many flows, memory; cost of an ACK, also in the kernel, and of a connection under a policy; the emulated path"
	@echo "make validate      simulator and model against runs of ns-2, the papers, real TCP and each other; controllers against each other"
	@echo "make reproduce     the papers' experiments in full (about 40 minutes on two cores): experiments/results, and docs/reproduction.md from it"
	@echo "make setup         install what is missing to build all of it: C compilers with apt, Rust with rustup"
	@echo "make clean         remove what was built and run"

demo:
	@scripts/setup.sh
	@scripts/demo.sh

web:
	@scripts/setup.sh page
	@scripts/web.sh --serve

docs:
	@scripts/setup.sh page wheel
	@scripts/docs.sh --serve

wheel:
	@scripts/setup.sh wheel
	@scripts/python.sh

package:
	@scripts/setup.sh kernel
	@scripts/package.sh

test-packages: setup-test
	@scripts/test-packages.sh

test: setup-test
	@scripts/test.sh

stress: setup-test
	@scripts/stress-tests.sh

nightly: setup-test
	@scripts/nightly.sh

fuzz: setup
	@scripts/fuzz.sh

test-kernels: setup-test
	@scripts/test-kernels.sh

test-all-kernels: setup-test
	@scripts/test-kernels.sh --all

lint: setup-test
	@scripts/lint.sh

bench:
	@scripts/setup.sh bench
	@cargo build --release -p tandem-cc && bench/bench.py
	@cargo build --release -p tandem-transfer --examples && bench/transfer.py
	@cargo bench --quiet -p tandem-controllers --bench per_ack
	@cargo bench --quiet -p tandem-kernel --bench cost
	@cargo bench --quiet -p tandem-kernel --bench connections
	@cargo bench --quiet -p tandem-testbed --bench outside
	@cargo bench --quiet -p tandem-testbed --bench reach

validate: setup
	@cargo run --release -p tandem-validate
	@cargo run --release -p tandem-validate -- --model
	@cargo run --release -p tandem-validate -- --statistics
	@cargo run --release -p tandem-validate -- --quic
	@cargo run --release -p tandem-validate -- --kernel
	@scripts/matrix.sh

reproduce: setup
	@cargo build --release -p tandem-cc && target/release/tandem papers run --data experiments/results --kernel-runs experiments/papers/real-tcp.jsonl
	@target/release/tandem papers doc docs/reproduction.md --data experiments/results

setup:
	@scripts/setup.sh kernel

setup-test:
	@scripts/setup.sh test

clean:
	rm -rf target tandem-out web/node_modules
