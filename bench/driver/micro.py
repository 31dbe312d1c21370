# SPDX-License-Identifier: BSD-2-Clause
"""Nanoseconds of the parts: an action, a keep, a restore, a step with tiny states."""
import json
import os
import subprocess
from statistics import median

from machine import say
from table import markdown, spread

UNITS = ("per_action", "per_step", "per_keep", "per_restore", "per_copy")


def python_sweep(bench):
    """Seconds per step, and actions per step, of the sweeps of python_sweep.py."""
    path = os.path.join(os.path.dirname(bench.programs), "python")
    done = subprocess.run(
        ["timeout", "300", "/usr/bin/python3", "bench/python_sweep.py", str(bench.choose(100000, 2000)),
         str(bench.choose(5, 2))], check=True, capture_output=True, text=True,
        env={**os.environ, "ANADROME_BENCH_DIRECTORY": bench.states, "PYTHONPATH": path})
    found = json.loads(done.stdout)
    return found["seconds_per_step"], found["actions_per_step"]


def run(bench, claims):
    say("  micro")
    path = bench.path("micro.json")
    subprocess.run(
        ["timeout", "300", os.path.join(bench.programs, "bench_micro"), f"--benchmark_out={path}",
         "--benchmark_out_format=json", f"--benchmark_min_time={bench.choose(0.2, 0.02)}",
         f"--benchmark_repetitions={bench.choose(5, 2)}",
         "--benchmark_enable_random_interleaving=true"],
        check=True, env={**os.environ, "ANADROME_BENCH_DIRECTORY": bench.states},
        stdout=subprocess.DEVNULL)
    with open(path) as file:
        runs = [run for run in json.load(file)["benchmarks"] if run["run_type"] == "iteration"]
    times = {}
    with open(bench.path("micro.csv"), "w") as file:
        file.write("name,of_one,repetition,ns\n")
        for row in runs:
            name = row["run_name"].removesuffix("/real_time")
            unit = next(unit for unit in UNITS if unit in row)
            times.setdefault((name, unit), []).append(1e9 * row[unit])
            file.write(f"{name},{unit.removeprefix('per_')},{row['repetition_index']},"
                       f"{1e9 * row[unit]:.4g}\n")
    python, actions = python_sweep(bench)
    times["tiny/store_all in Python", "per_step"] = [1e9 * seconds for seconds in python]
    table = [[name, unit.removeprefix("per_"), spread(values, "{:.4g}")]
             for (name, unit), values in sorted(times.items())]
    for (name, _), values in sorted(times.items()):
        if name.startswith("revolve/anadrome"):
            claims.at_most(f"{name}: ns per action", values, 10, "{:.1f}")
        if name.startswith("tiny/store_all/"):
            claims.at_most("24-byte states in RAM: ns per step", values, 100, "{:.0f}")
        if name.startswith("tiny/disk"):
            claims.at_most("24-byte states on disk, 10^7 steps: ns per step", values, 150, "{:.0f}")
    claims.at_most("objects of 24 bytes, 10^6 of them: ns per put", times["store/put/24/1000000", "per_keep"], 2000, "{:.0f}")
    in_c = next(values for (name, _), values in times.items() if name.startswith("tiny/store_all/"))
    claims.at_most("Python: ns per action beyond C", [(1e9 * seconds - median(in_c)) / actions for seconds in python], 2000, "{:.0f}")
    copies = times["copy_large/8388608/20", "per_copy"]
    claims.at_most("an object of 8 MiB: put over memcpy", [a / b for a, b in zip(times["store/put/8388608/20", "per_keep"], copies)], 1.3)
    sizes = sorted(int(name.split("/")[1]) for name, unit in times if unit == "per_copy" and name.startswith("copy/"))
    with open(bench.path("micro.dat"), "w") as file:
        for size in sizes:
            file.write(f"{size} " + " ".join(
                f"{median(times[(f'{part}/{size}', f'per_{part}')]):.3f}"
                for part in ("keep", "restore", "copy")) + "\n")
    plots = ", ".join(f'"{bench.path("micro.dat")}" using 1:{column} with linespoints pt 7 '
                      f'title "{part}"' for column, part in enumerate(("keep", "restore", "copy"), 2))
    bench.draw("micro", f"""
set logscale xy
set xlabel "bytes of a state"
set ylabel "nanoseconds"
set key top left
plot {plots}
""")
    return "\n" + markdown(["benchmark", "of one", "ns"], table)
