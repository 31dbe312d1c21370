# SPDX-License-Identifier: BSD-2-Clause
"""A wave whose steps are run backwards against Revolve and async, in the same memory, each sweep a process of its own; and the
error of the gradient that schedule=undo states without residuals, beside the true one."""
import array
import os
import subprocess
from statistics import median

import compression
from table import markdown, spread

DISKS = {"as it is": "none", "400 MB/s": "400MB/s", "100 MB/s": "100MB/s"}
WAYS = {"revolve": ["schedule=revolve"], "async": ["schedule=async"], "undo": ["schedule=undo"],
        "undo, drifting": ["schedule=undo", "compress=lossy", "interval=50"]}


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
    side, steps, slots = bench.choose((1024, 400, 8), (128, 40, 8))
    memory = f"memory={slots * side * side * 2 * 8}"
    _, kept = once(bench, "double", 0.2, side, steps, "schedule=store_all", "memory=20GiB")
    table, faster = [], []
    for disk, limit in DISKS.items():
        found = {way: [] for way in WAYS}
        for _ in range(bench.choose(3, 1)):
            for way, options in WAYS.items():
                numbers, gradient = once(bench, "double", 0.2, side, steps, memory, f"bandwidth_limit={limit}", *options)
                if way != "undo, drifting" and gradient != kept:
                    raise SystemExit(f"{way}: the gradient has other bits")
                found[way].append(numbers)
        best = [min(turn[way]["seconds"] for way in ("revolve", "async")) for turn in
                ({way: found[way][i] for way in WAYS} for i in range(len(found["undo"])))]
        for way, rows in found.items():
            of_best = [row["seconds"] / other for row, other in zip(rows, best)]
            ratio = f"{rows[0]['states'] / rows[0]['written']:.1f}" if rows[0]["states"] else "-"
            table.append([disk, way, spread(of_best, "{:.2f}"), f"{(rows[0]['forward'] + rows[0]['undone']) / steps:.2f}", ratio,
                          f"{median(row['peak'] for row in rows) / 2**20:.0f}"])
            if way == "undo, drifting":
                faster += of_best
    claims.at_most("without residuals, of the faster of revolve and async", faster, 1, "{:.2f}")
    return (f"\n{side} x {side} points, {steps} steps, {slots} states of memory; seconds over those of the faster of revolve and async "
            "in the same turn. All gradients but those that drift have the bits of every state kept:\n\n" +
            markdown(["disk", "schedule", "of the faster", "forward and undone steps per step", "states over residuals", "MiB"], table))


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
