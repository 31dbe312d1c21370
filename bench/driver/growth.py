# SPDX-License-Identifier: BSD-2-Clause
"""Seconds per step by the number of steps, at fixed memory and fixed rates of the disk."""
from statistics import median

from machine import say
from overhead import limit_for, memory_for
from table import markdown, pick, spread

GRID = (256, 256)
SLOTS = 8


def run(bench, claims):
    counts = bench.choose([250, 500, 1000, 2000, 4000, 8000, 16000], [250, 500, 1000])
    limit, _ = limit_for(bench, 1, GRID, SLOTS, 1)
    say(f"  growth: up to {counts[-1]} steps")
    memory = memory_for(SLOTS, GRID[0] * GRID[1] * 8)
    modes = [f"{mode}@{steps}" for steps in counts for mode in ("async", "revolve")]
    rows = bench.sweep(1, modes, "growth", cells_x=GRID[0], cells_y=GRID[1], memory=memory,
                       bandwidth_limit=limit, rounds=bench.choose(3, 2))
    per_step = lambda mode, steps: [seconds / steps for seconds in
                                    pick(rows, "seconds", mode=mode, steps=steps)]
    of = lambda column, mode, steps: median(pick(rows, column, mode=mode, steps=steps))
    cells, table = [], []
    for steps in counts:
        a, r = per_step("async", steps), per_step("revolve", steps)
        cells.append([steps] + [f(v) for v in (a, r) for f in (median, min, max)])
        table.append([steps, spread(a, "{:.3f}", 1e3),
                      f"{of('recompute_factor', 'async', steps):.2f}",
                      f"{of('interval', 'async', steps):g}", spread(r, "{:.3f}", 1e3),
                      f"{of('recompute_factor', 'revolve', steps):.2f}"])
    with open(bench.path("growth.dat"), "w") as file:
        for row in cells:
            file.write(" ".join(f"{value:.9g}" for value in row) + "\n")
    first, last = 500, counts[-1]
    claims.at_most(f"async: seconds per step, n = {last} over n = {first}",
                   [a / b for a, b in zip(per_step("async", last), per_step("async", first))], 1.05)
    claims.at_least(f"revolve: the same (it grows)",
                    [a / b for a, b in zip(per_step("revolve", last), per_step("revolve", first))],
                    1.05)
    bench.draw("growth", f"""
set logscale x 2
set xtics ({", ".join(str(steps) for steps in counts)})
set xlabel "steps"
set ylabel "milliseconds per step, forward and adjoint"
set yrange [0:*]
set key top left
plot "{bench.path('growth.dat')}" using 1:($5*1e3):($6*1e3):($7*1e3) with yerrorlines pt 7 lc rgb "#e08a1e" title "Revolve alone", \\
     "" using 1:($2*1e3):($3*1e3):($4*1e3) with yerrorlines pt 7 lc rgb "#2a6fbb" title "asynchronous"
""")
    intro = (f"\n{GRID[0]}x{GRID[1]} cells (512 KiB a state), memory for {SLOTS} slots, "
             f"{limit / 1e6:.0f} MB/s, one rank. All numbers of steps in turns in one process.\n\n")
    return intro + markdown(["steps", "async, ms per step", "forward steps per step", "interval",
                             "revolve, ms per step", "forward steps per step"], table)
