# SPDX-License-Identifier: BSD-2-Clause
"""examples/python/heat_dolfinx.py in 2 MiB over the same with every state in memory, in turns: mpirun -n 2 python3 dolfinx_heat.py"""
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples/python"))
import heat_dolfinx  # noqa: E402

COMM = heat_dolfinx.COMM
heat = heat_dolfinx.Heat(128, 200)
u_0, ratios = heat.start(), []


def seconds(**options):
    COMM.Barrier()
    start = time.perf_counter()
    heat.gradient(u_0, **options)
    return COMM.allreduce(time.perf_counter() - start, op=heat_dolfinx.MPI.MAX)


seconds(schedule="store_all", memory="256MiB")  # warm
for _ in range(5):
    in_memory = seconds(schedule="store_all", memory="256MiB")
    ratios.append(seconds(memory="2MiB") / in_memory)
if COMM.rank == 0:
    print(f"states of {u_0.nbytes * 200 / 2**20:.1f} MiB a rank: {statistics.median(ratios):.2f} "
          f"({min(ratios):.2f}..{max(ratios):.2f}) of the time with all in memory")
