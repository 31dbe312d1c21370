# SPDX-License-Identifier: BSD-2-Clause
"""anadrome.gradient and anadrome.check_gradient, on any number of ranks."""
import warnings

import numpy as np
import pytest

import anadrome
from advection import Ring

STEPS = 60


@pytest.mark.parametrize("options", [{"schedule": "revolve", "checkpoints": 4}, {"memory": "128KiB", "schedule": "async"}])
def test_the_gradient_has_the_bits_of_everything_kept(comm, directory, options):
    ring, runs = Ring(comm), []
    expected = ring.everything_kept(STEPS)
    J, gradient = anadrome.gradient(ring.step, ring.adjoint_step, ring.x0, STEPS, ring.objective, directory=directory,
                                    after=runs.append, **options)
    assert J == expected[0]
    np.testing.assert_array_equal(gradient, expected[1])
    assert runs[0].closed and runs[0].statistics().steps == STEPS
    assert runs[0].summary().startswith("anadrome " if comm.rank == 0 else "")


def test_steps_run_backwards_have_the_bits_of_everything_kept(comm, directory):
    ring = Ring(comm)
    expected = ring.everything_kept(STEPS)

    def undo(u, k):  # a poor guess, and the same one each time
        return 0.99 * u

    for given in (undo, None):
        J, gradient = anadrome.gradient(ring.step, ring.adjoint_step, ring.x0, STEPS, ring.objective, undo=given,
                                        directory=directory, schedule="undo")
        assert J == expected[0]
        np.testing.assert_array_equal(gradient, expected[1])


def test_a_loop_is_asked_to_retreat(comm, directory):
    u, retreats = np.full(50, 3.0), 0
    with anadrome.Run(comm, directory=directory, schedule="undo") as run:
        run.state(u=u)
        for action in run.sweep(9):
            match action:
                case anadrome.Advance(first, last):
                    u *= 1.1
                case anadrome.Retreat(step):
                    u /= 1.1
                    retreats += 1
                case anadrome.Adjoint(step):
                    np.testing.assert_allclose(u, 3 * 1.1**step)
    assert retreats >= 9


def test_functions_may_return_new_arrays(comm):
    ring = Ring(comm)

    def step(u, k):
        new = u.copy()
        ring.step(new)
        return new

    def adjoint_step(u, lam, k):
        new = lam.copy()
        ring.adjoint_step(u, new)
        return new

    J, gradient = anadrome.gradient(step, adjoint_step, ring.x0, STEPS, ring.objective, comm=comm, schedule="revolve",
                                    checkpoints=4)
    np.testing.assert_array_equal(gradient, ring.everything_kept(STEPS)[1])


@pytest.mark.parametrize("wrong, words", [
    ("step", r"step returned shape \(\) of int64"),
    ("adjoint_step", r"adjoint_step returned shape .* of complex128"),
    ("objective", r"objective returned shape \(\) of float64"),
    ("value", r"objective returned shape \(1,\) of complex128")])
def test_arrays_of_another_shape_or_kind_are_refused(comm, wrong, words):
    def step(u, k):
        u *= 2
        return 1 if wrong == "step" else None

    def adjoint_step(u, lam, k):
        return lam * 1j if wrong == "adjoint_step" else None

    def objective(u):
        return 1j if wrong == "value" else 0.5, np.float64(2) if wrong == "objective" else u

    with pytest.raises(TypeError, match=words):
        anadrome.gradient(step, adjoint_step, np.ones(5), 9, objective, comm=comm, schedule="revolve", checkpoints=3)


@pytest.mark.parametrize("wrong, words", [
    ("step", r"the objective \(nan\) and 1 of 5 numbers of the gradient; look at x0, step,"),
    ("derivative", "not finite: 1 of 5 numbers of the gradient; look at adjoint_step, and at the derivative")])
def test_what_is_not_finite_is_said(comm, wrong, words):
    def step(u, k):
        u *= 0.5
        u[:k == 5 and wrong == "step"] = np.nan

    def adjoint_step(u, lam, k):
        lam *= 0.5

    def objective(u):
        return comm.allreduce(0.5 * float(np.dot(u, u))), np.where(np.arange(5) == 3, np.nan, u) if wrong == "derivative" else u

    arguments = step, adjoint_step, np.ones(5), 9, objective
    with pytest.warns(RuntimeWarning, match=words) as caught:
        anadrome.gradient(*arguments, comm=comm)
    assert len(caught) == 1 and caught[0].filename == __file__
    if wrong == "derivative":
        found = anadrome.check_gradient(*arguments, comm=comm)
        assert found.mismatch == anadrome.Mismatch.NOT_FINITE and "gradient is not finite: derivative gave nan" in found.message
    else:
        with pytest.raises(anadrome.Error, match="the objective is nan, not a finite number"):
            anadrome.check_gradient(*arguments, comm=comm)


@pytest.mark.parametrize("written", [True, False])
def test_an_array_that_no_adjoint_step_changed_is_said(comm, written):
    """The position is seen, and the parameter acts on the velocity: the first adjoint step adds nothing to by_p."""
    def step(u, k, p):
        u[:] = u[0] + 0.1 * u[1], u[1] - 0.1 * p[0] * u[0]

    def adjoint_step(u, lam, k, p, by_p):
        more = -0.1 * u[0] * lam[1]
        lam[:] = lam[0] - 0.1 * p[0] * lam[1], lam[1] + 0.1 * lam[0]
        if written:
            by_p += more
        else:
            by_p = by_p + more  # noqa: F841

    arguments = step, adjoint_step, np.ones(2), 9, lambda u: (0.5 * u[0] ** 2, np.array([u[0], 0.0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        anadrome.gradient(*arguments, parameters=[1.0], comm=comm)
    assert [str(each.message).split(":")[0] for each in caught] == ([] if written else ["no adjoint_step changed by_p"])


def test_what_has_to_be_the_same_on_all_ranks_is_compared(comm):
    def run(J, p):
        return anadrome.gradient(lambda u, k, p: None, lambda u, lam, k, p, by_p: None, np.ones(2), 3,
                                 lambda u: (J, np.zeros(2)), parameters=[p], comm=comm)

    rank = comm.Get_rank()
    assert run(1.5, 2.0)[0] == 1.5
    if comm.Get_size() > 1:
        for J, p, words in ((rank, 2.0, "objective or observe"), (1.5, rank, "parameters")):
            with pytest.raises(ValueError, match=f"{words}: .* has to be the same on all ranks"):
                run(J, p)


def test_that_nothing_was_observed_is_said(comm):
    arguments = lambda u, k: None, lambda u, lam, k: None, np.ones(5), 9
    with pytest.warns(RuntimeWarning, match="observe returned None for each k"):
        anadrome.gradient(*arguments, observe=lambda u, k: None, comm=comm)


@pytest.mark.parametrize("wrong", [-1, 7])
def test_an_adjoint_is_right_or_wrong_at_a_step(comm, directory, wrong):
    ring = Ring(comm)

    def adjoint_step(u, lam, k):
        ring.adjoint_step(u, lam)
        if k == wrong:
            lam *= -1

    report = directory / "check.txt"
    found = anadrome.check_gradient(ring.step, adjoint_step, ring.x0, 20, ring.objective, mask=lambda array: None, seeds=2,
                                    product_steps=20, schedule="revolve", report=str(report))
    assert (found.failing_step, found.products) == (wrong, 20), found.message
    assert found.verdict == (anadrome.Verdict.RIGHT if wrong < 0 else anadrome.Verdict.WRONG)
    assert found.mismatch == (anadrome.Mismatch.NONE if wrong < 0 else anadrome.Mismatch.SIGN)
    assert len(found.slope) == 2 and (min(found.slope) > 1.8) == (wrong < 0)
    assert comm.rank > 0 or ("WRONG" in report.read_text()) == (wrong >= 0)


class Decay:
    """u <- u - p u^3 on each rank, observed on the way; the adjoint, and both with every state kept."""

    def __init__(self, comm):
        self.comm, self.x0, self.p0 = comm, np.linspace(0.5, 1.5, 7) + comm.rank, np.array([0.01])

    def step(self, u, k, p):
        u -= p[0] * u**3

    def adjoint_step(self, u, lam, k, p, by_p):
        by_p[0] -= np.dot(u**3, lam)
        lam *= 1 - 3 * p[0] * u**2

    def observe(self, u, k):
        if k % 5 != 0:
            return None
        misfit = u - 0.1 * k
        return self.comm.allreduce(0.5 * float(misfit @ misfit)), misfit

    def objective(self, u):
        return self.comm.allreduce(float(u.sum())), np.ones_like(u)

    def everything_kept(self, steps):
        states, terms = [self.x0.copy()], []
        for k in range(steps):
            terms.append((self.observe(states[-1], k) or (0.0,))[0])
            states.append(states[-1].copy())
            self.step(states[-1], k, self.p0)
        u = states.pop()
        value, derivative = self.objective(u)
        seen = self.observe(u, steps)
        terms.append((seen[0] if seen else 0.0) + value)
        lam, by_p = (seen[1] if seen else 0) + derivative, np.zeros(1)
        for k in reversed(range(steps)):
            u = states.pop()
            self.adjoint_step(u, lam, k, self.p0, by_p)
            seen = self.observe(u, k)
            if seen:
                lam += seen[1]
        return np.array(terms).sum(), lam, self.comm.allreduce(by_p)


@pytest.mark.parametrize("steps", [20, 23])  # x_20 is observed
def test_observations_and_parameters_have_the_bits_of_everything_kept(comm, steps):
    model = Decay(comm)
    expected = model.everything_kept(steps)
    found = anadrome.gradient(model.step, model.adjoint_step, model.x0, steps, model.objective, observe=model.observe,
                              parameters=model.p0, comm=comm, schedule="revolve", checkpoints=3)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


def test_the_objective_is_that_of_the_states_before_they_were_rounded(comm):
    model = Decay(comm)
    model.x0, model.objective = np.linspace(0.5, 1.5, 700), lambda u: (0.0, np.zeros_like(u))
    expected = model.everything_kept(20)
    found = anadrome.gradient(model.step, model.adjoint_step, model.x0, 20, observe=model.observe, parameters=model.p0,
                              comm=comm, schedule="revolve", memory="24KiB", compress="float32")
    assert found[0] == expected[0] and (found[1] != expected[1]).any()


@pytest.mark.parametrize("writes", ["step", "undo", "adjoint_step"])
def test_parameters_cannot_be_written_to(comm, writes):
    def change(name, p):
        if name == writes:
            p *= 2

    def step(u, k, p):
        change("step", p)
        u *= p[0]

    def undo(u, k, p):
        change("undo", p)
        u /= p[0]

    def adjoint_step(u, lam, k, p, by_p):
        change("adjoint_step", p)
        lam *= p[0]

    with pytest.raises(ValueError, match="read-only"):
        anadrome.gradient(step, adjoint_step, np.ones(5), 9, lambda u: (1.0, u), parameters=[2.0], undo=undo, comm=comm,
                          schedule="undo")


@pytest.mark.parametrize("wrong", ["", "observe", "parameter"])
def test_observations_and_parameters_are_checked(comm, wrong):
    model = Decay(comm)

    def adjoint_step(u, lam, k, p, by_p):
        model.adjoint_step(u, lam, k, p, by_p)
        by_p[0] *= 1.01 if wrong == "parameter" else 1

    def observe(u, k):
        seen = model.observe(u, k)
        return (seen[0], 1.1 * seen[1]) if seen and wrong == "observe" else seen

    found = anadrome.check_gradient(model.step, adjoint_step, model.x0, 22, observe=observe, parameters=model.p0, comm=comm,
                                    schedule="revolve", checkpoints=3)
    assert (found.verdict == anadrome.Verdict.RIGHT) == (wrong == ""), found.message
    assert found.product_verdict == anadrome.Verdict.RIGHT, found.message


@pytest.mark.parametrize("kind, words, arguments", [
    (TypeError, "objective returned float; a tuple of the value and its derivative", (np.ones(5), 9, lambda u: 1.0)),
    (TypeError, "objective returned NoneType; a tuple", (np.ones(5), 9, lambda u: None)),
    (TypeError, "give objective, observe or both", (np.ones(5), 9)),
    (TypeError, "steps must be an int, not float", (np.ones(5), 9.0, lambda u: (1, u))),
    (anadrome.Error, "-5 steps; give 0 or more", (np.ones(5), -5, lambda u: (1, u))),
    (TypeError, "MaskedArray", (np.ma.ones(5), 9, lambda u: (1, u)))])
def test_arguments_that_make_no_sense_are_refused(comm, kind, words, arguments):
    with pytest.raises(kind, match=words):
        anadrome.gradient(lambda u, k: u, lambda u, lam, k: lam, *arguments, comm=comm)
