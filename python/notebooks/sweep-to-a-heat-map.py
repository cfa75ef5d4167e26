# SPDX-License-Identifier: MIT OR Apache-2.0
# %% [markdown]
# # From a sweep to a heat map
#
# Where does a controller use the path, and where does it not? A sweep runs a scenario with every combination of some values, and
# keeps a row for each run.

# %%
import tempfile

import polars as pl

import tandem_cc as tandem

path = tandem.Dumbbell(rate="20mbit", rtt="40ms", queue="1bdp")
grid = {
    "dumbbell.rtt": ["10ms", "20ms", "40ms", "80ms", "160ms"],
    "dumbbell.loss": [0, 1e-4, 1e-3, 1e-2],
}
how = {"flows": "compound", "duration": "20s", "warmup": "5s", "seeds": 2}
folder = tempfile.mkdtemp()  # Name a folder of yours, and the runs are there the next time.
swept = tandem.sweep(path, grid=grid, folder=folder, **how)
swept

# %% [markdown]
# Two columns of numbers are a heat map: here of the share of the bottleneck that one flow uses.

# %%
swept.plot("dumbbell.loss", "dumbbell.rtt_s", measure="link_utilisation")

# %% [markdown]
# The same question for another controller: its values join the grid, and only its runs are made.

# %%
both = tandem.sweep(path, grid=grid | {"flows[0].controller": ["compound", "cubic", "reno"]}, folder=folder, **how)
both.ran, both.found

# %%
# 5 RTTs, 4 rates of loss and 2 seeds were there; two more controllers are new.
assert (both.ran, both.found) == (80, 40)

# %% [markdown]
# A column of words is a line for each word.

# %%
both.plot("dumbbell.loss", "flows[0].controller", measure="link_utilisation")

# %% [markdown]
# All else is a data frame's work. How many times Reno's goodput does Compound have?

# %%
runs = pl.DataFrame(both.groups)
mean = runs.group_by("dumbbell.rtt_s", "dumbbell.loss", "controller").agg(pl.mean("goodput_mbps"))
wide = mean.pivot("controller", index=["dumbbell.rtt_s", "dumbbell.loss"], values="goodput_mbps")
gain = wide.with_columns(gain=(pl.col("compound") / pl.col("reno")).round(2))
gain.sort("dumbbell.rtt_s", "dumbbell.loss").pivot("dumbbell.loss", index="dumbbell.rtt_s", values="gain")

# %%
# Without losses a short path is full, whichever controller sends.
assert gain.filter(pl.col("dumbbell.loss") == 0, pl.col("dumbbell.rtt_s") == 0.01)["gain"].item() > 0.9
