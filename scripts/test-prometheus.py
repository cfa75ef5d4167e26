#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A real Prometheus scrapes `tandem kernel watch --prometheus` while connections, a trial and a loaded controller are there, and answers each
query of packaging/grafana.json. promtool checks the names. Needs root and Debian's package `prometheus`; with the package
grafana-foundation-sdk of PyPI, Grafana's own types read the dashboard, too.

    cargo build && scripts/test-prometheus.py [TANDEM]
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DASHBOARD = ROOT / "packaging/grafana.json"
# What Grafana puts in for its variables.
VARIABLES = {"$job": "tandem", "$instance": ".+", "$controller": ".+", "$__rate_interval": "10s"}
NAME = "promtest"
PATIENCE_S = 120


def skip(why: str) -> None:
    """Exit status 77: nothing was tested."""
    print(f"SKIPPED: Prometheus: {why}")
    sys.exit(77)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return str(answer.read().decode())


def wait_until(what: str, holds) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if holds():
                return
        except OSError:
            pass
        time.sleep(0.3)
    sys.exit(f"FAILED: waited in vain until {what}")


def exchange(controller: str | None, count: int) -> None:
    """A connection over loopback, which receives what it is sent."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as near:
        if controller:
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
        near.connect(server.getsockname())
        far = server.accept()[0]
        with far:
            for _ in range(count):
                near.sendall(b"x" * 50_000)
                left = 50_000
                while left > 0:
                    left -= len(far.recv(left))
                time.sleep(0.2)


def traffic(is_over: threading.Event) -> None:
    """Long connections with the loaded controller, short ones that take part in the trial."""
    while not is_over.is_set():
        lasting = threading.Thread(target=exchange, args=(NAME, 40))
        lasting.start()
        while lasting.is_alive():
            exchange(None, 1)


def queries() -> list[tuple[str, str]]:
    found = []
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            query = target["expr"]
            for variable, value in VARIABLES.items():
                query = query.replace(variable, value)
            found.append((panel["title"], query))
    return found


def ask(prometheus: str, query: str) -> list:
    answer = json.loads(get(f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": query})))
    return list(answer["data"]["result"])


def read_by_grafanas_types() -> None:
    try:
        from grafana_foundation_sdk.cog.encoder import JSONEncoder
        from grafana_foundation_sdk.models.dashboard import Dashboard
    except ImportError:
        print("SKIPPED: Grafana's types (pip install grafana-foundation-sdk)")
        return
    written = json.loads(DASHBOARD.read_text())
    read = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(written)))
    exprs = [[t["expr"] for t in panel["targets"]] for panel in written["panels"]]
    assert exprs == [[t["expr"] for t in panel["targets"]] for panel in read["panels"]], "Grafana reads other queries"
    print(f"ok: Grafana's types read {len(exprs)} panels")


def check(tandem: str, folder: Path, started: list[subprocess.Popen]) -> None:
    port, own = free_port(), free_port()
    exporter, prometheus = f"127.0.0.1:{port}", f"http://127.0.0.1:{own}"
    subprocess.run([tandem, "kernel", "load", "bbr3", "--as", NAME], check=True, stdout=subprocess.DEVNULL)
    started.append(subprocess.Popen([tandem, "kernel", "watch", "--prometheus", exporter, "--probes", "--interval", "200ms"]))
    trial = [tandem, "trial", "reno", "--against", "cubic", "--no-report", "--out", str(folder / "trial")]
    started.append(subprocess.Popen(trial, stdout=subprocess.DEVNULL))
    wait_until("it is listened on", lambda: get(f"http://{exporter}/metrics"))
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [{"job_name": "tandem", "static_configs": [{"targets": [exporter]}]}]}
    # JSON is YAML.
    (folder / "prometheus.yml").write_text(json.dumps(config))
    subprocess.run(["promtool", "check", "config", str(folder / "prometheus.yml")], check=True, stdout=subprocess.DEVNULL)
    listen = [f"--web.listen-address=127.0.0.1:{own}", f"--storage.tsdb.path={folder}/data", "--log.level=warn"]
    started.append(subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", *listen]))
    is_over = threading.Event()
    sender = threading.Thread(target=traffic, args=(is_over,))
    sender.start()
    try:
        wait_until("Prometheus scrapes", lambda: any(r["value"][1] == "1" for r in ask(prometheus, "up")))
        lint = subprocess.run(["promtool", "check", "metrics"], input=get(f"http://{exporter}/metrics"), text=True, capture_output=True)
        assert lint.returncode == 0 and not lint.stderr, lint.stderr
        print("ok: promtool check metrics")
        for title, query in queries():
            wait_until(f"`{title}` has data: {query}", lambda query=query: any(r["value"][1] != "NaN" for r in ask(prometheus, query)))
            print(f"ok: {title}")
    finally:
        is_over.set()
        sender.join()


def main() -> None:
    if os.geteuid() != 0:
        skip("it needs root")
    for program in ["prometheus", "promtool"]:
        if not shutil.which(program):
            skip(f"there is no {program} (apt-get install prometheus)")
    tandem = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/debug/tandem")
    started: list[subprocess.Popen] = []
    read_by_grafanas_types()
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(tandem, Path(folder), started)
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()
            subprocess.run([tandem, "kernel", "unload", NAME], stdout=subprocess.DEVNULL)


main()
