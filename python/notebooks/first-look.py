# SPDX-License-Identifier: MIT OR Apache-2.0
# %% [markdown]
# # A first look
#
# Which congestion controller suits a path, and what does it do to its neighbours? Describe the path, name the contenders, run, look.

# %%
import polars as pl

import tandem_cc as tandem

path = tandem.Dumbbell(rate="50mbit", rtt="60ms", queue="0.5bdp", loss=1e-5)
result = tandem.compare(
    path, ["reno:2", "cubic:2", "compound_tube:2"], against="reno:2", seeds=3, duration="20s", warmup="5s"
)
result

# %% [markdown]
# Each row of `groups` is one run, seed and group of flows. Data frames take the table as it is.

# %%
groups = pl.DataFrame(result.groups)
groups.group_by("run", "group", maintain_order=True).agg(pl.col("goodput_mbps", "stolen", "rtt_p95_ms").mean().round(2))

# %% [markdown]
# The charts are those of the report. The first one is the answer in a picture: up and to the right is better.

# %%
result.plot()

# %% [markdown]
# What did the windows do? `trace` has them over time, with the RTT and the queue of the bottleneck.

# %%
result.plot("compound_tube")

# %%
trace = pl.DataFrame(result.trace(seed=1))
measured = trace.filter(pl.col("time_s") > 5)
summary = measured.group_by("run", "group", maintain_order=True).agg(
    pl.col("cwnd_packets").mean().round(1), pl.col("queue_packets").quantile(0.95).alias("queue_p95_packets")
)
summary

# %% [markdown]
# ## A controller by hand
#
# The same controllers can be stepped, call by call, to see why they do what they do: Reno doubles its window in slow start, and
# a loss takes half.

# %%
reno = tandem.Controller("reno")
windows = []
for _ in range(5):
    flight = reno.connection.snd_cwnd
    reno.connection.now_us += 100_000
    reno.pkts_acked(flight, rtt_us=100_000)
    reno.cong_avoid(flight)
    windows.append(reno.connection.snd_cwnd)
windows

# %%
assert windows == [20, 40, 80, 160, 320]
reno.ssthresh()
