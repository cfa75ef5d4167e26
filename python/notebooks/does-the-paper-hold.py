# SPDX-License-Identifier: MIT OR Apache-2.0
# %% [markdown]
# # Does the paper hold?
#
# The experiments of the papers behind the controllers come with the package, each with what the paper says as claims that can be checked.

# %%
import polars as pl

from tandem_cc import papers

listed = pl.DataFrame([{"id": paper.id, "title": paper.title, "paper": paper.paper} for paper in papers.list()])
assert "s0/fig3" in listed["id"]
listed

# %% [markdown]
# One of them in its quick form: fewer seeds and points, so that it takes seconds. Leave out `quick=True` for a verdict to rely on.

# %%
(finding,) = papers.run("s2/fig1", quick=True)
print(finding)

# %%
finding.plot()

# %% [markdown]
# Each claim has a verdict, and the points that decide it with their numbers.

# %%
claims = pl.DataFrame(
    [
        {"claim": claim["text"], "verdict": claim["verdict"], "where": point["at"], "mean": point["mean"]}
        for claim in finding.details["claims"]
        for point in claim["decided_by"]
    ]
)
claims

# %%
assert finding.verdict in {"holds", "holds in part", "fails", "undecided", "not run"}
