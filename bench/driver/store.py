# SPDX-License-Identifier: BSD-2-Clause
"""A loop of Python that keeps every state: anadrome.Store against h5py, numpy.save and a list in memory."""
import os

from machine import output_of, read_rows
from table import markdown, pick, ratios, spread

WAYS = ("ram", "store", "per_rank", "mpio", "npy")


def run(bench, claims):
    text = ""
    for write_steps in (0.5, 1, 2):
        package = os.path.join(os.path.dirname(bench.programs), "python")
        command = ["mpirun", "-n", "2", "-x", f"PYTHONPATH={package}", "/usr/bin/python3", "bench/store_loop.py", "--write-steps", str(write_steps),
                   "--ways", ",".join(WAYS), "--directory", bench.states,
                   "--steps", str(bench.choose(300, 40)), "--rounds", str(bench.choose(3, 1)),
                   "--step-seconds", str(bench.choose(0.02, 0.005))]
        os.makedirs(bench.states, exist_ok=True)
        rows = read_rows(output_of(["timeout", "--kill-after=10", "1800"] + command))
        if len({row["gradient"] for row in rows}) != 1:
            raise SystemExit("the ways give different gradients")
        text += (f"\nA write takes {write_steps} steps (`{' '.join(command[:7])} --write-steps {write_steps}`): 2 ranks, states of "
                 "8 MiB, a store of 256 MiB.\n\n")
        text += markdown(["way", "seconds", "over the list in memory", "in put and get", "memory beside the loop, MiB"], [
            [way, spread(pick(rows, "seconds", way=way)), spread(ratios(rows, "seconds", way, "ram", "way")),
             spread(pick(rows, "seconds_inside", way=way)), f"{max(pick(rows, 'memory_bytes', way=way)) / 2**20:.0f}"]
            for way in WAYS])
        best = min(("per_rank", "mpio", "npy"), key=lambda way: sum(pick(rows, "seconds", way=way)))
        if write_steps <= 0.5:
            claims.at_most(f"store over memory, a write takes {write_steps} steps", ratios(rows, "seconds", "store", "ram", "way"), 1.15)
        else:
            claims.at_least(f"{best} over store, a write takes {write_steps} steps", ratios(rows, "seconds", best, "store", "way"), 1.5)
        claims.at_most(f"memory of the store, MiB, a write takes {write_steps} steps",
                       [value / 2**20 for value in pick(rows, "memory_bytes", way="store")], 256 + 32, "{:.0f}")
    return text
