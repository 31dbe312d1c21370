# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps of many steps, and what other programs do beside them: the interval found, against given ones and Revolve, as in `interval`.
A program computes, or writes to the disk, for one second of three. With a core free and steps so dear that every
state can be kept, the interval begins long and has to come down to 1."""
import os
import shlex
import subprocess
from contextlib import contextmanager
from statistics import median

from interval import seconds_of_modes, sweeps_of, with_the_best
from machine import cores, say
from overhead import memory_for, work_for
from table import markdown, pick, ratios

SLOTS = 8
GIVEN = [f"async={interval}" for interval in (1, 4, 8, 16)] + ["revolve"]
COMPUTES = "while :; do timeout --foreground 1 sh -c 'while :; do :; done'; sleep 2; done"
WRITES = "while :; do timeout --foreground 1 dd if=/dev/zero of={} bs=4M oflag=direct status=none; sleep 2; done"


@contextmanager
def beside(bench, command):
    """Another program, and what it has begun: a group of processes of its own."""
    if not command:
        yield
        return
    written = bench.path("bytes_of_another_program")
    other = subprocess.Popen(["sh", "-c", command.format(shlex.quote(written))], start_new_session=True)
    try:
        yield
    finally:
        os.killpg(other.pid, 9)
        other.wait()
        if os.path.exists(written):
            os.remove(written)


def cells(bench):
    """What it is called, ranks, columns and rows of the grid, work (0: a step of 2.5 times the I/O of a state), steps, another
    program, at most this over the best."""
    eight = (1024, 2048)  # on two ranks 8 MiB each
    return [("800 steps of 8 MiB", 2, eight, 1, bench.choose(800, 24), "", 1.05),
            ("5000 steps of 1 MiB", 2, (512, 512), 1, bench.choose(5000, 48), "", 1.05),
            ("another program computes in bursts", 2, eight, 1, bench.choose(800, 24), COMPUTES, 1.10),
            ("another program writes in bursts", 2, eight, 1, bench.choose(800, 24), WRITES, 1.10),
            ("a core free, a dear step", 1, (1024, 1024), 0, bench.choose(200, 24), "", 1.03)]


def run(bench, claims):
    table, everything = [], []
    for name, ranks, grid, work, steps, command, limit in cells(bench):
        flags = {"cells_x": grid[0], "cells_y": grid[1], "steps": steps, "rounds": bench.choose(3, 2),
                 "memory": memory_for(SLOTS, grid[0] * grid[1] * 8 // ranks),
                 "work": work or work_for(bench, ranks, grid, SLOTS, 2.5)}
        with beside(bench, command):
            rows = sweeps_of(bench, ranks, ["async", "async+", *GIVEN], flags)
        bests, over = with_the_best(rows)
        noise = ratios(rows, "seconds", "async", "async+")
        everything += [{"sweep": name, **row} for row in rows]
        bench.write_rows("bursts", everything)
        fastest = lambda *modes: min(seconds for mode in modes for seconds in pick(rows, "seconds", mode=mode))
        least = fastest("async", "async+") / min(map(fastest, {row["mode"] for row in rows} & set(GIVEN)))
        found = sorted(pick(rows, "interval", mode="async"))
        table.append([name, ranks, flags["work"], steps, f"{1e3 * min(pick(rows, 'step')):.3g} ms",
                      f"{found[0]}..{found[-1]}", ", ".join(dict.fromkeys(bests)), f"{median(over):.3f}", f"{least:.3f}",
                      f"{min(noise):.2f}..{max(noise):.2f}", seconds_of_modes(rows)])
        say("  bursts: " + " | ".join(map(str, table[-1])))
        claims.at_most(f"bursts: {name}, seconds over those of the best", over, limit)
    return (f"\nOn {cores()} cores, memory for {SLOTS} states; medians of the turns in seconds.\n\n" +
            markdown(["sweep", "ranks", "work", "steps", "a step", "intervals found", "best", "found / best",
                      "the fastest of each", "same / same", "seconds"], table))
