# SPDX-License-Identifier: BSD-2-Clause
"""States in a GPU's memory: against all of them kept there, and against copies and writes on the caller's thread."""
import os
import re
import subprocess
from statistics import median

from table import markdown, spread

MIB = 256


def run_once(ring, mib, steps, *mode):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([ring, str(mib), str(steps), *mode], capture_output=True, text=True, env=environment)
    found = re.match(r"(.*): .*, ([\d.]+) s, 0 wrong", done.stdout)
    if done.returncode != 0 or not found:
        return None, done.stderr.strip() or done.stdout.strip()
    return float(found[2]), found[1]


def run(bench, claims):
    ring = os.path.join(os.path.dirname(bench.programs), "examples/device/ring")
    mib, steps = bench.choose((MIB, 200), (1, 30))
    modes = {"every state in its memory": ["kept"], "copied and written on the thread": ["by_hand"],
             "revolve, 20 slots there": ["library", "schedule=revolve", f"device_memory={20 * mib}MiB", "memory=1GiB"],
             "async, 20 slots there": ["library", "schedule=async", f"device_memory={20 * mib}MiB", f"memory={12 * mib}MiB"],
             "async, slots on the host": ["library", "schedule=async", f"memory={40 * mib}MiB"]}
    seconds, card = {name: [] for name in modes}, ""
    for _ in range(bench.choose(5, 1)):
        for name, mode in modes.items():
            took, card = run_once(ring, mib, steps, *mode)
            if took is None:
                return f"\nNot run on a GPU yet: {card}. The command is `scripts/bench device`.\n"
            seconds[name].append(took)
    kept = median(seconds["every state in its memory"])
    rows = [[name, spread(times, "{:.3f}"), f"{median(times) / kept:.2f}"] for name, times in seconds.items()]
    claims.at_most("async with slots on the device, of every state kept there",
                   [median(seconds["async, 20 slots there"]) / kept], 1.05, "{:.2f}")
    return (f"\n{card}, {steps} steps, states of {mib} MiB, one rank:\n\n" +
            markdown(["", "seconds", "of every state kept there"], rows))
