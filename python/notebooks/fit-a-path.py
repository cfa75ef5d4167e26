# SPDX-License-Identifier: MIT OR Apache-2.0
# %% [markdown]
# # From a measurement to a path
#
# `iperf3 --json`, `ping` and `ss -ti` tell much of a path. Here are such files; put your own in their place.

# %%
import os
from pathlib import Path

import polars as pl

import tandem_cc as tandem

folder = Path(os.environ.get("MEASUREMENTS", "../../crates/advise/tests/fixtures"))
files = [folder / name for name in ("iperf3.json", "ping-idle.txt", "ping-loaded.txt", "ss.txt")]
measured = tandem.measured(*files)
pl.DataFrame([vars(value) for value in measured.inferred])

# %% [markdown]
# The files were made over an emulated path of 50 Mb/s and 30 ms with a queue of 36 ms. The longest wait that was seen bounds the queue
# from below only, so fit it: which queue gives the RTTs that a loaded `ping` saw? One CUBIC flow loads the path, as it did then.

# %%
LOADED_PING_MS = 63.1  # the 95th percentile of ping-loaded.txt
queues = [f"{ms}ms" for ms in range(24, 49, 4)]
rows = []
for queue in queues:
    path = tandem.Dumbbell(rate=str(measured.rate), rtt=str(measured.rtt), queue=queue)
    result = tandem.compare(path, "cubic", seeds=1, duration="20s", warmup="5s", traces="none")
    rows.append({"queue": queue, "rtt_p95_ms": result.groups["rtt_p95_ms"][0]})
fit = pl.DataFrame(rows).with_columns(error_ms=(pl.col("rtt_p95_ms") - LOADED_PING_MS).abs())
fit

# %%
best = fit.sort("error_ms").row(0, named=True)
best

# %%
# The path had 36 ms; the fit is as fine as the steps that were tried.
assert best["queue"] in {"32ms", "36ms", "40ms"}

# %% [markdown]
# On the fitted path: what would another controller do?

# %%
path = tandem.Dumbbell(rate=str(measured.rate), rtt=str(measured.rtt), queue=best["queue"])
result = tandem.compare(path, ["cubic", "compound_tube", "bbr"], seeds=2, duration="20s", warmup="5s")
result

# %%
result.plot()
