# SPDX-License-Identifier: BSD-2-Clause
"""PETSc's own tutorial ex5adj (Gray-Scott, TSAdjoint), unchanged: its trajectories and anadrome's."""
import os
import subprocess
import time

from machine import say
from table import markdown, pick, ratios, size, spread

TITLES = {
    "memory": "`memory`: every record in RAM, PETSc's",
    "basic": "`basic`: every record to files, PETSc's",
    "all": "`anadrome`, memory for every record",
    "half": "`anadrome`, half of that",
    "tenth": "`anadrome`, a tenth of it, and disk",
    "revolve": "`anadrome`, a tenth of it",
}


def modes(records):
    """`records`: bytes of all of them."""
    of_memory = "-ts_trajectory_type anadrome -ts_trajectory_anadrome_memory {}B"
    tenth = of_memory.format(records // 10)
    return {
        "memory": "-ts_trajectory_type memory",
        "basic": "-ts_trajectory_type basic",
        "all": of_memory.format(3 * records // 2),  # a quarter may be set aside
        "half": of_memory.format(records // 2),
        "tenth": tenth,
        "revolve": f"{tenth} -ts_trajectory_anadrome_schedule revolve",
    }


def once(bench, program, arguments, options):
    """Seconds of the whole program."""
    plugin = os.path.abspath(os.path.join(bench.programs, "../src/api/petsc/libanadrome_petsc.so"))
    environment = dict(os.environ, PETSC_OPTIONS=f"-dll_append {plugin} {options}")
    start = time.monotonic()
    subprocess.run(["timeout", "--kill-after=10", "300", os.path.abspath(program), *arguments],
                   cwd=bench.states, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def run(bench, claims):
    program = os.path.join(bench.programs, "bench_petsc")
    if not os.path.exists(program):
        raise SystemExit("the PETSc benchmark needs PETSc and its examples (libpetsc3.18-dev-examples)")
    grid, steps = bench.choose((512, 20), (64, 10))
    state = grid * grid * 2 * 8
    kept = modes((steps + 1) * 5 * state)
    arguments = (f"-implicitform 0 -ts_type rk -ts_rk_type 4 -ts_dt 0.1 -ts_max_time 1000 -ts_max_steps {steps} "
                 f"-da_grid_x {grid} -da_grid_y {grid}").split()
    rows = []
    for turn in range(bench.choose(15, 2)):
        for mode in kept:
            rows.append({"round": turn, "mode": mode,
                         "seconds": once(bench, program, arguments, kept[mode])})
            say(f"  petsc: turn {turn}, {mode}: {rows[-1]['seconds']:.2f} s")
    with open(bench.path("petsc.csv"), "w") as file:
        file.write("round,mode,seconds\n")
        file.writelines(f"{row['round']},{row['mode']},{row['seconds']}\n" for row in rows)
    table = [[TITLES[mode], spread(pick(rows, "seconds", mode=mode)),
              spread(ratios(rows, "seconds", mode, "memory"), "{:.2f}")] for mode in kept]
    claims.at_most("PETSc, memory for all records, over `memory`", ratios(rows, "seconds", "all", "memory"), 1.05)
    claims.at_most("PETSc, a tenth of the memory, over `basic`", ratios(rows, "seconds", "tenth", "basic"), 0.9)
    return (f"\n`ex5adj {' '.join(arguments)}`: a solution of {size(state)}, a record of {size(5 * state)}, "
            f"{steps} steps. Seconds of the whole program, one rank.\n\n"
            + markdown(["trajectory", "s", "over `memory`"], table))
