# SPDX-License-Identifier: BSD-2-Clause
"""A loop of which only the forward step is written: anadrome::adolc against ADOL-C's own checkpointing, Revolve in RAM."""
import os
from statistics import median

from table import markdown, pick, ratios, size, spread


def promised(rows):
    """What the numbers of forward steps say of the times, with the measured times of a step and of its adjoint."""
    step, adjoint = median(pick(rows, "step_seconds")), median(pick(rows, "adjoint_seconds"))
    seconds = {mode: median(pick(rows, "forward_steps", mode=mode)) * step + rows[0]["steps"] * adjoint for mode in ("adolc", "anadrome")}
    return seconds["adolc"] / seconds["anadrome"]


def run(bench, claims):
    if not os.path.exists(os.path.join(bench.programs, "bench_adolc")):
        raise SystemExit("this benchmark needs ADOL-C (libadolc-dev)")
    table, commands = [], []
    steps = bench.choose(1000, 100)
    for slots in (3, 5, 10):
        rows = bench.run("bench_adolc", 1, {"directory": bench.states, "steps": steps, "slots": slots, "side": bench.choose(128, 32),
                                            "rounds": bench.choose(7, 1)}, f"adolc_{slots}")
        commands.append(bench.last_command)
        if max(pick(rows, "difference")) > 1e-12:
            raise SystemExit("the gradients differ")
        gain, promise = ratios(rows, "seconds", "adolc", "anadrome"), promised(rows)
        state = rows[0]["state_bytes"]
        table.append([f"{size(steps * state)} in {size(slots * state)}"] +
                     [f"{median(pick(rows, 'forward_steps', mode=mode)) / steps:.2f}" for mode in ("adolc", "anadrome")] +
                     [spread(pick(rows, "seconds", mode=mode)) for mode in ("adolc", "anadrome")] +
                     [spread(gain, "{:.2f}"), f"{promise:.2f}"])
        claims.at_least(f"ADOL-C's checkpointing over anadrome, {slots} states in memory, of what the schedules promise",
                        [value / promise for value in gain], 0.9)
    step, adjoint = (spread(pick(rows, column), "{:.2f}", 1e3) for column in ("step_seconds", "adjoint_seconds"))
    return (f"\nOne rank, {steps} steps of {step} ms; a step is recorded and reversed in {adjoint} ms, by both ways. The gradients "
            f"are the same to {max(pick(rows, 'difference')):.0e}.\n`{commands[-1]}`\n\n"
            + markdown(["states in memory", "forward steps per step: ADOL-C", "anadrome", "s: ADOL-C", "anadrome", "ADOL-C over anadrome",
                        "promised"], table))
