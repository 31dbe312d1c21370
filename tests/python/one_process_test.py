# SPDX-License-Identifier: BSD-2-Clause
"""The package of a build without MPI: the same numbers, and no mpi4py."""
import sys

import anadrome
import numpy as np
import pytest

STEPS, DT = 300, 1e-2


def step(u, k):
    u += DT * u * (1 - u)


def adjoint_step(u, lam, k):
    lam *= 1 + DT * (1 - 2 * u)


def objective(u):
    return float(u @ u) / 2, u


def by_hand():
    states = [np.linspace(0.1, 0.9, 500)]
    for k in range(STEPS):
        states.append(states[-1].copy())
        step(states[-1], k)
    lam = states[-1].copy()
    for k in reversed(range(STEPS)):
        adjoint_step(states[k], lam, k)
    return lam


@pytest.mark.parametrize("options", [{"schedule": "store_all"}, {"schedule": "revolve", "memory": "64KiB"},
                                     {"schedule": "async", "interval": 3, "memory": "64KiB"}])
def test_has_the_gradient_of_every_state_kept(options, tmp_path):
    _, gradient = anadrome.gradient(step, adjoint_step, np.linspace(0.1, 0.9, 500), STEPS, objective,
                                    directory=tmp_path, **options)
    assert gradient.tobytes() == by_hand().tobytes()
    assert "mpi4py" not in sys.modules


def test_stores_objects(tmp_path):
    with anadrome.Store(memory="1MiB", directory=tmp_path) as store:
        for k in range(20):
            store[k] = np.full(50000, float(k))
        assert [store[k][0] for k in range(20)] == list(range(20))


def test_refuses_a_communicator():
    with pytest.raises(anadrome.Error, match="built without MPI"):
        anadrome.Run("a communicator")
