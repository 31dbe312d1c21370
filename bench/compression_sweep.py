# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps with compressed states; rows of CSV.

compression_sweep.py errors MODEL  the gradient with each codec and tolerance, against the one without
compression_sweep.py kept MODEL    the gradient's error in the first sweeps of a run that is to keep to one
compression_sweep.py drifts MODEL  the gradient by states that are undone from the kept ones and drift, against the one without
compression_sweep.py times MODEL   what a sweep takes with each codec, in turns, where a step takes as long as is said: it
                                   brings states that the model made before
compression_sweep.py planned MODEL forward steps and seconds with each codec, and what `anadrome plan` says of the same, asked as the summary says"""
import argparse
import os
import time

import anadrome
import numpy as np
from compression_models import MODELS
from mpi4py import MPI
from plan_rows import planned, put_out

ERRORS = [("off", None), ("lz4", None), ("float32", None)] + [
    (codec, tolerance) for codec in ("round", "zfp") for tolerance in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)]


def options(arguments, compress, tolerance, **more):
    given = {"schedule": "async", "directory": arguments.directory, "audit": "off", "compress": compress, **more}
    if tolerance is not None:
        given["tolerance"] = repr(tolerance)
    return given


def gradients_of(model, steps, given, x_0, sweeps=1):
    """Of each sweep the gradient, as one vector, and what the library counted."""
    gradient = np.zeros(model.q.shape[1:])
    adjoint = np.zeros_like(model.q)
    with anadrome.Run(MPI.COMM_SELF, **given) as run:
        run.state(**{f"q{i}": part for i, part in enumerate(model.q)})
        run.adjoint(adjoint=adjoint, gradient=gradient)
        for _ in range(sweeps):
            model.q[...] = x_0
            gradient[...] = adjoint[...] = 0
            for action in run.sweep(steps):
                if type(action) is anadrome.Advance:
                    for _ in range(action.first, action.last):
                        model.step()
                elif type(action) is anadrome.Retreat:
                    model.undo()
                elif type(action) is anadrome.Turn:
                    adjoint[...] = model.seed()
                else:
                    model.step_back(adjoint, gradient)
            yield (gradient if model.of_parameters else adjoint).ravel().copy(), run.statistics()


def relative_error(found, reference):
    return np.linalg.norm(found - reference) / np.linalg.norm(reference)


def errors(arguments):
    model = MODELS[arguments.model](arguments.side)
    x_0, reference = model.q.copy(), None
    for compress, tolerance in ERRORS:
        given = options(arguments, compress, tolerance, interval=str(arguments.interval), memory=f"{arguments.memory_mib}MiB",
                        probe="off" if tolerance is None else "on")
        (found, s), = gradients_of(model, arguments.steps, given, x_0)
        if reference is None:
            reference, state_bytes = found, s.state_bytes
        yield {"codec": compress, "tolerance": tolerance or 0,
               "ratio": s.bytes_compressed / s.bytes_written if s.bytes_compressed else 1,
               "write_rate": s.states_written * state_bytes / s.seconds_writing, "read_rate": s.states_read * state_bytes / s.seconds_reading,
               "error": relative_error(found, reference), "stated": s.gradient_error,
               "same_bits": int(np.array_equal(found, reference)),
               "state_bytes": state_bytes, "states_written": s.states_written}


def kept(arguments):
    model = MODELS[arguments.model](arguments.side)
    x_0 = model.q.copy()
    of_run = {"interval": str(arguments.interval), "memory": f"{arguments.memory_mib}MiB"}
    (reference, _), = gradients_of(model, arguments.steps, options(arguments, "off", None, **of_run), x_0)
    for codec in ("round", "zfp"):
        given = options(arguments, codec, None, gradient_error=repr(arguments.asked), **of_run)
        for sweep, (found, s) in enumerate(gradients_of(model, arguments.steps, given, x_0, sweeps=3), 1):
            yield {"codec": codec, "sweep": sweep, "tolerance": s.tolerance, "error": relative_error(found, reference), "asked": arguments.asked}


def drifts(arguments):
    model = MODELS[arguments.model](arguments.side)
    x_0, memory = model.q.copy(), f"{arguments.memory_mib}MiB"
    (reference, _), = gradients_of(model, arguments.steps, options(arguments, "off", None, memory=memory), x_0)
    for interval in (5, 20, 80):
        given = options(arguments, "lossy", 0.9, schedule="undo", interval=str(interval), memory=memory, probe="on")
        try:
            (found, s), = gradients_of(model, arguments.steps, given, x_0)
        except anadrome.Error as error:
            if error.status != anadrome.Status.ERR_NONDETERMINISTIC:
                raise
            yield {"interval": interval, "drift": 1, "error": 1, "stated": 1, "refused": 1}
        else:
            yield {"interval": interval, "drift": s.drift, "error": relative_error(found, reference), "stated": s.gradient_error, "refused": 0}


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def times(arguments):
    model = MODELS[arguments.model](arguments.side)
    recorded = []
    for k in range(arguments.steps):
        model.step()
        if k >= arguments.steps // 2 and k % max(arguments.steps // 64, 1) == 0:
            recorded.append(model.q.copy())
    q = model.q
    modes = [mode.partition(":")[::2] for mode in arguments.modes.split(",")]
    for turn in range(arguments.rounds + 1):
        for compress, tolerance in modes:
            given = options(arguments, compress, float(tolerance) if tolerance else None, bandwidth_limit=arguments.limit,
                            memory=f"{arguments.memory_mib}MiB", checkpoints=str(arguments.slots), audit="off")
            with anadrome.Run(MPI.COMM_SELF, **given) as run:
                run.state(**{f"q{i}": part for i, part in enumerate(q)})
                for sweep in range(2):  # the first one learns
                    start = time.perf_counter()
                    for action in run.sweep(arguments.steps):
                        if type(action) is anadrome.Advance:
                            for k in range(action.first, action.last):
                                spin(arguments.step_seconds)
                                q[...] = recorded[(k + 1) % len(recorded)]
                        elif type(action) is anadrome.Adjoint:
                            spin(2 * arguments.step_seconds)
                    seconds = time.perf_counter() - start
                s = run.statistics()
            yield {"round": turn, "mode": compress + (":" + tolerance if tolerance else ""), "seconds": seconds, "forward_steps": s.forward_steps_taken,
                   "interval": s.interval, "states_written": s.states_written, "state_bytes": s.state_bytes,
                   "ratio": s.bytes_compressed / s.bytes_written if s.bytes_compressed else 1}


def compared_with_plan(arguments):
    model = MODELS[arguments.model](arguments.side)
    recorded = [model.q.copy()]
    for k in range(arguments.steps):
        model.step()
        if k % max(arguments.steps // 64, 1) == 0:
            recorded.append(model.q.copy())
    every = max(arguments.steps // 64, 1)
    q, report = model.q, os.path.join(arguments.directory, "report")
    for turn in range(arguments.rounds):
        for compress in arguments.modes.split(","):
            given = options(arguments, compress, 1e-6 if compress in ("round", "zfp") else None, bandwidth_limit=arguments.limit,
                            memory=f"{arguments.memory_mib}MiB", disk=arguments.disk, audit="off", report=report)
            with anadrome.Run(MPI.COMM_SELF, **given) as run:
                run.state(**{f"q{i}": part for i, part in enumerate(q)})
                for sweep in range(3):  # the first ones learn
                    start = time.perf_counter()
                    q[...] = recorded[0]
                    for action in run.sweep(arguments.steps):
                        if type(action) is anadrome.Advance:
                            for k in range(action.first, action.last):
                                spin(arguments.step_seconds)
                                q[...] = recorded[(k + every) // every]
                        elif type(action) is anadrome.Adjoint:
                            spin(2 * arguments.step_seconds)
                    seconds = time.perf_counter() - start
                s = run.statistics()
            plan = planned(report)
            yield {"round": turn, "mode": compress, "seconds": seconds, "plan_seconds": plan["seconds"], "forward_steps": s.forward_steps_taken,
                   "plan_steps": int(plan["forward_steps"]), "anchors": s.anchors, "state_bytes": s.state_bytes,
                   "ratio": s.bytes_compressed / s.bytes_written if s.bytes_compressed else 1}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("errors", "kept", "drifts", "times", "planned"))
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--directory", required=True)
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--interval", type=int, default=8)
    parser.add_argument("--memory-mib", type=int, default=24)
    parser.add_argument("--modes", default="off,auto,lz4,lossy:1e-6")
    parser.add_argument("--disk", default="unlimited")
    parser.add_argument("--limit", default="none")
    parser.add_argument("--slots", type=int, default=3)
    parser.add_argument("--step-seconds", type=float, default=0.005)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--asked", type=float, default=1e-6)
    arguments = parser.parse_args()
    os.makedirs(arguments.directory, exist_ok=True)
    put_out({"errors": errors, "kept": kept, "drifts": drifts, "times": times, "planned": compared_with_plan}[arguments.what](arguments))


main()
