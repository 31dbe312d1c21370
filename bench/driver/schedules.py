# SPDX-License-Identifier: BSD-2-Clause
"""Does a schedule keep what the plan promises where cores and memory are shared? Each beside async, in the interval's cells.
Where `anadrome plan` says of what was measured that it is faster, it must not be much slower."""
from statistics import median

from interval import CELL_HEADING, SLOTS, cells_of
from machine import cores, say
from overhead import memory_for
from situations import ask
from table import markdown, pick, ratios

OTHERS = ["double", "overlapped", "disk_revolve", "hrevolve"]


def planned(bench, rows):
    """Seconds of each schedule that `anadrome plan` says to run: steps as they are beside no transfer, transfers as all schedules had them."""
    first = rows[0]
    step = lambda column: median(pick(rows, column, mode="revolve"))
    moving = {column: [row[column] for row in rows if row["round"] > 0 and row[column] > 0] for column in ("write_state", "read_state")}
    write = median(moving["write_state"])
    read = median(moving["read_state"]) if moving["read_state"] else write
    rate = lambda seconds: f"{first['state_bytes'] / seconds:.0f}B/s"
    answer = ask(bench, ["plan", "--ranks", first["ranks"], "--steps", first["steps"], "--state", first["state_bytes"],
                         "--step-time", f"{step('step'):.9f}s", "--adjoint-time", f"{step('adjoint_step'):.9f}s",
                         "--memory", memory_for(SLOTS, first["state_bytes"]), "--write-rate", rate(write), "--read-rate", rate(read)])
    return {row["schedule"]: row["seconds"] for row in answer["schedules"] if row["runs"]}


def run(bench, claims):
    table, worst = [], {other: [] for other in OTHERS}
    for cell, rows in cells_of(bench, ["async", "revolve"] + OTHERS, "schedules"):
        expected = planned(bench, rows)
        entries = []
        for other in OTHERS:
            ratio = median(ratios(rows, "seconds", other, "async"))
            promised = expected[other] / expected["async"] if other in expected else 0
            if 0 < promised < 1:
                worst[other].append(ratio)
            entries.append(f"{ratio:.2f} ({promised:.2f})" if promised > 0 else f"{ratio:.2f} (-)")
        table.append(cell + entries)
        say("  schedules: " + " | ".join(map(str, table[-1])))
    for other in OTHERS:
        if worst[other]:
            claims.at_most(f"schedules: {other} over async, where the plan promises less "
                           f"({len(worst[other])} cells), the worst", [max(worst[other])], 1.10)
    return (f"\nOn {cores()} cores, memory for {SLOTS} states. Time over that of async, and in brackets "
            f"the same as `anadrome plan` says.\n\n" +
            markdown(CELL_HEADING + OTHERS, table))
