# SPDX-License-Identifier: BSD-2-Clause
"""What happens on one rank reaches the others: exceptions, Ctrl-C, and waiting with other threads of Python. On 2 ranks or more."""
import contextlib
import os
import signal
import threading

import numpy as np
import pytest

import anadrome
from anadrome import Adjoint, Advance, Error, Status, Turn
from counting import carry_out

IN_MEMORY = {"schedule": "revolve", "checkpoints": 4}
ON_DISK = {"schedule": "async", "memory": "128KiB", "interval": 7}


class Broken(Exception):
    pass


def late(action):
    """After what the ranks agree on at the start."""
    return isinstance(action, Advance) and action.first >= 30


def sweep_that_breaks(comm, breaks, steps, options):
    """Rank 1 raises at the first action where `breaks` says so; there are no messages between the ranks in the steps."""
    u = np.zeros(10)
    with anadrome.Run(comm, **options) as run:
        run.state(u=u)
        for action in run.sweep(steps):
            if comm.rank == 1 and breaks(action):
                raise Broken("the  mesh\nis gone")
            match action:
                case Advance(first, last, again=again):
                    u += last - first
                    if steps is None and not again and last > 200:
                        u += 200 - last
                        run.finish_forward(200)


@pytest.mark.parametrize("breaks", [lambda action: True, late, lambda action: isinstance(action, Turn),
                                    lambda action: isinstance(action, Adjoint)], ids=["first", "late", "Turn", "Adjoint"])
@pytest.mark.parametrize("steps, options", [(50, ON_DISK), (None, IN_MEMORY)])
def test_an_exception_in_the_body_ends_the_sweep_on_every_rank(comm, directory, breaks, steps, options):
    with pytest.raises(Broken if comm.rank == 1 else Error) as raised:
        sweep_that_breaks(comm, breaks, steps, {**options, "directory": directory})
    if comm.rank != 1:
        assert raised.value.status == Status.ERR_PEER
        assert "rank 1" in str(raised.value)
        assert "Broken: the mesh is gone" in str(raised.value)
    comm.Barrier()  # nobody is left behind, and the communicator works


def test_a_gradient_whose_step_raises_once_leaves_nobody_waiting(comm):
    def step(u, k):
        u += comm.allreduce(1)  # each waits for the others, as for a halo
        if comm.rank == 1 and k == 30:
            raise Broken("once")

    def adjoint_step(u, lam, k):
        comm.allreduce(1)

    with pytest.raises(Broken if comm.rank == 1 else Error) as raised:
        anadrome.gradient(step, adjoint_step, np.ones(10), 100, lambda u: (1.0, u), comm=comm, **IN_MEMORY)
    assert "once" in str(raised.value)


def test_a_gradient_goes_on_with_the_same_start_alone(comm, directory):
    options = dict(directory=directory, resume=True, checkpoint_interval=0, comm=comm, **ON_DISK)
    x0 = np.linspace(1, 2, 1000)

    def gradient(start, stops_at=None, steps=200):
        def step(u, k):
            u += 1e-3 * np.sin(u)
            if k == stops_at:
                signal.raise_signal(signal.SIGINT)

        def adjoint_step(u, lam, k):
            lam *= 1 + 1e-3 * np.cos(u)

        return anadrome.gradient(step, adjoint_step, start, steps, lambda u: (float(comm.size), u),
                                 observe=lambda u, k: (comm.allreduce(float(u.sum())), np.ones_like(u)), **options)

    expected = gradient(x0)
    with pytest.raises((KeyboardInterrupt, Error)):
        gradient(x0, stops_at=150)
    with pytest.raises((ValueError, Error), match="x0 or parameters are others"):
        gradient(1.01 * x0 if comm.rank == 1 else x0)
    with pytest.raises(Error, match="it had 200 steps"):
        gradient(x0, steps=100)
    J, by_x0 = gradient(x0)
    assert J == expected[0]
    np.testing.assert_array_equal(by_x0, expected[1])


def test_a_run_that_one_rank_could_not_make_leaves_nobody_waiting(comm, monkeypatch):
    def lacking(*arguments, **more):
        raise MemoryError

    if comm.rank == 1:
        monkeypatch.setattr("anadrome._run.Report", lacking)
    u = np.zeros(10)
    with pytest.raises(MemoryError if comm.rank == 1 else Error) as raised, anadrome.Run(comm, **IN_MEMORY) as run:
        run.state(u=u)
        for action in run.sweep(5):
            carry_out(action, u)
    comm.Barrier()  # beside the exception, which holds what it went through
    if comm.rank != 1:
        assert raised.value.status == Status.ERR_PEER


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_exception_outside_of_a_sweep_leaves_nobody_waiting(comm, directory, moment):
    u = np.zeros(10)
    with pytest.raises((Broken, Error)) as raised, anadrome.Run(comm, **IN_MEMORY) as run:
        run.state(u=u)
        for again in range(2):
            if comm.rank == 1 and again == (moment == "after"):
                raise Broken
            for action in run.sweep(5):
                carry_out(action, u)
    assert isinstance(raised.value, Broken) == (comm.rank == 1)
    if comm.rank != 1:
        assert raised.value.status == Status.ERR_PEER
    comm.Barrier()


@pytest.mark.parametrize("where", ["advance", "turn", "adjoint", "pack"])
def test_an_exception_of_a_function_is_raised_again_where_it_was(comm, where):
    def fail(name):
        if comm.rank == 1 and name == where:
            raise Broken(name)

    def advance(first, last):
        fail("advance")
        u[:] += last - first

    u = np.zeros(10)
    with pytest.raises(Broken if comm.rank == 1 else Error) as raised, anadrome.Run(comm, **IN_MEMORY) as run:
        run.state(u=u)
        run.packed("model", 8, lambda buffer: fail("pack"), lambda buffer: None)
        run.solve(30, advance=advance, adjoint=lambda k: fail("adjoint"), turn=lambda n: fail("turn"))
    if comm.rank == 1:
        assert raised.value.args == (where,) and raised.traceback[-1].name == "fail"
    else:
        assert raised.value.status == Status.ERR_PEER and f"Broken: {where}" in str(raised.value)
    comm.Barrier()


def test_after_a_failure_the_run_can_begin_again(comm):
    u = np.zeros(10)
    with anadrome.Run(comm, **IN_MEMORY) as run:
        run.state(u=u)
        with pytest.raises(Error, match="rank 1.*no convergence"):
            for action in run.sweep(30):
                carry_out(action, u)
                if isinstance(action, Advance) and comm.rank == 1:
                    run.fail("no convergence")
        u[:] = 0
        assert sum(isinstance(action, Adjoint) for action in run.sweep(0)) == 0


def test_ctrl_c_on_one_rank_stops_all(comm, directory):
    u = np.zeros(10)
    interrupted = []
    with pytest.raises(KeyboardInterrupt if comm.rank == 1 else Error) as raised, \
            anadrome.Run(comm, directory=directory, **ON_DISK) as run:
        run.state(u=u)
        for action in run.sweep(1000):
            match action:
                case Advance(first, last):
                    if comm.rank == 1 and not interrupted:
                        os.kill(os.getpid(), signal.SIGINT)
                        interrupted.append(first)
                    u += last - first  # the step is finished
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if comm.rank != 1:
        assert raised.value.status == Status.STOPPED
    comm.Barrier()


def test_other_threads_run_while_a_call_waits(comm, directory):
    """Rank 0 waits in begin for the others, who wait for what a second thread on rank 0 writes into a pipe after it has
    counted: without the GIL released, that is never."""
    pipe = directory / "counted"
    if comm.rank == 0:
        os.mkfifo(pipe)
    comm.Barrier()
    entering = threading.Event()

    def count():
        entering.wait()
        counted = 0
        while counted < 100000:
            counted += 1
        pipe.write_text(str(counted))

    thread = threading.Thread(target=count)
    u = np.zeros(10)
    with anadrome.Run(comm, **IN_MEMORY) as run:
        run.state(u=u)
        if comm.rank == 0:
            thread.start()
            entering.set()
        elif comm.rank == 1:
            assert pipe.read_text() == "100000"
        for action in run.sweep(5):
            carry_out(action, u)
    if comm.rank == 0:
        thread.join()


def test_a_rank_that_waits_with_an_exception_says_so(comm, monkeypatch, capfd, directory):
    """The others wait for its message in vain; here until it has said so."""
    monkeypatch.setattr("anadrome._patience._SECONDS", 0.0)
    pipe = directory / "said"
    if comm.rank == 0:
        os.mkfifo(pipe)
    comm.Barrier()
    with pytest.raises(Broken if comm.rank == 1 else Error), anadrome.Run(comm, **IN_MEMORY) as run:
        if comm.rank == 1:
            say = anadrome._patience._say
            monkeypatch.setattr("anadrome._patience._say", lambda *words: (say(*words), pipe.write_text("said")))
        run.state(u=np.zeros(10))
        for action in run.sweep(5):
            if comm.rank == 1:
                raise Broken("no mesh")
            if comm.rank == 0:
                if pipe.exists():
                    pipe.read_text()
                    pipe.unlink()
    if comm.rank == 1:
        assert "rank 1 failed (Broken: no mesh) and waits" in capfd.readouterr().err
    comm.Barrier()


def one_step(u, k):
    return u


@pytest.mark.parametrize("call, option, good, bad", [
    ("run", "checkpoints", 3, 4), ("run", "memory", "1GiB", "much"), ("gradient", "memory", "1GiB", None),
    ("gradient", "directory", ".", None), ("store", "memory", "1MiB", print)])
def test_an_option_that_is_another_one_on_one_rank_leaves_nobody_waiting(comm, call, option, good, bad):
    options = {option: bad if comm.rank == 1 else good}
    with pytest.raises((TypeError, Error)) as raised:
        if call == "store":
            anadrome.Store(comm, **options)
        elif call == "gradient":
            anadrome.gradient(one_step, lambda u, lam, k: lam, np.ones(3), 9, lambda u: (1.0, u), comm=comm, **options)
        else:
            with anadrome.Run(comm, **options) as run:
                run.state(u=np.zeros(3))
                run.sweep(10)
    if bad == 4:
        assert "checkpoints" in str(raised.value) and raised.value.status == Status.ERR_ARGUMENT
    comm.Barrier()


def test_what_fails_on_one_rank_after_a_gradient_leaves_nobody_waiting(comm):
    def after(run):
        if comm.rank == 1:
            raise Broken

    def adjoint_step(u, lam, k, p, by_p):
        lam *= 0.9
        by_p += 1

    with pytest.raises(Broken) if comm.rank == 1 else contextlib.nullcontext():
        anadrome.gradient(lambda u, k, p: u, adjoint_step, np.ones(3), 5, lambda u: (1.0, u), parameters=np.ones(2),
                          comm=comm, after=after)
    comm.Barrier()


def shrink(u, *more):
    u *= 0.9


@pytest.mark.parametrize("call", [anadrome.gradient, anadrome.check_gradient])
@pytest.mark.parametrize("wrong", [{"x0": "none"}, {"steps": 1.5}, {"objective": None}, {"parameters": "none"}])
def test_an_argument_that_is_bad_on_one_rank_leaves_nobody_waiting(comm, call, wrong):
    arguments = {"x0": np.ones(3), "steps": 5, "objective": lambda u: (1.0, u), "parameters": np.ones(2)}
    if comm.rank == 1:
        arguments.update(wrong)
    with pytest.raises((TypeError, ValueError) if comm.rank == 1 else Error) as raised:
        call(shrink, shrink, comm=comm, **arguments)
    if comm.rank != 1:
        assert raised.value.status == Status.ERR_PEER and "rank 1 failed: " in str(raised.value)
    comm.Barrier()


def test_parameters_on_one_rank_alone_are_refused(comm):
    with pytest.raises(ValueError, match="parameters: .* here"):
        anadrome.gradient(shrink, shrink, np.ones(3), 5, lambda u: (1.0, u), comm=comm,
                          parameters=np.ones(2) if comm.rank == 1 else None)
    comm.Barrier()
