# SPDX-License-Identifier: MIT OR Apache-2.0
"""A figure of matplotlib that a notebook shows."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that is shown in a notebook without pyplot, which would keep every figure in memory."""

    def _repr_png_(self) -> bytes:
        png = BytesIO()
        self.savefig(png, format="png")
        return png.getvalue()
