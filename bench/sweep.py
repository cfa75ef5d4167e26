#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a sweep costs beside its runs: on local cores, on Dask and on Ray, with several numbers of workers.

    python bench/sweep.py runs     # throughput of many short runs
    python bench/sweep.py share    # the share that scheduling takes of runs of 50 ms
    python bench/sweep.py driver   # what the driver, the store and the network have to do for a run
    python bench/sweep.py bundles  # what the driver has to do for a bundle

It wants a Python that has tandem-cc (a release build), distributed and ray[client]. Where other programs keep cores busy, processor times hold,
and so does `share`, whose runs sleep most of their time; wall times hold on a quiet machine only. Each table says how busy it was.
"""

import argparse
import os
import pickle
import resource
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tandem_cc import _native, driver, sweep

# A run that comes from the store of finished runs takes no time.
os.environ["TANDEM_STORE"] = "off"

RUN_S = 0.05
"""What a run of `share` takes."""


def design(runs, duration="3s"):
    """Paths drawn at random, each with three controllers: runs of some milliseconds."""
    controllers = ["reno", "compound", "cubic"]
    values = {
        "dumbbell.rate": {"from": "1mbit", "to": "20mbit", "scale": "log"},
        "dumbbell.rtt": {"from": "10ms", "to": "100ms"},
    }
    return {
        "scenario": {
            "duration": duration,
            "warmup": "100ms",
            "dumbbell": {"rate": "10mbit", "rtt": "40ms", "queue": "1bdp"},
            "flows": [{"controller": "compound"}],
        },
        "random": {"points": -(-runs // len(controllers)), "values": values},
        "grid": {"flows[0].controller": controllers},
    }


@contextmanager
def place(name, workers):
    """What `on` takes: a cluster of this machine."""
    if name == "local":
        yield None
    elif name == "dask":
        import distributed

        with (
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
    else:
        # Ray's workers let other programs go first, unless told.
        os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_worker_niceness="0")
        import ray

        ray.init(address="local", num_cpus=workers, include_dashboard=False, object_store_memory=100_000_000)
        try:
            yield "ray"
        finally:
            ray.shutdown()


def busy():
    return os.getloadavg()[0]


def swept(table, on, workers, folder, **more):
    """Wall and processor seconds of this process for one sweep into a new folder, and its result."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    result = sweep(table, on=on, workers=workers, folder=folder, progress=False, **more)
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    assert result.ran == result.runs
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def warm_up(on, workers):
    """Workers have begun, and have the package, before anything is measured."""
    with tempfile.TemporaryDirectory() as folder:
        swept(design(30 * workers), on, workers, folder)


def runs(options):
    print(
        "| place | workers | runs | wall, s | runs a second | processor time of the driver, s | load |\n|---|---|---|---|---|---|---|"
    )
    for name in options.places:
        for workers in options.workers:
            with place(name, workers) as on, tempfile.TemporaryDirectory() as folder:
                warm_up(on, workers)
                wall_s, cpu_s, result = swept(design(options.runs), on, workers, folder)
            rate = result.runs / wall_s
            print(
                f"| {name} | {workers} | {result.runs} | {wall_s:.1f} | {rate:.0f} | {cpu_s:.1f} | {busy():.1f} |",
                flush=True,
            )


def sleeping(tasks, *rest):
    """A bundle whose runs take RUN_S each, and little processor time."""
    start = time.perf_counter()
    answer = _native.run_bundle(tasks, *rest)
    time.sleep(max(0.0, RUN_S * len(tasks) - (time.perf_counter() - start)))
    return answer, time.perf_counter() - start


def share(options):
    driver.run_bundle = sleeping
    print(
        "| place | workers | runs of 50 ms | wall, s | runs alone, s | scheduling | load |\n|---|---|---|---|---|---|---|"
    )
    for name in [name for name in options.places if name != "local"]:
        for workers in options.workers:
            with place(name, workers) as on, tempfile.TemporaryDirectory() as folder:
                warm_up(on, workers)
                wall_s, _, result = swept(design(options.runs, "300ms"), on, workers, folder)
            alone_s = result.runs * RUN_S / workers
            print(
                f"| {name} | {workers} | {result.runs} | {wall_s:.1f} | {alone_s:.1f} "
                f"| {100 * (1 - alone_s / wall_s):.1f} % | {busy():.1f} |",
                flush=True,
            )


def driver_costs(options):
    """The driver's work alone, step by step, in processor time."""
    clock = time.process_time
    start = clock()
    read = _native.Sweep.from_dict(design(options.runs), "sim", None, None)
    survey_s = clock() - start
    take_s = run_s = pickle_s = add_s = out_bytes = back_bytes = 0.0
    with tempfile.TemporaryDirectory() as folder:
        store = _native.SweepDriver(read, folder, False)
        while True:
            start = clock()
            tasks = store.take(20)
            take_s += clock() - start
            if not tasks:
                break
            start = clock()
            answer = _native.run_bundle(tasks, read.scenario_folder, "sim", False)
            run_s += clock() - start
            start = clock()
            out_bytes, back_bytes = out_bytes + len(pickle.dumps(tasks)), back_bytes + len(answer)
            pickle_s += clock() - start
            start = clock()
            store.add(answer)
            add_s += clock() - start
        start = clock()
        store.close()
        add_s += clock() - start
        disk = sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
        count = read.runs
        print("| a run, in bundles of 20 | |\n|---|---|")
        for what, seconds in [
            ("read and check the sweep beforehand", survey_s),
            ("enumerate and hand out", take_s),
            ("make the run, rows as bytes (a worker)", run_s),
            ("take the rows in, write the files", add_s),
        ]:
            print(f"| {what} | {1e3 * seconds / count:.3f} ms |")
        for what, total in [("to a worker", out_bytes), ("back", back_bytes), ("on disk", disk)]:
            print(f"| {what} | {total / count:.0f} bytes |")
        print(f"| memory of the program at most, {count} runs | {peak_mb:.0f} MB |")
        print(f"| load | {busy():.1f} |", flush=True)


def bundles(options):
    """Bundles of one run, so that what a bundle costs is most of it. Dask's scheduler is a part of the driver's process here, Ray's is not."""
    print("| place | workers | bundles | processor time of the driver a bundle | load |\n|---|---|---|---|---|")
    for name in [name for name in options.places if name != "local"]:
        for workers in options.workers:
            with place(name, workers) as on, tempfile.TemporaryDirectory() as folder:
                warm_up(on, workers)
                _, cpu_s, result = swept(design(options.runs, "300ms"), on, workers, folder, bundle_s=0)
            print(
                f"| {name} | {workers} | {result.runs} | {1e3 * cpu_s / result.runs:.2f} ms | {busy():.1f} |",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["runs", "share", "driver", "bundles"])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--workers", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4])
    parser.add_argument("--places", type=lambda text: text.split(","), default=["local", "dask", "ray"])
    options = parser.parse_args()
    {"runs": runs, "share": share, "driver": driver_costs, "bundles": bundles}[options.what](options)


if __name__ == "__main__":
    main()
