# SPDX-License-Identifier: BSD-2-Clause
"""Is the interval that a run finds the right one? Beside it, in turns: the same sweep with intervals that are given, and Revolve.
The best of these is chosen in one half of the turns and compared with in the other, both ways round, or luck would choose it.
A sweep is one of a user's: the first of its process. The cells are drawn so that ranks, states and disks are all met, and each
amount of work alike; a run measures as many of them, in an order that is drawn, too, as the limit allows. Settings that
took far longer than the fastest one in the first turn are not run again."""
import random
import subprocess
import time
from contextlib import contextmanager
from statistics import median

from machine import cores, say
from overhead import memory_for
from table import markdown, pick, ratios

WORK = (1, 4, 16, 48)
GRIDS = {1: (512, 256), 8: (1024, 1024), 32: (2048, 2048)}  # MiB of a state on a rank: its cells
SECONDS = 4  # that a sweep is to take, with the interval that it finds
HOPELESS = 1.3  # times the seconds of the fastest given setting, in the first turn
LIMIT = 1800  # of the whole, in seconds
STEPS = (48, 5000)
DISKS = (0, 400_000_000)  # bytes per second, all ranks together; 0: as it is
GIVEN = [f"async={interval}" for interval in (1, 2, 4, 8, 16, 32)] + ["revolve"]
MODES = ["async", "async+"] + GIVEN
SLOTS = 8


@contextmanager
def busy(programs):
    """So many other programs that compute, without much memory."""
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(programs)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def flags_of(bench, ranks, mib, work, disk):
    """As many steps as the time allows, by a sweep of a tenth of the time that is not the first one of its process."""
    grid = GRIDS[mib]
    flags = {"cells_x": grid[0], "cells_y": grid[1] * ranks, "work": work,
             "memory": memory_for(SLOTS, mib << 20), "bandwidth_limit": disk // ranks}
    steps = STEPS[0]
    while True:
        taken = pick(bench.sweep(ranks, ["async"], **flags, steps=steps, rounds=1), "seconds")[-1]
        fitting = min(max(int(steps * bench.choose(SECONDS, 0.05) / taken), bench.choose(STEPS[0], 24)), STEPS[1])
        if fitting < 10 * steps:
            break
        steps *= 10
    steps = fitting
    return {**flags, "steps": steps, "rounds": bench.choose(4, 2)}


def predicted_over_taken(rows):
    """The first sweep of a run takes an adjoint step for two steps, for want of anything better:
    here with the one that it had. Both are without what comes before the first step of the sweep."""
    of = lambda column: pick(rows, column, mode="async")
    return [(p + guessed * n * (adjoint - 2 * step)) / taken for p, guessed, n, adjoint, step, taken in
            zip(of("predicted"), of("adjoint_guessed"), of("steps"), of("adjoint_step"), of("step"),
                of("seconds_total"))]


def with_the_best(rows):
    """The best setting of the odd turns and that of the even ones; the found interval's time over theirs in the other turns."""
    halves = [[row for row in rows if row["round"] % 2 == odd] for odd in (0, 1)]
    given = [mode for mode in GIVEN if pick(rows, "seconds", mode=mode)]
    bests, over = [], []
    for chosen_in, compared_in in (halves, halves[::-1]):
        bests.append(min(given, key=lambda mode: median(pick(chosen_in, "seconds", mode=mode))))
        over += ratios(compared_in, "seconds", "async", bests[-1])
    return bests, over


def sweeps_of(bench, ranks, modes, flags):
    """Turns of all modes in an order that is drawn, each sweep in a process of its own; after the first turn of those alone
    that may be the best."""
    rows = []
    for turn in range(1, flags["rounds"] + 1):
        for mode in random.Random(turn).sample(modes, len(modes)):
            rows += [{**row, "round": turn} for row in bench.sweep(ranks, [mode], **{**flags, "rounds": 1, "cold": 1})]
        if turn == 1:
            slow = HOPELESS * min(row["seconds"] for row in rows if row["mode"] in GIVEN)
            modes = [row["mode"] for row in rows if row["seconds"] <= slow or row["mode"] not in GIVEN]
            rows = [row for row in rows if row["mode"] in modes]
    return rows


def drawn_cells(bench):
    """Ranks, other programs, MiB of a state, limit of the disk and work."""
    cells = [(ranks, others, mib, disk) for ranks, others in ((2, 0), (1, 1), (1, 0))
             for mib in bench.choose(list(GRIDS), [1]) for disk in bench.choose(DISKS, DISKS[:1])]
    cells = [(*cell, WORK[i % len(WORK)]) for i, cell in enumerate(cells)]
    random.Random(47).shuffle(cells)
    return cells


def measured_cells(bench):
    """One cell after the other: its columns in a table, and the rows of its sweeps. An interval of all steps is Revolve's, and left out."""
    start = time.monotonic()
    for ranks, others, mib, disk, work in drawn_cells(bench):
        if time.monotonic() - start > LIMIT:
            break
        with busy(others):
            flags = flags_of(bench, ranks, mib, work, disk)
            shorter = [mode for mode in MODES if not mode.startswith("async=") or int(mode[6:]) < flags["steps"]]
            rows = sweeps_of(bench, ranks, shorter, flags)
        yield [f"{ranks}" + (", a core busy" if others else ""), f"{mib} MiB",
               f"{disk // 10**6} MB/s" if disk else "as it is", work,
               f"{1e3 * min(pick(rows, 'step')):.3g} ms", flags["steps"]], rows


CELL_HEADING = ["ranks", "state", "disk", "work", "a step", "steps"]


def seconds_of_modes(rows):
    return ", ".join(f"{mode} {median(pick(rows, 'seconds', mode=mode)):.2f}" for mode in dict.fromkeys(pick(rows, "mode")))


def run(bench, claims):
    table, near, far, well = [], 0, 0, 0
    for cell, rows in measured_cells(bench):
        bests, over = with_the_best(rows)
        ratio = median(over)
        noise = abs(median(ratios(rows, "seconds", "async", "async+")) - 1)
        predicted = median(predicted_over_taken(rows))
        near += ratio <= 1.05 + noise
        far += ratio > 1.10 + noise
        well += abs(predicted - 1) <= 0.10
        found = sorted(pick(rows, "interval", mode="async"))
        waited = [w / t for w, t in zip(pick(rows, "stalled_read", mode="async"),
                                        pick(rows, "seconds", mode="async"))]
        table.append(cell + [f"{found[0]}..{found[-1]}", ", ".join(dict.fromkeys(bests)), f"{ratio:.3f}",
                             len(over), f"{noise:.3f}", f"{predicted:.2f}", f"{100 * median(waited):.1f} %"])
        say("  interval: " + " | ".join(map(str, table[-1])) + " | seconds: " + seconds_of_modes(rows))
    cells = len(table)
    claims.at_least("interval: share of the cells within 5 % of the best", [near / cells], 66 / 72)
    claims.at_most("interval: cells beyond 10 % of the best", [far], 0, "{:g}")
    claims.at_least("interval: share of the predictions within 10 %", [well / cells], 1)
    return (f"\nOn {cores()} cores, memory for {SLOTS} states. {near} of {cells} cells within 5 % of "
            f"the best, {far} beyond 10 % (and what one setting differs from itself), {well} "
            f"predictions within 10 %.\n\n" +
            markdown(CELL_HEADING + ["intervals found", "best", "found / best", "turns", "same / same",
                                     "predicted / taken", "waited for reads"], table))
