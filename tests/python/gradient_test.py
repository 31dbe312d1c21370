# SPDX-License-Identifier: BSD-2-Clause
"""anadrome.gradient and anadrome.check_gradient, on any number of ranks."""
import numpy as np
import pytest

import anadrome
from advection import Ring

STEPS = 60


@pytest.mark.parametrize("options", [{"schedule": "revolve", "checkpoints": 4}, {"memory": "128KiB", "schedule": "async"}])
def test_the_gradient_has_the_bits_of_everything_kept(comm, directory, options):
    ring = Ring(comm)
    expected = ring.everything_kept(STEPS)
    J, gradient = anadrome.gradient(ring.step, ring.adjoint_step, ring.x0, STEPS, ring.objective, directory=directory,
                                    **options)
    assert J == expected[0]
    np.testing.assert_array_equal(gradient, expected[1])


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


def check(ring, adjoint_step, **settings):
    def mask(array):
        pass

    return anadrome.check_gradient(ring.step, adjoint_step, ring.x0, 20, ring.objective, mask=mask, schedule="revolve",
                                   **settings)


def test_a_right_adjoint_is_right(comm):
    ring = Ring(comm)
    found = check(ring, ring.adjoint_step, seeds=2, product_steps=5)
    assert (found.verdict, found.products, found.failing_step) == (anadrome.Verdict.RIGHT, 5, -1), found.message
    assert len(found.slope) == 2 and min(found.slope) > 1.8


def test_a_wrong_adjoint_is_wrong(comm, directory):
    ring = Ring(comm)

    def wrong(u, lam, k):
        ring.adjoint_step(u, lam)
        if k == 7:
            lam *= -1

    found = check(ring, wrong, report=str(directory / "check.txt"))
    assert (found.verdict, found.failing_step) == (anadrome.Verdict.WRONG, 7), found.message
    assert found.mismatch == anadrome.Mismatch.SIGN
    if comm.rank == 0:
        assert "WRONG" in (directory / "check.txt").read_text()
