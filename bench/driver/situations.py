# SPDX-License-Identifier: BSD-2-Clause
"""Ten situations: which planner wins, and by how much over revolve and async in equal memory. All are
measured in runs of the heat equation; `planned` is what the command `anadrome` says of the same."""
import json
import os
import subprocess
import tempfile
from statistics import median

from machine import say
from overhead import memory_for
from table import markdown, pick, ratios, size, spread

GRID = (512, 256)
STATES = ["revolve", "async", "overlapped", "disk_revolve", "hrevolve", "double"]
TAPES = STATES + ["mixed"]
UNEVEN = STATES + ["uneven", "offload"]


class Measured:
    """Sweeps in turns: `modes` of bench_sweep; `io`: steps that a state's I/O takes, 0: as it is;
    `grid`; `flags` of the program. `counted`: what to ask `anadrome` instead of the same."""

    def __init__(self, modes, steps, slots, io=0, grid=GRID, counted=None, **flags):
        self.modes, self.steps, self.slots, self.io = modes, steps, slots, io
        self.grid, self.counted, self.flags = grid, counted, flags
        self.state = grid[0] * grid[1] * 8

    def run(self, bench, number):
        steps = min(self.steps, bench.choose(self.steps, 60))
        flags = {"cells_x": self.grid[0], "cells_y": self.grid[1], "steps": steps,
                 "memory": memory_for(self.slots, self.state), "work": 1, **self.flags}
        if self.io:
            probe = bench.sweep(1, ["revolve"], **{**flags, "rounds": 1})
            flags["bandwidth_limit"] = int(self.state / (self.io * median(pick(probe, "step"))))
        rows = bench.sweep(1, self.modes, f"situation_{number}", rounds=bench.choose(5, 1), **flags)
        seconds = {mode: median(pick(rows, "seconds", mode=mode)) for mode in self.modes}
        best = min(seconds, key=seconds.get)
        over = {mode: spread([r - 1 for r in ratios(rows, "seconds", mode, best)], "{:+.0f} %", 100)
                for mode in ("revolve", "async")}
        others = sorted((time, mode) for mode, time in seconds.items()
                        if mode not in (best, "revolve", "async"))
        rest = ", ".join(f"{mode} {100 * (time / seconds[best] - 1):+.0f} %" for time, mode in others)
        forward = "; ".join(f"{median(pick(rows, 'recompute_factor', mode=mode)):.2f}"
                            for mode in (best, "revolve", "async"))
        return [self.describe(steps, median(pick(rows, "step"))), f"{seconds[best]:.2f}", best,
                over["revolve"], over["async"], rest, forward]

    def describe(self, steps, step):
        branches = f"{self.flags['branches']} times " if "branches" in self.flags else ""
        most = " at most" if "adaptive" in self.flags else ""
        return (f"{branches}{steps} steps of {1e3 * step:.2g} ms, {self.slots} states of "
                f"{size(self.state)}{most}")

    def planned(self, bench):
        """The same with numbers in the place of a machine: a step of 1 ms, an adjoint step of 2; a
        fast disk takes a step for a state."""
        if self.counted:
            return self.counted(bench)
        if "last_work" in self.flags:
            return None  # it compares schedules of equal steps
        stages = (4 if self.flags.get("integrator") == "rk4" else 1) if "tape" in self.flags else 0
        words = ["--steps", self.steps, "--state", self.state, "--step-time", 1e-3,
                 "--adjoint-time", 2e-3, "--memory", memory_for(self.slots, self.state),
                 "--write-rate", f"{1e3 * self.state / (self.io or 1):.0f}B/s"]
        words += ["--tape-size", f"{stages * self.state}B"] if stages else []
        rows = ask(bench, ["plan", *words])["schedules"]
        return {row["schedule"]: row["seconds"] for row in rows
                if row["runs"] and row["schedule"] in self.modes}


def ask(bench, words, folder="."):
    program = os.path.abspath(os.path.join(os.path.dirname(bench.programs), "bin", "anadrome"))
    answer = subprocess.run([program] + [str(word) for word in words] + ["--json"], cwd=folder,
                            check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def compared(costs):
    """The cheapest, and what the others cost beyond it."""
    best = min(costs, key=costs.get)
    over = {name: f"{100 * (cost / costs[best] - 1):+.0f} %" for name, cost in costs.items()}
    rest = ", ".join(f"{name} {over[name]}" for name in sorted(costs, key=costs.get)
                     if name not in (best, "revolve", "async"))
    return [best, over.get("revolve", "-"), over.get("async", "-"), rest]


def advances(bench, words, folder="."):
    return float(ask(bench, words.split(), folder)["advances"])


def count_adaptive_mesh(bench):
    """A mesh that grows tenfold in 200 steps, in room for eight of its largest states; revolve has slots
    of the largest size."""
    question = "count uneven --steps 200 --slots 8000 --costs "
    sizes = [100 + 900 * k // 199 for k in range(200)]
    with tempfile.TemporaryDirectory() as folder:
        costs = {}
        for mode, of_mode in (("uneven", sizes), ("revolve", [1000] * 200)):
            with open(os.path.join(folder, mode), "w") as file:
                file.writelines(f"1 {bytes_}\n" for bytes_ in of_mode)
            costs[mode] = advances(bench, question + mode, folder)
    return costs


def count_ensemble(bench):
    """As bench_sweep does it: revolve runs every branch but the last once more."""
    alone = advances(bench, f"count revolve --steps {MEMBER} --slots {ROOM}")
    lengths = ",".join([str(MEMBER)] * MEMBERS)
    return {"join": advances(bench, f"solve join --branches {lengths} --slots {ROOM}"),
            "revolve": (MEMBERS - 1) * MEMBER + MEMBERS * alone}


MEMBERS, MEMBER, ROOM = 4, 60, 20  # an ensemble: branches, their steps; states in memory
TEN = [
    ("cheap steps, fast disk", Measured(STATES, 600, 8)),
    ("expensive steps, fast disk", Measured(STATES, 200, 8, work=8)),
    ("cheap steps, slow disk", Measured(STATES, 600, 8, io=12)),
    ("long run, very slow disk, few slots", Measured(STATES, 1000, 6, io=40)),
    ("short run, much memory", Measured(STATES, 60, 40, io=8)),
    ("small tapes (one state), slow disk", Measured(TAPES, 600, 20, io=8, tape=1)),
    ("large tapes (four states), fast disk", Measured(TAPES, 100, 24, tape=1, integrator="rk4")),
    ("steps dearer and dearer, 1 to 8 times, slow disk",
     Measured(UNEVEN, 200, 8, io=12, grid=(1024, 512), work=2, last_work=16)),
    ("adaptive mesh: states and steps that grow, slow disk",
     Measured(UNEVEN + ["least_memory"], 400, 16, io=12, grid=(768, 384), adaptive=1, last_work=8,
              counted=count_adaptive_mesh)),
    ("ensemble: branches with a joint objective, slow disk",
     Measured(STATES + ["join"], MEMBER, ROOM, io=12, work=8, branches=MEMBERS,
              counted=count_ensemble))]


def run(bench, _claims):
    table, commands = [], ""
    for number, (name, situation) in enumerate(TEN, 1):
        say(f"  situations: {name}")
        table.append([number, name] + situation.run(bench, number))
        commands += f"{bench.last_command}    # {number}\n"
    heading = ["", "situation", "", "seconds", "wins", "revolve over it", "async over it",
               "others over it", "forward steps per step: it; revolve; async"]
    return f"\n{markdown(heading, table)}\nMeasured by\n```\n{commands}```\n"
