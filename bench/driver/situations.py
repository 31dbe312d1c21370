"""Ten situations: which planner wins, and by how much over revolve and async in equal memory.

An entry of TEN is measured in runs of the heat equation, or counted by `anadrome plan` where runs of
that kind are not at hand: replace Counted(...) by Measured(...) once they are."""
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


class Measured:
    """Sweeps in turns: `modes` of bench_sweep; `io`: steps that a state's I/O takes, 0: as it is;
    `flags` of the program."""

    def __init__(self, modes, steps, slots, io=0, **flags):
        self.modes, self.steps, self.slots, self.io, self.flags = modes, steps, slots, io, flags

    def run(self, bench, number):
        steps = min(self.steps, bench.choose(self.steps, 60))
        state = GRID[0] * GRID[1] * 8
        flags = {"cells_x": GRID[0], "cells_y": GRID[1], "steps": steps,
                 "memory": memory_for(self.slots, state), "work": 1, **self.flags}
        if self.io:
            probe = bench.sweep(1, ["revolve"], **{**flags, "rounds": 1})
            flags["bandwidth_limit"] = int(state / (self.io * median(pick(probe, "step"))))
        rows = bench.sweep(1, self.modes, f"situation_{number}", rounds=bench.choose(3, 1), **flags)
        seconds = {mode: median(pick(rows, "seconds", mode=mode)) for mode in self.modes}
        best = min(seconds, key=seconds.get)
        over = {mode: spread([r - 1 for r in ratios(rows, "seconds", mode, best)], "{:+.0f} %", 100)
                for mode in ("revolve", "async")}
        others = sorted((time, mode) for mode, time in seconds.items()
                        if mode not in (best, "revolve", "async"))
        rest = ", ".join(f"{mode} {100 * (time / seconds[best] - 1):+.0f} %" for time, mode in others)
        return [f"{steps} steps of {1e3 * median(pick(rows, 'step')):.2g} ms, {self.slots} states of "
                f"{size(state)}", best, over["revolve"], over["async"], rest, "s"]


    def planned(self, bench):
        """The same with numbers in the place of a machine: a step of 1 ms, an adjoint step of 2; a
        fast disk takes a step for a state."""
        if "last_work" in self.flags:
            return None  # it compares schedules of equal steps
        state = GRID[0] * GRID[1] * 8
        stages = (4 if self.flags.get("integrator") == "rk4" else 1) if "tape" in self.flags else 0
        words = ["--steps", self.steps, "--state", state, "--step-time", 1e-3, "--adjoint-time", 2e-3,
                 "--memory", memory_for(self.slots, state),
                 "--write-rate", f"{1e3 * state / (self.io or 1):.0f}B/s"]
        words += ["--tape-size", f"{stages * state}B"] if stages else []
        rows = ask(bench, words)["schedules"]
        return {row["schedule"]: row["seconds"] for row in rows
                if row["runs"] and row["schedule"] in self.modes}


def ask(bench, words, folder="."):
    program = os.path.abspath(os.path.join(os.path.dirname(bench.programs), "bin", "anadrome"))
    answer = subprocess.run([program, "plan", "--json"] + [str(word) for word in words], cwd=folder,
                            check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


class Counted:
    """What `anadrome plan` says of (planner, command) each, of which the first two stand for
    revolve and async; a number: what is not asked of the program. `files`: contents by name."""

    def __init__(self, what, column, files, **commands):
        self.what, self.column, self.files, self.commands = what, column, files, commands

    def planned(self, bench):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.files.items():
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            return {name: float(ask(bench, words.split(), folder)[self.column])
                    for name, words in self.commands.items()}

    def run(self, bench, _):
        costs = self.planned(bench)
        return [self.what] + compared(costs) + ["forward steps, counted"]


def compared(costs):
    """The cheapest, and what the others cost beyond it."""
    best = min(costs, key=costs.get)
    over = {name: f"{100 * (cost / costs[best] - 1):+.0f} %" for name, cost in costs.items()}
    rest = ", ".join(f"{name} {over[name]}" for name in sorted(costs, key=costs.get)
                     if name not in (best, "revolve", "async"))
    return [best, over.get("revolve", "-"), over.get("async", "-"), rest]


def adaptive_mesh():
    """A mesh that grows tenfold, in room for eight of its largest states."""
    sizes = [100 + 900 * k // 199 for k in range(200)]
    lines = lambda of: "".join(f"1 {of(value)}\n" for value in sizes)
    question = "--abstract --schedule uneven --steps 200 --slots 8000 --costs "
    return Counted("200 states of 100 to 1000 units, memory of 8000", "advances",
                   {"sizes.txt": lines(lambda value: value), "largest.txt": lines(lambda _: 1000)},
                   uneven=question + "sizes.txt", revolve=question + "largest.txt")


def ensemble():
    question = "--branches 40,40,40 --slots 6"
    return Counted("3 branches of 40 steps, 6 slots, one joint objective", "advances", {},
                   join=question, revolve=question + " --objective reducible")


TEN = [
    ("cheap steps, fast disk", Measured(STATES, 600, 8)),
    ("expensive steps, fast disk", Measured(STATES, 200, 8, work=8)),
    ("cheap steps, slow disk", Measured(STATES, 600, 8, io=12)),
    ("long run, very slow disk, few slots", Measured(STATES, 1000, 6, io=40)),
    ("short run, much memory", Measured(STATES, 60, 40, io=8)),
    ("small tapes (one state), slow disk", Measured(TAPES, 600, 20, io=8, tape=1)),
    ("large tapes (four states), fast disk", Measured(TAPES, 100, 24, tape=1, integrator="rk4")),
    ("steps dearer and dearer, 1 to 8 times", Measured(STATES + ["uneven"], 200, 8, io=40,
                                                       last_work=8)),
    ("adaptive mesh: states of uneven size", adaptive_mesh()),
    ("ensemble: branches with a joint objective", ensemble())]


def run(bench, _claims):
    table = []
    for number, (name, situation) in enumerate(TEN, 1):
        say(f"  situations: {name}")
        what, best, revolve, async_, rest, of = situation.run(bench, number)
        table.append([number, name, what, best, revolve, async_, rest, of])
    return "\n" + markdown(["", "situation", "", "wins", "revolve over it", "async over it",
                            "others over it", "of"], table)
