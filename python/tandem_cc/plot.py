# SPDX-License-Identifier: MIT OR Apache-2.0
"""The charts of reports, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tandem_cc.errors import RunError, UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Chart = dict[str, Any]
"""What the report knows of a chart: title, axes `x` and `y`, `time` and `map` if it has them, and a list of `series`."""

WIDTH_INCHES = 7.0
HEIGHT_INCHES = 3.2
INCHES_OF_A_ROW = 0.35
MAX_LEGEND_ENTRIES = 24
"""More would be a chart of a legend."""

LINES = {"line": "-", "dashed": "--", "dotted": ":", "marked": "-", "steps": "-"}
SYMBOLS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "pentagon": "p",
    "star": "*",
    "hexagram": (6, 1, 0),
    "cross": "P",
    "hourglass": "d",
}
"""The report's symbols as matplotlib calls them."""


def draw(sections: list[dict[str, Any]], run: str | None) -> Figure:
    """Draws the charts of a section, one below the other.

    Args:
        sections: those of a report, each with its name and its charts; the first, which has no name, compares runs.
        run: the section's name; the first section if not given.

    Raises:
        UsageError: there is no such section.
        RunError: matplotlib is not installed.
    """
    names = [section["section"] for section in sections]
    if run is not None and run not in names[1:]:
        raise UsageError(f"there is no run `{run}`: the runs are {', '.join(f'`{name}`' for name in names[1:])}")
    section = sections[names.index(run or "")]
    return figure([chart for chart in section["charts"] if chart["series"] or chart.get("map")])


def figure(charts: list[Chart]) -> Figure:
    """Draws charts one below the other."""
    try:
        from tandem_cc.picture import Picture
    except ImportError as e:
        raise RunError("charts are drawn with matplotlib, which is missing: pip install tandem-cc[plot]") from e

    heights = [_height(chart) for chart in charts]
    drawn = Picture(figsize=(WIDTH_INCHES, sum(heights)), layout="constrained")
    axes = drawn.subplots(len(charts), squeeze=False, height_ratios=heights)[:, 0]
    for chart, ax in zip(charts, axes, strict=True):
        _draw(chart, ax)
    return drawn


def _height(chart: Chart) -> float:
    return max(HEIGHT_INCHES, 1.2 + INCHES_OF_A_ROW * len(chart["y"].get("names", ())))


def _draw(chart: Chart, ax: Axes) -> None:
    ax.set_title(chart["title"], loc="left", fontsize="medium")
    if chart.get("map"):
        _map(chart["map"], ax)
    entries = set()
    for series in chart["series"]:
        entry = series.get("entry") or series["name"]
        _series(series, ax, None if entry in entries else entry)
        entries.add(entry)
    _axis(chart, "x", ax)
    _axis(chart, "y", ax)
    if "time" in chart:
        _measured_part(chart, ax)
    are_rows = entries <= set(chart["y"].get("names", ()))
    if 1 < len(entries) <= MAX_LEGEND_ENTRIES and not are_rows:
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _series(series: dict[str, Any], ax: Axes, label: str | None) -> None:
    look = {"color": series["colour"], "label": label, "alpha": 0.7 if series.get("faint") else 1.0}
    draw, x, y = series["draw"], series["x"], series["y"]
    if draw == "bars":
        ax.barh(y, x, height=series.get("width") or 0.8, **look)
        return
    symbol = SYMBOLS.get(series["symbol"], "o")
    has_points = draw not in ("line", "dashed", "dotted", "steps")
    if draw == "published":
        look["markerfacecolor"] = "none"
    ax.errorbar(
        x,
        y,
        xerr=series.get("half_x") or None,
        yerr=series.get("half_y") or None,
        linestyle=LINES.get(draw, ""),
        linewidth=1.3,
        marker={"published": "D", "measured": "x"}.get(draw, symbol) if has_points else "",
        markersize=3 if len(x) > 100 else 6,
        capsize=3,
        drawstyle="steps-post" if draw == "steps" else "default",
        **look,
    )


def _map(cells: dict[str, Any], ax: Axes) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    # A cell without a value is a hole.
    values = [[float("nan") if z is None else z for z in row] for row in cells["z"]]
    colours = LinearSegmentedColormap.from_list("tandem", [(share, colour) for share, colour in cells["scale"]])
    low, high = cells["ends"]
    mesh = ax.pcolormesh(cells["x"], cells["y"], values, cmap=colours, vmin=low, vmax=high, shading="nearest")
    ax.figure.colorbar(mesh, ax=ax)


def _axis(chart: Chart, which: str, ax: Axes) -> None:
    axis, plain = chart[which], getattr(ax, f"{which}axis")
    plain.set_label_text(axis["title"])
    if axis.get("log"):
        getattr(ax, f"set_{which}scale")("log")
    elif axis.get("names"):
        plain.set_ticks(range(len(axis["names"])), axis["names"], fontsize="small")
        getattr(ax, f"set_{which}lim")(-0.5, len(axis["names"]) - 0.5)
    elif chart["series"] and not chart.get("map"):
        _limits(chart, which, ax)
    if axis.get("reversed"):
        plain.set_inverted(True)


def _limits(chart: Chart, which: str, ax: Axes) -> None:
    """An axis begins at 0 unless it fits its values; one that points to the left ends there."""
    axis = chart[which]
    values = [value for series in chart["series"] for value in series[which] if value is not None]
    if not values or (axis.get("fitted") and not axis.get("reversed")):
        return
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.06 * (high - low)
    getattr(ax, f"set_{which}lim")(low - room if low < 0 or axis.get("reversed") else 0, high + room or 1)


def _measured_part(chart: Chart, ax: Axes) -> None:
    """Shows the part after the warm-up; slow start does not stretch the axis."""
    end, warmup = chart["time"]["end"], chart["time"]["warmup"]
    shown = [
        value
        for series in chart["series"]
        for time, value in zip(series["x"], series["y"], strict=True)
        if time >= (warmup or end / 10) and value is not None
    ]
    ax.set_xlim(warmup, end)
    if shown and max(shown) > min(shown):
        bottom = min(shown) if chart["y"].get("fitted") else min(0.0, *shown)
        ax.set_ylim(bottom, bottom + 1.06 * (max(shown) - bottom))
