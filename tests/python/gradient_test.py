# SPDX-License-Identifier: BSD-2-Clause
"""anadrome.gradient and anadrome.check_gradient, on any number of ranks."""
import numpy as np

import anadrome
from advection import Ring


def test_the_gradient_has_the_bits_of_everything_kept(comm, directory):
    ring = Ring(comm)
    J, gradient = anadrome.gradient(ring.step, ring.adjoint_step, ring.x0, 60, ring.objective, memory="64KiB",
                                    schedule="revolve", checkpoints=4, directory=directory)
    expected_J, expected = ring.everything_kept(60)
    assert J == expected_J
    np.testing.assert_array_equal(gradient, expected)
