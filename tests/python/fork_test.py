# SPDX-License-Identifier: BSD-2-Clause
"""A child of fork has no I/O thread and no files of its own: what it inherits is refused, and stays the parent's. On one rank."""
import gc
import os
import pickle
import weakref

import numpy as np

import anadrome
from anadrome import Error, Status
from mpi4py import MPI

STEPS = 60


def in_child(calls):
    """What each call came to in a child that then ends as an interpreter does, but for MPI and the tests."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        found = []
        for call in calls:
            try:
                call()
                found.append("returned")
            except Error as error:
                found.append((error.status, str(error)))
            except BaseException as error:
                found.append(repr(error))
        os.write(writer, pickle.dumps(found))
        gc.collect()
        for finalizer, how in list(weakref.finalize._registry.items()):  # not those of the tests
            if how.func.__module__.startswith("anadrome"):
                finalizer()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        found = pickle.loads(file.read())
    assert os.waitpid(child, 0)[1] == 0
    return found


def expect_refused(found):
    for outcome in found:
        assert outcome[0] == Status.ERR_ORDER and "before this process was forked off" in outcome[1], outcome


def test_a_run_of_the_parent_is_refused_and_goes_on_there(directory):
    u, lam = np.linspace(0.1, 0.9, 5000), np.zeros(5000)
    with anadrome.Run(MPI.COMM_SELF, directory=directory, name="run", memory="400KiB", schedule="async", interval=3) as run:
        run.state(u=u)
        run.adjoint(lam=lam)
        sweep = run.sweep(STEPS)
        for action in sweep:
            match action:
                case anadrome.Advance(first, last):
                    for k in range(first, last):
                        u += 1e-3 * u * (1 - u)
                case anadrome.Turn():
                    files = sorted(os.listdir(directory / "run"))
                    expect_refused(in_child([lambda: next(sweep), lambda: run.statistics(), lambda: run.fail("child"),
                                             lambda: run.sweep(3), lambda: run.resumed, run.close]))
                    assert sorted(os.listdir(directory / "run")) == files
                    lam[:] = u
                case anadrome.Adjoint(k):
                    lam *= 1 + 1e-3 * (1 - 2 * u)
        assert "async" in run.summary(), "the child took the report away"
    expected, states = np.linspace(0.1, 0.9, 5000), []
    for k in range(STEPS):
        states.append(expected.copy())
        expected += 1e-3 * expected * (1 - expected)
    for x in reversed(states):
        expected *= 1 + 1e-3 * (1 - 2 * x)
    np.testing.assert_array_equal(lam, expected)
    assert os.listdir(directory) == []


def test_a_store_of_the_parent_is_refused_and_goes_on_there(directory):
    u, out = np.arange(50000.0), np.empty(50000)
    with anadrome.Store(MPI.COMM_SELF, memory="1MiB", directory=directory, name="store") as store:
        for k in range(20):
            store[k] = u + k
        expect_refused(in_child([lambda: store.get(3, out=out), lambda: store.put(99, u), store.sync, store.close]))
        assert "store" in os.listdir(directory)
        for k in reversed(range(20)):
            store.get(k, out=out)
            assert (out == u + k).all()


def test_a_child_may_open_its_own(directory):
    def own():
        with anadrome.Store(MPI.COMM_SELF, memory="1MiB", directory=directory, name="child") as store:
            store[1] = np.ones(3)
            assert (store[1] == 1).all()

    with anadrome.Store(MPI.COMM_SELF, memory="1MiB", directory=directory, name="parent"):
        assert in_child([own]) == ["returned"]
