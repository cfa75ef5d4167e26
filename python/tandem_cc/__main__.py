# SPDX-License-Identifier: MIT OR Apache-2.0
"""`python -m tandem_cc sweep FILE.toml --on ray://... | dask://...`: sweeps on clusters, for those who do not write Python."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tandem_cc import __version__
from tandem_cc.errors import TandemError, UsageError
from tandem_cc.sweeps import MEASURE, sweep


def main(words: Sequence[str] | None = None) -> int:
    """Does what the words of the command line say, and returns the exit status: 2 for a usage error, 1 for a failure, 130 for Ctrl-C."""
    arguments = _parser().parse_args(words)
    try:
        result = sweep(
            arguments.file,
            on=arguments.on,
            folder=arguments.out,
            seeds=arguments.seeds,
            first_seed=arguments.seed,
            engine=arguments.engine,
            traces=arguments.trace,
            workers=arguments.workers,
            max_runs=arguments.max_runs,
            bundle_s=arguments.bundle,
        )
        print(result, end="")
        if not arguments.no_report:
            result.write_report(result.folder / "report.html", measure=arguments.measure)
            print(f"Report: {result.folder / 'report.html'}", file=sys.stderr)
    except TandemError as e:
        print(f"tandem_cc: {e}", file=sys.stderr)
        return 2 if isinstance(e, UsageError) else 1
    except KeyboardInterrupt:
        print("tandem_cc: interrupted; finished runs are kept, and the same command continues there", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tandem_cc")
    parser.add_argument("--version", action="version", version=f"tandem-cc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add = commands.add_parser("sweep", help="run a scenario with many values of its keys, on a cluster").add_argument
    add("file", metavar="FILE", help="the sweep; docs/sweeps.md describes the format")
    add("--on", metavar="WHERE", help="`ray`, ray://HOST:PORT or dask://HOST:PORT [default: this machine's cores]")
    add("--out", metavar="DIR", help="folder of the data set [default: one named after FILE in tandem-out]")
    add("--seeds", metavar="N", type=int, help="independent repetitions of each point [default: the file's, or 1]")
    add("--seed", metavar="SEED", type=int, help="the first seed; the others follow [default: the file's, or 1]")
    add("--engine", default="sim", help="`sim`, `quic` or `model` [default: sim]")
    add("--trace", action="store_true", help="also keep samples of windows and queues, of all seeds and flows")
    add("--workers", metavar="N", type=int, help="bundles of runs at a time [default: one for each worker]")
    add("--max-runs", metavar="N", type=int, help="more runs are refused: points times seeds [default: a million]")
    add("--bundle", metavar="S", type=float, default=1.0, help="seconds of work in a bundle [default: 1]")
    add("--measure", metavar="COLUMN", default=MEASURE, help=f"what the report's charts show [default: {MEASURE}]")
    add("--no-report", action="store_true", help="write no report.html")
    return parser


if __name__ == "__main__":
    sys.exit(main())
