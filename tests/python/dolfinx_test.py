# SPDX-License-Identifier: BSD-2-Clause
"""The example with DOLFINx, on the ranks of this job."""
import importlib.util
import os
import resource
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(os.environ["ANADROME_TEST_SOURCES"]) / "examples/python/heat_dolfinx.py"
spec = importlib.util.spec_from_file_location("heat_dolfinx", EXAMPLE)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)


def resident():
    """The most in MiB so far, of any rank."""
    return example.COMM.allreduce(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, op=example.MPI.MAX)


def test_gradient_past_memory_is_bitwise_that_with_every_state_kept(directory):
    heat = example.Heat(24, 60)
    u_0 = heat.start()
    value, kept = heat.gradient(u_0, schedule="store_all", memory="64MiB")
    for options in ({"schedule": "async", "interval": 4, "memory": "64KiB"}, {"schedule": "revolve", "memory": "64KiB"}):
        again, gradient = heat.gradient(u_0, directory=directory, **options)
        assert again == value
        assert np.array_equal(gradient.view("u8"), kept.view("u8")), options
    assert heat.taylor_rate(u_0, value, kept, u_0**2) == pytest.approx(2, abs=0.05)


def test_memory_does_not_grow_with_the_number_of_steps(directory):
    heat, most = example.Heat(64, 20), []
    u_0 = heat.start()
    for heat.steps in (20, 160):
        heat.gradient(u_0, directory=directory, schedule="async", interval=2, memory="512KiB")
        most.append(resident())
    states = 140 * u_0.nbytes / 2**20
    assert most[1] - most[0] < 0.25 * states, f"{most} MiB, the states have {states} MiB more"
