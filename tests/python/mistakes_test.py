# SPDX-License-Identifier: BSD-2-Clause
"""The mistakes that people make in a port: each is an error that names it in the first sweep, wherever the states are kept, and a
port without mistakes hears nothing. A wave equation with two time levels, x = (u, before)."""
import numpy as np
import pytest

import anadrome

CELLS, STEPS = 2048, 20
KEPT = {"few": {"memory": "256KiB"}, "store_all": {"schedule": "store_all"}}
IN_STEPS = ["forgotten", "static", "random", "boundary"]


@pytest.fixture(params=KEPT)  # the tests of the engine have the other ways
def options(request, directory):
    return {"directory": directory, **KEPT[request.param]}


class Port:
    def __init__(self, comm, mistake):
        self.comm, self.mistake, self.calls, self.random = comm, mistake, 0, np.random.default_rng(1)
        self.x0 = np.sin(0.01 * np.arange(CELLS) + comm.rank) * np.array([[1], [0.99]])
        self.hidden, self.edge = self.x0[1].copy(), 0.5

    def step(self, x, k=0):
        u, before = x[0], self.hidden if self.mistake == "forgotten" else x[1]
        new = 2 * u - before + 0.1 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)) - 1e-3 * u**3
        self.calls += 1
        if self.comm.rank == self.comm.size - 1:
            if self.mistake == "static":
                new[7] += 1e-6 * self.calls
            elif self.mistake == "random":
                new[7] += 1e-6 * self.random.random()
            elif self.mistake == "boundary":
                new[-1], self.edge = self.edge, u[-2]
        before[:], u[:] = u, new

    def adjoint_step(self, x, lam, k=0):
        by_u = (2 - 3e-3 * x[0]**2) * lam[0] + 0.1 * (np.roll(lam[0], 1) - 2 * lam[0] + np.roll(lam[0], -1)) + lam[1]
        lam[1], lam[0] = -lam[0], by_u

    def objective(self, x):
        return self.comm.allreduce(0.5 * float(np.sum(x[0]**2))), np.stack([x[0], np.zeros(CELLS)])

    def run(self, **options):
        x, lam = self.x0.copy(), np.zeros_like(self.x0)
        with anadrome.Run(self.comm, **options) as run:
            run.state(u=x[0])
            if self.mistake != "forgotten":
                run.state(before=x.reshape(-1)[CELLS - (self.mistake == "overlap"):])
            for action in run.sweep(STEPS):
                match action:
                    case anadrome.Advance(first, last):
                        for _ in range(first, first + 1 if self.mistake == "first step" else last):
                            if self.mistake == "rebound":  # u = u + ... in place of u += ...
                                x = x.copy()
                            self.step(x)
                    case anadrome.Turn():
                        lam[:] = self.objective(x)[1]
                    case anadrome.Adjoint():
                        self.adjoint_step(x, lam)
        return lam


WORDS = {"overlap": "'u' and 'before' overlap", "first step": "one step was run the second time",
         "rebound": r"state 'u', and the program has let go of it: .*, u\[:\] = step\(u\)"}


@pytest.mark.parametrize("mistake", [*IN_STEPS, *WORDS])
def test_a_mistake_is_an_error_of_the_sweep(comm, options, mistake):
    with pytest.raises(anadrome.Error, match=WORDS.get(mistake, "not a registered state field")):
        Port(comm, mistake).run(**options)


@pytest.mark.parametrize("at_rest", [True, False])
def test_an_array_that_is_never_written_and_can_be_reached_is_a_warning(comm, options, at_rest):
    first = x = np.zeros(CELLS)
    with pytest.warns(RuntimeWarning, match="changed no byte of the state"), anadrome.Run(comm, **options) as run:
        run.state(x=x)
        for action in run.sweep(STEPS):
            if isinstance(action, anadrome.Advance):
                x = first if at_rest else x + 1


@pytest.mark.parametrize("rebound", [True, False])
def test_adjoint_steps_that_write_to_arrays_of_their_own_are_a_warning(comm, options, capfd, rebound):
    x, registered = np.ones(CELLS), np.zeros(CELLS)
    with anadrome.Run(comm, **options) as run:
        run.state(x=x)
        run.adjoint(lam=registered)
        for action in run.sweep(STEPS):
            match action:
                case anadrome.Advance(first, last):
                    for _ in range(first, last):
                        x *= 1.01
                case anadrome.Turn():
                    registered[:] = x
                    lam = registered
                case anadrome.Adjoint() if rebound:
                    lam = lam + 0.01 * lam
                case anadrome.Adjoint():
                    lam += 0.01 * lam
    said = "no adjoint step changed a registered adjoint field" in capfd.readouterr().err
    assert said == (rebound and comm.rank == 0)


def test_a_port_without_mistakes_hears_nothing(comm, options, capfd):
    port = Port(comm, "")
    gradient = port.run(**options)
    np.testing.assert_array_equal(
        anadrome.gradient(port.step, port.adjoint_step, port.x0, STEPS, port.objective, **options)[1], gradient)
    found = anadrome.check_gradient(port.step, port.adjoint_step, port.x0, STEPS, port.objective, **options)
    assert found.verdict == anadrome.Verdict.RIGHT, found.message
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("call, mistake", [(anadrome.gradient, "forgotten"), (anadrome.check_gradient, "boundary")])
def test_a_function_of_more_than_its_arguments_is_an_error(comm, options, call, mistake):
    port = Port(comm, mistake)
    with pytest.raises(anadrome.Error, match="not a registered state field"):
        call(port.step, port.adjoint_step, port.x0, STEPS, port.objective, **options)
