# SPDX-License-Identifier: BSD-2-Clause
"""The whole sweep in each way of having the states, in equal memory, against every state in RAM."""
import math
from statistics import median

from machine import say
from table import markdown, pick, ratios, size, spread

MODES = ["ideal", "revolve", "by_hand", "sync_disk", "sync_interval", "async",
         "async_zero_copy"]
SLOTS_SPARE = 8192  # of bookkeeping per slot, more than the library needs


def modes_of(name):
    """Only on a slow disk is the interval far enough from 1 for it to matter who chose it."""
    return [mode for mode in MODES if name == "slow_disk" or mode != "sync_interval"]


def memory_for(slots, state_bytes):
    return slots * (state_bytes + SLOTS_SPARE)


def pilot(bench, ranks, grid, slots, work, steps=40, limit=0):
    """Medians of what the library measured in short sweeps."""
    state_bytes = grid[0] * grid[1] * 8 // ranks
    rows = bench.sweep(ranks, ["async"], cells_x=grid[0], cells_y=grid[1], steps=steps, work=work,
                       rounds=3, memory=memory_for(slots, state_bytes), bandwidth_limit=limit)
    return {name: median(pick(rows, name))
            for name in ("step", "write_state", "read_state", "interval")}


def work_for(bench, ranks, grid, slots, times_io):
    """Arithmetic per step that makes a step take `times_io` times a state's I/O."""
    low, high = pilot(bench, ranks, grid, slots, 1), pilot(bench, ranks, grid, slots, 9)
    io = max(low["write_state"], low["read_state"], high["write_state"], high["read_state"])
    per_work = max((high["step"] - low["step"]) / 8, 1e-6)
    return max(1, math.ceil(1 + (times_io * io - low["step"]) / per_work))


def limit_for(bench, ranks, grid, slots, work, wanted=(8, 16)):
    """A bandwidth limit at which the interval comes out between `wanted`, and that interval."""
    state_bytes = grid[0] * grid[1] * 8 // ranks
    step = pilot(bench, ranks, grid, slots, work)["step"]
    times = 12.0
    for _ in range(5):
        limit = int(state_bytes / (times * step))
        interval = pilot(bench, ranks, grid, slots, work, 400, limit)["interval"]
        if wanted[0] <= interval <= wanted[1]:
            break
        times *= 12.0 / max(interval, 1)
    return limit, int(interval)


def configurations(bench):
    """name, title, grid per rank, steps, slots; the rest is measured first."""
    half = bench.choose(1024, 256)
    return [
        ("long_step", "a step of 2.5 times a state's I/O", (1024, half), bench.choose(50, 40), 8),
        ("slow_disk", "a disk so slow that the interval is 8 to 16", (512, 256),
         bench.choose(4000, 300), 6),
        ("fast_disk", "the disk as it is and the cheapest step", (1024, half),
         bench.choose(120, 60), 8)]


def measure(bench, name, grid, steps, slots, ranks):
    # The long step is one problem on more ranks; the others get larger with the ranks.
    cells = grid if name == "long_step" else (grid[0], grid[1] * ranks)
    state_bytes = cells[0] * cells[1] * 8 // ranks
    work = work_for(bench, ranks, cells, slots, 2.5) if name == "long_step" else 1
    limit, interval = (limit_for(bench, ranks, cells, slots, work) if name == "slow_disk"
                       else (0, 8))
    turns = 3 if name == "slow_disk" else 5
    flags = {"cells_x": cells[0], "cells_y": cells[1], "work": work, "bandwidth_limit": limit,
             "interval": interval, "steps": bench.fitting_steps(steps, state_bytes, ranks),
             "memory": memory_for(slots, state_bytes), "rounds": bench.choose(turns, 2)}
    return flags, bench.sweep(ranks, modes_of(name), f"overhead_{name}_{ranks}", **flags)


def mode_row(rows, mode):
    total = pick(rows, "seconds", mode=mode)
    stalled = [100 * (w + r) / t for w, r, t in zip(pick(rows, "stalled_write", mode=mode),
                                                    pick(rows, "stalled_read", mode=mode), total)]
    share = lambda column: f"{100 * median(pick(rows, column, mode=mode)) / median(total):.1f} %"
    predicted = [p / t for p, t in zip(pick(rows, "predicted", mode=mode), total) if p > 0]
    return [mode, spread(total), spread(ratios(rows, "seconds", mode, "ideal"), "{:.2f}"),
            f"{median(pick(rows, 'recompute_factor', mode=mode)):.2f}",
            f"{median(pick(rows, 'interval', mode=mode)):g}",
            f"{median(pick(rows, 'checkpoint_slots', mode=mode)):g}",
            spread(stalled, "{:.1f}"), share("copying"), share("agreeing"),
            size(median(pick(rows, "bytes_written", mode=mode))), spread(predicted, "{:.2f}")]


HEADING = ["mode", "seconds", "over ideal", "forward steps per step", "interval", "slots",
           "waited, %", "copied", "agreed", "written", "predicted / measured"]


def claim(claims, name, ranks, rows):
    over = lambda mode: ratios(rows, "seconds", mode, "ideal")
    faster = lambda other, mode="async": ratios(rows, "seconds", other, mode)
    where = f"{name}, {ranks} rank{'s' if ranks > 1 else ''}"
    if name == "long_step":
        claims.at_most(f"{where}: zero copy over ideal", over("async_zero_copy"), 1.10)
        claims.at_most(f"{where}: async over ideal", over("async"), 1.20)
        for mode in ("async", "async_zero_copy"):
            stalled = [(w + r) / t for w, r, t in
                       zip(pick(rows, "stalled_write", mode=mode),
                           pick(rows, "stalled_read", mode=mode), pick(rows, "seconds", mode=mode))]
            claims.at_most(f"{where}: {mode} waited, share", stalled, 0.03)
    if name == "slow_disk":
        claims.at_least(f"{where}: times faster than revolve", faster("revolve"), 1.5)
        for mode in ("sync_disk", "sync_interval", "by_hand"):
            claims.at_least(f"{where}: times faster than {mode}", faster(mode), 1.3)
    if name == "fast_disk":
        best = min(("revolve", "sync_disk", "by_hand"),
                   key=lambda mode: median(pick(rows, "seconds", mode=mode)))
        for mode in ("async", "async_zero_copy"):
            claims.at_most(f"{where}: {mode} over the best of revolve, sync_disk, by_hand: {best}",
                           ratios(rows, "seconds", mode, best), 1.02)
    for mode in ("async", "async_zero_copy"):
        off = [abs(row["predicted"] / row["seconds"] - 1) for row in rows
               if row["mode"] == mode and row["predicted"] > 0 and row["round"] > 0]
        claims.at_most(f"{where}: {mode} prediction, relative error", off, 0.10)


def run(bench, claims):
    text, bars = "", []
    for name, title, grid, steps, slots in configurations(bench):
        for ranks in (1, 2):
            say(f"  overhead: {name}, {ranks} rank(s)")
            flags, rows = measure(bench, name, grid, steps, slots, ranks)
            step = pick(rows, "forward", mode="ideal")
            limit = flags["bandwidth_limit"]
            text += (f"\n**{name}, {ranks} rank{'s' if ranks > 1 else ''}**: {title}. "
                     f"{flags['cells_x']}x{flags['cells_y']} cells, {flags['steps']} steps of "
                     f"{1e3 * median(step) / flags['steps']:.3g} ms (`--work {flags['work']}`), a "
                     f"state of {size(rows[0]['state_bytes'])} and {size(flags['memory'])} of memory"
                     f" per rank" + (f", {limit / 1e6:.0f} MB/s per rank" if limit else "") + ".\n\n")
            text += markdown(HEADING, [mode_row(rows, mode) for mode in modes_of(name)])
            claim(claims, name, ranks, rows)
            bars.append((f"{name} {ranks}", [ratios(rows, "seconds", mode, "ideal")
                                             for mode in MODES]))
    with open(bench.path("overhead.dat"), "w") as file:
        file.write("configuration " + " ".join(MODES) + "\n")
        for label, of_modes in bars:
            heights = [f"{median(turns):.4f}" if turns else "?" for turns in of_modes]
            file.write(f'"{label}" ' + " ".join(heights) + "\n")
    bench.draw("overhead", f"""
set datafile missing "?"
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8
set ylabel "seconds over those with every state in memory"
set yrange [0:*]
set key top left noenhanced
set xtics noenhanced
plot for [i=3:{len(MODES) + 1}] "{bench.path('overhead.dat')}" using i:xtic(1) title columnheader(i), 1 with lines lc rgb "black" title "ideal"
""")
    return text
