# SPDX-License-Identifier: BSD-2-Clause
"""Does a schedule keep what its model promises where cores and memory are shared? Each beside async, in the interval's cells.
Where its own model says that it is faster, it must not be much slower."""
from statistics import median

from interval import CELL_HEADING, SLOTS, cells_of
from machine import cores, say
from table import markdown, pick, ratios

OTHERS = ["double", "overlapped", "disk_revolve", "hrevolve"]


def run(bench, claims):
    table, worst = [], {other: [] for other in OTHERS}
    for cell, rows in cells_of(bench, ["async", "revolve"] + OTHERS, "schedules"):
        expected = {mode: median(pick(rows, "predicted", mode=mode)) for mode in ["async"] + OTHERS}
        entries = []
        for other in OTHERS:
            ratio = median(ratios(rows, "seconds", other, "async"))
            promised = expected[other] / expected["async"] if expected["async"] > 0 else 0
            if 0 < promised < 1:
                worst[other].append(ratio)
            entries.append(f"{ratio:.2f} ({promised:.2f})" if promised > 0 else f"{ratio:.2f} (-)")
        table.append(cell + entries)
        say("  schedules: " + " | ".join(map(str, table[-1])))
    for other in OTHERS:
        if worst[other]:
            claims.at_most(f"schedules: {other} over async, where its model promised less "
                           f"({len(worst[other])} cells), the worst", [max(worst[other])], 1.10)
    return (f"\nOn {cores()} cores, memory for {SLOTS} states. Time over that of async, and in brackets "
            f"predicted time over that predicted of async.\n\n" +
            markdown(CELL_HEADING + OTHERS, table))
