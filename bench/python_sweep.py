# SPDX-License-Identifier: BSD-2-Clause
"""python_sweep.py STEPS TURNS: sweeps in Python over states of 24 bytes in memory, with a step that costs next to nothing, as
tiny/store_all in micro.cpp. Prints, in JSON, the seconds per step of each turn, and the actions per step."""
import json
import os
import sys
import time

import anadrome
import numpy as np
from mpi4py import MPI

steps, turns = map(int, sys.argv[1:])
u, seconds = np.ones(3), []
with anadrome.Run(MPI.COMM_SELF, schedule="store_all", memory="1GiB", directory=os.environ["ANADROME_BENCH_DIRECTORY"]) as run:
    run.state(u=u)
    for turn in range(turns + 1):
        actions, start = 0, time.perf_counter()
        for action in run.sweep(steps):
            actions += 1
            if type(action) is anadrome.Advance:
                u[0] += action.last - action.first
        seconds.append((time.perf_counter() - start) / steps)
print(json.dumps({"seconds_per_step": seconds[1:], "actions_per_step": actions / steps}))  # memory is warm after the first
