# SPDX-License-Identifier: BSD-2-Clause
"""PETSc's own tutorial ex5adj (Gray-Scott, TSAdjoint), unchanged: its trajectories and anadrome's."""
import os
import subprocess
import time

from machine import say
from table import markdown, pick, ratios, size, spread

MEMORY = 128 << 20
MODES = {
    "memory": "-ts_trajectory_type memory",
    "basic": "-ts_trajectory_type basic",
    "store_all": "-ts_trajectory_type anadrome -ts_trajectory_anadrome_schedule store_all "
                 "-ts_trajectory_anadrome_memory 4GiB",
    "async": f"-ts_trajectory_type anadrome -ts_trajectory_anadrome_schedule async "
             f"-ts_trajectory_anadrome_memory {MEMORY}B",
    "revolve": f"-ts_trajectory_type anadrome -ts_trajectory_anadrome_schedule revolve "
               f"-ts_trajectory_anadrome_memory {MEMORY}B",
}
TITLES = {
    "memory": "`memory`: every record in RAM, PETSc's",
    "basic": "`basic`: every record to files, PETSc's",
    "store_all": "`anadrome`, every record in RAM",
    "async": f"`anadrome`, {size(MEMORY)} and disk",
    "revolve": f"`anadrome`, {size(MEMORY)}",
}


def once(bench, program, arguments, mode):
    """Seconds of the whole program."""
    plugin = os.path.abspath(os.path.join(bench.programs, "../src/api/petsc/libanadrome_petsc.so"))
    environment = dict(os.environ, PETSC_OPTIONS=f"-dll_append {plugin} {MODES[mode]}")
    start = time.monotonic()
    subprocess.run(["timeout", "--kill-after=10", "300", os.path.abspath(program), *arguments],
                   cwd=bench.states, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def run(bench, claims):
    program = os.path.join(bench.programs, "bench_petsc")
    if not os.path.exists(program):
        raise SystemExit("the PETSc benchmark needs PETSc and its examples (libpetsc3.18-dev-examples)")
    grid, steps = bench.choose((512, 20), (64, 10))
    arguments = (f"-implicitform 0 -ts_type rk -ts_rk_type 4 -ts_dt 0.1 -ts_max_time 1000 -ts_max_steps {steps} "
                 f"-da_grid_x {grid} -da_grid_y {grid}").split()
    rows = []
    for turn in range(bench.choose(4, 2)):
        for mode in MODES:
            rows.append({"round": turn, "mode": mode,
                         "seconds": once(bench, program, arguments, mode)})
            say(f"  petsc: turn {turn}, {mode}: {rows[-1]['seconds']:.2f} s")
    with open(bench.path("petsc.csv"), "w") as file:
        file.write("round,mode,seconds\n")
        file.writelines(f"{row['round']},{row['mode']},{row['seconds']}\n" for row in rows)
    table = [[TITLES[mode], spread(pick(rows, "seconds", mode=mode)),
              spread(ratios(rows, "seconds", mode, "memory"), "{:.2f}")] for mode in MODES]
    claims.at_most("PETSc, RK4 on disk over every record in RAM", ratios(rows, "seconds", "async", "memory"), 1.6)
    claims.at_most("PETSc, RK4 on disk over basic", ratios(rows, "seconds", "async", "basic"), 1.0)
    state = grid * grid * 2 * 8
    return (f"\n`ex5adj {' '.join(arguments)}`: a solution of {size(state)}, a record of {size(5 * state)}, "
            f"{steps} steps. Seconds of the whole program, one rank.\n\n"
            + markdown(["trajectory", "s", "over `memory`"], table))
