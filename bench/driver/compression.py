# SPDX-License-Identifier: BSD-2-Clause
"""Compressed states: what they shrink to, how fast, what that does to the gradient, and to the time of a sweep."""
import os
import shutil
import textwrap
from statistics import median

from machine import output_of, read_rows
from table import markdown, pick, ratios, size, spread

MODELS = ("wave", "shallow water", "Burgers", "Lorenz-96", "vorticity")
MODES = ("off", "auto", "lz4", "lossy:1e-6")
# Of a rank, with steps of so many seconds: the disk is what limits the sweep, but for the last.
SETUPS = (("20MB/s", 0.005), ("85MB/s", 0.002), ("300MB/s", 0.0005), ("none", 0.001))


def sweep(bench, *words, **flags):
    package = os.path.join(os.path.dirname(bench.programs), "python")
    command = ["/usr/bin/python3", "bench/compression_sweep.py", *words]
    for name, value in flags.items():
        command += ["--" + name.replace("_", "-"), str(value)]
    os.environ["PYTHONPATH"] = package
    bench.last_command = " ".join(command)
    return read_rows(output_of(["timeout", "--kill-after=10", "1800"] + command))


def shown(bench, before="`", after="`"):
    """The last command, in lines of prose."""
    return textwrap.fill(before + bench.last_command + after, 120, break_long_words=False, break_on_hyphens=False)


def tolerance_of(row):
    return f"{row['tolerance']:.0e}" if row["tolerance"] else ""


def of_errors(bench, claims):
    """A table per model; states lie in memory, so that the rates are the codecs'."""
    text = ""
    directory = "/dev/shm/anadrome_bench"
    try:
        for model in MODELS:
            rows = sweep(bench, "errors", model, directory=directory, side=bench.choose(256, 64), steps=bench.choose(200, 40),
                         memory_mib=bench.choose(16, 8))
            exact = [row for row in rows if row["codec"] in ("off", "lz4")]
            if not all(row["same_bits"] for row in exact):
                raise SystemExit("compression without loss changed the gradient")
            text += f"\n**{model}**\n{shown(bench, '(`', '`)')}\n\n" + markdown(
                ["codec", "tolerance", "bytes: before over after", "write, MB/s", "read, MB/s", "relative error of the gradient", "over the tolerance", "stated", "over the error"],
                [[row["codec"], tolerance_of(row), f"{row['ratio']:.2f}", f"{row['write_rate'] / 1e6:.0f}", f"{row['read_rate'] / 1e6:.0f}",
                  "0" if row["same_bits"] else f"{row['error']:.1e}",
                  f"{row['error'] / row['tolerance']:.2g}" if row["tolerance"] else "",
                  f"{row['stated']:.1e}" if row["stated"] else "", f"{row['stated'] / row['error']:.2f}" if row["stated"] else ""]
                 for row in rows])
            for codec in ("round", "zfp"):
                factors = [max(row["stated"] / row["error"], row["error"] / row["stated"]) for row in rows if row["codec"] == codec]
                claims.at_most(f"{model}, {codec}: the stated error is off by", factors, 3, "{:.2f}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return text


def of_control(bench, claims):
    """What becomes of the error that a run is asked to keep to."""
    table, directory = [], "/dev/shm/anadrome_bench"
    try:
        for model in MODELS:
            rows = sweep(bench, "kept", model, directory=directory, side=bench.choose(256, 64), steps=bench.choose(200, 40), memory_mib=bench.choose(24, 12))
            for codec in ("round", "zfp"):
                mine = [row for row in rows if row["codec"] == codec]
                table.append([model, codec] + [text for row in mine for text in (f"{row['tolerance']:.1e}", f"{row['error']:.1e}")])
                third = mine[-1]["error"] / mine[-1]["asked"]
                claims.at_most(f"{model}, {codec}: with gradient_error=1e-6 the error of the third sweep is off by", [max(third, 1 / third)], 3, "{:.2f}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return (f"\nWith `gradient_error=1e-6`, the first three sweeps of a run\n{shown(bench, '(`', '`)')}\n\n" +
            markdown(["states of", "codec"] + [text for k in (1, 2, 3) for text in (f"tolerance, sweep {k}", "error")], table))


def of_times(bench, claims):
    """Turns at rates of a disk; a step takes as long as is said, and another core is free."""
    table = []
    for model in ("wave", "vorticity"):
        for limit, step_seconds in SETUPS:
            rows = sweep(bench, "times", model, directory=bench.states, limit=limit, modes=",".join(MODES), side=bench.choose(512, 64),
                         steps=bench.choose(200, 20), rounds=bench.choose(3, 1), slots=3, step_seconds=step_seconds)
            for mode in MODES:
                table.append([model, size(rows[0]["state_bytes"]), limit, f"{step_seconds * 1e3:g} ms", mode,
                              f"{median(pick(rows, 'ratio', mode=mode)):.2f}", f"{median(pick(rows, 'interval', mode=mode)):.0f}",
                              f"{median(pick(rows, 'forward_steps', mode=mode)):.0f}", spread(pick(rows, "seconds", mode=mode)),
                              spread(ratios(rows, "seconds", mode, "off"), "{:.2f}")])
            claims.at_most(f"{model}, {limit}: auto over off", ratios(rows, "seconds", "auto", "off"), 1.02)
            if model == "wave" and limit != "none":
                claims.at_most(f"{model}, {limit}: lossy at 1e-6 over off", ratios(rows, "seconds", "lossy:1e-6", "off"), 0.8)
    return (f"\nThe second sweep of a run; 200 steps, adjoint steps take two steps' time, 3 states in memory, one rank and a free core.\n"
            f"{shown(bench)}\n\n" +
            markdown(["states of", "bytes", "disk", "step", "compress", "bytes: before over after", "interval", "forward steps", "s", "over off"], table))


def of_plan(bench, claims):
    """Steps that are run again, seconds, and `anadrome plan` of the same with what was measured: with all the disk that is wanted, and
    with half of it."""
    table, step_seconds, steps = [], 0.005, bench.choose(200, 40)
    os.environ["PATH"] = os.path.join(os.path.dirname(bench.programs), "bin") + ":" + os.environ["PATH"]
    for model in ("wave", "vorticity"):
        for limit, _ in SETUPS:
            for disk in ("unlimited", f"{bench.choose(60, 4)}MiB"):
                rows = sweep(bench, "planned", model, directory=bench.states, limit=limit, disk=disk, modes="off,lz4,round,zfp,float32",
                             side=bench.choose(512, 64), steps=steps, rounds=1, memory_mib=bench.choose(38, 12), step_seconds=step_seconds)
                for row in rows:
                    table.append([model, size(row["state_bytes"]), limit, disk, row["mode"], f"{row['ratio']:.2f}", f"{row['anchors']:.0f}",
                                  f"{row['forward_steps']:.0f}", f"{row['plan_steps']:.0f}", f"{row['seconds']:.2f}", f"{row['plan_seconds']:.2f}"])
                if disk != "unlimited":
                    steps_over = [max(row["forward_steps"] / row["plan_steps"] for row in rows)]
                    claims.at_most(f"{model}, {limit}, disk {disk}: forward steps over the plan's, the most of any codec", steps_over, 1.05, "{:.3f}")
                over = [max(row["seconds"] / row["plan_seconds"] for row in rows)]
                claims.at_most(f"{model}, {limit}, disk {disk}: seconds over the plan's, the most of any codec", over, 1.05, "{:.3f}")
    return (f"\nThe third sweep of a run of {steps} steps of {1e3 * step_seconds:g} ms, one rank and a free core.\n{shown(bench)}\n\n" +
            markdown(["states of", "bytes", "disk's rate", "disk", "compress", "bytes: before over after", "anchors", "forward steps", "planned", "s", "planned"], table))


def run(bench, claims):
    return of_errors(bench, claims) + of_control(bench, claims) + of_times(bench, claims) + of_plan(bench, claims)
