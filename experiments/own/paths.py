# SPDX-License-Identifier: MIT OR Apache-2.0
"""Draws the round-trip times of the rows, in ms, in two halves."""

import math
import random

RANGES = {
    "alone": [(20, 63), (63, 110), (110, 200)],
    "reno": [(60, 120)],
    "cubic": [(60, 120)],
    "rtt": [(15, 30)],
    "staggered": [(40, 120)],
    "queue": [(40, 150)],
    "route": [(60, 120)],
    "loss": [(60, 140)],
    "jitter": [(40, 120)],
    "start": [(40, 150)],
    "tiny": [(20, 80)],
}

draw = random.Random(46)
for half in ("--quick", "judged"):
    print(half)
    for row, ranges in RANGES.items():
        logs = [draw.uniform(math.log(low), math.log(high)) for low, high in ranges]
        print(f"  {row}: {[round(math.exp(log)) for log in logs]}")
