# SPDX-License-Identifier: MIT OR Apache-2.0
"""A bar that shows how much is done: in a terminal, and in a notebook."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BAR = "{l_bar}{bar}| {elapsed}<{remaining}"
"""Without counts: the share is all that is known."""

DELAY_S = 0.5
"""A run that is quicker needs no bar."""


@contextmanager
def bar(shown: bool | None, title: str) -> Iterator[Callable[[float], None]]:
    """Shows a bar, and gives what moves it to a share from 0 to 1.

    Args:
        shown: None shows it where tqdm would: on a terminal, and in a notebook.
        title: the text before the bar.
    """
    with warnings.catch_warnings():
        # A notebook without ipywidgets has tqdm's bar of text, which is good enough.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

    disable = None if shown is None else not shown
    with tqdm(total=1.0, desc=title, bar_format=BAR, disable=disable, delay=DELAY_S, leave=False) as drawn:
        yield lambda share: drawn.update(min(share, 1.0) - drawn.n)
