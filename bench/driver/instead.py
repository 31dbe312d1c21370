# SPDX-License-Identifier: BSD-2-Clause
"""One problem, bench/instead, with anadrome and with what a user would take instead, each sweep a process of its own: PETSc's
trajectories, loops of Python with h5py and with checkpoint_schedules, ADOL-C's checkpointing."""
import array
import datetime
import os
import subprocess
from statistics import median

from machine import say
from table import markdown, pick, ratios, size, spread

PYTHON = "/usr/bin/python3"
PETSC = {
    "memory": ("every record in RAM, PETSc's", "-ts_trajectory_type memory"),
    "basic": ("every record to files, PETSc's", "-ts_trajectory_type basic"),
    "stride": ("stacks of records to files, PETSc's", "-ts_trajectory_type memory -ts_trajectory_stride {slots}"),
    "stride_again": ("one record of each stack to files, PETSc's",
                     "-ts_trajectory_type memory -ts_trajectory_stride {slots} -ts_trajectory_save_stack 0"),
    "revolve": ("Revolve in RAM, PETSc's", "-ts_trajectory_type memory -ts_trajectory_max_cps_ram {slots}"),
    "revolve_disk": ("Revolve in RAM and files, PETSc's",
                     "-ts_trajectory_type memory -ts_trajectory_max_cps_ram {slots} -ts_trajectory_max_cps_disk {slots}"),
    "anadrome": ("`anadrome`", "-ts_trajectory_type anadrome -ts_trajectory_anadrome_memory {memory}B"),
}
LOOP = {
    "list": "every state in a list",
    "h5py": "every state to h5py",
    "h5py_synced": "the same, synced and out of the page cache",
    "revolve": "checkpoint_schedules, `Revolve`",
    "multistage": "checkpoint_schedules and h5py, `Multistage`",
    "hrevolve": "checkpoint_schedules and h5py, `HRevolve`",
    "anadrome": "`anadrome`",
}
ADOLC = {"adolc": "ADOL-C's own", "anadrome": "`anadrome`"}
FAMILIES = {"PETSc": "TSAdjoint", "Python": "a loop of Python", "ADOL-C": "a recorded step"}
NO_REVOLVE = "This PETSc has no Revolve (--download-revolve), which its `max_cps_ram` and `max_cps_disk` need."
MORE = {("PETSc", "memory"): "RAM", ("PETSc", "basic"): "page cache", ("PETSc", "stride"): "page cache",
        ("PETSc", "stride_again"): "page cache", ("PETSc", "revolve_disk"): "page cache",
        ("Python", "list"): "RAM", ("Python", "h5py"): "page cache"}  # beyond the memory that all have


class Sweeps:
    def __init__(self, bench):
        self.bench = bench
        self.side, self.steps, self.slots = bench.choose(512, 64), bench.choose(500, 50), bench.choose(25, 5)
        self.memory = self.slots * self.side**2 * 8
        self.programs = os.path.abspath(bench.programs)
        self.package = os.path.join(os.path.dirname(self.programs), "python")
        self.reference = None
        os.makedirs(bench.states, exist_ok=True)
        with open(os.path.join(bench.states, ".adolcrc"), "w") as file:  # a step's tape stays in memory
            file.writelines(f'"{which}BUFSIZE" "67108864"\n' for which in "OLVT")

    def once(self, family, way):
        """Seconds, forward steps, the most memory, and how far the gradient is from the first one's; None: it cannot be had here."""
        gradient = "gradient"
        sizes = [str(self.side), str(self.steps)]
        if family == "PETSc":
            options = "-nothing" if way == "nothing" else PETSC[way][1].format(slots=self.slots, memory=self.memory)
            plugin = os.path.join(self.programs, "../src/api/petsc/libanadrome_petsc.so")
            command = [f"{self.programs}/bench_instead_petsc", *sizes, gradient, "-dll_append", plugin, *options.split()]
        elif family == "Python":
            command = [PYTHON, os.path.abspath("bench/instead/loop.py"), way, *sizes, str(self.slots), gradient, ".",
                       f"{self.programs}/libinstead_reaction.so", *filter(None, [self.bench.checkpoint_schedules])]
        else:
            command = [f"{self.programs}/bench_instead_adolc", way, *sizes, str(self.slots), gradient, "."]
        with subprocess.Popen(["timeout", "--kill-after=10", "300", *command], cwd=self.bench.states, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=dict(os.environ, PYTHONPATH=self.package)) as process:
            printed, errors = process.communicate()
        if process.returncode and "revolve is needed" in errors:
            return None
        if process.returncode:
            raise SystemExit(f"failed ({process.returncode}): {' '.join(command)}\n{errors}")
        seconds, forward_steps, peak = printed.split()[-1].split(",")
        row = {"family": family, "way": way, "seconds": float(seconds), "forward_steps": int(forward_steps), "peak_bytes": int(peak),
               "difference": 0.0}
        if way != "nothing":
            with open(os.path.join(self.bench.states, gradient), "rb") as file:
                values = array.array("d", file.read())
            self.reference = self.reference or values
            largest = max(map(abs, self.reference))
            row["difference"] = max(abs(a - b) for a, b in zip(values, self.reference, strict=True)) / largest
            if row["difference"] > 1e-12:
                raise SystemExit(f"{family}, {way}: the gradient differs by {row['difference']:.1e}")
        return row


def missing(bench):
    """What cannot be compared here, a sentence each."""
    found = []
    if not os.path.exists(os.path.join(bench.programs, "bench_instead_petsc")):
        found.append("PETSc is not there (petsc-dev).")
    if not os.path.exists(os.path.join(bench.programs, "bench_instead_adolc")):
        found.append("ADOL-C is not there (libadolc-dev).")
    look = f"import sys; sys.path.insert(0, {bench.checkpoint_schedules!r}); import checkpoint_schedules"
    if subprocess.run([PYTHON, "-c", look], stderr=subprocess.DEVNULL, check=False).returncode:
        found.append("checkpoint_schedules is not there (--checkpoint-schedules DIRECTORY: a checkout).")
    return found


def ways_of(absent):
    loops = [way for way in LOOP if "checkpoint_schedules" not in LOOP[way] or not any("checkpoint_schedules" in text for text in absent)]
    return {"PETSc": [] if any(text.startswith("PETSc") for text in absent) else list(PETSC), "Python": loops,
            "ADOL-C": [] if any(text.startswith("ADOL-C") for text in absent) else list(ADOLC)}


def run(bench, claims):
    sweeps, absent, rows = Sweeps(bench), missing(bench), []
    ways = ways_of(absent)
    idle = {family: sweeps.once(family, "nothing")["peak_bytes"] for family in ways if ways[family]}
    load = []
    for turn in range(1, 1 + bench.choose(5, 1)):
        for family in ways:
            for way in list(ways[family]):
                row = sweeps.once(family, way)
                if row is None:
                    ways[family].remove(way)
                    absent.append(NO_REVOLVE)
                    continue
                rows.append({"round": turn, **row})
                say(f"  instead: turn {turn}, {family}, {way}: {row['seconds']:.2f} s")
        load.append(os.getloadavg()[0])
    with open(bench.path("instead.csv"), "w") as file:
        file.write(",".join(rows[0]) + "\n")
        file.writelines(",".join(str(value) for value in row.values()) + "\n" for row in rows)
    table = []
    for family in ways:
        of_family = [row for row in rows if row["family"] == family]
        for way in ways[family]:
            gain = ratios(of_family, "seconds", way, "anadrome", "way")
            own = LOOP[way] if family == "Python" else ADOLC[way] if family == "ADOL-C" else PETSC[way][0]
            peak = median(pick(of_family, "peak_bytes", way=way)) - idle[family]
            table.append([FAMILIES[family], own, spread(pick(of_family, "seconds", way=way)), spread(gain, "{:.2f}"),
                          f"{peak / 2**20:.0f}", MORE.get((family, way), ""),
                          f"{median(pick(of_family, 'forward_steps', way=way)) / sweeps.steps:.2f}"])
            if way != "anadrome" and MORE.get((family, way)) != "RAM":
                claims.at_least(f"{FAMILIES[family]}: {own}, over anadrome", gain, 1.0, "{:.2f}")
    state = sweeps.side**2 * 8
    return (f"\nOn {datetime.date.today():%d %B %Y}, on a machine that others used, too (load {min(load):.1f} to {max(load):.1f} on its "
            f"cores): what counts is the ratio within a turn. {sweeps.steps} steps, a state of {size(state)}, all states "
            f"{size(sweeps.steps * state)}, memory for states {size(sweeps.memory)}; one rank. The gradients differ by "
            f"{max(pick(rows, 'difference')):.0e} at most. {' '.join(dict.fromkeys(absent))}\n\n"
            + markdown(["in", "states are kept by", "s", "over anadrome", "memory beyond the loop, MiB", "more in",
                        "forward steps per step"], table))
