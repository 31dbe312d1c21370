# SPDX-License-Identifier: BSD-2-Clause
"""Two directories with limited rates: against either alone, and against the plan."""
import os
import shutil
from statistics import median

from machine import output_of, read_rows
from table import markdown

FAST = 50  # MB/s of a rank
RATIOS = (4, 16)
SHARES = (1 / 8, 1 / 2)  # of the anchors that both would take, in the fast directory
STEPS, STEP_SECONDS, STATE = 80, 0.01, 1 << 20
NUMBERS = ("seconds", "plan_seconds", "forward_steps", "plan_steps", "anchors")
SLACK = 1 << 18  # of tables in the files


def room_for(share, ratio, ranks):
    """Bytes, of all ranks."""
    states = STEPS * STEP_SECONDS * FAST * 1e6 * (1 + 1 / ratio) / STATE
    return int(share * states) * STATE * ranks + SLACK * (ranks + 1)


def sweep(bench, ranks, **flags):
    package = os.path.join(os.path.dirname(bench.programs), "python")
    os.environ["PYTHONPATH"] = package
    os.environ["PATH"] = os.path.join(os.path.dirname(bench.programs), "bin") + ":" + os.environ["PATH"]
    command = ["mpirun", "-n", str(ranks), "/usr/bin/python3", "bench/two_directories.py"]
    for name, value in flags.items():
        command += ["--" + name.replace("_", "-"), str(value)]
    bench.last_command = " ".join(command)
    return read_rows(output_of(["timeout", "--kill-after=10", "1800"] + command))


def run(bench, claims):
    fast, home = "/dev/shm/anadrome_bench", bench.path("home")
    table, over_plan, over_better = [], [], []
    try:
        for directory in (fast, home):
            os.makedirs(directory, exist_ok=True)
        for ranks in bench.choose((1, 2, 4), (2,)):
            for ratio in RATIOS:
                for share in SHARES:
                    rows = sweep(bench, ranks, fast=fast, home=home, fast_limit=f"{FAST}MB/s", home_limit=f"{FAST / ratio}MB/s",
                                 room=room_for(share, ratio, ranks), steps=bench.choose(STEPS, 40), step_seconds=STEP_SECONDS,
                                 rounds=1)
                    both, alone_fast, alone_home = ({name: median(row[name] for row in rows if row["mode"] == mode) for name in NUMBERS}
                                                    for mode in ("both", "fast", "home"))
                    of_plan = both["seconds"] / both["plan_seconds"]
                    to_fast, to_home = (both["seconds"] / alone["seconds"] for alone in (alone_fast, alone_home))
                    over_plan.append(of_plan)
                    over_better.append(max(to_fast, to_home))
                    table.append([ranks, ratio, f"{share:g}", f"{both['seconds']:.2f} s", f"{of_plan:.3f}", f"{both['forward_steps'] / STEPS:.2f}",
                                  f"{both['plan_steps'] / STEPS:.2f}", f"{both['anchors']:.0f}", f"{to_fast:.3f}", f"{to_home:.3f}"])
    finally:
        shutil.rmtree(fast, ignore_errors=True)
        shutil.rmtree(home, ignore_errors=True)
    claims.at_most("directories: seconds over the plan's, at most", [max(over_plan)], 1.05)
    claims.at_most("directories: seconds over those of the better one alone, at most", [max(over_better)], 1.02)
    return (f"\n{STEPS} steps of {1000 * STEP_SECONDS:g} ms, states of 1 MiB a rank, memory for 8; the fast directory writes and reads {FAST} MB/s a rank, home "
            "so many times less, and has no limit. The third sweep of a run of each kind, one after the other.\n\n" +
            markdown(["ranks", "rates, fast over home", "room, of the anchors", "both", "over the plan", "steps per step", "planned", "anchors",
                      "over fast alone", "over home alone"], table))
