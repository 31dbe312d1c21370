# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C, the end of runs that nobody closed, rebinding, and leaks. On one rank."""
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import tracemalloc
import warnings

import numpy as np
import pytest
from mpi4py import MPI

import anadrome
from anadrome import Advance, Error, Status, Turn
from counting import carry_out

OPTIONS = {"schedule": "revolve", "checkpoints": 4}


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def begin(comm, u, **options):
    run = anadrome.Run(comm, **{**OPTIONS, **options})
    run.state(u=u)
    return run


# ---- Ctrl-C ----

def test_ctrl_c_comes_at_the_next_agreement(comm):
    u = np.zeros(3)
    finished = []
    with pytest.raises(KeyboardInterrupt) as raised, begin(comm, u) as run:
        for action in run.sweep(50):
            carry_out(action, u)
            if isinstance(action, Turn):
                interrupt()
                finished.append(action)
    assert finished == [Turn(50)]
    assert raised.value.__cause__.status == Status.STOPPED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_comes_at_once(comm):
    with pytest.raises(KeyboardInterrupt), begin(comm, np.zeros(3)) as run:
        for action in run.sweep(50):
            interrupt()
            interrupt()
            assert False, "the second one interrupts"
    assert run.closed


@pytest.mark.parametrize("call", ["solve", "gradient"])
def test_ctrl_c_in_a_function(comm, call):
    u = np.zeros(3)
    steps = []

    def step(u, k):
        if not steps:
            interrupt()
        steps.append(k)
        u += k if call == "solve" else 1

    with pytest.raises(KeyboardInterrupt):
        if call == "gradient":
            anadrome.gradient(step, lambda u, lam, k: None, u, 50, lambda u: (0.0, u), **OPTIONS)
        with begin(comm, u) as run:
            run.solve(50, advance=lambda first, last: step(u, last - first), adjoint=lambda k: None)
    assert len(steps) > 1


def test_a_handler_of_the_program_stays(comm):
    came = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        u = np.zeros(3)
        with begin(comm, u) as run:
            for action in run.sweep(5):
                carry_out(action, u)
                if isinstance(action, Turn):
                    interrupt()
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [signal.SIGINT]


# ---- runs that are not closed, or closed already ----

@pytest.mark.parametrize("in_a_thread", [False, True])
def test_a_run_that_nobody_closed_is_a_warning_and_nothing_else(comm, in_a_thread):
    runs, caught = [begin(comm, np.zeros(3))], []
    runs[0].sweep(5)

    def drop():
        with warnings.catch_warnings(record=True) as these:
            warnings.simplefilter("always")
            runs.clear()
            gc.collect()
            caught.extend(these)

    if in_a_thread:
        thread = threading.Thread(target=drop)
        thread.start()
        thread.join()
    else:
        drop()
    assert [warning.category for warning in caught] == [ResourceWarning] and "was not closed; use `with`" in str(caught[0].message)


def test_after_close_everything_is_an_error_and_close_is_nothing(comm):
    run = begin(comm, np.zeros(3))
    sweep = run.sweep(5)
    run.close()
    run.close()
    run.request_stop()
    assert run.closed and "closed" in repr(run)
    for call in (lambda: next(sweep), lambda: run.sweep(3), lambda: run.state(v=np.zeros(1)), run.rewind,
                 lambda: run.set(memory="1GiB"), lambda: run.fail("why"), lambda: run.resumed):
        with pytest.raises(Error) as raised:
            call()
        assert raised.value.status in (Status.ERR_ARGUMENT, Status.ERR_ORDER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del run, sweep
        gc.collect()


PROGRAM = """
import sys, numpy as np, anadrome
from mpi4py import MPI
u = np.zeros(3)
run = anadrome.Run(MPI.COMM_SELF, schedule="async", memory="128KiB", directory=sys.argv[1])
run.state(u=u)
for action in run.sweep(100):
    if isinstance(action, anadrome.Advance):
        u += action.last - action.first
    if isinstance(action, anadrome.Adjoint):
        break
{end}
"""


@pytest.mark.parametrize("end, words", [
    ("", ""), ("MPI.Finalize(); del run", ""),
    ("MPI.Finalize()\ntry:\n    run.close()\nexcept anadrome.Error as error: print(error, error.status.name)",
     "close: MPI is not running ERR_ORDER")])
def test_a_process_ends_with_a_run_open(directory, without_mpirun, end, words):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(end=end), directory], text=True, capture_output=True,
                          timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    assert words in done.stdout


def test_a_second_thread_is_refused(comm):
    """A pack function runs inside a call: there another thread, and the same one, find the run in use."""
    refused = []

    def use():
        for call in (run.rewind, run.statistics):
            try:
                call()
            except Error as error:
                refused.append(error.status)

    def pack(buffer):
        if not refused:
            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
            use()

    run = begin(comm, np.zeros(3))
    run.packed("model", 8, pack, lambda buffer: None)
    with run:
        for action in run.sweep(3):
            pass
    assert refused == [Status.ERR_ORDER] * 3  # its own thread may ask for statistics


# ---- rebinding ----

def test_arrays_that_no_step_changes_are_a_warning(comm):
    first = u, v = np.zeros(3), np.ones(2)
    with begin(comm, u) as run, pytest.warns(RuntimeWarning, match=r"state \(u, v\).*u\[:\] = step\(u\)") as caught:
        run.state(v=v)
        for again in range(2):
            for action in run.sweep(9):
                if isinstance(action, Advance):
                    u = first[0] + 1
    assert len(caught) == 1 and caught[0].filename == __file__


def test_a_warning_that_is_an_error_ends_solve(comm):
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match=r"state \(u\)"), begin(comm, np.zeros(3)) as run:
        warnings.simplefilter("error")
        run.solve(9, advance=lambda first, last: None, adjoint=lambda k: None)
    assert run.closed


@pytest.mark.parametrize("kind", ["last byte", "all alike", "packed", "no step"])
def test_there_is_no_warning(comm, kind):
    u = np.zeros(1001, "u1") if kind != "all alike" else np.zeros(2**19)
    with warnings.catch_warnings(), begin(comm, u, schedule="revolve") as run:
        warnings.simplefilter("error")
        if kind == "packed":
            run.packed("model", 8, lambda buffer: None, lambda buffer: None)
        for action in run.sweep(None if kind == "no step" else 9):
            if isinstance(action, Advance) and kind == "no step":
                run.finish_forward(0)
            elif isinstance(action, Advance) and kind == "last byte":
                u[-1] += action.last - action.first
            elif isinstance(action, Advance) and kind == "all alike":
                u += action.last - action.first


# ---- the rest ----

def test_what_is_no_communicator_of_this_mpi_is_refused(monkeypatch):
    for comm, kind in (("world", TypeError), (MPI.COMM_NULL, Error)):
        with pytest.raises(kind):
            anadrome.Run(comm)
    monkeypatch.setattr(MPI, "Get_library_version", lambda: "MPI of somebody else")
    with pytest.raises(Error, match="another MPI.*of somebody else.*than anadrome") as raised:
        anadrome.Run(MPI.COMM_WORLD)
    assert raised.value.status == Status.ERR_UNSUPPORTED


def test_actions_are_values():
    action = Advance(3, 5, record=True)
    assert action == pickle.loads(pickle.dumps(action)) != Advance(3, 5)
    assert repr(action) == "Advance(first=3, last=5, record=True, again=False, branch=0)"
    with pytest.raises(AttributeError):
        action.first = 4


def test_thousands_of_runs_leave_nothing_behind(comm):
    u = np.zeros(2)

    def once():
        with begin(comm, u) as run:
            run.packed("model", 8, lambda buffer: run and None, lambda buffer: None)  # a cycle
            for action in run.sweep(6):
                carry_out(action, u)
            run.statistics(), run.summary()

    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    for warm_up in range(50):
        once()
    gc.collect()
    tracemalloc.start()
    try:
        before, open_before = len(tracemalloc.take_snapshot().traces), descriptors()
        for run in range(3000):
            once()
        gc.collect()
        grown = len(tracemalloc.take_snapshot().traces) - before
    finally:
        tracemalloc.stop()
    assert grown < 2700, f"{grown} objects"  # not one of each run: what Python keeps for itself ends at some 1000
    assert descriptors() == open_before
