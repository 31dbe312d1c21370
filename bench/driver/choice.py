# SPDX-License-Identifier: BSD-2-Clause
"""What schedule=auto takes, against every schedule taken by itself, in equal memory."""
from statistics import median

from machine import say
from overhead import memory_for
from table import markdown, pick, ratios, size, spread

GRID = (1024, 128)
WORK = 8  # a step of more than a millisecond
PLAN_BYTES = 1 << 10  # of memory per step, for a plan with overlapped transfers
SINGLES = ["revolve", "async", "overlapped", "disk_revolve", "hrevolve", "multistage"]
HOPELESS = 1.3  # times the best in the first turns: not measured again


def situations(bench):
    """Times that a state's I/O takes of a step (0: the disk as it is), slots, steps."""
    return [(times, slots, steps) for times in bench.choose((0, 8, 60), (0, 60))
            for slots in (5, 40) for steps in bench.choose((30, 300), (30, 60))]


def measure(bench, singles, name, flags):
    """Rows of all, the best of them often: a second turn tells who is out of the question."""
    rows = bench.sweep(1, ["auto"] + singles, name + "_all", rounds=1, **flags)
    seconds = {mode: pick(rows, "seconds", mode=mode)[0] for mode in singles}
    least = min(seconds.values())
    close = [mode for mode in singles if seconds[mode] <= HOPELESS * least]
    turns = bench.choose(9 if flags["steps"] < 100 else 5, 2)
    often = bench.sweep(1, ["auto"] + close, name, rounds=turns, **flags)
    return {**seconds, **{mode: median(pick(often, "seconds", mode=mode)) for mode in close}}, often


def run(bench, claims):
    state_bytes = GRID[0] * GRID[1] * 8
    flags = {"cells_x": GRID[0], "cells_y": GRID[1], "work": bench.choose(WORK, 1)}
    pilot = bench.sweep(1, ["async"], steps=100, rounds=3, memory=memory_for(20, state_bytes), **flags)
    step = median(pick(pilot, "step"))
    table = []
    for times, slots, steps in situations(bench):
        say(f"  choice: I/O of {times} steps, {slots} slots, {steps} steps")
        singles = [mode for mode in SINGLES + ["store_all"]
                   if (mode != "store_all" or slots > steps) and
                   (mode != "overlapped" or steps * PLAN_BYTES < memory_for(slots, state_bytes) / 2) and
                   (mode != "multistage" or times < 60 or steps <= slots)]
        flags.update(steps=steps, memory=memory_for(slots, state_bytes),
                     bandwidth_limit=int(state_bytes / (times * step)) if times else 0)
        seconds, rows = measure(bench, singles, f"choice_{times}_{slots}_{steps}", flags)
        best = min(seconds, key=seconds.get)
        over = ratios(rows, "seconds", "auto", best)
        disk = f"{times} steps" if times else "as it is"
        claims.at_most(f"choice, a state's I/O {disk}, {slots} slots, n = {steps}: auto over {best}",
                       over, 1.05)
        table.append([disk, slots, steps, f"{seconds[best]:.2f}", best, spread(over)] +
                     [f"{seconds[mode] / seconds[best]:.2f}" if mode in seconds else "-"
                      for mode in SINGLES + ["store_all"]])
    return (f"\nStates of {size(state_bytes)}, steps of {1e3 * step:.2f} ms, one rank.\n\n" +
            markdown(["I/O of a state", "slots", "n", "seconds", "best single", "auto over it"] +
                     SINGLES + ["store_all"], table))
