# SPDX-License-Identifier: BSD-2-Clause
"""A wave whose steps are run backwards against Revolve and async, in the same memory, each sweep a process of its own; and the
error of the gradient that schedule=undo states without residuals, beside the true one."""
import array
import os
import subprocess
from statistics import median

import compression
from table import markdown, spread

# Of a sweep: points, steps, seconds that a step takes at least, states of memory, the disk, turns.
CELLS = ((1024, 400, 0, 8, "as it is", 3), (1024, 400, 0, 8, "400MB/s", 3), (1024, 400, 0, 8, "100MB/s", 3),
         (512, 1000, 0.015, 6, "4MB/s", 1))
QUICK = ((128, 40, 0, 8, "as it is", 1), (128, 40, 0.001, 8, "4MB/s", 1))
WAYS = {"revolve": ["schedule=revolve"], "async": ["schedule=async"], "undo": ["schedule=undo"],
        "undo, drifting": ["schedule=undo", "compress=lossy", "interval=70"]}


def once(bench, kind, sponge, side, steps, *options, seconds=0):
    """The numbers of a sweep, and its gradient."""
    file = os.path.abspath(os.path.join(bench.states, "gradient"))
    command = [os.path.abspath(f"{bench.programs}/bench_undone"), kind, str(sponge), str(side), str(steps), str(seconds), file, "directory=.", *options]
    done = subprocess.run(["timeout", "300", *command], capture_output=True, text=True, cwd=bench.states, check=False)
    if "that was undone to is" in done.stderr:
        return None, done.stderr
    if done.returncode:
        raise SystemExit(f"failed ({done.returncode}): {' '.join(command)}\n{done.stderr}")
    names = ("seconds", "forward", "undone", "written", "states", "drift", "peak", "stated")
    with open(file, "rb") as values:
        return dict(zip(names, map(float, done.stdout.split()))), array.array("d", values.read())


def sweeps(bench, claims):
    table, far = [], []
    for side, steps, seconds, slots, disk, turns in bench.choose(CELLS, QUICK):
        memory = f"memory={slots * side * side * 2 * 8}"
        limit = "bandwidth_limit=" + ("none" if disk == "as it is" else disk)
        _, kept = once(bench, "double", 0.2, side, steps, "schedule=store_all", "memory=20GiB")
        found = {way: [] for way in WAYS}
        for _ in range(turns):
            for way, options in WAYS.items():
                numbers, gradient = once(bench, "double", 0.2, side, steps, memory, limit, *options, seconds=seconds)
                if way != "undo, drifting" and gradient != kept:
                    raise SystemExit(f"{way}: the gradient has other bits")
                found[way].append(numbers)
        best = [min(found[way][i]["seconds"] for way in ("revolve", "async")) for i in range(turns)]
        setting = f"{side} x {side} points, {steps} steps" + (f" of {1000 * seconds:g} ms" if seconds else "") + f", {slots} states, disk {disk}"
        for way, rows in found.items():
            of_best = [row["seconds"] / other for row, other in zip(rows, best)]
            ratio = f"{rows[0]['states'] / rows[0]['written']:.1f}" if rows[0]["states"] else "-"
            table.append([setting, way, spread(of_best, "{:.2f}"), f"{(rows[0]['forward'] + rows[0]['undone']) / steps:.2f}", ratio,
                          f"{median(row['peak'] for row in rows) / 2**20:.0f}"])
            if way == "undo, drifting" and seconds:
                far += of_best
    claims.at_most("dear steps and a far disk: without residuals, of the faster of revolve and async", far, 1, "{:.2f}")
    return ("\nSeconds over those of the faster of revolve and async in the same turn. All gradients but those that drift have\n"
            "the bits of every state kept:\n\n" +
            markdown(["sweep", "schedule", "of the faster", "forward and undone steps per step", "states over residuals", "MiB"], table))


def drifts(bench, claims):
    side, steps = bench.choose((256, 400), (64, 80))
    rows = []
    for kind, allowed in (("double", "1e-3"), ("float", "0.5")):
        for sponge in (0, 0.1):
            _, kept = once(bench, kind, sponge, side, steps, "schedule=store_all", "memory=4GiB")
            for interval in (10, 50, 200):
                numbers, gradient = once(bench, kind, sponge, side, steps, "schedule=undo", "compress=lossy", f"interval={interval}",
                                         f"tolerance={allowed}", "memory=64MiB", "probe=on")
                name = f"leapfrog wave, {kind}" + (", sponge" if sponge else "")
                rows.append((name, interval, None if numbers is None else (numbers["drift"], distance(gradient, kept), numbers["stated"])))
    for model in compression.MODELS:
        found = compression.sweep(bench, "drifts", model, directory=os.path.join(bench.states, "drifts"), side=bench.choose(128, 64), steps=bench.choose(200, 160))
        rows += [(f"{model}, Runge-Kutta", int(row["interval"]), None if row["refused"] else (row["drift"], row["error"], row["stated"])) for row in found]
    table, factors = [], []
    for name, interval, found in rows:
        if found is None:
            table.append([name, interval, "beyond any tolerance: refused", "-", "-", "-"])
            continue
        drift, error, stated = found
        factors.append(max(stated / error, error / stated))
        table.append([name, interval, f"{drift:.1e}", f"{error:.1e}", f"{stated:.1e}", f"{stated / error:.2f}"])
    claims.at_most("without residuals, the stated error of the gradient is off by", factors, 3, "{:.2f}")
    return (f"\nWithout residuals, with `probe=on`; the waves by leapfrog {side} x {side} points, {steps} steps:\n\n" +
            markdown(["model", "interval", "drift", "error of the gradient", "stated", "over the error"], table))


def distance(some, others):
    """Relative, in the 2-norm."""
    return (sum((a - b) ** 2 for a, b in zip(some, others, strict=True)) / sum(b * b for b in others)) ** 0.5


def run(bench, claims):
    os.makedirs(bench.states, exist_ok=True)
    return sweeps(bench, claims) + drifts(bench, claims)
