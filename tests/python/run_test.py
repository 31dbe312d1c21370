# SPDX-License-Identifier: BSD-2-Clause
"""A loop over the actions of a sweep, on any number of ranks."""
import numpy as np
import pytest

import anadrome
from advection import Ring

STEPS = 60


def loop(run, ring, u, lam, sweep):
    """Carries the actions out; how many steps were run."""
    taken = 0
    for action in sweep:
        match action:
            case anadrome.Advance(first, last):
                for k in range(first, last):
                    ring.step(u)
                taken += last - first
            case anadrome.Turn():
                lam[:] = u
            case anadrome.Adjoint(k):
                ring.adjoint_step(u, lam)
    return taken


@pytest.mark.parametrize("options", [
    {"schedule": "revolve", "checkpoints": 4}, {"schedule": "store_all"},
    {"memory": "128KiB", "interval": 7, "schedule": "async"}])
def test_the_gradient_has_the_bits_of_everything_kept(comm, directory, options):
    ring = Ring(comm)
    u, lam = ring.x0.copy(), np.zeros_like(ring.x0)
    with anadrome.Run(comm, directory=directory, **options) as run:
        run.state(u=u)
        run.adjoint(lam=lam)
        taken = loop(run, ring, u, lam, run.sweep(STEPS))
        preflight = 0 if options["schedule"] == "store_all" else 2
        assert run.statistics().forward_steps_taken == taken - preflight
    np.testing.assert_array_equal(lam, ring.everything_kept(STEPS)[1])
