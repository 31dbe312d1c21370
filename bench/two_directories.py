# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps with states in a fast directory, at home, and in both, in turns; rows of CSV, of rank 0. A step takes as long as is said."""
import argparse
import os
import time

import anadrome
import numpy as np
from mpi4py import MPI
from plan_rows import planned, put_out

COMM = MPI.COMM_WORLD


def options(arguments, mode):
    fast_room = f"{arguments.room}B" if arguments.room else "unlimited"
    words = {"fast": (arguments.fast, arguments.fast_limit, fast_room), "home": (arguments.home, arguments.home_limit, "unlimited")}
    both = list(zip(*(words["fast"], words["home"]))) if mode == "both" else [(word,) for word in words[mode]]
    directory, limit, disk = (",".join(pair) for pair in both)
    return {"schedule": "async", "directory": directory, "bandwidth_limit": limit, "disk": disk, "memory": f"{arguments.memory_mib}MiB", "audit": "off",
            "report": os.path.join(arguments.home, "report")}


def sweep(run, q, arguments):
    q[...] = 0
    COMM.Barrier()
    start = time.perf_counter()
    adjoint = 0.0
    for action in run.sweep(arguments.steps):
        if type(action) is anadrome.Advance:
            for _ in range(action.first, action.last):
                time.sleep(arguments.step_seconds)
                q += 1
        elif type(action) is anadrome.Adjoint:
            time.sleep(2 * arguments.step_seconds)
            adjoint += action.step * q[0]
    if adjoint != sum(float(k * k) for k in range(arguments.steps)):
        raise SystemExit("a state was wrong")
    return COMM.allreduce(time.perf_counter() - start, op=MPI.MAX)


def rows(arguments):
    """Of rank 0."""
    q = np.zeros(arguments.state_mib << 17)
    for turn in range(arguments.rounds):
        for mode in ("both", "fast", "home"):
            with anadrome.Run(COMM, **options(arguments, mode)) as run:
                run.state(q=q)
                for _ in range(3):  # the first ones learn
                    seconds = sweep(run, q, arguments)
                s = run.statistics()
                if COMM.rank > 0:
                    continue
                plan = planned(os.path.join(arguments.home, "report"))
                yield {"round": turn, "mode": mode, "seconds": seconds, "plan_seconds": plan["seconds"], "forward_steps": s.forward_steps_taken,
                       "plan_steps": int(plan["forward_steps"]), "anchors": s.anchors, "interval": s.interval,
                       "stalled": s.seconds_stalled_write + s.seconds_stalled_read}


def main():
    parser = argparse.ArgumentParser()
    for name in ("fast", "home", "fast-limit", "home-limit"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--room", type=int, default=0)
    parser.add_argument("--state-mib", type=int, default=1)
    parser.add_argument("--memory-mib", type=int, default=9)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--step-seconds", type=float, default=0.01)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    put_out(rows(arguments))


main()
